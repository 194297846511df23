//! Doubts about a measurement, by kind, so that rules can act on them.

use serde::{Deserialize, Serialize};

/// A doubt about a measurement: a value, so that rules can act on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The kind of doubt.
    pub code: WarningCode,
    /// The message.
    pub message: String,
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
