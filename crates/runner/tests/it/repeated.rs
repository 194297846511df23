//! What a profile run several times yields, on simulated cards and on a target in memory.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::Target;
use cardproof_record::{Phase, PhaseState, Record, State, Warning, WarningCode};
use cardproof_runner::{Event, Observer, Plan, Repeat, Silent, run_repeatedly};
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Profile, standard};

use crate::support::{Memory, draft, phase, plan};

const SIZE: Bytes = Bytes::mib(16);

/// The standard profile's phases in a few seconds.
fn short() -> Profile {
    Profile { time_budget: Nanos::from_secs(20), ..standard::profile() }
}

fn simulated(card: &str, seed: u64) -> Box<dyn Target> {
    let card = cardproof_sim::find(card).unwrap();
    card.open(Seed::from_bits(seed), cardproof_sim::Keeping::Nothing).unwrap()
}

fn repeat(target: &mut dyn Target, plan: &Plan, runs: u32) -> Record {
    let repeat = Repeat { runs, until_steady: false };
    run_repeatedly(target, plan, repeat, draft(plan), &mut Silent, &AtomicBool::new(false))
}

#[test]
fn every_phase_is_there_once_and_holds_its_runs() {
    let plan = plan(short(), SIZE);
    let record = repeat(&mut *simulated("sandisk-extreme-a1", 3), &plan, 4);
    assert_eq!(record.state, State::Complete);
    assert_eq!(record.phases.len(), plan.profile.phases.len());
    for (phase, spec) in record.phases.iter().zip(&plan.profile.phases) {
        assert_eq!((phase.name.as_str(), phase.runs.len()), (spec.name.as_str(), 4));
        assert_eq!(phase.ops, phase.runs.iter().map(|run| run.ops).sum::<u64>());
        let all = phase.iops.unwrap();
        let rates: Vec<f64> = phase.runs.iter().map(|run| run.iops.unwrap().estimate.0).collect();
        assert!(all.low.0 <= all.estimate.0 && all.estimate.0 <= all.high.0);
        let (min, max) = rates.iter().fold((f64::MAX, 0.0_f64), |(a, b), &c| (a.min(c), b.max(c)));
        assert!(min <= all.estimate.0 && all.estimate.0 <= max, "{}: {rates:?}", phase.name);
        let counted: u64 = phase.histogram.iter().map(|bucket| bucket.ops).sum();
        assert_eq!(counted, phase.ops, "{}", phase.name);
        let series: u64 = phase.intervals.iter().map(|interval| interval.ops).sum();
        assert_eq!(series, phase.ops, "{}", phase.name);
    }
    let written: Bytes =
        record.phases.iter().filter(|p| p.read_percent == 0).map(|phase| phase.bytes).sum();
    assert!(record.bytes_written >= written);
}

#[test]
fn the_order_turns_with_every_run() {
    let plan = plan(short(), SIZE);
    let record = repeat(&mut *simulated("sandisk-extreme-a1", 3), &plan, 2);
    let count = plan.profile.phases.len() as u32;
    for (index, phase) in (0..).zip(&record.phases) {
        let positions: Vec<u32> = phase.runs.iter().map(|run| run.position).collect();
        assert_eq!(positions, [index, 2 * count - 1 - index], "{}", phase.name);
        assert!(phase.runs[0].start_ns < phase.runs[1].start_ns);
    }
}

#[test]
fn one_run_is_a_run_as_ever() {
    let plan = plan(short(), SIZE);
    let target = || simulated("sandisk-extreme-a1", 3);
    let once = repeat(&mut *target(), &plan, 1);
    let plain =
        crate::support::run_plan(&mut *target(), &plan, &mut Silent, &AtomicBool::new(false));
    assert_eq!(once, plain);
    assert!(once.phases.iter().all(|phase| phase.runs.is_empty()));
}

#[test]
fn a_run_in_the_opposite_order_stays_where_the_first_has_laid_out() {
    // Of 16 MiB at a second for each, 45 % of 20 s lay out some nine.
    let plan = plan(short(), SIZE);
    let mut slow = Memory::new(SIZE).with_service(Nanos::from_secs(1));
    let record = repeat(&mut slow, &plan, 2);
    for phase in &record.phases[1..] {
        assert_eq!(phase.runs.len(), 2, "{}", phase.name);
        assert!(phase.span_bytes < Bytes::mib(12), "{}: {}", phase.name, phase.span_bytes);
        let is_unwritten = |doubt: &Warning| doubt.code == WarningCode::MaybeUnwritten;
        assert!(!phase.warnings.iter().any(is_unwritten), "{}", phase.name);
    }
    assert_eq!(record.phases[0].span_bytes, SIZE, "laid out anew, from the start");
}

/// Stops when a phase has been finished for the given number of times.
struct StopAfter<'s> {
    left: u32,
    stop: &'s AtomicBool,
    last: Option<Record>,
}

impl Observer for StopAfter<'_> {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::PhaseFinished { .. } => {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
            Event::Checkpoint(record) => self.last = Some(record.clone()),
            _ => {}
        }
    }
}

#[test]
fn what_was_run_before_an_interruption_is_kept() {
    let plan = plan(short(), SIZE);
    let stop = AtomicBool::new(false);
    let count = plan.profile.phases.len() as u32;
    let mut observer = StopAfter { left: count + 3, stop: &stop, last: None };
    let mut memory = Memory::new(SIZE).with_service(Nanos::from_micros(300));
    let repeat = Repeat { runs: 5, until_steady: false };
    let record = run_repeatedly(&mut memory, &plan, repeat, draft(&plan), &mut observer, &stop);
    assert_eq!(record.state, State::Partial);
    assert_eq!(record.phases.len(), count as usize);
    assert!(record.phases.iter().all(Phase::is_measured));
    let runs: Vec<usize> = record.phases.iter().map(|phase| phase.runs.len()).collect();
    assert_eq!(runs.iter().filter(|&&runs| runs == 2).count(), 3, "{runs:?}");
    assert_eq!(observer.last.as_ref(), Some(&record), "the last checkpoint is the record");
}

#[test]
fn a_cache_that_fills_up_shows_as_two_levels_where_it_is_full() {
    // The sizes of the caches are those of the models in the catalogue.
    for (card, cache, fill) in
        [("v30-a2", Bytes::gib(1), Bytes::gib(3)), ("usb-stick", Bytes::mib(384), Bytes::gib(1))]
    {
        let plan = Plan { span: fill, ..plan(write_all(fill), fill) };
        for seed in 0..5 {
            let record = repeat(&mut *simulated(card, seed), &plan, 1);
            let write = phase(&record, "sequential-write-1m");
            assert_eq!(write.state, PhaseState::Measured);
            let [fast, slow] = write.levels.as_slice() else {
                panic!("{card}, seed {seed}: {:#?}", write.levels)
            };
            assert!(fast.iops.low > slow.iops.high, "{card}, seed {seed}");
            let found = slow.bytes_before.as_f64() / cache.as_f64();
            assert!((0.94..1.06).contains(&found), "{card}, seed {seed}: {found} of the cache");
        }
    }
}

#[test]
fn steady_state_is_waited_for_and_what_came_before_does_not_count() {
    // The stick's cache of 384 MiB takes the first fillings of 128 MiB; then it writes a third as
    // fast, and that is its steady state.
    let fill = Bytes::mib(128);
    let plan = Plan { span: fill, ..plan(write_all(fill), fill) };
    let until_steady = |runs| {
        let repeat = Repeat { runs, until_steady: true };
        let mut target = simulated("usb-stick", 4);
        let stop = AtomicBool::new(false);
        run_repeatedly(&mut *target, &plan, repeat, draft(&plan), &mut Silent, &stop)
    };
    let record = until_steady(25);
    let write = phase(&record, "sequential-write-1m");
    assert!(write.runs.len() < 25, "{} runs", write.runs.len());
    let counted: Vec<f64> = write
        .runs
        .iter()
        .filter(|run| run.counts)
        .map(|run| run.iops.unwrap().estimate.0)
        .collect();
    assert_eq!(counted.len(), 5);
    let first = write.runs[0].iops.unwrap().estimate.0;
    assert!(write.iops.unwrap().high.0 < first / 2.0, "{first} is not its steady rate");
    assert!(record.warnings.is_empty(), "{:?}", record.warnings);
    let cut_short = until_steady(5);
    assert_eq!(cut_short.warnings[0].code, WarningCode::Unsteady, "{:?}", cut_short.warnings);
    assert!(phase(&cut_short, "sequential-write-1m").runs.iter().all(|run| run.counts));
}

#[test]
fn an_even_card_has_no_levels() {
    let plan = plan(short(), SIZE);
    for seed in 0..20 {
        let record = repeat(&mut *simulated("sandisk-extreme-a1", seed), &plan, 1);
        for phase in &record.phases {
            assert!(phase.levels.is_empty(), "seed {seed}: {} {:#?}", phase.name, phase.levels);
            let known = phase.latency_intervals.unwrap();
            let latency = phase.latency_ns.unwrap();
            assert!(known.p50.low <= latency.p50, "{}", phase.name);
            assert!(known.p50.high.is_none_or(|high| latency.p50 <= high), "{}", phase.name);
        }
    }
}

/// A profile that fills `span` and does no more.
fn write_all(span: Bytes) -> Profile {
    let mut profile = standard::profile().with_span(span);
    profile.phases.truncate(1);
    Profile { time_budget: Nanos::from_secs(600), ..profile }
}
