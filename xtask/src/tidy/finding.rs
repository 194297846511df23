//! What a rule found.

use std::fmt;
use std::path::{Path, PathBuf};

/// One breach of a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// In which file.
    pub(super) path: PathBuf,
    /// On which line, from 1; 0 for the file as a whole.
    pub(super) line: usize,
    /// What is wrong and what to do.
    pub(super) message: String,
}

impl Finding {
    /// A finding on `line` of `path`.
    pub(super) fn new(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}
