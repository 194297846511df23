//! Errors of reading a tool's output: the line, what was found and what was expected.

use super::ForeignTool;
use super::lines::Line;
use super::text::quantities;
use super::view::{Letters, Needle};

/// No more of a line than this is shown.
const SHOWN_CHARS: usize = 60;

/// Why a text could not be made a record. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nothing in the text is known.
    #[error(
        "not the output of a known tool; paste the lines as the tool printed them, with their headings and \
         units (`cardproof import --help` lists the tools)"
    )]
    Unrecognised,
    /// A line states a rate as a data sheet does, and nothing in the text is a tool's.
    #[error(
        "line {line} reads like a seller's claim or a summary, and not like a tool's output: '{found}'; to measure \
         it, run `cardproof run` on the storage"
    )]
    Claim {
        /// The line.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// More measurements than a record can show.
    #[error("more than {limit} measurements in one text; split it")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// A line is not what the tool prints there.
    #[error(
        "line {line}: recognised as {tool}'s output, but expected {expected}, found '{found}'; compare \
         the line with what {tool} printed"
    )]
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
    #[error(
        "line {line}: recognised as {tool}'s output, which ends here without a figure; expected \
         {expected}; paste the lines below as well"
    )]
    Ends {
        /// The tool.
        tool: ForeignTool,
        /// The last line.
        line: usize,
        /// What should have come.
        expected: String,
    },
    /// Figures that belong together do not fit.
    #[error(
        "line {line}: recognised as {tool}'s output, but its figures do not fit together as they are \
         read here: {what}; compare the line with what {tool} printed"
    )]
    Contradiction {
        /// The tool.
        tool: ForeignTool,
        /// The line.
        line: usize,
        /// Which figures, and how.
        what: String,
    },
    /// The tool looks for faults alone, and found none.
    #[error(
        "{tool} found no fault here, and it measures no speed, so there is nothing to import; to test the \
         capacity, run `cardproof verify`"
    )]
    NoFault {
        /// The tool.
        tool: ForeignTool,
    },
    /// A name that is no tool's.
    #[error("unknown tool '{name}'; known tools: {}", ForeignTool::names())]
    NoSuchTool {
        /// What was asked for.
        name: String,
    },
}

impl ImportError {
    /// Why nothing in `lines` is known: the first line that states a rate as prose does, where there is
    /// one.
    pub(super) fn unrecognised(lines: &[Line]) -> Self {
        let claim = lines.iter().find(|line| is_claim(line));
        claim.map_or(Self::Unrecognised, |line| Self::Claim {
            line: line.number,
            found: shown(&line.text),
        })
    }

    /// A line that is not what `tool` prints there.
    pub(super) fn unexpected(tool: ForeignTool, line: usize, expected: &str, found: &str) -> Self {
        Self::Unexpected { tool, line, expected: expected.to_owned(), found: shown(found) }
    }
}

/// As much of a line as is shown.
fn shown(line: &str) -> String {
    line.trim().chars().filter(|c| !crate::lines::steers(*c)).take(SHOWN_CHARS).collect()
}

/// Whether a line names a quantity and states a rate of it, such as `Sequential Read: 180 MB/s`.
fn is_claim(line: &Line) -> bool {
    const NEEDED: Letters = Letters::of_word("0:");
    const UNITS: [Needle; 4] =
        [Needle::new("MB/s"), Needle::new("IOPS"), Needle::new("GB/s"), Needle::new("Mbps")];
    let view = line.view();
    if !view.has(NEEDED) || !UNITS.iter().any(|unit| view.holds(unit)) {
        return false;
    }
    let Some((name, rate)) = view.text.split_once(':') else { return false };
    let lower = name.to_lowercase();
    let is_named = ["read", "write", "speed", "transfer"].iter().any(|word| lower.contains(word));
    let is_rate = |unit: &str| matches!(unit, "MB/s" | "MB/sec" | "IOPS" | "GB/s" | "Mbps");
    is_named && quantities(rate).iter().any(|it| is_rate(it.unit))
}
