//! Timings for the geometry of a card's flash that flashbench does not take.
//!
//! They are observations and part of [`FlashTimings`](crate::FlashTimings). Repeats are kept separately.

use cardproof_units::{Bytes, Nanos, Throughput};
use serde::{Deserialize, Serialize};

/// Timings of `cardproof geometry` that flashbench does not take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeTimings {
    /// Sequential writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<SweepRun>,
    /// Fast writes after pauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recoveries: Vec<CacheRecovery>,
    /// Writes to the same place again, by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<TimesRun>,
    /// Writes to places far apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<SpreadTimes>,
    /// Writes at the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontTimes>,
    /// Reads by span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<TimesRun>,
    /// Why some timings are missing; absent if none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// How large the test range must be to measure them; absent where it was large enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_range_bytes: Option<Bytes>,
}

/// Sequential writes after a pause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRun {
    /// The size of each write.
    pub block_bytes: Bytes,
    /// How much was written.
    pub written_bytes: Bytes,
    /// The regular distance between slow writes, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_every_bytes: Option<Bytes>,
    /// Where the rate drops permanently, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fall: Option<RateFall>,
    /// The rate over the stretch, in equal parts.
    pub bytes_per_s: Vec<Throughput>,
}

/// A permanent drop of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateFall {
    /// How many bytes were written before.
    pub fast_bytes: Bytes,
    /// The rate before.
    pub before_bytes_per_s: Throughput,
    /// The rate after.
    pub after_bytes_per_s: Throughput,
}

/// Writes that were fast again after a pause, on a card whose cache was full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheRecovery {
    /// The length of the pause.
    pub rest_ns: Nanos,
    /// How many bytes were written fast after it.
    pub fast_bytes: Bytes,
    /// How many were fast when the card was empty.
    pub cache_bytes: Bytes,
}

/// A time that belongs to a size, a place or a span.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeAt {
    /// The size of a write, the end of a place, or a span.
    pub at_bytes: Bytes,
    /// The time.
    pub time_ns: Nanos,
}

/// One run over sizes or spans.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimesRun {
    /// A row for each size or span.
    pub rows: Vec<TimeAt>,
}

/// Writes to the same places again, beside writes from front to back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpreadTimes {
    /// The size of each write.
    pub block_bytes: Bytes,
    /// A write from front to back.
    pub in_order_ns: Nanos,
    /// A write to a place far from the others, where one was just written.
    pub again_ns: Nanos,
}

/// Writes to the same place again at the front of a card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontTimes {
    /// A row for each place, by its end.
    pub rows: Vec<TimeAt>,
    /// The time elsewhere.
    pub elsewhere_ns: Nanos,
    /// Why the front could not be measured, in words; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
}

/// The finding for a quantity of the geometry. It is derived from the timings and attached on output only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum QuantityFound {
    /// It was found.
    Claimed {
        /// A number, or a word.
        value: QuantityValue,
        /// The number's unit.
        unit: String,
        /// How probable it is that the value is right, 0 to 1.
        probability: f64,
        /// How it was found.
        method: String,
        /// Notes.
        notes: Vec<String>,
    },
    /// It was not found.
    CannotBeSeen {
        /// Why not.
        cannot_be_seen: String,
    },
}

/// The value of a quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum QuantityValue {
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}
