//! What stands beside verdicts, in words: the bus that keeps a class from being judged, and what the limits of SD
//! classes mean for other storage.

use cardproof_record::{Record, Transport};

use crate::judge;
use crate::transports::storage;

/// What the bus of `record` carries, in words, where this alone keeps the class `rule` from being
/// judged, such as `the bus (SD high speed) carries at most 25 MB/s`.
#[must_use]
pub fn limiting_bus(record: &Record, rule: &str) -> Option<String> {
    judge::limiting_bus(record, rule).map(|bus| bus.carries())
}

/// What verdicts on SD classes mean for the storage of `record`; `None` if it is seen to be an SD card.
#[must_use]
pub fn comparison_only(record: &Record) -> Option<&'static str> {
    match storage(&record.conditions.device) {
        Some(Transport::Sd) => None,
        Some(Transport::Usb) => Some(
            "Attached by USB: the limits of SD classes are for comparison, and the reader may be slower \
             than the card.",
        ),
        Some(_) => Some("Not an SD card: the limits of SD classes are for comparison only."),
        None => Some(
            "The kind of storage is unknown: the limits of SD classes are for comparison only.",
        ),
    }
}
