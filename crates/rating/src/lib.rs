//! What a record means: verdicts, plausibility, daily use, advice.
//!
//! Everything here is a pure function of a record, so that old records can be judged again by
//! better rules. This crate measures nothing, reads no file and prints nothing, and it never
//! calls a card certified: it says whether limits were met as measured on one host.

use cardproof_record::{Record, Verdict, Warning};

/// What a figure means for one daily use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The use, such as `Starting up and opening programs`.
    pub topic: &'static str,
    /// How well the storage serves it.
    pub grade: Grade,
    /// Why, in plain words with figures.
    pub text: String,
}

/// How well the storage serves a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grade {
    /// As well as the better published cards, or better.
    Good,
    /// Like the middle of the published cards.
    Fair,
    /// Like the worst of the published cards.
    Poor,
    /// Nothing trustworthy was measured.
    Unknown,
}

/// What each rule says of `record`, in the order of the rules.
#[must_use]
pub fn judge(_record: &Record) -> Vec<Verdict> {
    Vec::new()
}

/// Doubts that follow from the record itself and that it does not hold yet.
#[must_use]
pub fn plausibility(_record: &Record) -> Vec<Warning> {
    Vec::new()
}

/// What the figures mean in daily use.
#[must_use]
pub fn meaning(_record: &Record) -> Vec<Meaning> {
    Vec::new()
}

/// What to do next, most important first.
#[must_use]
pub fn next_steps(_record: &Record, _verdicts: &[Verdict]) -> Vec<String> {
    Vec::new()
}
