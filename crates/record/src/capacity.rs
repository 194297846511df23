//! A test of the capacity, as it was seen; what it means is derived from it.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::CapacityPlace;
use crate::limit::is_false;

/// What a test of the capacity wrote and what came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityTest {
    /// How it was tested.
    pub method: CapacityMethod,
    /// The size that the device announces; of a directory, that of its file system.
    pub announced_bytes: Bytes,
    /// Bytes at the end of the addresses that were written without a gap.
    #[serde(default)]
    pub filler_bytes: Bytes,
    /// Places over the first half of the addresses lie at most so far apart; zero for no grid.
    #[serde(default)]
    pub grid_bytes: Bytes,
    /// How many pieces of filler were written before that, one at a random address in each of as many
    /// equal parts of the addresses; zero where not all were written and read.
    #[serde(default)]
    pub spread_pieces: u64,
    /// How many bytes these hold.
    #[serde(default)]
    pub spread_bytes: Bytes,
    /// Pairs of addresses with each other's data that were written again: tried, and seen again.
    #[serde(default)]
    pub shared_again: [u64; 2],
    /// Lost places that were written again: tried, and right at once but lost later.
    #[serde(default)]
    pub right_at_once: [u64; 2],
    /// What was written first, written again late: tried, and right.
    #[serde(default)]
    pub rewritten: [u64; 2],
    /// The distance at which good and lost parts seem to come again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guessed_period_bytes: Option<Bytes>,
    /// Distances at which no two addresses share a place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unshared_distances: Vec<Bytes>,
    /// Where a second round of addresses seems to begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guessed_modulus_bytes: Option<Bytes>,
    /// Every byte was written and read.
    #[serde(default)]
    pub is_full: bool,
    /// It was ended before its plan was done.
    #[serde(default)]
    pub is_cut_short: bool,
    /// The device was disconnected and connected again between writing and reading.
    #[serde(default)]
    pub is_reconnected: bool,
    /// What it was to write, if nothing was wrong; zero for a test that does not write.
    #[serde(default)]
    pub planned_write_bytes: Bytes,
    /// What it was to read, if nothing was wrong.
    #[serde(default)]
    pub planned_read_bytes: Bytes,
    /// How long it was to take, as announced after its first writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_time_ns: Option<Nanos>,
    /// How long it took, with saving and putting back.
    #[serde(default)]
    pub time_ns: Nanos,
    /// The announced size in equal parts, and what reading each has shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<CapacityRegion>,
    /// How much was read one after the other for `--surface`; zero without.
    #[serde(default)]
    pub surface_bytes: Bytes,
    /// How much could not be read before the test, so it was not saved, overwritten and tested.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untested_bytes: Bytes,
    /// Stretches that cannot be read, as start and length; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<[Bytes; 2]>,
    /// What was written, in order, as start and length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<[Bytes; 2]>,
    /// The test places in the order of reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<CapacityPlace>,
    /// What files in the free space have shown; absent for a test of a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<CapacityFiles>,
    /// What of the device a test in free space covers; absent for other tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<CapacityCover>,
    /// What reading places that a test in free space has not written has shown; absent where none was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<CapacityElsewhere>,
    /// Whether the reads came from the storage device; absent for a simulated card and in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<crate::ReadOrigin>,
    /// Signs of a counterfeit that were found without writing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What reading a set of files N.h2w has shown, in sectors of 512 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityFiles {
    /// The length of all files.
    pub tested_bytes: Bytes,
    /// Whether they fill the free space.
    pub is_all_free_space: bool,
    /// Sectors that hold what was written.
    pub right_sectors: u64,
    /// Sectors that hold what was written to another offset.
    pub foreign_sectors: u64,
    /// Sectors that hold other data.
    pub wrong_sectors: u64,
    /// Sectors that could not be read in two attempts.
    pub unreadable_sectors: u64,
    /// Errors that a second attempt did not show.
    pub transient_errors: u64,
    /// The longest stretch of sectors that are not right.
    pub longest_bad_sectors: u64,
    /// Stretches that are not right, as offsets of start and end in the set; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad_ranges: Vec<[Bytes; 2]>,
    /// Files of the set that are not there.
    pub missing_files: u64,
}

/// What of a device the free space of its file system covers. The test then numbers the bytes that it
/// covers one after the other, in the order of the device where that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityCover {
    /// The size of the file system.
    pub filesystem_bytes: Bytes,
    /// The size of the whole device, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<Bytes>,
    /// How much of the file system was free before the test, of which it left a part; absent in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<Bytes>,
    /// The lowest byte that it covers, from the start of the file system's device.
    pub lowest_bytes: Bytes,
    /// The end of the highest stretch that it covers, likewise.
    pub end_bytes: Bytes,
    /// In how many pieces it lies.
    pub pieces: u64,
    /// The file system does not say where the bytes lie: they are numbered in the order in which it gave
    /// them out, and lie anywhere between the two ends above.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_by_allocation: bool,
}

/// What reading places that a test in free space has not written has shown. A device whose addresses repeat has
/// data of the test there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityElsewhere {
    /// Over how many bytes of the whole disk the places were chosen; absent where they were chosen in files of the
    /// file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<Bytes>,
    /// How many places of 4 KiB were read.
    pub places: u64,
    /// How many of them hold data of this test; it ends at 32.
    pub found: u64,
    /// How many of those changed when the test wrote the data once more.
    pub changed: u64,
    /// How far on the disk each of those lies from where the test wrote; at most 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances_bytes: Vec<Bytes>,
    /// How many bytes the test has written at the highest addresses of the disk.
    #[serde(default)]
    pub top_bytes: Bytes,
    /// The lowest of these addresses, from the start of the disk.
    #[serde(default)]
    pub top_start_bytes: Bytes,
}

/// What reading has shown of a part of the addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityRegion {
    /// How many readings there were.
    pub readings: u64,
    /// How many of them failed or gave wrong data.
    pub wrong: u64,
    /// How much was read.
    pub read_bytes: Bytes,
    /// How long that took.
    pub read_time_ns: Nanos,
}

/// How a capacity was tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityMethod {
    /// Nothing was written.
    #[default]
    ReadOnly,
    /// Places of the device were overwritten.
    Overwritten,
    /// Places of the device were saved, overwritten and restored.
    Restored,
    /// Files were written into free space.
    Files,
    /// Free space was reserved, and places in it were overwritten.
    FreeSpace,
    /// A method of a later version.
    #[serde(other)]
    Other,
}

fn is_zero(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}
