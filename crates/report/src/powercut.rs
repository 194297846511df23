//! Power cuts in words: what they did, and how often that can happen at most.

use cardproof_rating::power_cuts;
use cardproof_rating::powercut::Document;
use cardproof_record::{CutHarm, Record};

use crate::clean::one_line;

/// The heading above power cuts in every report.
pub(crate) const HEADING: &str = "Power cuts";

/// How many pieces of harm are shown.
const SHOWN: usize = 8;

/// What the power cuts of `record` did, in lines; empty where there were none.
#[must_use]
pub fn power_cut_lines(record: &Record) -> Vec<String> {
    let Some(found) = power_cuts(record) else { return Vec::new() };
    let mut lines = vec![headline(&found), bound(&found), conditions(&found)];
    let by_kind = found.findings.iter().filter(|(_, count)| **count > 0);
    lines.extend(by_kind.map(|(kind, count)| {
        format!("{kind}: in {count} of {} effective cuts; {}", found.effective_cuts, meaning(kind))
    }));
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

fn headline(found: &Document<'_>) -> String {
    let Document { cuts, effective_cuts, harmful_cuts, .. } = found;
    let counted = format!("{cuts} power cuts, {effective_cuts} of them with writes in flight");
    match (effective_cuts, harmful_cuts) {
        (0, _) => format!("{counted}: nothing can be said"),
        (_, 0) => format!("{counted}: no data was lost that the card had reported as safe"),
        (_, harmful) => {
            format!("{counted}: {harmful} harmed data that the card had reported as safe")
        }
    }
}

fn bound(found: &Document<'_>) -> String {
    let percent = |share: f64| 100.0 * share;
    match found.share {
        None => {
            "only cuts with writes in flight count; cutting an idle device tests nothing".into()
        }
        Some(_) if found.harmful_cuts == 0 => format!(
            "harm in more than {:.1} % of such power cuts would very probably have shown",
            percent(found.bound)
        ),
        Some(share) => format!(
            "{:.0} % of such power cuts do harm ({:.0} to {:.0} %)",
            percent(share.estimate),
            percent(share.low),
            percent(share.high)
        ),
    }
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

fn meaning(kind: &str) -> &'static str {
    match kind {
        "lost" => "a write acknowledged as durable was absent",
        "torn" => "a write acknowledged as durable was there in part, or a sector was half written",
        "reordered" => "a write acknowledged as durable was absent, and a later one was there",
        "collateral" => "data changed that was not being written",
        "misdirected" => "data lay at another address",
        "unreadable" => "sectors could not be read",
        _ => "the device did not come back",
    }
}

fn harm(harm: &CutHarm) -> String {
    let CutHarm { cut, kind, write, address_bytes, length_bytes, distance_bytes } = harm;
    let kind = one_line(kind);
    if length_bytes.get() == 0 {
        return format!("cut {cut}: {kind}");
    }
    let write = write.map_or(String::new(), |write| format!(" of write {write}"));
    let distance = distance_bytes
        .map_or(String::new(), |distance| format!(", {distance} from the nearest write in flight"));
    format!("cut {cut}: {kind}: {length_bytes}{write} at byte {}{distance}", address_bytes.get())
}
