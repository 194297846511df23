//! Phases that end as soon as a limit is decided, and runs that end with a limit missed.

use std::sync::atomic::AtomicBool;

use crate::support::{Memory, causes, phase, plan, run_plan};
use cardproof_io::Target;
use cardproof_record::{EndedBy, Record, State};
use cardproof_runner::Silent;
use cardproof_units::{Bytes, Iops, Nanos};
use cardproof_workload::{Ends, PhaseSpec, Profile, application};

/// The profile for A1 over 64 MiB, changed so that it fits a target whose operations all take the
/// same time, whatever their size: without the sequential limit.
fn profile(change: impl Fn(&mut PhaseSpec)) -> Profile {
    let mut profile = application::a1();
    profile.phases[0].ends.decision = None;
    profile.phases.iter_mut().for_each(change);
    profile
}

fn run(mut memory: Memory, profile: Profile) -> Record {
    let plan = plan(profile, memory.abilities().size);
    run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false))
}

fn memory(service_us: u64) -> Memory {
    Memory::new(Bytes::mib(64)).with_service(Nanos::from_micros(service_us))
}

#[test]
fn a_limit_that_is_met_ends_its_phase_and_not_the_run() {
    let record = run(memory(300), profile(|_| {}));
    assert_eq!(record.state, State::Complete);
    for (name, limit) in [("random-write-4k-qd32", 500.0), ("random-read-4k-qd32", 1500.0)] {
        let phase = phase(&record, name);
        assert_eq!(phase.ended_by, Some(EndedBy::Decision), "{name}");
        assert!(phase.duration_ns < Nanos::from_secs(3), "{name}: {}", phase.duration_ns);
        let known = phase.anytime_iops.unwrap();
        assert!(known.low.0 >= limit && known.low < known.high, "{known:?}");
        assert!((known.estimate.0 - 1e6 / 300.0).abs() < 2.0, "{known:?}");
        assert_eq!(known.confidence, application::confidence_of_each(0.99));
    }
}

#[test]
fn a_missed_limit_spares_the_rest_and_says_so() {
    let record = run(memory(5_000), profile(|_| {}));
    assert_eq!(record.state, State::Complete);
    assert!(phase(&record, "random-write-4k-qd32").anytime_iops.unwrap().high < Iops(500.0));
    assert_eq!(
        causes(&record),
        [(
            "random-read-4k-qd32",
            "skipped, because random-write-4k-qd32 failed the limit of 500 IOPS"
        )]
    );
    assert!(phase(&record, "random-read-4k-qd32").was_spared());
    let sequential = run(memory(100_000), application::a1());
    assert_eq!(sequential.phases[0].ended_by, Some(EndedBy::Decision));
    assert!(sequential.phases[0].bytes < Bytes::mib(64));
    assert!(sequential.phases[1].was_spared() && sequential.phases[2].was_spared());
}

#[test]
fn a_rate_at_its_limit_is_not_decided_and_the_wear_is_bounded() {
    let record = run(memory(2_000), profile(|_| {}));
    let writes = phase(&record, "random-write-4k-qd32");
    assert_eq!((writes.ended_by, writes.bytes), (Some(EndedBy::Bytes), Bytes::mib(64)));
    let known = writes.anytime_iops.unwrap();
    assert!(known.low.0 < 500.0 && known.high.0 > 500.0, "{known:?}");
}

#[test]
fn pauses_that_may_have_been_missed_are_waited_for() {
    // 1000 operations a second are twice the limit; with a pause of 0.4 s after every 2000 they
    // are 833, of which the first pause shows only after 2 s.
    let ended = |pause| {
        let record = run(memory(1_000).with_pause(pause), profile(|_| {}));
        let phase = phase(&record, "random-write-4k-qd32").clone();
        assert_eq!(phase.ended_by, Some(EndedBy::Decision));
        assert!(phase.anytime_iops.unwrap().low.0 >= 500.0);
        phase.duration_ns
    };
    let (steady, pausing) = (ended(Nanos::ZERO), ended(Nanos::from_millis(400)));
    assert!(steady <= Nanos::from_millis(2_200), "{steady}");
    assert!(pausing > Nanos::from_secs(3), "{pausing}");
}

#[test]
fn a_sequential_writing_is_judged_by_its_second_half() {
    let mut memory = memory(20_000);
    memory.slow_down_after(64, Nanos::from_millis(45));
    let record = run(memory, profile(|_| {}));
    let known = record.phases[0].anytime_iops.unwrap();
    assert!((known.estimate.0 - 1.0 / 0.045).abs() < 1.0, "{known:?}");
    assert!(record.phases[0].iops.unwrap().estimate.0 > 28.0);
}

#[test]
fn the_last_flush_is_no_part_of_the_rate_at_any_time() {
    let mut memory = memory(1_000);
    memory.slow_down_after(3_000, Nanos::from_secs(3));
    let mut profile = profile(|phase| {
        phase.ends = Ends { ops: Some(3_000), bytes: None, decision: None, ..phase.ends };
    });
    profile.phases.retain(|phase| phase.name == "random-write-4k-qd32");
    let record = run(memory, profile);
    let phase = &record.phases[0];
    assert_eq!((phase.ops, phase.duration_ns), (3_000, Nanos::from_secs(6)));
    let known = phase.anytime_iops.unwrap();
    assert!((known.estimate.0 - 1_000.0).abs() < 2.0, "{known:?}");
    assert!(known.low.0 > 800.0, "{known:?}");
}
