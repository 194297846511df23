//! What a run does with time, bytes, depth and the wish to stop, on a target in memory whose clock
//! only operations move.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{Caching, Target};
use cardproof_record::{EndedBy, Phase, PhaseState, Record, State, SyncMode, WarningCode};
use cardproof_runner::{Event, Observer, Progress, Silent};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops, Nanos};
use cardproof_workload::{Access, Ends, PhaseSpec, Profile, Repetition, Role, TimeLimit, standard};

use crate::support::{Memory, phase, plan, run_plan};

const SIZE: Bytes = Bytes::mib(16);

/// A profile of one phase of random 4 KiB reads, as `change` would have it.
fn one(change: impl FnOnce(&mut PhaseSpec)) -> Profile {
    let mut spec = PhaseSpec {
        name: "one".to_owned(),
        role: Role::Measure,
        access: Access::Random(Repetition::Allowed),
        span: None,
        arrangement: Default::default(),
        read_percent: 100,
        block_size: Bytes(4096),
        alignment_offset: Bytes::ZERO,
        queue_depth: 1,
        fsync_every: None,
        flush_at_end: false,
        rate_limit: None,
        ends: Ends {
            time: TimeLimit::None,
            bytes: None,
            ops: None,
            precision: None,
            decision: None,
        },
    };
    change(&mut spec);
    Profile { phases: vec![spec], ..standard::profile() }
}

fn run_one(change: impl FnOnce(&mut PhaseSpec)) -> Phase {
    run_one_on(Memory::new(SIZE), change)
}

fn run_one_on(mut memory: Memory, change: impl FnOnce(&mut PhaseSpec)) -> Phase {
    let plan = plan(one(change), SIZE);
    let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
    record.phases.into_iter().next().expect("one phase was run")
}

#[test]
fn a_phase_ends_by_its_operations() {
    let phase = run_one(|spec| spec.ends.ops = Some(123));
    assert_eq!((phase.ops, phase.ended_by), (123, Some(EndedBy::Operations)));
    assert_eq!(phase.duration_ns, Nanos::from_millis(123));
    assert_eq!(phase.iops.unwrap().estimate, Iops(1000.0));
}

#[test]
fn a_phase_never_moves_more_than_its_bytes() {
    let phase = run_one(|spec| spec.ends.bytes = Some(Bytes(10 * 4096 + 4095)));
    assert_eq!((phase.bytes, phase.ended_by), (Bytes(10 * 4096), Some(EndedBy::Bytes)));
}

#[test]
fn a_phase_ends_by_its_time() {
    let phase = run_one(|spec| spec.ends.time = TimeLimit::Fixed(Nanos::from_millis(500)));
    assert_eq!((phase.ops, phase.ended_by), (500, Some(EndedBy::Time)));
}

#[test]
fn the_rests_between_phases_are_of_the_runs_time() {
    let time_budget = Nanos::from_secs(6);
    let whole = one(|spec| spec.ends.time = TimeLimit::Share(1));
    let phases = ["one", "two", "three"]
        .map(|name| PhaseSpec { name: name.to_owned(), ..whole.phases[0].clone() });
    let plan = plan(Profile { phases: phases.to_vec(), time_budget, ..whole }, SIZE);
    let mut memory = Memory::new(SIZE).on_a_computer();
    let start = memory.now();
    let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
    let (whole, last) = (memory.now().saturating_sub(start), Nanos::from_millis(1));
    assert!(whole <= time_budget + last, "{whole}");
    let measured = record.phases.iter().fold(Nanos::ZERO, |sum, phase| sum + phase.duration_ns);
    assert!(measured < whole && whole < measured + Nanos::from_millis(400), "{measured}");
}

#[test]
fn a_steady_target_is_known_early() {
    let phase = run_one(|spec| {
        let standard = standard::profile();
        spec.ends =
            Ends { time: TimeLimit::Fixed(Nanos::from_secs(60)), ..standard.phases[2].ends };
    });
    assert_eq!(phase.ended_by, Some(EndedBy::Precision));
    assert!(phase.duration_ns < Nanos::from_secs(3), "{}", phase.duration_ns);
}

#[test]
fn a_rate_limit_is_kept() {
    let phase = run_one(|spec| {
        spec.rate_limit = Some(Iops(100.0));
        spec.ends.time = TimeLimit::Fixed(Nanos::from_secs(2));
    });
    let rate = phase.iops.unwrap().estimate.0;
    assert!((99.0..101.0).contains(&rate), "{rate}");
    assert_eq!(phase.rate_limit_iops, Some(Iops(100.0)));
    assert!(!phase.is_at_full_speed());
}

#[test]
fn a_rate_limit_does_not_lengthen_a_phase() {
    // The next operation would be due in 10 s, or never.
    for per_s in [0.1, 1e-12] {
        let mut memory = Memory::new(SIZE);
        let plan = plan(
            one(|spec| {
                spec.rate_limit = Some(Iops(per_s));
                spec.ends.time = TimeLimit::Fixed(Nanos::from_secs(2));
            }),
            SIZE,
        );
        let start = memory.now();
        let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
        assert_eq!((record.phases[0].ops, record.phases[0].ended_by), (1, Some(EndedBy::Time)));
        assert_eq!(memory.now().saturating_sub(start), Nanos::from_secs(2), "{per_s}");
    }
}

#[test]
fn flushes_are_counted_apart() {
    let phase = run_one(|spec| {
        spec.read_percent = 0;
        spec.fsync_every = Some(2);
        spec.ends.ops = Some(10);
    });
    assert_eq!((phase.ops, phase.flushes, &phase.sync), (10, 4, &SyncMode::every(2)));
    assert!(phase.flush_latency_ns.is_some());
}

#[test]
fn the_time_of_the_last_flush_counts() {
    let of = |flush_at_end| {
        run_one(|spec| {
            spec.read_percent = 0;
            spec.flush_at_end = flush_at_end;
            spec.ends.ops = Some(10);
        })
    };
    assert_eq!(of(false).duration_ns, Nanos::from_millis(10));
    assert_eq!(of(true).duration_ns, Nanos::from_millis(11));
}

#[test]
fn a_mix_tells_its_directions_apart() {
    let phase = run_one(|spec| {
        spec.read_percent = 70;
        spec.ends.ops = Some(1000);
    });
    let (reads, writes) = (phase.reads.unwrap(), phase.writes.unwrap());
    assert_eq!(reads.ops + writes.ops, phase.ops);
    assert_eq!(reads.bytes + writes.bytes, phase.bytes);
    assert!((600..800).contains(&reads.ops), "{}", reads.ops);
}

#[test]
fn reads_of_what_was_never_written_are_in_doubt() {
    let once = Access::Random(Repetition::EachBlockOnce);
    let cases = [
        ("nothing written", None, true),
        ("a part, in sequence", Some((Access::Sequential, Bytes::mib(15))), true),
        ("all, in sequence", Some((Access::Sequential, SIZE)), false),
        ("a part, each block once", Some((once, Bytes::mib(15))), true),
        ("all, each block once", Some((once, SIZE)), false),
        ("as much as all, anywhere", Some((Access::Random(Repetition::Allowed), SIZE)), true),
    ];
    for (name, written, is_in_doubt) in cases {
        let read = one(|spec| spec.ends.ops = Some(100));
        let write = written.map(|(access, bytes)| {
            let write = one(|spec| {
                (spec.name, spec.access, spec.read_percent) = ("write".to_owned(), access, 0);
                spec.ends.bytes = Some(bytes);
            });
            write.phases[0].clone()
        });
        let phases = write.into_iter().chain(read.phases.clone()).collect();
        let plan = plan(Profile { phases, ..read }, SIZE);
        let mut memory = Memory::new(SIZE).with_service(Nanos::from_micros(100));
        let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
        let doubts = &phase(&record, "one").warnings;
        let found = doubts.iter().any(|doubt| doubt.code == WarningCode::MaybeUnwritten);
        assert_eq!(found, is_in_doubt, "{name}: {doubts:?}");
    }
}

#[test]
fn no_profile_of_ours_reads_what_it_has_not_written() {
    for name in cardproof_workload::names() {
        let plan = plan(cardproof_workload::find(name).expect("it is listed"), SIZE);
        let mut memory = Memory::new(SIZE).with_service(Nanos::from_millis(5));
        let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
        for phase in record.phases {
            let doubts = &phase.warnings;
            let is_in_doubt = doubts.iter().any(|it| it.code == WarningCode::MaybeUnwritten);
            assert!(!is_in_doubt, "{name}, {}: {doubts:?}", phase.name);
        }
    }
}

#[test]
fn a_phase_through_a_page_cache_that_is_not_there_is_marked() {
    let of = |caching| {
        run_one_on(Memory::new(SIZE), |spec| {
            spec.arrangement.caching = caching;
            spec.ends.ops = Some(100);
        })
    };
    let is_marked =
        |phase: &Phase| phase.warnings.iter().any(|doubt| doubt.code == WarningCode::NoPageCache);
    assert!(is_marked(&of(Caching::Through { random: false })));
    assert!(!is_marked(&of(Caching::Bypassed)));
}

#[test]
fn a_target_without_the_depth_is_run_at_what_it_has() {
    let phase = run_one_on(Memory::new(SIZE).with_depth(4), |spec| {
        spec.queue_depth = 32;
        spec.ends.ops = Some(200);
    });
    assert_eq!(phase.queue_depth, 4);
    assert!(phase.warnings.iter().any(|doubt| doubt.code == WarningCode::QueueDepthReduced));
}

#[test]
fn the_time_series_has_no_gap_and_holds_every_operation() {
    let phase = run_one(|spec| spec.ends.ops = Some(777));
    let mut next = Nanos::ZERO;
    for interval in &phase.intervals {
        assert_eq!(interval.start_ns, next);
        next += interval.duration_ns;
    }
    assert_eq!(next, phase.duration_ns);
    assert_eq!(phase.intervals.iter().map(|interval| interval.ops).sum::<u64>(), 777);
    assert_eq!(phase.histogram.iter().map(|bucket| bucket.ops).sum::<u64>(), 777);
}

/// 30 operations a second, 1 MiB ones a tenth of that: the run ends in its time all the same, and
/// says how little it knows.
#[test]
fn a_slow_card_finishes_in_time_with_honest_intervals() {
    let mut memory = Memory::new(SIZE).with_service(Nanos::from_millis(33));
    let start = memory.now();
    let plan = plan(standard::profile(), SIZE);
    let record = run_plan(&mut memory, &plan, &mut Silent, &AtomicBool::new(false));
    let took = memory.now() - start;
    // The data checks come on top: at most 250 ms after each phase and 2.5 s at the end.
    assert!(took < Nanos::from_secs(71), "{took}");
    for phase in
        record.phases.iter().filter(|phase| phase.pattern == cardproof_record::PatternName::Random)
    {
        let iops = phase.iops.unwrap();
        assert!(iops.low < iops.estimate && iops.estimate < iops.high, "{}: {iops:?}", phase.name);
        let deep = phase.queue_depth > 1 || phase.flushes > 1;
        assert!(deep || (iops.low.0..=iops.high.0).contains(&30.3), "{}: {iops:?}", phase.name);
    }
}

/// Stops the run when `stop_at` phases are over.
struct Stopper<'a> {
    stop: &'a AtomicBool,
    stop_at: usize,
    checkpoints: Vec<Record>,
    progress: Vec<Progress>,
}

impl Observer for Stopper<'_> {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::PhaseStarted { index, .. } if index == self.stop_at => {
                self.stop.store(true, Ordering::Relaxed);
            }
            Event::Checkpoint(record) => self.checkpoints.push(record.clone()),
            Event::Progress(progress) => self.progress.push(progress),
            Event::PhaseStarted { .. }
            | Event::PhaseRepeated { .. }
            | Event::PhaseFinished { .. } => {}
        }
    }
}

fn stopped_at(stop_at: usize) -> (Record, Vec<Record>, Vec<Progress>) {
    let stop = AtomicBool::new(false);
    let mut stopper =
        Stopper { stop: &stop, stop_at, checkpoints: Vec::new(), progress: Vec::new() };
    let plan = plan(standard::profile(), SIZE);
    let record = run_plan(&mut Memory::new(SIZE), &plan, &mut stopper, &stop);
    (record, stopper.checkpoints, stopper.progress)
}

#[test]
fn a_stopped_run_is_partial_and_keeps_what_it_has() {
    let (record, checkpoints, _) = stopped_at(3);
    assert_eq!(record.state, State::Partial);
    assert_eq!(record.phases.len(), 4);
    assert!(record.phases[..3].iter().all(Phase::is_measured));
    assert_eq!(record.phases[3].state, PhaseState::Partial);
    assert_eq!(record.phases[3].ended_by, Some(EndedBy::Interrupted));
    assert_eq!(checkpoints.last(), Some(&record), "the last checkpoint is the record itself");
}

#[test]
fn the_record_is_sound_after_every_phase() {
    let (record, checkpoints, _) = stopped_at(usize::MAX);
    assert_eq!(record.state, State::Complete);
    let counts: Vec<usize> = checkpoints.iter().map(|record| record.phases.len()).collect();
    assert_eq!(counts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
    for checkpoint in &checkpoints {
        let text = checkpoint.to_json().unwrap();
        assert_eq!(Record::from_json(&text).unwrap().phases.len(), checkpoint.phases.len());
    }
}

#[test]
fn progress_tells_what_is_left_and_never_more_than_before() {
    let (record, _, progress) = stopped_at(usize::MAX);
    assert!(progress.len() > 50, "{}", progress.len());
    for pair in progress.windows(2) {
        assert!(pair[1].time_left <= pair[0].time_left);
        assert!(pair[1].bytes_to_write_left <= pair[0].bytes_to_write_left);
    }
    let most = plan(standard::profile(), SIZE).profile.bytes_written_max().unwrap();
    assert!(record.bytes_written <= most);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let without_cost = |record: Record| Record { monitor: Default::default(), ..record };
    let (first, _, _) = stopped_at(usize::MAX);
    let (second, _, _) = stopped_at(usize::MAX);
    assert_eq!(without_cost(first), without_cost(second));
}

#[test]
fn latencies_of_a_queue_hold_the_waiting_in_it() {
    let phase = run_one(|spec| {
        spec.queue_depth = 8;
        spec.ends.ops = Some(800);
    });
    // One operation a millisecond, eight in the queue.
    let p50 = phase.latency_ns.unwrap().p50;
    assert!((Nanos::from_millis(7)..=Nanos::from_millis(9)).contains(&p50), "{p50}");
    assert_eq!(phase_rate(&phase), 1000.0);
}

fn phase_rate(phase: &Phase) -> f64 {
    phase.iops.expect("it was measured").estimate.0
}

/// Storage that stops for a second in every three cannot be known well in five.
#[test]
fn a_rate_that_swings_is_called_unsteady() {
    let phase = |pause| {
        run_one_on(Memory::new(SIZE).with_pause(pause), |spec| {
            spec.ends.time = TimeLimit::Fixed(Nanos::from_secs(5));
        })
    };
    let is_unsteady = |phase: Phase| {
        let record = Record { phases: vec![phase], ..records::typical_a1_card() };
        let doubts = cardproof_rating::doubts(&record);
        doubts.iter().any(|doubt| doubt.warning.code == WarningCode::Unsteady)
    };
    assert!(!is_unsteady(phase(Nanos::ZERO)));
    assert!(is_unsteady(phase(Nanos::from_secs(1))));
}

#[test]
fn names_of_phases_are_those_of_the_profile() {
    let (record, _, _) = stopped_at(usize::MAX);
    for spec in standard::profile().phases {
        assert!(phase(&record, &spec.name).is_measured(), "{}", spec.name);
    }
}
