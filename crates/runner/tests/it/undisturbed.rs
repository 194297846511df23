//! Cards on a busy computer, in virtual time: a miss that the undisturbed parts show alone is a miss, and a phase is
//! measured on for them within a bound. A pass in spite of a disturbance is a pass.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use cardproof_rating::judge;
use cardproof_record::{
    Activity, Climate, Disturbance, EndedBy, LimitedRate, Outcome, PhaseSurroundings, Reason,
    ReasonCode, Record, TargetKind, WarningCode,
};
use cardproof_runner::{Event, Monitor, MonitorCost, Observation, Observer};
use cardproof_units::{Bytes, Iops, Nanos};
use cardproof_workload::{Profile, application, standard};

use crate::support::{Memory, START, draft, phase, plan};

const SIZE: Bytes = Bytes::mib(64);

/// How often it looks.
const LOOK: Nanos = Nanos::from_millis(500);

/// Sees too low a voltage in each half second in which it ever was, as `is_low` says of the card's time.
struct Watching {
    clock: Rc<Cell<Nanos>>,
    is_low: fn(Nanos) -> bool,
    begun: Nanos,
    looked: Nanos,
}

impl Watching {
    fn window_to(&self, from: Nanos, to: Nanos) -> Activity {
        let steps = (0..).map(|step| from + Nanos::from_millis(10 * step));
        let mut times = steps.take_while(|time| *time < to);
        let is_low = times.any(|time| (self.is_low)(time.saturating_sub(START)));
        let climate = Climate { under_voltage: Some(is_low), ..Climate::default() };
        Activity { window_ns: to.saturating_sub(from), climate, ..Activity::default() }
    }
}

impl Monitor for Watching {
    fn begin(&mut self) {
        (self.begun, self.looked) = (self.clock.get(), self.clock.get());
    }

    fn window(&mut self) -> Option<Activity> {
        let now = self.clock.get();
        if now.saturating_sub(self.looked) < LOOK {
            return None;
        }
        let window = self.window_to(self.looked, now);
        self.looked = now;
        Some(window)
    }

    fn end(&mut self) -> Option<Observation> {
        let whole = self.window_to(self.begun, self.clock.get());
        Some(Observation { windows: vec![whole.clone()], whole, processor_wait: None })
    }

    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance> {
        cardproof_rating::disturbances(surroundings, filesystem)
    }

    fn cost(&self) -> MonitorCost {
        MonitorCost::default()
    }
}

impl Observer for Watching {
    fn observe(&mut self, _: Event<'_>) {}

    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        Some(self)
    }
}

/// A run of A1 without its sequential limit, and at a voltage that is low when `is_low` says so.
fn run(memory: Memory, is_low: fn(Nanos) -> bool) -> Record {
    let mut profile = application::a1();
    profile.phases[0].ends.decision = None;
    run_of(profile, memory, is_low)
}

fn run_of(profile: Profile, mut memory: Memory, is_low: fn(Nanos) -> bool) -> Record {
    let clock = memory.clock();
    let mut watching = Watching { clock, is_low, begun: START, looked: START };
    let plan = plan(profile, SIZE);
    let mut draft = draft(&plan);
    (draft.conditions.target.kind, draft.conditions.target.direct) = (TargetKind::Simulated, true);
    cardproof_runner::run(&mut memory, &plan, draft, &mut watching, &AtomicBool::new(false))
}

/// The outcome of the random writes of A1.
fn a1(record: &Record) -> (Outcome, ReasonCode) {
    let verdict = judge(record).into_iter().find(|verdict| verdict.rule == "A1").unwrap();
    let is_write = |reason: &&Reason| reason.rate == Some(LimitedRate::RandomWrite);
    let reason = verdict.reasons.iter().find(is_write).unwrap_or(&verdict.reasons[0]);
    (verdict.outcome, reason.code)
}

const fn second_of(time: Nanos) -> u64 {
    time.get() / 1_000_000_000
}

/// Others slow the card to a quarter.
fn memory(service_us: u64, beside_others: fn(Nanos) -> Nanos) -> Memory {
    Memory::new(SIZE).with_service(Nanos::from_micros(service_us)).beside(beside_others)
}

#[test]
fn a_card_of_half_the_limit_fails_beside_others_that_come_and_go() {
    // Of every three seconds they take two, of every two one, and the first seven. The limit is 500 a second.
    let others: [fn(Nanos) -> bool; 3] = [
        |time| second_of(time) % 3 != 2,
        |time| second_of(time).is_multiple_of(2),
        |time| time < Nanos::from_secs(7),
    ];
    let slower: [fn(Nanos) -> Nanos; 3] = [
        |time| Nanos::from_millis(if second_of(time) % 3 != 2 { 12 } else { 0 }),
        |time| Nanos::from_millis(if second_of(time).is_multiple_of(2) { 12 } else { 0 }),
        |time| Nanos::from_millis(if time < Nanos::from_secs(7) { 12 } else { 0 }),
    ];
    for (is_low, slower) in others.into_iter().zip(slower) {
        let record = run(memory(4_000, slower), is_low);
        let writes = phase(&record, "random-write-4k-qd32");
        assert!(writes.warnings.iter().any(|warning| warning.code == WarningCode::Disturbed));
        let parts = writes.undisturbed.unwrap();
        assert!((parts.iops.estimate.0 - 250.0).abs() < 3.0, "{parts:?}");
        assert!(parts.iops.high < Iops(500.0), "{parts:?}");
        assert_eq!(writes.ended_by, Some(EndedBy::Decision));
        let (outcome, reason) = a1(&record);
        assert_eq!((outcome, reason), (Outcome::Misses, ReasonCode::LimitMissedUndisturbed));
        assert!(phase(&record, "random-read-4k-qd32").was_spared(), "the class is decided");
    }
}

#[test]
fn a_card_that_others_alone_keep_below_the_limit_does_not_fail() {
    // Alone it does 1000 a second; beside others 62. It may pass, and it may not fail.
    let slower: fn(Nanos) -> Nanos =
        |time| Nanos::from_millis(if second_of(time) % 10 != 9 { 15 } else { 0 });
    let record = run(memory(1_000, slower), |time| second_of(time) % 10 != 9);
    let (_, reason) = a1(&record);
    assert!(!matches!(reason, ReasonCode::LimitMissed | ReasonCode::LimitMissedUndisturbed));
    assert!(!phase(&record, "random-read-4k-qd32").was_spared());
}

#[test]
fn a_pass_in_spite_of_a_disturbance_is_a_pass_and_waits_for_nothing() {
    let record = run(memory(300, |_| Nanos::ZERO), |_| true);
    let (_, reason) = a1(&record);
    // The range of this test is smaller than that of the class.
    assert_eq!(reason, ReasonCode::RangeReduced);
    assert!(phase(&record, "random-write-4k-qd32").duration_ns < Nanos::from_secs(3));
}

#[test]
fn a_card_that_is_always_disturbed_is_undecided_after_a_bounded_time() {
    let record = run(memory(4_000, |_| Nanos::ZERO), |_| true);
    let writes = phase(&record, "random-write-4k-qd32");
    assert_eq!(writes.undisturbed, None);
    let took = writes.duration_ns;
    assert!(took > Nanos::from_secs(20) && took < Nanos::from_secs(26), "{took}");
    // The reads fail: even twice their rate is below the limit.
    let (_, reason) = a1(&record);
    assert_eq!(reason, ReasonCode::Disturbed);
}

#[test]
fn an_undisturbed_miss_is_over_as_soon_as_ever() {
    let record = run(memory(4_000, |_| Nanos::ZERO), |_| false);
    let writes = phase(&record, "random-write-4k-qd32");
    assert!(writes.duration_ns < Nanos::from_secs(4), "{}", writes.duration_ns);
    let (outcome, reason) = a1(&record);
    assert_eq!((writes.undisturbed, outcome), (None, Outcome::Misses), "{reason:?}");
}

#[test]
fn what_was_queued_beside_others_is_not_counted_as_undisturbed() {
    // For 60 ms after each disturbance the card is as slow as in it.
    let slower: fn(Nanos) -> Nanos = |time| {
        let is_late = time.get() % 2_000_000_000 < 1_060_000_000;
        Nanos::from_millis(if is_late { 30 } else { 0 })
    };
    let record = run(memory(4_000, slower), |time| second_of(time).is_multiple_of(2));
    let parts = phase(&record, "random-write-4k-qd32").undisturbed.unwrap();
    assert!((parts.iops.estimate.0 - 250.0).abs() < 3.0, "{parts:?}");
}

#[test]
fn the_standard_profile_fails_by_its_undisturbed_parts_too() {
    let slower: fn(Nanos) -> Nanos =
        |time| Nanos::from_millis(if second_of(time).is_multiple_of(3) { 12 } else { 0 });
    let record = run_of(standard::profile(), memory(4_000, slower), |time| {
        second_of(time).is_multiple_of(3)
    });
    let (outcome, reason) = a1(&record);
    assert_eq!(outcome, Outcome::Misses, "{reason:?}");
}
