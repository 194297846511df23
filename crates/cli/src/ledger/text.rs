//! The ledger for people.

use std::fmt::Write;

use cardproof_rating::ledger::{Outlook, Pace, Slower, UsedPercent};

/// What stands for one card: its name where it is in the computer now.
pub(super) fn card(name: Option<&str>, found: &Outlook) -> String {
    let name = name.map_or_else(
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
    row("Errors", errors(found));
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
            format!("{used_percent_min:.1} % of the stated endurance used since the ledger began")
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

fn errors(found: &Outlook) -> String {
    let parts = [
        (found.failed, "failed reads or writes"),
        (found.repeated, "repeated transfers"),
        (found.filesystem_errors, "file system errors"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
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
