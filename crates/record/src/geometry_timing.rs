//! Timings from which the geometry of a card's flash is inferred, beside those that flashbench knows.
//!
//! They are observations like those of [`FlashTimings`](crate::FlashTimings), of which they are a
//! part. Repeats are kept apart.

use cardproof_units::{Bytes, Nanos, Throughput};
use serde::{Deserialize, Serialize};

/// What `cardproof geometry` times beside what flashbench does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeTimings {
    /// Stretches written from front to back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<SweepRun>,
    /// Fast writing after rests.
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
    /// Why what is missing was not measured; absent where nothing is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
}

/// A stretch written from front to back after a rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRun {
    /// The size of each write.
    pub block_bytes: Bytes,
    /// How much was written.
    pub written_bytes: Bytes,
    /// The even distance of writes that take longer than the others, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_every_bytes: Option<Bytes>,
    /// Where the rate falls for good, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fall: Option<RateFall>,
    /// The rate over the stretch, in equal parts.
    pub bytes_per_s: Vec<Throughput>,
}

/// Where a rate falls for good.
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

/// Writing that was fast again after a rest, on a card whose fast part was full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheRecovery {
    /// How long the card rested.
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

/// What is found of a quantity of the geometry: derived from the timings, attached on output only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum QuantityFound {
    /// It shows.
    Claimed {
        /// A number, or a word.
        value: QuantityValue,
        /// The number's unit.
        unit: String,
        /// How probable it is that the value is right, 0 to 1.
        probability: f64,
        /// How it was found.
        method: String,
        /// What else should be known of it.
        notes: Vec<String>,
    },
    /// It does not show.
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
