//! Power cuts, as they were seen; what they mean is derived from them.

use std::collections::BTreeMap;

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What many power cuts did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerCutTest {
    /// How a write was made durable: `flush`, `fua`, `fsync`, or the name of an application.
    pub mode: String,
    /// How the power was cut: `simulated`, `command` or `by hand`.
    pub power: String,
    /// The most writes under way at a time.
    pub queue_depth: u16,
    /// How many writes lay between two flushes.
    pub writes_per_flush: u32,
    /// How much of the target was written and read.
    pub area_bytes: Bytes,
    /// All cuts.
    pub cuts: u64,
    /// Cuts with writes in flight, and those that did harm.
    pub effective_cuts: u64,
    /// Cuts that did harm of any kind.
    pub harmful_cuts: u64,
    /// For each kind of harm that was found, the number of cuts that did it: `lost`, `torn`,
    /// `reordered`, `collateral`, `misdirected`, `unreadable`, `gone`.
    #[serde(default)]
    pub findings: BTreeMap<String, u64>,
    /// The harm in detail, of the first cuts that did any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harm: Vec<CutHarm>,
    /// Sectors that two readings after a cut differed in.
    #[serde(default)]
    pub unstable_sectors: u64,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One piece of harm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutHarm {
    /// The number of the cut, from 1.
    pub cut: u64,
    /// The kind of harm, such as `lost` or `torn`.
    pub kind: String,
    /// The write that it happened to or whose data are there, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<u64>,
    /// Where the first bytes lie that show it.
    pub address_bytes: Bytes,
    /// How many bytes show it.
    pub length_bytes: Bytes,
    /// How far they lie from the nearest write in flight, for data that none covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance_bytes: Option<Bytes>,
}
