//! The words of a phase: what its operations do, in which order, and whether its figures are valid.

use serde::{Deserialize, Serialize};

/// What the phase's operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OpName {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes.
    Mixed,
    /// Unknown: not in the other tool's output, or a kind of a newer version.
    #[serde(other)]
    Unknown,
}

/// The order of the addresses in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatternName {
    /// In ascending order.
    Sequential,
    /// At random in the span.
    Random,
    /// Unknown: not in the other tool's output, or a pattern of a newer version.
    #[serde(other)]
    Unknown,
}

/// Whether a phase has valid figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum PhaseState {
    /// Yes: its estimates, or the rates that its tool stated, are valid.
    Measured,
    /// The user stopped it. Its figures are kept, but no verdict uses them.
    Partial,
    /// No. Its figures, if any, are not used.
    NotMeasured {
        /// Why, in words.
        cause: String,
    },
    /// A state of a newer version. Its figures are not used.
    #[serde(other)]
    Unknown,
}
