//! Advice where the test range was too small: only what can be done with the target.

use cardproof_facts::{GRADED_RANGE_MIN, RANDOM_SPAN};
use cardproof_record::TargetKind;
use cardproof_units::Bytes;

use super::{Case, Room, Step};
use crate::sound::is_range_small;

/// Whether a range of `wanted` finds room in what was tested.
pub(super) fn room_for(case: &Case<'_>, wanted: Bytes) -> Room {
    let (target, device) = (&case.record.conditions.target, &case.record.conditions.device);
    let of_target = (target.size_bytes > Bytes::ZERO).then_some(target.size_bytes);
    let of_storage = match target.kind {
        TargetKind::BlockDevice | TargetKind::Simulated => of_target.or(device.size_bytes),
        _ => device.size_bytes,
    };
    match (target.kind, of_target, of_storage) {
        (TargetKind::File, Some(size), _) if size < wanted => Room::FileSmaller,
        (_, _, Some(size)) if size < wanted => Room::StorageSmaller(size),
        _ => Room::Enough,
    }
}

/// Whether what was tested is too small for any grade, however quiet the computer is.
pub(super) fn is_futile(case: &Case<'_>) -> bool {
    is_range_small(case.record) && !matches!(room_for(case, GRADED_RANGE_MIN), Room::Enough)
}

/// Advice for `run`, whose smallest range was `least`; none where nothing can be done.
pub(super) fn widen_to_class_range(case: &Case<'_>, least: Bytes) -> Option<Step> {
    // The range was smaller than the profile's own, which no class asks for.
    let is_directory = case.record.conditions.target.kind == TargetKind::Directory;
    (least < RANDOM_SPAN).then(|| Step::RangeSmall {
        least,
        room: room_for(case, RANDOM_SPAN),
        is_directory,
    })
}

/// Advice for `check`, which has no option for the range.
pub(super) fn widen_for_check(case: &Case<'_>, least: Bytes) -> Option<Step> {
    match (room_for(case, RANDOM_SPAN), case.record.conditions.target.kind) {
        (Room::Enough, TargetKind::Directory) => {
            Some(Step::CheckRangeSmall { least, is_file: false })
        }
        (Room::FileSmaller, _) => Some(Step::CheckRangeSmall { least, is_file: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::Record;
    use cardproof_testkit::records;

    use super::*;
    use crate::words::next_steps;

    fn advice(kind: TargetKind, target: Bytes, device: Bytes) -> Option<String> {
        let mut record: Record = records::typical_a1_card();
        record.conditions.target.kind = kind;
        record.conditions.target.size_bytes = target;
        record.conditions.device.size_bytes = Some(device);
        for phase in &mut record.phases {
            phase.span_bytes = Bytes::mib(8);
        }
        let case = Case { record: &record, verdicts: &[], codes: Vec::new() };
        let has_room = target >= GRADED_RANGE_MIN || kind == TargetKind::Directory;
        assert_eq!(is_futile(&case), !has_room, "{kind:?}");
        let told = widen_to_class_range(&case, Bytes::mib(8)).map(|step| step.to_string());
        assert!(told.iter().all(|told| next_steps(&record, &[]).contains(told)));
        told
    }

    #[test]
    fn a_larger_range_is_advised_only_where_there_is_room_for_it() {
        use TargetKind::{BlockDevice, Directory, File};
        let large = Bytes::gib(32);
        for (kind, target, device, is_possible, words) in [
            (File, Bytes::mib(8), large, false, "This file is too small"),
            (File, Bytes::mib(300), large, true, "--size 256M or more"),
            (BlockDevice, Bytes::mib(8), Bytes::mib(8), false, "This storage has only 8 MiB"),
            (BlockDevice, large, large, true, "--size 256M or more"),
            (Directory, Bytes::mib(8), large, true, "in a directory with more free space"),
            (Directory, Bytes::mib(8), Bytes::mib(64), false, "This storage has only 64 MiB"),
        ] {
            let told = advice(kind, target, device).unwrap();
            assert!(told.contains(words), "{kind:?}: {told}");
            assert_eq!(told.contains("--size"), is_possible, "{kind:?}: {told}");
        }
    }
}
