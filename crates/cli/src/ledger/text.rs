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
    let days = if found.days == 1 { "1 day".to_owned() } else { format!("{} days", found.days) };
    let mut text = format!("{name}: {days}, {} to {}\n", found.dates.0, found.dates.1);
    let mut row = |label: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {label:<18} {value}");
    };
    row("Written", format!("{}, read {}", found.written_bytes, found.read_bytes));
    row("A day", found.pace.as_ref().map_or_else(too_short, pace));
    row("Days left", days_left(found));
    row("Errors", errors(counts(found), card.is_log_read));
    row("Speed", slower(&found.slower));
    text
}

fn too_short() -> String {
    "not known: the ledger is younger than an hour".to_owned()
}

fn pace(pace: &Pace) -> String {
    let range = match (pace.low, pace.high) {
        (Some(low), Some(high)) => format!(" ({low} to {high} with 95 % confidence)"),
        _ => String::new(),
    };
    let trend = pace.trend_ratio.map_or_else(String::new, |ratio| {
        format!("; the last week: {ratio:.1} times the weeks before")
    });
    format!("{} written{range}{trend}", pace.bytes_a_day)
}

fn days_left(found: &Outlook) -> String {
    let used = match found.used {
        None => {
            return "not known: the card reports no wear; name its endurance with --endurance"
                .to_owned();
        }
        Some(UsedPercent::Card { used_percent_max }) if used_percent_max > 100 => {
            return "0: the card is beyond its rated life; replace it".to_owned();
        }
        Some(UsedPercent::Card { used_percent_max }) => {
            format!("{} to {used_percent_max} % used", used_percent_max.saturating_sub(10))
        }
        Some(UsedPercent::Stated { used_percent_min }) => {
            let hours = found.seconds.div_ceil(3600);
            format!(
                "{used_percent_min:.1} % of the stated endurance was written in the {hours} hours that the computer \
                 ran with it, as far as the ledger knows"
            )
        }
    };
    let days = match (found.days_left_min, found.days_left_max) {
        (Some(low), Some(high)) => format!("{low:.0} to {high:.0}"),
        (Some(low), None) => format!("at least {low:.0}"),
        (None, Some(high)) => format!("at most {high:.0}"),
        (None, None) => "not known yet".to_owned(),
    };
    format!("{days} ({used})")
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
            "not known: this user may not read the kernel log; run it as root".to_owned()
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
            format!("not known: {days} of {needed} busy days needed for a comparison with itself")
        }
        Slower::NotSlower { ratio } => {
            format!("not shown to be slower than when new ({ratio:.2} times as long a request)")
        }
        Slower::Slower { ratio } => {
            format!("SLOWER than when new: {ratio:.1} times as long for a request")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::errors;

    #[test]
    fn there_are_no_errors_only_where_the_log_was_read() {
        assert_eq!(errors([0, 0, 0], true), "none");
        assert!(errors([0, 0, 0], false).starts_with("not known: this user may not read"));
        assert_eq!(errors([0, 2, 0], true), "2 repeated transfers");
        assert!(errors([0, 2, 0], false).starts_with("2 repeated transfers, at least"));
    }
}
