//! What is refused of a text beside outputs that are no tool's: too much of one, and lines that contradict
//! themselves.

use super::{ImportError, MEASUREMENTS_MAX};

/// Refuses more measurements than a record can show: a reader asks before each line, so that a long text
/// of them ends there.
pub(super) fn check_count(count: usize) -> Result<(), ImportError> {
    if count > MEASUREMENTS_MAX {
        return Err(ImportError::TooMany { limit: MEASUREMENTS_MAX });
    }
    Ok(())
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
