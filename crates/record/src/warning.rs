//! Doubts about a measurement, by kind, so that rules can act on them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::disturbance::known;
use crate::{Disturbance, WarningCause};

/// A doubt about a measurement: a value, so that rules can act on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Stored", into = "Stored")]
pub struct Warning {
    /// The kind of doubt.
    pub code: WarningCode,
    /// The run that raises it, from 1, where a phase was run several times.
    pub run: Option<usize>,
    /// What raises it, with its figures.
    pub cause: WarningCause,
}

impl From<WarningCause> for Warning {
    fn from(cause: WarningCause) -> Self {
        Self { code: cause.code(), run: None, cause }
    }
}

impl From<Disturbance> for Warning {
    fn from(disturbance: Disturbance) -> Self {
        WarningCause::Disturbed { disturbance }.into()
    }
}

impl Warning {
    /// A doubt of which only `words` are known, as another tool or an earlier version says them.
    #[must_use]
    pub fn stated(code: WarningCode, words: impl Into<String>) -> Self {
        Self { code, run: None, cause: WarningCause::Stated(words.into()) }
    }

    /// The same of the run with this number, from 1.
    #[must_use]
    pub fn in_run(self, number: usize) -> Self {
        Self { run: Some(number), ..self }
    }

    /// Whether `other` says the same, figures and runs aside.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.code == other.code && self.cause.is_like(&other.cause)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.run {
            write!(f, "run {number}: ")?;
        }
        self.cause.fmt(f)
    }
}

/// The stored form: the sentence beside the values.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Warning"))]
struct Stored {
    /// The kind of doubt.
    code: WarningCode,
    /// The run that raises it, from 1, where a phase was run several times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<usize>,
    /// What raises it, with its figures; absent where only the words are known.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    cause: Option<WarningCause>,
    /// The same in words.
    message: String,
}

impl From<Stored> for Warning {
    fn from(stored: Stored) -> Self {
        let Stored { code, run, cause, message } = stored;
        match cause {
            Some(cause) => Self { code, run, cause },
            // The words name the run.
            None => Self::stated(code, message),
        }
    }
}

impl From<Warning> for Stored {
    fn from(warning: Warning) -> Self {
        let message = warning.to_string();
        let Warning { code, run, cause } = warning;
        let is_told = !matches!(cause, WarningCause::Stated(_));
        Self { code, run: run.filter(|_| is_told), cause: Some(cause).filter(|_| is_told), message }
    }
}

/// The kind of a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// The test range is smaller than in the profile; a smaller range gives higher rates.
    SpanReduced,
    /// Operations used the page cache.
    Buffered,
    /// It is unknown whether operations used the page cache.
    CacheUnknown,
    /// The original tool uses the page cache; this target has none, so do not compare the figures.
    NoPageCache,
    /// The figures come from memory, not from storage.
    Memory,
    /// The storage below a layer, such as a loop device, is unknown; it may be memory.
    LayerUnknown,
    /// The file system may compress, or never overwrites in place.
    CopyOnWrite,
    /// The storage returned wrong data.
    WrongData,
    /// The rate is above the bus limit.
    AboveLink,
    /// The range may hold unwritten blocks, which some devices return without a flash access.
    MaybeUnwritten,
    /// Too few operations for a narrow interval.
    FewOperations,
    /// Some operations failed.
    Faults,
    /// The requested queue depth was not reached.
    QueueDepthReduced,
    /// The rate did not become steady, or it changed within the phase.
    Unsteady,
    /// Heat, low power, other processes or a changed clock disturbed the phase.
    Disturbed,
    /// Options of the tool limit the rate: the figure is the limit's and not the storage's.
    RateLimited,
    /// Unknown warning from a newer version.
    #[serde(other)]
    Other,
}

impl WarningCode {
    /// Whether this doubt prevents a verdict.
    #[must_use]
    pub const fn forbids_verdict(self) -> bool {
        matches!(
            self,
            Self::Buffered
                | Self::Memory
                | Self::LayerUnknown
                | Self::CopyOnWrite
                | Self::WrongData
                | Self::AboveLink
        )
    }
}
