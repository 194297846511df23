//! Verdicts: whether a record's figures meet the limits of A1 and A2.
//!
//! A class is met when every limit is at or below the lower end of its figure's interval, and
//! missed when any limit is above the upper end. With intervals of 99 %, a class is called met
//! wrongly in at most 1 % of records, since that takes one interval that is wrong (an
//! intersection-union test: Berger, Technometrics 24, 1982); and missed wrongly in at most 1.5 %,
//! half of 1 % for each of three limits. Everything short of that is undecided, and where the
//! record cannot tell at all, not testable. No verdict is a certificate.

use cardproof_record::{Outcome, Phase, Record, State, Verdict, WarningCode};

use crate::classes::{CLASS_SPAN, CLASSES, Class, Limit};
use crate::doubts::{Doubt, doubts};
use crate::pick::{Figure, Finding};
use crate::transports::storage;
use crate::wording;

/// An interval that claims less than this cannot carry a verdict.
const CONFIDENCE_MIN: f64 = 0.9;

/// What one limit came to, and why.
struct Ruling {
    outcome: Outcome,
    reason: String,
}

/// What each class says of `record`, least demanding class first. Doubts in the record and
/// doubts that follow from it are both taken into account.
#[must_use]
pub fn judge(record: &Record) -> Vec<Verdict> {
    let doubts = doubts(record);
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(CLASSES.len());
    for class in &CLASSES {
        let verdict = judge_class(record, class, &doubts);
        verdicts.push(excuse_host(record, class, verdict, &verdicts));
    }
    verdicts
}

fn judge_class(record: &Record, class: &Class, doubts: &[Doubt]) -> Verdict {
    let verdict = |outcome, reasons| Verdict { rule: class.name.to_owned(), outcome, reasons };
    let forbidding: Vec<String> =
        doubts.iter().filter(|doubt| doubt.forbids_all()).map(|doubt| doubt.text(record)).collect();
    if !forbidding.is_empty() {
        return verdict(Outcome::NotTestable, forbidding);
    }
    let mut rulings = class.limits.map(|limit| rule_on(record, limit, doubts));
    rulings.sort_by_key(|ruling| weight(ruling.outcome));
    let obstacle = obstacle(record);
    let outcome = if obstacle.is_some() { Outcome::NotTestable } else { rulings[0].outcome };
    let limits = rulings.into_iter().map(|ruling| ruling.reason);
    verdict(outcome, obstacle.into_iter().chain(limits).chain(yardstick(record, class)).collect())
}

/// The order in which outcomes decide: one proven miss settles a class, then whatever is missing,
/// then whatever is open. Only when all are met is the class met.
const fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Misses => 0,
        Outcome::NotTestable => 1,
        Outcome::Undecided => 2,
        Outcome::Meets => 3,
    }
}

/// Why no class can be judged, although figures of some phases may be sound.
fn obstacle(record: &Record) -> Option<String> {
    if record.conditions.target.read_only {
        Some("the target was read-only, so nothing is known of its writes".to_owned())
    } else if record.state == State::Failed {
        Some("a fault ended the run, so no class is judged from it".to_owned())
    } else {
        None
    }
}

fn rule_on(record: &Record, limit: Limit, doubts: &[Doubt]) -> Ruling {
    let label = limit.quantity.label();
    let finding = Finding::of(record, |phase| limit.quantity.is_measured_by(phase));
    let not_testable = |reason| Ruling { outcome: Outcome::NotTestable, reason };
    let Finding::Measured { index, phase } = finding else {
        return not_testable(format!("{label}: not measured; {}", finding.cause()));
    };
    if let Some(doubt) = doubts.iter().find(|doubt| doubt.forbids_verdict_on(index)) {
        return not_testable(format!("{label}: no verdict; {}", doubt.warning.message));
    }
    let Some(figure) = limit.quantity.figure(phase) else {
        return not_testable(format!("{label}: no verdict; {}", finding.cause()));
    };
    let of_phase: Vec<WarningCode> = doubts
        .iter()
        .filter(|doubt| doubt.phase.is_none_or(|of| of == index))
        .map(|doubt| doubt.warning.code)
        .collect();
    let (outcome, mut because) = weigh(&figure, limit, phase, &of_phase);
    if of_phase.contains(&WarningCode::Unsteady) {
        because.push_str("; the rate changed within the phase");
    }
    let least = wording::bare(&limit.at_least);
    let least = least.trim_end_matches(".0");
    let measured = wording::figure(&figure);
    Ruling { outcome, reason: format!("{label}: {measured}, limit {least}, {because}") }
}

/// Whether `figure` meets `limit`, and in which words. What can only flatter a figure takes its
/// pass and leaves its miss; what can only harm it, the reverse.
fn weigh(
    figure: &Figure,
    limit: Limit,
    phase: &Phase,
    doubts: &[WarningCode],
) -> (Outcome, String) {
    let open = |why: &str| (Outcome::Undecided, format!("undecided: {why}"));
    let least = limit.at_least.per_second();
    if figure.confidence < CONFIDENCE_MIN {
        return open("too little confidence for a verdict");
    }
    if figure.high.per_second() < least {
        return if doubts.contains(&WarningCode::QueueDepthReduced) {
            open("the queue depth asked for was not reached, which can only lower the figure")
        } else {
            (Outcome::Misses, "missed".to_owned())
        };
    }
    if figure.low.per_second() < least {
        return open("the interval holds the limit");
    }
    if phase.span_bytes < CLASS_SPAN || doubts.contains(&WarningCode::SpanReduced) {
        let span = phase.span_bytes;
        return open(&format!("a range of {span} flatters; the limit is for {CLASS_SPAN}"));
    }
    if doubts.contains(&WarningCode::MaybeUnwritten) {
        return open("blocks that were never written flatter a read");
    }
    if doubts.contains(&WarningCode::Faults) {
        return open("some operations failed");
    }
    (Outcome::Meets, "met".to_owned())
}

/// What an SD class means for storage that is not seen to be an SD card.
fn yardstick(record: &Record, class: &Class) -> Option<String> {
    let name = class.name;
    if record.is_simulated() {
        return Some("this is a simulated card".to_owned());
    }
    match storage(&record.conditions.device) {
        Some("sd") => None,
        Some("usb") => Some(format!(
            "attached by USB: the {name} limits serve as a yardstick, and a card in a reader may \
             be faster than the reader lets it be"
        )),
        Some(other) => {
            Some(format!("not an SD card ({other}): the {name} limits serve as a yardstick only"))
        }
        None => Some(format!(
            "how this storage is attached is not known: the {name} limits serve as a yardstick"
        )),
    }
}

/// Withdraws a miss that the host may be to blame for. A2 is stated for a host that uses the
/// card's command queue and cache, and nothing in a record tells whether this one does.
fn excuse_host(record: &Record, class: &Class, verdict: Verdict, judged: &[Verdict]) -> Verdict {
    let may_be_sd = matches!(storage(&record.conditions.device), None | Some("sd" | "usb"));
    if !class.needs_queue_and_cache || verdict.outcome != Outcome::Misses || !may_be_sd {
        return verdict;
    }
    let excuse = format!(
        "{} counts only where the host uses the card's command queue and cache, and whether this \
         host does is not known",
        class.name
    );
    let beside = judged
        .iter()
        .map(|other| format!("beside it, {}: {}", other.rule, wording::outcome(other.outcome)));
    let reasons = [excuse].into_iter().chain(beside).chain(verdict.reasons).collect();
    Verdict { outcome: Outcome::NotTestable, reasons, ..verdict }
}
