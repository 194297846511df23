//! Why a text is not read: what was found, in which line, and what was expected there.

use super::ForeignTool;

/// No more of a line than this is shown.
const SHOWN_CHARS: usize = 60;

/// Why a text could not be made a record. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in the text is known.
    #[error(
        "no line is the output of a tool that can be read ({}); if it is one of them, name it \
         with --as",
        ForeignTool::names()
    )]
    Unrecognised,
    /// More measurements than a record can show.
    #[error("more than {limit} measurements in one text; split it")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// A line is not what the tool prints there.
    #[error("line {line}: not {tool}'s output: expected {expected}, found '{found}'")]
    Unexpected {
        /// The tool.
        tool: ForeignTool,
        /// The line.
        line: usize,
        /// What the tool prints there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The text ends before the tool's first figure.
    #[error("line {line}: the output of {tool} has no figure up to there; expected {expected}")]
    Ends {
        /// The tool.
        tool: ForeignTool,
        /// The last line.
        line: usize,
        /// What should have come.
        expected: String,
    },
    /// Figures that belong together do not fit.
    #[error("line {line}: the output of {tool} contradicts itself: {what}")]
    Contradiction {
        /// The tool.
        tool: ForeignTool,
        /// The line.
        line: usize,
        /// Which figures, and how.
        what: String,
    },
    /// A name that is no tool's.
    #[error("there is no tool '{name}' to read; there is: {}", ForeignTool::names())]
    NoSuchTool {
        /// What was asked for.
        name: String,
    },
}

impl ImportError {
    /// A line that is not what `tool` prints there.
    pub(super) fn unexpected(tool: ForeignTool, line: usize, expected: &str, found: &str) -> Self {
        let found = found.trim().chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
        Self::Unexpected { tool, line, expected: expected.to_owned(), found }
    }
}
