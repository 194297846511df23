//! Where the bytes that a test read came from: the storage, or some memory above it.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

/// What the counters of the storage device show of the reads of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadOrigin {
    /// How much the test read and compared.
    pub read_bytes: Bytes,
    /// How much of it the device below has read at the same time, by its own counters.
    pub from_device_bytes: Bytes,
    /// Why the counters of no device can show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<OriginDoubt>,
}

/// Why it cannot be shown that reads came from a storage device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OriginDoubt {
    /// The data lie in the memory of the computer.
    Memory,
    /// A loop device reads its file through the page cache.
    CachedLoop,
    /// The file system does not tell on which device it is.
    HiddenDevice,
    /// The file system lies on several devices.
    SeveralDevices,
    /// The device counts no reads.
    NoCounters,
    /// A doubt of a newer version.
    #[serde(other)]
    Other,
}

/// The least share of the reads that the device must show. The rest is for what a file system keeps at hand
/// of the beginning and the end of files.
const SHOWN_SHARE: f64 = 0.95;

impl ReadOrigin {
    /// Whether it is shown that the reads came from the device.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        let is_enough = self.from_device_bytes.as_f64() >= SHOWN_SHARE * self.read_bytes.as_f64();
        self.doubt.is_none() && is_enough
    }
}
