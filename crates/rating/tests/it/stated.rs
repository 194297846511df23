//! Figures that another tool stated without an interval: shown by all means, never judged.

use cardproof_rating::{Grade, doubts, judge, meaning, next_steps, prediction::predictions};
use cardproof_record::{OpName, Outcome, Record, Stated, TargetKind, WarningCode};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Nanos};

/// A record with figures far above every limit, of which only the points are known.
fn stated() -> Record {
    let mut record = records::typical_a1_card();
    for phase in &mut record.phases {
        phase.stated = Some(Stated {
            iops: phase.iops.take().map(|iops| cardproof_units::Iops(iops.estimate.0 * 10.0)),
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
            assert!(
                verdict.reasons[0].text.contains("without an interval"),
                "{:?}",
                verdict.reasons
            );
        }
    }
}

#[test]
fn stated_rates_of_a_fresh_run_have_no_grade() {
    let record = stated();
    let rates = meaning(&record).into_iter().filter(|meaning| meaning.topic != "Pauses");
    for meaning in rates {
        assert_eq!(meaning.grade, Grade::Unknown, "{meaning:?}");
    }
}

/// The same, read from the output of a tool that tells rates and nothing else.
fn imported() -> Record {
    let mut record = stated();
    record.tool.name = "iozone".to_owned();
    record.conditions.target.kind = TargetKind::Unknown;
    (record.bytes_written, record.bytes_read) = (Bytes::ZERO, Bytes::ZERO);
    for phase in &mut record.phases {
        (phase.latency_ns, phase.flush_latency_ns) = (None, None);
        (phase.span_bytes, phase.duration_ns) = (Bytes::ZERO, Nanos::ZERO);
        phase.intervals.clear();
    }
    record
}

#[test]
fn stated_figures_are_graded_with_the_usual_variation() {
    for meaning in meaning(&imported()) {
        let is_pauses = meaning.topic == "Pauses";
        assert_eq!(meaning.grade == Grade::Unknown, is_pauses, "{meaning:?}");
        assert_eq!(meaning.comparison, "", "{meaning:?}");
        let is_told = meaning.finding.contains("as stated by another tool")
            || meaning.topic == "Pauses" && meaning.finding.contains("no rates over time");
        assert!(is_told, "{meaning:?}");
        assert!(!meaning.finding.contains("not measured"), "{meaning:?}");
    }
}

#[test]
fn no_class_has_a_verdict_without_intervals() {
    let mut record = imported();
    record.phases.retain(|phase| phase.op == OpName::Read);
    for verdict in judge(&record) {
        assert_eq!(verdict.outcome, Outcome::NotTestable);
        assert!(verdict.reasons[0].text.starts_with("the output of iozone has no intervals"));
    }
}

#[test]
fn the_advice_never_is_to_run_another_tool_again() {
    let record = imported();
    let steps = next_steps(&record, &judge(&record));
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[0].contains("`cardproof verify`"), "{steps:?}");
    assert!(steps[1].contains("`cardproof run`"), "{steps:?}");
}

#[test]
fn a_predicted_time_has_a_likely_range_where_its_figures_have_none() {
    for prediction in predictions(&imported()).unwrap() {
        assert!(!prediction.is_bounded && prediction.time_in_words().contains("(likely "));
    }
    for prediction in predictions(&records::typical_a1_card()).unwrap() {
        assert!(prediction.is_bounded && prediction.time_in_words().contains(" to "));
    }
}

#[test]
fn a_tool_s_writes_count_even_if_their_amount_is_unknown() {
    let is_blind = |record: &Record| {
        doubts(record).iter().any(|doubt| doubt.warning.code == WarningCode::MaybeUnwritten)
    };
    let mut record = imported();
    assert!(!is_blind(&record));
    record.phases.retain(|phase| phase.op == OpName::Read);
    assert!(is_blind(&record));
}
