//! Timings of a flash device at its internal boundaries, as flashbench prints them.
//!
//! They are observations only: the allocation unit and the number of open units are inferred elsewhere.
//! Every repeat is kept separately, because repeats that disagree are a finding.

use cardproof_units::{Bytes, Nanos, Throughput};
use serde::{Deserialize, Serialize};

use crate::{PatternName, ProbeTimings};

/// All timings of one device, in the order in which they were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlashTimings {
    /// Reads before, over and after boundaries (`flashbench -a`), one entry for each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<BoundaryRun>,
    /// Writes into several units in turn (`flashbench --open-au`), one entry for each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_units: Vec<OpenUnitsRun>,
    /// Writes at the device's beginning (`flashbench --find-fat`), one entry for each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_areas: Vec<FirstAreaRun>,
    /// Timings that only `cardproof geometry` takes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub probe: ProbeTimings,
}

fn is_default(probe: &ProbeTimings) -> bool {
    *probe == ProbeTimings::default()
}

impl FlashTimings {
    /// Whether nothing was timed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One run over all boundaries, from the largest alignment down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryRun {
    /// The size of one read; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<Bytes>,
    /// A row for each alignment, as printed.
    pub rows: Vec<BoundaryTiming>,
}

/// How long reads at boundaries of one alignment take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundaryTiming {
    /// The alignment of the boundaries: the largest power of two that divides their addresses.
    pub alignment_bytes: Bytes,
    /// A read that ends at the boundary.
    pub before_ns: Nanos,
    /// A read that crosses it.
    pub across_ns: Nanos,
    /// A read that begins at it.
    pub after_ns: Nanos,
    /// The crossing read less the mean of the two others; negative where it is faster. In
    /// nanoseconds, as the tool printed it: it has more digits than the other three.
    pub difference_ns: f64,
}

/// One run that writes blocks of falling sizes into some units in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenUnitsRun {
    /// The number of units; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u32>,
    /// In which order blocks are written inside a unit.
    pub order: PatternName,
    /// The size of a unit as set by the user; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_bytes: Option<Bytes>,
    /// A row for each block size, as printed.
    pub rows: Vec<BlockRates>,
}

/// One run that writes at the device's beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstAreaRun {
    /// A row for each block size; its rates are those of the first unit, the second, and so on.
    pub rows: Vec<BlockRates>,
}

/// Rates of writing in blocks of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockRates {
    /// The size of a block.
    pub block_bytes: Bytes,
    /// Bytes a second, as many as were printed.
    pub bytes_per_s: Vec<Throughput>,
}
