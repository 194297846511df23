//! Errors of reading a tool's output: the line, what was found and what was expected.

use super::ForeignTool;

/// No more of a line than this is shown.
const SHOWN_CHARS: usize = 60;

/// Why a text could not be made a record. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in the text is known.
    #[error(
        "no output of a known tool found ({}); if the text is from one of them, name it with --as",
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
    #[error("line {line}: the output of {tool} ends without a figure; expected {expected}")]
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
    #[error("unknown tool '{name}'; known tools: {}", ForeignTool::names())]
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
