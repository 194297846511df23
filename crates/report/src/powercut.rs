//! Power cuts in words: what they did, and how often that can happen at most.

use cardproof_rating::power_cuts;
use cardproof_rating::powercut::Document;
use cardproof_record::{CutHarm, Record};
use cardproof_units::{rounded_down, rounded_up};

use crate::clean::one_line;

/// The heading above power cuts in every report.
pub(crate) const HEADING: &str = "Power cuts";

/// How many pieces of harm are shown.
const SHOWN: usize = 8;

/// What the power cuts of `record` did: the result, the kinds of harm, and how rare a harm would have been found.
/// Empty where there were none.
pub(crate) fn briefly(record: &Record) -> Vec<String> {
    let Some(found) = power_cuts(record) else { return Vec::new() };
    let by_kind = found.findings.iter().filter(|(_, count)| **count > 0);
    let kinds = by_kind.map(|(kind, count)| {
        format!("in {count} of {} power cuts: {}", found.effective_cuts, meaning(kind))
    });
    std::iter::once(headline(&found)).chain(kinds).chain(bound(&found)).collect()
}

/// The same with the share of harmful cuts, the conditions and single pieces of harm.
#[must_use]
pub fn power_cut_lines(record: &Record) -> Vec<String> {
    let Some(found) = power_cuts(record) else { return Vec::new() };
    let mut lines = briefly(record);
    lines.extend(share(&found));
    lines.push(conditions(&found));
    lines.extend(found.harm.iter().take(SHOWN).map(harm));
    if found.harm.len() > SHOWN {
        lines.push(format!("{} more in the record", found.harm.len() - SHOWN));
    }
    lines
}

/// The power cuts of `record` in a sentence; empty where there were none.
pub(crate) fn sentence(record: &Record) -> String {
    power_cuts(record).map_or(String::new(), |found| format!("{}.", headline(&found)))
}

/// The result in a few words, for a list; `None` where there were no power cuts.
pub(crate) fn in_short(record: &Record) -> Option<String> {
    let found = power_cuts(record)?;
    Some(match (found.effective_cuts, found.harmful_cuts) {
        (0, _) => "power cuts: not tested".to_owned(),
        (cuts, 0) => format!("no loss in {cuts} power cuts"),
        (cuts, harmful) => format!("DATA LOST in {harmful} of {cuts} power cuts"),
    })
}

/// Only cuts with writes in flight count: cutting an idle device tests nothing.
fn headline(found: &Document<'_>) -> String {
    let Document { cuts, effective_cuts, harmful_cuts, .. } = found;
    match (effective_cuts, harmful_cuts) {
        (0, _) => format!("NOT TESTED: none of {cuts} power cuts came during a write"),
        (_, 0) => format!(
            "NO DATA LOST: after {effective_cuts} power cuts during writes, all data was there that the card had \
             reported as written"
        ),
        (_, harmful) => format!(
            "DATA LOST: {harmful} of {effective_cuts} power cuts during writes harmed data that the card had \
             reported as written"
        ),
    }
}

/// How rare a harm would have been found, where none was.
fn bound(found: &Document<'_>) -> Option<String> {
    let is_sound = found.share.is_some() && found.harmful_cuts == 0;
    is_sound.then(|| {
        format!(
            "a card that loses data in {:.1} % of power cuts or more would very probably have been found",
            100.0 * found.bound
        )
    })
}

/// The share of harmful cuts, where there were any.
fn share(found: &Document<'_>) -> Option<String> {
    let share = found.share.filter(|_| found.harmful_cuts > 0)?;
    let percent = |share: f64| 100.0 * share;
    Some(format!(
        "{:.0} % of such power cuts do harm ({} to {} %)",
        percent(share.estimate),
        rounded_down(percent(share.low), 0),
        rounded_up(percent(share.high), 0)
    ))
}

fn conditions(found: &Document<'_>) -> String {
    format!(
        "writes were made durable by {} after {}; queue depth {}, test range {}; the power cut was {}",
        one_line(found.mode),
        if found.writes_per_flush == 1 {
            "each write".to_owned()
        } else {
            format!("every {} writes", found.writes_per_flush)
        },
        found.queue_depth,
        found.area_bytes,
        one_line(found.power)
    )
}

/// What a kind of harm is, in a few words.
fn meaning(kind: &str) -> &'static str {
    match kind {
        "lost" => "data was missing",
        "torn" => "data was only partly written",
        "reordered" => "data was missing, although data written later was there",
        "collateral" => "data changed that was not being written",
        "misdirected" => "data was at another address",
        "unreadable" => "sectors could not be read",
        _ => "the device did not come back",
    }
}

fn harm(harm: &CutHarm) -> String {
    let CutHarm { cut, kind, write, address_bytes, length_bytes, distance_bytes } = harm;
    let what = meaning(kind);
    if length_bytes.get() == 0 {
        return format!("power cut {cut}: {what}");
    }
    let write = write.map_or(String::new(), |write| format!(" of write {write}"));
    let distance = distance_bytes
        .map_or(String::new(), |distance| format!(", {distance} from the nearest write in flight"));
    format!(
        "power cut {cut}: {what}: {length_bytes}{write} at byte {}{distance}",
        address_bytes.get()
    )
}
