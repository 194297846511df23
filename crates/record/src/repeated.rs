//! The levels and runs of a phase, and the intervals of its percentiles.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::{Deserialize, Serialize};

use crate::{Estimate, Latency, PhaseSurroundings};

/// A stretch of a phase over which the rate stayed on one level.
///
/// A card that writes into a fast cache until it is full has two; one that grows too hot may have
/// more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// When it began, from the phase's start.
    pub start_ns: Nanos,
    /// How long it lasted.
    pub duration_ns: Nanos,
    /// What the phase had moved before it.
    pub bytes_before: Bytes,
    /// Operations that completed in it.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Operations a second.
    pub iops: Estimate<Iops>,
    /// Bytes a second.
    pub throughput_bytes_per_s: Estimate<Throughput>,
}

/// The interval of a latency percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileInterval {
    /// The lower end.
    pub low: Nanos,
    /// The upper end; absent where too few operations were seen to bound it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Nanos>,
}

/// The intervals of a phase's latency percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyIntervals {
    /// The confidence level of each interval, 0 to 1.
    pub confidence: f64,
    /// Of the median.
    pub p50: PercentileInterval,
    /// Of the 90th percentile.
    pub p90: PercentileInterval,
    /// Of the 99th percentile.
    pub p99: PercentileInterval,
    /// Of the 99.9th percentile.
    pub p999: PercentileInterval,
}

/// One of several runs of a phase. The phase itself holds all of them together, or those that count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseRun {
    /// Whether the phase's figures include it. Runs before steady state do not count in a run that
    /// continues until steady state.
    #[serde(default = "counts", skip_serializing_if = "is_true")]
    pub counts: bool,
    /// Its place in the order of everything that was run, from 0.
    pub position: u32,
    /// When it began, from the start of the whole run.
    pub start_ns: Nanos,
    /// Operations completed, without flushes.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// From the first submission to the last completion, a final flush included.
    pub duration_ns: Nanos,
    /// Operations a second, with the interval that this run alone gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate<Iops>>,
    /// Bytes a second, with the interval that this run alone gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Estimate<Throughput>>,
    /// Latencies of its operations, without flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// What the system did during it, without the time series; absent if it was not monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
}

/// A run counts unless it is said that it does not.
const fn counts() -> bool {
    true
}

/// For serde, which hands a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_true(value: &bool) -> bool {
    *value
}

/// A whole job that was timed, such as the installation of a desktop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Job"))]
pub struct JobTime {
    /// What was done, such as `boot` or `desktop-install`.
    pub name: String,
    /// How long it took.
    pub duration_ns: Nanos,
}
