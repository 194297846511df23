//! Whether a command queue or discards harm data: what was done and seen. What it means is derived from it.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ReadOrigin;

/// Tests of a command queue and of discards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntegrityTest {
    /// Of the command queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTest>,
    /// Of discards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<DiscardTest>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Checksummed pieces, written and read with many requests at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueueTest {
    /// The most requests at a time.
    pub queue_depth: u16,
    /// How many pieces of 4 to 128 KiB there were, all over the test range.
    pub pieces: u64,
    /// The test range, from the start of the target.
    pub span_bytes: Bytes,
    /// Whether pieces were also discarded among the requests.
    #[serde(default)]
    pub with_discards: bool,
    /// What was done one request at a time, before.
    pub control: CheckedRequests,
    /// What was done at depth.
    pub queued: CheckedRequests,
    /// Requests that the device answered with an error.
    #[serde(default)]
    pub faults: u64,
    /// How many of these errors a further try did not show.
    #[serde(default)]
    pub mended: u64,
    /// Whether the reads came from the storage device; absent for a simulated card and in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReadOrigin>,
    /// The first wrong pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongPiece>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Requests whose data were compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedRequests {
    /// Writes whose data were read again, after a later flush.
    pub writes: u64,
    /// Reads whose data were compared.
    pub reads: u64,
    /// Flushes after which everything written since the one before was read.
    pub flushes: u64,
    /// Pieces that were found wrong, each time that they were.
    pub wrong: u64,
    /// The time that it took.
    pub time_ns: Nanos,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What came back in the place of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WrongData {
    /// An older writing of the same address.
    Older,
    /// The data of another address.
    Foreign,
    /// A part is right, and the rest is older or empty.
    Torn,
    /// Zeros, or bytes of 255.
    Blank,
    /// Wrong bits, or data that the test did not write.
    Damaged,
    /// A kind of a newer version.
    #[serde(other)]
    Unknown,
}

/// A piece that was wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongPiece {
    /// What came back.
    pub kind: WrongData,
    /// Where the first wrong byte lies.
    pub address_bytes: Bytes,
    /// How many bytes were wrong.
    pub length_bytes: Bytes,
    /// The address whose data came back, if another's did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_bytes: Option<Bytes>,
    /// How many requests were under way when the read was handed over, itself included.
    pub depth: u16,
    /// Whether it was found while requests were queued, or in the control.
    pub is_queued: bool,
    /// Read again alone, it was wrong again; else only the first read was wrong.
    pub is_stored: bool,
    /// The same data had been read rightly before.
    pub was_right: bool,
}

/// Ranges that were discarded, with live data between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardTest {
    /// The test range, from the start of the target.
    pub span_bytes: Bytes,
    /// The device cannot discard.
    #[serde(default)]
    pub is_unsupported: bool,
    /// Discards that were done and checked.
    pub discards: u64,
    /// How much they covered.
    pub discarded_bytes: Bytes,
    /// Live data that were compared after discards.
    pub live_checked_bytes: Bytes,
    /// Data that were written after a discard and compared.
    pub again_checked_bytes: Bytes,
    /// Places that were found wrong.
    pub wrong_places: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<DiscardHarm>,
    /// How much of what was discarded read as zeros, as 255, as the old data, and as anything else.
    pub reads_zero_bytes: Bytes,
    /// See `reads_zero_bytes`.
    pub reads_ones_bytes: Bytes,
    /// See `reads_zero_bytes`.
    pub reads_old_bytes: Bytes,
    /// See `reads_zero_bytes`.
    pub reads_other_bytes: Bytes,
    /// How much read as empty at first, and later as the old data.
    pub revived_bytes: Bytes,
    /// Data that were compared in a control, in which the same was done without discards; 0 where nothing was wrong,
    /// and in records of older versions.
    #[serde(default)]
    pub control_checked_bytes: Bytes,
    /// Places that were wrong in the control.
    #[serde(default)]
    pub control_wrong_places: u64,
    /// Requests that the device answered with an error.
    #[serde(default)]
    pub faults: u64,
    /// How many of these errors a further try did not show.
    #[serde(default)]
    pub mended: u64,
    /// Whether the reads came from the storage device; absent for a simulated card and in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ReadOrigin>,
    /// The time that it took.
    pub time_ns: Nanos,
    /// What speed discards gave back; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<DiscardSpeed>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a place was when a discard was found to have harmed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HarmedPlace {
    /// Live data beside discarded ranges.
    Live,
    /// Data that were written to a range after its discard.
    WrittenAgain,
    /// Live data outside of the area in which ranges were discarded.
    Far,
    /// A discarded range that reads as the data of another address.
    Discarded,
    /// A place of a newer version.
    #[serde(other)]
    Unknown,
}

/// A place that a discard has harmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardHarm {
    /// What it was.
    pub place: HarmedPlace,
    /// What came back in its first wrong sector.
    pub kind: WrongData,
    /// Where that lies.
    pub address_bytes: Bytes,
    /// How many bytes are wrong.
    pub length_bytes: Bytes,
    /// How far it lies from the nearest discarded range.
    pub distance_bytes: Bytes,
}

/// Random writes of 4 KiB to a full region, and to the same region filled and then discarded, in turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardSpeed {
    /// The size of the region.
    pub region_bytes: Bytes,
    /// Writes a second to the full region, of each pair.
    pub before_iops: Vec<f64>,
    /// Writes a second after the discard, of each pair.
    pub after_iops: Vec<f64>,
}
