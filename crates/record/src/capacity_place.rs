//! The places that a test of the capacity wrote and read back.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

/// A place that was written once and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityPlace {
    /// Where it starts.
    pub offset_bytes: Bytes,
    /// How long it is.
    pub length_bytes: Bytes,
    /// How much the run had written when the place was complete.
    pub written_at_bytes: Bytes,
    /// How much the run had written when the place was read.
    pub read_at_bytes: Bytes,
    /// How much from its start came back right.
    pub right_prefix_bytes: Bytes,
    /// How much from its start came back right, or as data of this run that were written to other addresses.
    pub live_prefix_bytes: Bytes,
    /// Attempts that gave something else than the last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transient_errors: u32,
    /// Whether the place was chosen at random, by itself.
    pub is_random: bool,
    /// What came back.
    pub found: CapacityFound,
}

/// What a place gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CapacityFound {
    /// Every bit as written.
    Right,
    /// A sector of this run that was written to another address.
    Foreign {
        /// The address that was read.
        at_bytes: Bytes,
        /// The address that the sector was written to.
        address_bytes: Bytes,
    },
    /// The sector that an earlier write of this run put at the same address.
    Old,
    /// One byte repeated.
    Constant {
        /// The byte.
        byte: u8,
    },
    /// Something else, the same on each attempt.
    Garbled {
        /// How many bits of the place are wrong.
        wrong_bits: u32,
    },
    /// Something else on each attempt.
    Changing,
    /// The device reported an error on every attempt to read.
    ReadFailed,
    /// The device reported an error on every attempt to write.
    WriteFailed,
    /// Anything of a later version.
    #[serde(other)]
    Unknown,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}
