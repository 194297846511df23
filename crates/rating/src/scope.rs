//! Over which part of the storage a record's figures were measured.
//!
//! Beyond the test range a card may be slower, or keep no data at all. Therefore a verdict names the
//! test range where the storage is larger.

use cardproof_record::{Phase, Record, TargetKind};
use cardproof_units::Bytes;

use crate::quantity::Quantity;

/// What a test of a file says of the storage.
pub(crate) const OF_A_FILE: &str = "A file was tested, and a file has no capacity of its own. Name the card itself, such \
                                    as /dev/mmcblk0, or a directory on it.";

/// The test range, the first `measured` bytes of a storage of `size` bytes, or a file on it.
struct Range {
    is_file: bool,
    measured: Bytes,
    size: Bytes,
}

/// The test range; `None` if it is the whole storage, or if the record does not tell.
fn range(record: &Record) -> Option<Range> {
    let target = &record.conditions.target;
    let measured = record.measured_to_bytes?;
    let of_target = (target.size_bytes > Bytes::ZERO).then_some(target.size_bytes);
    let (is_file, size) = match target.kind {
        // A file may lie anywhere on its device.
        TargetKind::Directory | TargetKind::File => (true, record.conditions.device.size_bytes),
        TargetKind::BlockDevice | TargetKind::Simulated => {
            (false, record.conditions.device.size_bytes.or(of_target))
        }
        TargetKind::Null | TargetKind::Unknown => return None,
    };
    size.filter(|size| *size > measured).map(|size| Range { is_file, measured, size })
}

/// The test range of `phase` in few words, such as ` (tested on the first 256 MiB)`; empty if it is the whole storage.
pub(crate) fn in_short(record: &Record, phase: &Phase) -> String {
    let range = range(record);
    match range.map(|all| Range {
        measured: end_of(phase).map_or(all.measured, |end| end.min(all.measured)),
        ..all
    }) {
        None => String::new(),
        Some(Range { is_file: true, measured, .. }) => format!(" (tested in a file of {measured})"),
        Some(Range { measured, .. }) => format!(" (tested on the first {measured})"),
    }
}

/// Up to where `phase` was to test; `None` where it does not tell. Time may have ended it before.
fn end_of(phase: &Phase) -> Option<Bytes> {
    (phase.span_bytes > Bytes::ZERO).then(|| phase.span_offset_bytes + phase.span_bytes)
}

/// Up to where the phase has tested that has tested least of those that decide a class.
fn least(record: &Record) -> Option<Bytes> {
    const ALL: [Quantity; 3] =
        [Quantity::RandomRead, Quantity::RandomWrite, Quantity::SequentialWrite];
    let decides = |phase: &&Phase| {
        phase.is_measured() && ALL.iter().any(|quantity| quantity.is_measured_by(phase))
    };
    record.phases.iter().filter(decides).filter_map(end_of).min()
}

/// The test range in words, such as `test range: the first 256 MiB of 29.7 GiB`; `None` if it is the
/// whole storage, or if the record does not tell.
#[must_use]
pub fn scope(record: &Record) -> Option<String> {
    let Range { is_file, measured, size } = range(record)?;
    let each = match least(record) {
        Some(least) if least < measured => format!(", at least {least} in each test"),
        _ => String::new(),
    };
    Some(if is_file {
        format!("test range: a file of {measured} on a device of {size}{each}")
    } else {
        format!("test range: the first {measured} of {size}{each}")
    })
}

/// The size of a storage that is larger than the test range; `None` as [`scope`].
pub(crate) fn size_beyond_range(record: &Record) -> Option<Bytes> {
    range(record).map(|range| range.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_that_time_ended_is_told_with_the_range_that_it_reached() {
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.measured_to_bytes = Some(Bytes::mib(194));
        let whole = record.phases.iter().find(|it| it.span_bytes == Bytes::mib(256)).unwrap();
        assert_eq!(in_short(&record, whole), " (tested in a file of 194 MiB)");
    }
}
