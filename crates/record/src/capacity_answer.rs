//! The answer of a capacity test for scripts: its fields stay as they are.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

/// The form's name and version.
pub const VERIFY_SCHEMA: &str = "cardproof.verify/1";

/// What `cardproof verify --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityAnswer<'a> {
    /// Always [`VERIFY_SCHEMA`].
    pub schema: &'a str,
    /// The verdict; the exit status is 0 for `genuine` alone.
    pub verdict: CapacityVerdict,
    /// The likeliest kind of card, such as `honest`, `damaged`, `fails_beyond`, `wrap`, `chained`, `drop`,
    /// `limbo`, `last_block`, `holes`, `stripes`, `scattered`, `shared`, `fills_up` or `unknown`.
    pub kind: &'a str,
    /// The probability of the verdict, 0 to 1.
    pub probability: f64,
    /// The size that the target announces.
    pub announced_size_bytes: Bytes,
    /// Bounds of the real size.
    pub real_size_bytes: CapacityBounds,
    /// A hidden store of up to so many bytes would have been seen, if a tenth of the addresses or more
    /// were missing, in any arrangement.
    pub excluded_hidden_store_bytes: Bytes,
    /// The fakes that would have been seen with 99 % confidence.
    pub excluded_fakes: Vec<CapacityExclusion>,
    /// A larger share of bad places, 0 to 1, would have been seen with 99 % confidence.
    pub excluded_bad_share: f64,
    /// What was written in all.
    pub bytes_written: Bytes,
    /// What was read in all.
    pub bytes_read: Bytes,
    /// What was announced as to be written; zero for a test that only reads.
    pub planned_write_bytes: Bytes,
    /// What was announced as to be read back.
    pub planned_read_bytes: Bytes,
    /// How long the test was announced to take, after its first writes, in seconds; null where it
    /// ended before or does not write to a device.
    pub planned_seconds: Option<f64>,
    /// How long it took, in seconds; null for files in a directory.
    pub seconds: Option<f64>,
    /// Whether the device was disconnected and connected again between writing and reading.
    pub reconnected: bool,
    /// Damaged places as first byte and the byte behind the last.
    pub damaged_ranges_bytes: &'a [(u64, u64)],
    /// Why, the most important first.
    pub reasons: &'a [String],
    /// One sentence: what to do.
    pub advice: &'a str,
    /// The name of the record.
    pub record: &'a str,
}

/// Fakes that would have been seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityExclusion {
    /// The least share of missing addresses, 0 to 1.
    pub missing_share: f64,
    /// Whether the missing addresses are the last ones; else they may be any.
    pub is_at_end: bool,
    /// With a hidden store of at most so many bytes.
    pub hidden_store_bytes: Bytes,
}

/// A verdict on a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapacityVerdict {
    /// It holds what it announces.
    Genuine,
    /// It holds less than it announces, and hides that.
    Fake,
    /// Places of it do not keep data.
    Damaged,
    /// It shows signs of a counterfeit, and was not tested by writing.
    Suspicious,
    /// The evidence does not decide.
    Undecided,
}

impl CapacityVerdict {
    /// Its name in the document.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::Fake => "fake",
            Self::Damaged => "damaged",
            Self::Suspicious => "suspicious",
            Self::Undecided => "undecided",
        }
    }
}

/// Bounds of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityBounds {
    /// At least so much.
    pub low: Bytes,
    /// At most so much.
    pub high: Bytes,
}
