//! The classes that a card claims in its registers, compared with the verdicts, in words.
//!
//! A claim comes from the manufacturer; a verdict is for one computer. If the bus limits the card, its
//! claim cannot be tested here, and a failed claim is stated for this computer only.

use cardproof_facts::Class;
use cardproof_record::{Outcome, Record, Verdict};

use crate::bus::Bus;
use crate::claims::claimed;
use crate::pick::{BoundedRate, Finding};
use crate::quantity::Quantity;
use crate::wording;

/// The classes that the card claims in `record`, with the result of each from `verdicts`. Classes with
/// the same result share a sentence, such as `claims C10 and U1: passed here, sequential write 18
/// MB/s (17 to 19)`. Empty where the registers were not read or claim nothing.
#[must_use]
pub fn claims(record: &Record, verdicts: &[Verdict]) -> Vec<String> {
    let Some(card) = &record.conditions.device.card else { return Vec::new() };
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for class in claimed(&card.claims) {
        let Some(verdict) = verdicts.iter().find(|verdict| verdict.rule == class.name) else {
            continue;
        };
        let words = in_words(record, class, verdict);
        match said.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(class.name),
            None => said.push((words, vec![class.name])),
        }
    }
    said.iter().map(|(words, names)| format!("claims {}: {words}", wording::list(names))).collect()
}

/// The result for a claimed class.
fn in_words(record: &Record, class: &Class, verdict: &Verdict) -> String {
    let measured = measured(record, class);
    match verdict.outcome {
        Outcome::Meets => format!("passed here{measured}"),
        Outcome::Misses => {
            format!("not passed here{measured}{}", bus_of_a_miss(record))
        }
        Outcome::Undecided => format!("undecided{measured}"),
        Outcome::NotTestable => {
            let why = verdict.reasons.first().map_or("", |reason| &*reason.text);
            format!("cannot be tested here{measured}; {why}")
        }
        Outcome::Unknown => format!("{}{measured}", wording::outcome(Outcome::Unknown)),
    }
}

/// The figure that a recording class is about. An application class has three, which its verdict
/// lists.
fn measured(record: &Record, class: &Class) -> String {
    if class.is_application() {
        return String::new();
    }
    let finding = Finding::find(record, |phase| Quantity::SequentialWrite.is_measured_by(phase));
    let figure = finding.measured().and_then(BoundedRate::of_throughput_at_any_time);
    figure.map_or(String::new(), |figure| {
        format!(", sequential write {}", wording::figure_unless_narrow(&figure))
    })
}

fn bus_of_a_miss(record: &Record) -> String {
    match Bus::from_record(record) {
        Some(bus) => format!(" on a {}, which is fast enough for it", bus.label()),
        None => "; the bus limit is unknown, so the computer may be the cause".to_owned(),
    }
}
