//! What is refused of a text beside outputs that are no tool's: too much of one, and lines that contradict
//! themselves.

use cardproof_record::Stated;

use super::{ImportError, MEASUREMENTS_MAX};

/// Refuses more measurements than a record can show: a reader asks before each line, so that a long text
/// of them ends there.
pub(super) fn check_count(count: usize) -> Result<(), ImportError> {
    if count > MEASUREMENTS_MAX {
        return Err(ImportError::TooMany { limit: MEASUREMENTS_MAX });
    }
    Ok(())
}

/// No tool prints a greater number, and a record holds none.
pub(super) const FIGURE_MOST: f64 = 1e18;

/// Why rates are no measurement: no storage does so many operations or moves so many bytes a second.
pub(super) fn impossible(stated: &Stated) -> Option<String> {
    let counts = [stated.iops, stated.read_iops, stated.write_iops];
    let is_beyond = counts.into_iter().flatten().any(|iops| iops.0 > 1e12)
        || stated.throughput_bytes_per_s.is_some_and(|rate| rate.0 > 1e15);
    is_beyond.then(|| "the printed rate is more than any storage has".to_owned())
}

/// So many lines of one part are refused one by one, before all of the part is.
const REFUSED_MAX: usize = 8;

/// Lines that contradict themselves, of a tool of which each line is an output by itself: such a line does
/// not take the others with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals(Vec<ImportError>);

impl Refusals {
    /// Adds one; the error is the first of them where they are too many.
    pub(super) fn add(&mut self, error: ImportError) -> Result<(), ImportError> {
        self.0.push(error);
        if self.0.len() > REFUSED_MAX { Err(self.0.swap_remove(0)) } else { Ok(()) }
    }

    /// Why nothing is read: the first of them, else `error`.
    pub(super) fn first_or(&mut self, error: ImportError) -> ImportError {
        if self.0.is_empty() || matches!(error, ImportError::TooMany { .. }) {
            return error;
        }
        self.0.swap_remove(0)
    }

    /// All of them, by line.
    pub(super) fn take(&mut self) -> Vec<ImportError> {
        std::mem::take(&mut self.0)
    }
}
