//! What a laboratory says when it cannot be had.
//!
//! The two cases are kept apart because tests treat them differently: what the
//! machine lacks is a reason to skip, anything else is a failure.

use std::path::{Path, PathBuf};

use cardproof_units::in_words;

/// Why a laboratory is not there.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The machine cannot give it; the text is the reason for the skip.
    #[error("{0}")]
    Unavailable(String),
    /// A command that should have worked did not.
    #[error("`{command}` ended with {status}: {stderr}")]
    Command {
        /// The command line.
        command: String,
        /// Its exit status, in words.
        status: String,
        /// What it said on standard error.
        stderr: String,
    },
    /// A file of the laboratory could not be used.
    #[error("cannot {doing} {path}: {}", in_words(.error), path = path.display())]
    File {
        /// What was being done to it.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A tool answered, but not in the form that was expected of it.
    #[error("{tool} answered something unexpected: {what}")]
    Answer {
        /// Which tool.
        tool: &'static str,
        /// What was wrong with it.
        what: String,
    },
}

impl LabError {
    /// An error of the file at `path` while `doing` something, such as `read`.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { doing, path, error }
    }

    /// The machine lacks something.
    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable(reason.into())
    }
}
