//! Whether a reading of a paste is right.

use cardproof_record::{FindingKind, OpName, Record};

use super::{CardTruth, PrintedFigure};

/// What a reading came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reading {
    /// Every figure of every card, and no other.
    Right,
    /// Something was not read, and nothing was made up.
    Refused,
    /// A figure that the text does not hold of this card, cards that were joined or split, or a fault that
    /// was lost beside a speed.
    Wrong,
}

/// Judges the `records` that were read of a text that holds `cards`.
#[must_use]
pub fn judge(records: &[Record], cards: &[CardTruth]) -> Reading {
    if records.is_empty() {
        return if cards.is_empty() { Reading::Right } else { Reading::Refused };
    }
    if records.len() > cards.len() {
        return Reading::Wrong;
    }
    let mut is_whole = records.len() == cards.len();
    let mut left = cards.iter();
    for record in records {
        // A card that was not read at all stands between two that were.
        let Some(card) = left.find(|card| holds(card, record)) else { return Reading::Wrong };
        if card.has_fault && !has_fault(record) {
            return Reading::Wrong;
        }
        is_whole &= told_by(record).len() == card.told.len();
    }
    if is_whole { Reading::Right } else { Reading::Refused }
}

/// Whether a card's truth holds all that `record` shows.
fn holds(card: &CardTruth, record: &Record) -> bool {
    let mut left = card.told.clone();
    let are_told = told_by(record).iter().all(|told| {
        let fits = |known: &PrintedFigure| {
            let is_open = known.op == OpName::Unknown || told.op == OpName::Unknown;
            let is_op = known.op == told.op || is_open;
            is_op && (known.value - told.value).abs() <= known.value.abs() * 1e-9
        };
        left.iter().position(fits).map(|at| left.remove(at)).is_some()
    });
    are_told && (card.has_fault || !has_fault(record))
}

/// Whether `record` tells of a fault: that a test has no end is what a cut does.
fn has_fault(record: &Record) -> bool {
    let is_fault = |what: &FindingKind| !matches!(what, FindingKind::Unfinished { .. });
    record.findings.iter().any(|finding| is_fault(&finding.what))
}

/// The figures that `record` shows of its phases.
fn told_by(record: &Record) -> Vec<PrintedFigure> {
    let of_phase = |name: &String| record.phases.iter().find(|phase| phase.name == *name);
    let figures = record.figures.iter().filter_map(|figure| {
        let phase = of_phase(figure.phases.first()?)?;
        Some(PrintedFigure { op: phase.op, value: figure.value })
    });
    figures.collect()
}
