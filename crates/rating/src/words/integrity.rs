//! Why it is not shown that the data of a test came from a storage device, in words.

use std::fmt;

use cardproof_record::ReadOrigin;

use crate::integrity::MemoryDoubt;

use super::origin;
use super::told::told_in_words;

told_in_words!(MemoryDoubt);

impl fmt::Display for MemoryDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(warning) => warning.fmt(f),
            Self::ReadsOfDiscarded(ReadOrigin { read_bytes, from_device_bytes, doubt: None }) => write!(
                f,
                "the device below read only {from_device_bytes} of the {read_bytes} that the test has read; on a thin \
                 volume, discarded ranges are read without it"
            ),
            Self::Reads(origin) | Self::ReadsOfDiscarded(origin) => {
                f.write_str(&origin::in_words(origin))
            }
            Self::NotLooked => {
                f.write_str("the test did not look whether the data came from a storage device")
            }
            Self::Loop => f.write_str(
                "a loop device makes holes in its file where it discards, and reads them without the device below; test \
                 the device itself",
            ),
        }
    }
}
