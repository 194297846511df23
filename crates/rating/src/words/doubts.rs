//! Doubts about a record in words.

use cardproof_record::{Record, Warning};

use crate::doubts::{Doubt, not_held};

impl Doubt {
    /// The doubt in words, with the name of the phase it is about.
    #[must_use]
    pub fn text(&self, record: &Record) -> String {
        match self.phase_of(record) {
            Some(phase) => format!("{}: {}", phase.name, self.warning),
            None => self.warning.to_string(),
        }
    }
}

/// The doubts that follow from `record` and that it does not hold yet, such as figures above the
/// ceiling of the link or from memory, each in words. One about a phase names it.
#[must_use]
pub fn plausibility(record: &Record) -> Vec<Warning> {
    let new = not_held(record).into_iter();
    new.map(|doubt| Warning::stated(doubt.warning.code, doubt.text(record))).collect()
}
