//! Figures that another tool stated without an interval: shown by all means, never judged.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails with it")]

use cardproof_rating::{Grade, judge, meaning};
use cardproof_record::{Outcome, Record, Stated, TargetKind};
use cardproof_testkit::records;

/// A record with figures far above every limit, of which only the points are known.
fn stated() -> Record {
    let mut record = records::typical_a1_card();
    for phase in &mut record.phases {
        phase.stated = Some(Stated {
            iops: phase.iops.take().map(|iops| cardproof_units::Iops(iops.estimate.0 * 100.0)),
            throughput_bytes_per_s: phase.throughput_bytes_per_s.take().map(|rate| rate.estimate),
            ..Stated::default()
        });
        assert_eq!((phase.iops, phase.point_iops().is_some()), (None, true));
    }
    record
}

#[test]
fn no_class_is_judged_without_an_interval_and_the_reason_says_so() {
    for kind in [TargetKind::Unknown, TargetKind::Directory, TargetKind::BlockDevice] {
        let mut record = stated();
        record.conditions.target.kind = kind;
        for verdict in judge(&record) {
            assert_eq!(verdict.outcome, Outcome::NotTestable, "{kind:?}: {verdict:?}");
            assert!(verdict.reasons[0].contains("without an interval"), "{:?}", verdict.reasons);
        }
    }
}

#[test]
fn nor_is_any_use_called_good() {
    let record = stated();
    let rates = meaning(&record).into_iter().filter(|meaning| meaning.topic != "Pauses");
    for meaning in rates {
        assert_eq!(meaning.grade, Grade::Unknown, "{meaning:?}");
    }
}
