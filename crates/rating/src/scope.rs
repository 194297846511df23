//! Over which part of the storage a record's figures were measured.
//!
//! A card may be slower, or hold nothing at all, beyond the range that was worked in. So a verdict
//! names that range where the storage is larger.

use cardproof_record::{Record, TargetKind};
use cardproof_units::Bytes;

/// The part of the storage that was measured, such as `the first 256.0 MiB`, with the size of the
/// whole; `None` where that was all of it, or where the record does not tell.
fn part(record: &Record) -> Option<(String, Bytes)> {
    let target = &record.conditions.target;
    let measured = record.measured_to_bytes?;
    let of_target = (target.size_bytes > Bytes::ZERO).then_some(target.size_bytes);
    let (words, size) = match target.kind {
        // A file may lie anywhere on its device.
        TargetKind::Directory | TargetKind::File => {
            (format!("a file of {measured}"), record.conditions.device.size_bytes)
        }
        TargetKind::BlockDevice | TargetKind::Simulated => {
            (format!("the first {measured}"), record.conditions.device.size_bytes.or(of_target))
        }
        TargetKind::Null | TargetKind::Unknown => return None,
    };
    size.filter(|size| *size > measured).map(|size| (words, size))
}

/// The part in few words, such as ` over the first 256.0 MiB`; empty where all was measured.
pub(crate) fn in_short(record: &Record) -> String {
    part(record).map_or(String::new(), |(words, _)| format!(" over {words}"))
}

/// The part in a sentence; `None` where all was measured, or where the record does not tell.
#[must_use]
pub fn scope(record: &Record) -> Option<String> {
    let (words, size) = part(record)?;
    Some(format!("Measured over {words}; the storage announces {size}."))
}
