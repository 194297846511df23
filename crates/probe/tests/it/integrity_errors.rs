//! Requests that fail with an error are never taken for data that a queue or a discard has harmed.

use cardproof_io::{Abilities, Completion, Fault, Op, OpKind, Slot, Submission};
use cardproof_io::{SubmitError, Target, TargetError, Wait};
use cardproof_probe::integrity::{
    DiscardOutcome, DiscardPlan, End, QueuePlan, SpeedPlan, run_discards, run_queue, run_speed,
};
use cardproof_sim::fault::DiscardFault;
use cardproof_sim::{Card, Keeping, Model, find};
use cardproof_units::{Bytes, Nanos, Seed};

const SIZE: Bytes = Bytes::mib(128);

fn card(transient_ppm: u32) -> Card {
    let base = find("v30-a2-queued").unwrap();
    let model = Model { capacity: SIZE, ..base.model };
    let mut card = Card { model, discard: Some(DiscardFault::HONEST), ..*base };
    card.damage.transient_ppm = transient_ppm;
    card
}

/// What a device does with a request.
enum Deed {
    Right,
    /// It answers with an error and does nothing.
    Refuses,
    /// It answers that all went well and does nothing.
    Loses,
}

/// A sound card behind something that fails as `deed` says of the request of a number.
struct Failing<F> {
    inner: Box<dyn Target + Send>,
    deed: F,
    requests: u64,
}

impl<F: FnMut(&Op, u64) -> Deed> Target for Failing<F> {
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner.prepare(slots, buffer_size)
    }
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }
    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.requests += 1;
        let outcome = match (self.deed)(&op, self.requests) {
            Deed::Right => return self.inner.submit(op),
            Deed::Refuses => Err(Fault::InputOutput),
            Deed::Loses => Ok(op.length),
        };
        let now = self.inner.now();
        let Op { slot, kind, .. } = op;
        let completion = Completion { slot, kind, submitted: now, completed: now, outcome };
        Ok(Submission::Done(completion))
    }
    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.inner.complete(wait, completions)
    }
}

fn failing<F: FnMut(&Op, u64) -> Deed>(seed: Seed, deed: F) -> Failing<F> {
    let inner = Box::new(card(0).open(seed, Keeping::Bytes).unwrap());
    Failing { inner, deed, requests: 0 }
}

fn discards_of(target: &mut dyn Target, seed: Seed) -> DiscardOutcome {
    let plan = DiscardPlan::new(SIZE, 0.01, seed).unwrap();
    let outcome = run_discards(target, &plan, &mut |_, _| true).unwrap();
    assert_eq!((outcome.wrong_count, outcome.revived), (0, Bytes::ZERO), "{seed:?}: {outcome:?}");
    outcome
}

#[test]
fn requests_that_fail_once_are_tried_again() {
    for seed in (1..3).map(Seed::from_bits) {
        let mut target = card(2_000).open(seed, Keeping::Bytes).unwrap();
        let outcome = discards_of(&mut target, seed);
        assert!(outcome.end == End::Done && outcome.faults > 0 && outcome.discards >= 299);
        assert_eq!(outcome.mended, outcome.faults, "{seed:?}");
        let plan = QueuePlan::new(SIZE, 32, 0.001, true, seed).unwrap();
        let mut target = card(1_000).open(seed, Keeping::Bytes).unwrap();
        let outcome = run_queue(&mut target, &plan, &mut |_, _| true).unwrap();
        assert!(outcome.end == End::Done && outcome.faults > 3 && outcome.wrong.is_empty());
        assert_eq!(outcome.mended, outcome.faults, "{seed:?}");
        let plan = SpeedPlan::new(SIZE, seed).unwrap();
        let mut target = card(500).open(seed, Keeping::Bytes).unwrap();
        let speed = run_speed(&mut target, &plan, &mut |_, _| true).unwrap();
        assert!(speed.faults > 0 && speed.fault.is_none());
        assert_eq!((speed.before.len(), speed.after.len()), (8, 8));
    }
}

#[test]
fn what_lies_where_a_write_or_a_discard_failed_is_not_judged() {
    // The errors of this one place are too few to end the test.
    let is_bad =
        |op: &Op| (op.offset.get()..op.offset.get() + op.length.get()).contains(&(60 << 20));
    for kind in [OpKind::Write, OpKind::Discard, OpKind::Read] {
        for seed in (1..3).map(Seed::from_bits) {
            let refuses = move |op: &Op, _| {
                if op.kind == kind && is_bad(op) { Deed::Refuses } else { Deed::Right }
            };
            let outcome = discards_of(&mut failing(seed, refuses), seed);
            assert!(outcome.live_checked > Bytes::mib(1), "{kind:?}: {outcome:?}");
            assert!(outcome.faults > outcome.mended, "{kind:?}: {outcome:?}");
        }
    }
}

#[test]
fn what_was_written_before_a_flush_that_failed_is_not_judged() {
    for seed in (1..4).map(Seed::from_bits) {
        let mut is_losing = false;
        // Writes from a number on are lost, and the next flush says so.
        let loses = move |op: &Op, number: u64| {
            is_losing |= number.is_multiple_of(2_500);
            match op.kind {
                OpKind::Flush if std::mem::take(&mut is_losing) => Deed::Refuses,
                OpKind::Write if is_losing => Deed::Loses,
                _ => Deed::Right,
            }
        };
        let outcome = discards_of(&mut failing(seed, loses), seed);
        assert!(outcome.faults > 0 && outcome.end == End::Done && outcome.discards >= 299);
    }
}

#[test]
fn a_device_that_only_fails_ends_the_tests() {
    let seed = Seed::from_bits(1);
    let mut dead =
        failing(seed, |_: &Op, number| if number > 5_000 { Deed::Refuses } else { Deed::Right });
    let outcome = discards_of(&mut dead, seed);
    assert_eq!((outcome.end, outcome.faults), (End::Failing(Fault::InputOutput), 100));
    let plan = SpeedPlan::new(SIZE, seed).unwrap();
    let speed = run_speed(&mut dead, &plan, &mut |_, _| true).unwrap();
    assert!(speed.fault.is_some() && speed.before.is_empty());
}

#[test]
fn a_queue_is_not_blamed_for_requests_that_fail() {
    for seed in (1..4).map(Seed::from_bits) {
        let mut target = failing(seed, |op: &Op, number| match op.kind {
            OpKind::Flush if number.is_multiple_of(7) => Deed::Refuses,
            _ if number.is_multiple_of(300) => Deed::Refuses,
            _ => Deed::Right,
        });
        let plan = QueuePlan::new(SIZE, 32, 0.001, true, seed).unwrap();
        let outcome = run_queue(&mut target, &plan, &mut |_, _| true).unwrap();
        assert!(outcome.wrong.is_empty() && outcome.mended > 0, "{seed:?}: {outcome:?}");
        // A flush that failed is not mended by another.
        assert!(outcome.faults > outcome.mended, "{seed:?}: {outcome:?}");
    }
}
