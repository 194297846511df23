//! Storage that fails under a run: said as "not measured" with the cause, and the other phases go
//! on where they can.

use cardproof_io::faulty::Failure;
use cardproof_io::{Fault, OpKind};
use cardproof_record::{EndedBy, PhaseState, Record, State, WarningCode};
use cardproof_units::Bytes;

use crate::support::{Memory, causes, phase, run_standard};

fn failing(failures: Vec<Failure>) -> Record {
    run_standard(Memory::new(Bytes::mib(16)), failures)
}

#[test]
fn without_faults_every_phase_is_measured() {
    let record = failing(Vec::new());
    assert_eq!(record.state, State::Complete);
    assert_eq!(causes(&record), Vec::<(&str, &str)>::new());
    let verification = phase(&record, "sequential-read-1m").verification.unwrap();
    assert_eq!(verification.wrong_bytes, Bytes::ZERO);
    assert!(verification.compared_bytes >= Bytes::mib(16));
}

#[test]
fn one_failed_read_spoils_its_phase_and_no_other() {
    // 16 writes and a flush lay 16 MiB out, and 64 reads compare it, so this is a sequential read.
    let record = failing(vec![Failure::Once { nth: 85, fault: Fault::InputOutput }]);
    let causes = causes(&record);
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].0, "sequential-read-1m");
    assert!(causes[0].1.contains("input/output error"), "{causes:?}");
    let failed = phase(&record, "sequential-read-1m");
    assert_eq!((failed.iops, failed.latency_ns), (None, None), "figures of a failed phase");
    assert_eq!(failed.ended_by, Some(EndedBy::Fault));
    assert_eq!(record.state, State::Complete);
}

#[test]
fn a_short_read_is_a_fault_and_not_a_fast_operation() {
    let record = failing(vec![Failure::Short { nth: 85 }]);
    assert!(causes(&record)[0].1.contains("moved only"), "{:?}", causes(&record));
}

#[test]
fn a_full_file_system_shrinks_the_span_and_says_so() {
    let failures = (9..=10).map(|nth| Failure::Once { nth, fault: Fault::NoSpace }).collect();
    let record = failing(failures);
    let laid_out = phase(&record, "sequential-write-1m");
    assert!(
        matches!(&laid_out.state, PhaseState::NotMeasured { cause } if cause.contains("no space left"))
    );
    let later = phase(&record, "random-read-4k-qd1");
    assert_eq!(later.state, PhaseState::Measured);
    assert_eq!(later.span_bytes, Bytes::mib(8));
    assert!(later.warnings.iter().any(|warning| warning.code == WarningCode::SpanReduced));
}

#[test]
fn nothing_laid_out_leaves_nothing_to_measure() {
    let kind = Some(OpKind::Write);
    let record = failing(vec![Failure::From { nth: 1, kind, fault: Fault::NoSpace }]);
    assert_eq!(causes(&record).len(), record.phases.len());
    assert!(
        causes(&record)[1].1.contains("the test file was not written"),
        "{:?}",
        causes(&record)
    );
}

#[test]
fn a_device_that_vanishes_ends_the_run() {
    let record = failing(vec![Failure::From { nth: 30, kind: None, fault: Fault::Vanished }]);
    assert_eq!(record.state, State::Failed);
    assert!(record.phases[0].is_measured(), "what was measured before is kept");
    let causes = causes(&record);
    assert!(causes[0].1.contains("vanished"), "{causes:?}");
    assert!(causes.last().unwrap().1.contains("skipped"), "{causes:?}");
}

#[test]
fn a_failed_flush_spoils_the_writes_it_was_to_keep() {
    let kind = Some(OpKind::Flush);
    let record = failing(vec![Failure::From { nth: 1, kind, fault: Fault::InputOutput }]);
    let names: Vec<&str> = causes(&record).iter().map(|(name, _)| *name).collect();
    assert!(names.contains(&"sequential-write-1m"), "{names:?}");
    assert!(names.contains(&"overwrite-4k-fsync"), "{names:?}");
    assert!(!names.contains(&"random-read-4k-qd1"), "{names:?}");
}

#[test]
fn a_flipped_bit_is_found_where_reads_are_verified() {
    let record = failing(vec![Failure::BitFlip { nth: 85 }]);
    let read = phase(&record, "sequential-read-1m");
    assert_eq!(read.verification.unwrap().wrong_bytes, Bytes(512));
    assert!(read.warnings.iter().any(|warning| warning.code == WarningCode::WrongData));
}

#[test]
fn a_read_only_target_is_only_read() {
    let record = run_standard(Memory::new(Bytes::mib(16)).read_only(), Vec::new());
    assert_eq!(record.state, State::Complete);
    assert_eq!(record.bytes_written, Bytes::ZERO);
    for phase in &record.phases {
        let is_read = phase.read_percent == 100;
        assert_eq!(phase.is_measured(), is_read, "{}: {:?}", phase.name, phase.state);
        assert_eq!(phase.verification, None, "there is nothing of ours to compare with");
    }
}
