//! Over which part of the storage a record's figures were measured.
//!
//! Beyond the test range a card may be slower, or keep no data at all. Therefore a verdict names the
//! test range where the storage is larger.

use cardproof_record::{Phase, Record, TargetKind};
use cardproof_units::Bytes;

use crate::quantity::Quantity;

/// The test range, the first `measured` bytes of a storage of `size` bytes, or a file on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) is_file: bool,
    pub(crate) measured: Bytes,
    pub(crate) size: Bytes,
}

/// The test range; `None` if it is the whole storage, or if the record does not tell.
pub(crate) fn range(record: &Record) -> Option<Range> {
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

/// The test range of `phase`; `None` if it is the whole storage.
pub(crate) fn range_of(record: &Record, phase: &Phase) -> Option<Range> {
    range(record).map(|all| Range {
        measured: end_of(phase).map_or(all.measured, |end| end.min(all.measured)),
        ..all
    })
}

/// Up to where `phase` was to test; `None` where it does not tell. Time may have ended it before.
fn end_of(phase: &Phase) -> Option<Bytes> {
    (phase.span_bytes > Bytes::ZERO).then(|| phase.span_offset_bytes + phase.span_bytes)
}

/// Up to where the phase has tested that has tested least of those that decide a class.
pub(crate) fn least(record: &Record) -> Option<Bytes> {
    const ALL: [Quantity; 3] =
        [Quantity::RandomRead, Quantity::RandomWrite, Quantity::SequentialWrite];
    let decides = |phase: &&Phase| {
        phase.is_measured() && ALL.iter().any(|quantity| quantity.is_measured_by(phase))
    };
    record.phases.iter().filter(decides).filter_map(end_of).min()
}

/// The size of a storage that is larger than the test range; `None` as [`range`].
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
        assert_eq!(range_of(&record, whole).map(|range| range.measured), Some(Bytes::mib(194)));
    }
}
