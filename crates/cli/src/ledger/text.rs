//! The ledger for people.

use std::fmt::Write;

use cardproof_rating::ledger::{LedgerCard, Outlook, Pace, Slower, UsedPercent};

/// What stands for one card: its name where it is in the computer now.
pub(super) fn card(card: &LedgerCard<'_>) -> String {
    let found = &card.outlook;
    let name = card.name.map_or_else(
        || format!("a card that is not in the computer now ({:08x})", found.key.0),
        str::to_owned,
    );
    let (first, last) = &found.dates;
    let mut text = match found.days {
        // The first look counts all since the computer started.
        1 => format!(
            "{name}: {first}, {} counted, from the computer's start on\n",
            ran(found.seconds)
        ),
        days => format!("{name}: {days} days, {first} to {last}\n"),
    };
    let mut row = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label:<18} {value}");
    };
    row("Written", format!("{}, read {}", found.written_bytes, found.read_bytes));
    row("A day", found.pace.as_ref().map_or_else(too_short, |it| pace(it, found.seconds)));
    row("Days left", days_left(found));
    row("Errors", errors(counts(found), card.is_log_read));
    row("Speed", slower(&found.slower));
    text
}

/// How long a computer ran, in words.
fn ran(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60) {
        (0, 1) => "1 minute".to_owned(),
        (0, minutes) => format!("{minutes} minutes"),
        (1, _) => "1 hour".to_owned(),
        (hours, _) => format!("{hours} hours"),
    }
}

fn too_short() -> String {
    "not known: less than an hour was counted".to_owned()
}

/// From so many hours on, a pace is of whole days.
const WHOLE_DAYS_HOURS: u64 = 72;

/// From how much time a pace is, where that is little.
fn span(seconds: u64) -> Option<String> {
    (seconds / 3600 < WHOLE_DAYS_HOURS).then(|| format!("from {} only", ran(seconds)))
}

fn pace(pace: &Pace, seconds: u64) -> String {
    let range = match (pace.low, pace.high) {
        (Some(low), Some(high)) => format!(" ({low} to {high} with 95 % confidence)"),
        _ => String::new(),
    };
    let trend = pace.trend_ratio.map_or_else(String::new, |ratio| {
        format!("; the last week: {ratio:.1} times the weeks before")
    });
    format!(
        "{} written{}{range}{trend}",
        pace.bytes_a_day,
        span(seconds).map_or_else(String::new, |it| format!(", {it}"))
    )
}

fn days_left(found: &Outlook) -> String {
    let used = match found.used {
        None => {
            return "not known: the storage reports no wear; give its endurance, such as --endurance 40TB"
                .to_owned();
        }
        Some(UsedPercent::Card { used_percent_max }) if used_percent_max > 100 => {
            return "none: the card is beyond its rated life; replace it".to_owned();
        }
        Some(UsedPercent::Card { used_percent_max }) => {
            format!("{} to {used_percent_max} %", used_percent_max.saturating_sub(10))
        }
        Some(UsedPercent::Stated { used_percent_min }) => {
            format!("at least {used_percent_min:.1} % of the endurance")
        }
    };
    let span = found.pace.as_ref().and_then(|_| span(found.seconds));
    let span = span.map_or_else(String::new, |it| format!("{it}: "));
    format!("{span}{}. Used so far: {used}", days(found))
}

/// The days left: at the present pace, and how many they may be at least and at most.
fn days(found: &Outlook) -> String {
    let (low, high) = (found.days_left_min.map(f64::floor), found.days_left_max.map(f64::ceil));
    match (found.days_left, low, high) {
        (Some(days), Some(low), Some(high)) => format!("about {days:.0} ({low:.0} to {high:.0})"),
        (Some(days), Some(low), None) => format!("about {days:.0}, at least {low:.0}"),
        (Some(days), None, Some(high)) if days >= 1.0 => format!(
            "about {days:.0} at this pace. If other days write {:.1} times less: up to {high:.0}",
            high / days
        ),
        (_, Some(low), Some(high)) => format!("{low:.0} to {high:.0}"),
        (_, Some(low), None) => format!("at least {low:.0}"),
        (_, None, Some(high)) => format!("at most {high:.0}"),
        (_, None, None) => "not known yet".to_owned(),
    }
}

const fn counts(found: &Outlook) -> [u64; 3] {
    [found.failed, found.repeated, found.filesystem_errors]
}

/// The errors that were counted. Without the kernel's log there may be others.
fn errors([failed, repeated, of_filesystems]: [u64; 3], is_log_read: bool) -> String {
    let parts = [
        (failed, "failed reads or writes"),
        (repeated, "repeated transfers"),
        (of_filesystems, "file system errors"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    match (parts.is_empty(), is_log_read) {
        (true, true) => "none".to_owned(),
        (true, false) => {
            "not known: this user may not read the kernel log: sudo cardproof log".to_owned()
        }
        (false, true) => parts.join(", "),
        (false, false) => {
            format!("{}, at least: this user may not read the kernel log", parts.join(", "))
        }
    }
}

fn slower(slower: &Slower) -> String {
    match slower {
        Slower::NotKnown { days, needed } => {
            format!("not known yet: needs {needed} busy days, has {days}")
        }
        Slower::NotSlower { ratio } => {
            format!("not shown to be slower than when new ({ratio:.2} times as long a request)")
        }
        Slower::Slower { ratio } => {
            format!("SLOWER than when new: {ratio:.1} times as long for a request")
        }
    }
}

/// From this number of days on, what is written a day has an interval.
const YOUNG_DAYS: usize = 3;

/// What to do next, while a ledger that no timer adds to is young.
pub(super) fn next(cards: &[LedgerCard<'_>]) -> Option<&'static str> {
    let is_young = cards.iter().all(|card| card.outlook.days < YOUNG_DAYS);
    is_young.then_some(
        "Next: let it run every ten minutes. If cardproof came as a package: sudo systemctl enable --now \
         cardproof-log.timer. If not, as a line in /etc/crontab, with the program's whole path: */10 * * * * root \
         /usr/local/bin/cardproof log. After 3 days it also \
         shows how certain these figures are.\n",
    )
}

#[cfg(test)]
mod tests {
    use cardproof_rating::ledger::{CardCounters, CardKey, Day, LedgerCard, Slower, outlook};
    use cardproof_units::Bytes;

    use super::{card, errors, next, slower};

    /// What is told of `days` days of each 24 hours and 100 GB, of a card made for `endurance`.
    fn told(days: u64, endurance: Bytes) -> (String, bool) {
        told_of(days, 86_400, endurance)
    }

    /// The same of days of so many seconds.
    fn told_of(days: u64, seconds: u64, endurance: Bytes) -> (String, bool) {
        let day = |number: u64| Day {
            number,
            date: format!("2026-11-{:02}", number + 1),
            key: CardKey(7),
            seconds,
            counters: CardCounters {
                sectors_written: 100_000_000_000 / 512,
                ..CardCounters::default()
            },
            ..Day::default()
        };
        let days: Vec<Day> = (0..days).map(day).collect();
        let outlook = outlook(&days, CardKey(7), Some(endurance)).unwrap();
        let told = LedgerCard { name: Some("mmcblk0"), is_log_read: true, outlook };
        (card(&told), next(&[told]).is_some())
    }

    #[test]
    fn days_left_are_told_at_this_pace_and_at_the_lowest() {
        let (text, is_young) = told(1, Bytes(2_700_000_000_000));
        let head = "mmcblk0: 2026-11-01, 24 hours counted, from the computer's start on\n";
        assert!(text.starts_with(head), "{text}");
        assert!(text.contains(". Used so far: at least 3.7 % of the endurance\n"), "{text}");
        // (2700 - 100) / 100 days, and exp(1.645 * 0.5) = 2.3 times as many where one day alone tells the pace.
        let expected = "about 26 at this pace. If other days write 2.3 times less: up to 60.";
        assert!(text.contains(expected) && is_young, "{text}");
        let (text, is_young) = told(3, Bytes(2_700_000_000_000));
        assert!(text.starts_with("mmcblk0: 3 days, 2026-11-01 to 2026-11-03\n"), "{text}");
        assert!(text.contains("about 24 at this pace") && !is_young, "{text}");
    }

    #[test]
    fn a_forecast_from_a_few_hours_says_so() {
        let (text, is_young) = told_of(2, 7200, Bytes(40_000_000_000_000));
        assert!(text.contains(" written, from 4 hours only\n"), "{text}");
        let left = text.lines().find(|line| line.contains("Days left")).unwrap();
        assert!(left.contains(" from 4 hours only: about "), "{left}");
        assert!(is_young, "{text}");
        let (text, _) = told(4, Bytes(2_700_000_000_000));
        assert!(!text.contains("only"), "{text}");
        let speed = |days| slower(&Slower::NotKnown { days, needed: 5 });
        assert!(speed(1).ends_with("needs 5 busy days, has 1"), "{}", speed(1));
        assert!(speed(2).ends_with("has 2"), "{}", speed(2));
    }

    #[test]
    fn there_are_no_errors_only_where_the_log_was_read() {
        assert_eq!(errors([0, 0, 0], true), "none");
        assert!(errors([0, 0, 0], false).starts_with("not known: this user may not read"));
        assert_eq!(errors([0, 2, 0], true), "2 repeated transfers");
        assert!(errors([0, 2, 0], false).starts_with("2 repeated transfers, at least"));
    }
}
