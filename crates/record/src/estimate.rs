//! Rates and latencies: estimates with their intervals, what another tool stated, and percentiles.

use cardproof_units::{Iops, Nanos, Throughput};
use serde::{Deserialize, Serialize};

use crate::ranges::{BYTES_PER_S_MOST, IOPS_MOST};

/// A rate with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate<Rate> {
    /// The best single figure.
    pub estimate: Rate,
    /// The interval's lower end.
    pub low: Rate,
    /// The interval's upper end.
    pub high: Rate,
    /// The confidence level of the interval, 0 to 1.
    pub confidence: f64,
}

impl Estimate<Iops> {
    /// The same with an upper end that a storage can reach: two very different runs give an interval
    /// without a sensible one.
    #[must_use]
    pub fn within_reach(self) -> Self {
        Self { high: Iops(self.high.0.min(IOPS_MOST)), ..self }
    }
}

impl Estimate<Throughput> {
    /// The same with an upper end that a storage can reach.
    #[must_use]
    pub fn within_reach(self) -> Self {
        Self { high: Throughput(self.high.0.min(BYTES_PER_S_MOST)), ..self }
    }
}

/// Rates as another tool printed them: single figures without an interval.
///
/// They are not an [`Estimate`], because an interval of zero width would claim certainty, and any other
/// width would be invented. Code that needs an interval finds none here, so no verdict can use these
/// rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// Operations a second, as printed, or from the bytes a second and the block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// Bytes a second, from the tool's own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Throughput>,
    /// The reads of a mixed phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<Iops>,
    /// The writes of a mixed phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Iops>,
}

/// Latencies of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// The shortest.
    pub min: Nanos,
    /// The arithmetic mean.
    pub mean: Nanos,
    /// Half were at most this.
    pub p50: Nanos,
    /// 90 % were at most this.
    pub p90: Nanos,
    /// 99 % were at most this.
    pub p99: Nanos,
    /// 99.9 % were at most this.
    pub p999: Nanos,
    /// The longest, exactly.
    pub max: Nanos,
}
