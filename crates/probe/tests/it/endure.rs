//! Endurance runs on simulated cards of known life: ends, milestones, resuming, and faults that are not
//! the card's.

use cardproof_io::{Abilities, Completion, Described, Fault, Op, OpKind, Slot, Submission};
use cardproof_io::{SubmitError, Target, TargetError, Wait};
use cardproof_probe::capacity::shorthand;
use cardproof_probe::endure::{
    Cycle, End, Marks, Pattern, Plan, Position, Progress, State, Watch, Why, Wish, marks, run,
};
use cardproof_sim::fault::{DamagedBlock, End as SimEnd, Life};
use cardproof_sim::{Card, Keeping, Model, Shorthand, find};
use cardproof_units::{Bytes, Nanos, Seed};

const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

const LIFE: Life = Life { cycles: 40, block: Bytes::kib(64), spares_ppm: 10_000, ..Life::ENDLESS };

fn card(size: Bytes, life: Life) -> Card {
    let base = find("sandisk-extreme-a1").unwrap();
    let mut model = Model { capacity: size, ..base.model };
    model.endurance.cycles = u32::MAX;
    Card { model, life, ..*base }
}

fn target(size: Bytes, life: Life) -> Box<dyn Target + Send> {
    card(size, life).open(Seed::from_bits(5), Keeping::Short(SHORTHAND)).unwrap()
}

fn plan(size: Bytes, pattern: Pattern, cycles_max: Option<u64>) -> Plan {
    Plan::new(size, Wish { pattern, cycles_max, bytes_max: None }, Seed::from_bits(9)).unwrap()
}

/// Keeps what it is given, and stops the run at a chosen call.
#[derive(Default)]
struct Notes {
    cycles: Vec<Cycle>,
    position: Option<Position>,
    stop_at: Option<u64>,
    calls: u64,
    waited: u64,
    others_fail: bool,
}

impl Watch for Notes {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.calls += 1;
        self.waited += u64::from(progress.is_waiting);
        self.stop_at.is_none_or(|at| self.calls < at)
    }

    fn keep_cycle(&mut self, cycle: &Cycle) -> Result<(), String> {
        self.cycles.push(cycle.clone());
        Ok(())
    }

    fn keep_position(&mut self, position: &Position) -> Result<(), String> {
        self.position = Some(position.clone());
        Ok(())
    }

    fn others_fail(&mut self) -> bool {
        self.others_fail
    }
}

fn whole_run(target: &mut dyn Target, plan: &Plan) -> (Why, State, Notes) {
    let (mut state, mut notes) = (State::new(plan), Notes::default());
    let why = run(target, plan, &mut state, &mut notes).unwrap();
    (why, state, notes)
}

#[test]
fn every_end_is_named() {
    let size = Bytes::mib(32);
    for (end, expected) in [
        (SimEnd::ReadOnly, End::ReadOnly),
        (SimEnd::SilentlyWrong, End::SilentlyWrong),
        (SimEnd::IgnoresWrites, End::IgnoresWrites),
        (SimEnd::TimesOut, End::TimesOut),
        (SimEnd::Shrinks, End::Shrinks),
        (SimEnd::Unreadable, End::Unreadable),
        (SimEnd::Never, End::Unreadable),
    ] {
        for pattern in [Pattern::Random, Pattern::Sequential] {
            let mut target = target(size, Life { end, ..LIFE });
            let (why, state, _) = whole_run(&mut *target, &plan(size, pattern, None));
            assert_eq!((why, state.end), (Why::Ended, Some(expected)), "{end:?}");
            assert!(state.milestones.iter().all(Option::is_some), "{end:?}");
            assert!((20..60).contains(&state.cycles.len()), "{end:?}: {}", state.cycles.len());
        }
    }
    let mut target = target(size, Life { end: SimEnd::Gone, ..LIFE });
    let (why, _, _) = whole_run(&mut *target, &plan(size, Pattern::Random, None));
    assert_eq!(why, Why::Vanished, "whether it comes back is for the caller to see");
}

#[test]
fn wrong_data_of_dead_blocks_are_silently_wrong() {
    let size = Bytes::mib(32);
    for gives in [DamagedBlock::FlipsBits, DamagedBlock::ReadsZero] {
        let mut target = target(size, Life { end: SimEnd::Never, gives, ..LIFE });
        let (_, state, notes) = whole_run(&mut *target, &plan(size, Pattern::Random, None));
        assert_eq!(state.end, Some(End::SilentlyWrong));
        let wrong: u64 = notes.cycles.iter().map(|cycle| cycle.tally.wrong_pages).sum();
        assert!(wrong * 4096 >= size.get() / 2, "{wrong} pages");
    }
}

/// The pages found bad are those of the dead blocks, cycle by cycle.
#[test]
fn the_bad_share_is_the_true_one() {
    let size = Bytes::mib(32);
    let life = Life { end: SimEnd::Never, spares_ppm: 0, ..LIFE };
    let mut target = target(size, life);
    let (_, state, notes) = whole_run(&mut *target, &plan(size, Pattern::Random, Some(30)));
    assert_eq!(state.cycles.len(), 30);
    let last = notes.cycles.last().unwrap();
    assert!(last.bad_pages > 0 && last.bad_pages.is_multiple_of(16), "{}", last.bad_pages);
    // A Weibull distribution with the exponent 8 at 30 of 40 cycles: 9.5 % of 512 blocks.
    let blocks = last.bad_pages / 16;
    assert!((25..75).contains(&blocks), "{blocks}");
    assert_eq!(last.tally.transient, 0);
}

/// Stopped at any place and continued, a run gives what the whole run gives.
#[test]
fn no_cycle_is_lost_or_counted_twice_over_stops() {
    let size = Bytes::mib(16);
    let plan = plan(size, Pattern::Random, Some(6));
    let mut whole = target(size, Life { end: SimEnd::Never, ..LIFE });
    let (_, expected, _) = whole_run(&mut *whole, &plan);
    let mut stopped = target(size, Life { end: SimEnd::Never, ..LIFE });
    let mut kept: Vec<Cycle> = Vec::new();
    let mut position = None;
    for round in 0..400 {
        let mut state = State::new(&plan);
        assert!(kept.iter().all(|cycle| state.take_cycle(cycle.clone())), "round {round}");
        if let Some(position) = position.take() {
            state.take_position(position);
        }
        if round > 0 {
            assert_eq!(marks(&mut *stopped, &plan, &state).unwrap(), Marks::Own, "round {round}");
        }
        let mut notes = Notes { stop_at: Some(40 + round * 7 % 90), ..Notes::default() };
        let why = run(&mut *stopped, &plan, &mut state, &mut notes).unwrap();
        kept.append(&mut notes.cycles);
        position = notes.position;
        if why == Why::WishMet {
            let numbers: Vec<u64> = kept.iter().map(|cycle| cycle.number).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
            assert_eq!(state.position.written_bytes, expected.position.written_bytes);
            return;
        }
    }
    panic!("the run did not come to its end");
}

#[test]
fn another_card_is_known_by_its_marks() {
    let size = Bytes::mib(16);
    let plan = plan(size, Pattern::Random, Some(1));
    let mut own = target(size, LIFE);
    let (_, state, _) = whole_run(&mut *own, &plan);
    assert_eq!(marks(&mut *own, &plan, &state).unwrap(), Marks::Own);
    let mut other = target(size, LIFE);
    assert_eq!(marks(&mut *other, &plan, &state).unwrap(), Marks::Foreign);
    assert_eq!(marks(&mut *other, &plan, &State::new(&plan)).unwrap(), Marks::NotExpected);
}

/// Fails everything for a while on the clock, whatever is asked.
struct Glitch {
    inner: Box<dyn Target + Send>,
    from: Nanos,
    to: Nanos,
}

impl Target for Glitch {
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
    fn describe(&mut self, slot: Slot, data: Described) -> bool {
        self.inner.describe(slot, data)
    }
    fn described(&self, slot: Slot) -> Option<[u64; 3]> {
        self.inner.described(slot)
    }
    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let now = self.inner.now();
        if op.kind != OpKind::Flush && (self.from..self.to).contains(&now) {
            let Op { slot, kind, .. } = op;
            let outcome = Err(Fault::InputOutput);
            return Ok(Submission::Done(Completion {
                slot,
                kind,
                submitted: now,
                completed: now,
                outcome,
            }));
        }
        self.inner.submit(op)
    }
    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.inner.complete(wait, completions)
    }
}

/// A reader that fails for half a minute, while writing or reading, costs the card nothing.
#[test]
fn a_fault_that_passes_is_not_the_cards() {
    let size = Bytes::mib(32);
    for from_ms in [10, 300, 700, 1200] {
        let inner = target(size, Life::ENDLESS);
        let from = Nanos::from_millis(from_ms);
        let mut glitch = Glitch { inner, from, to: from + Nanos::from_secs(30) };
        let (why, state, notes) = whole_run(&mut glitch, &plan(size, Pattern::Random, Some(3)));
        assert_eq!((why, state.end, state.bad.count()), (Why::WishMet, None, 0), "{from_ms} ms");
        let errors: u64 = notes.cycles.iter().map(|cycle| cycle.tally.host_errors).sum();
        assert_eq!(errors, 1, "{from_ms} ms");
        assert!(notes.waited > 0);
    }
}

#[test]
fn a_hub_that_fails_ends_no_card() {
    let size = Bytes::mib(32);
    let inner = target(size, Life::ENDLESS);
    let mut dead = Glitch { inner, from: Nanos::from_millis(300), to: Nanos::from_secs(100_000) };
    let plan = plan(size, Pattern::Random, Some(3));
    let (mut state, mut notes) =
        (State::new(&plan), Notes { others_fail: true, ..Notes::default() });
    let why = run(&mut dead, &plan, &mut state, &mut notes).unwrap();
    assert_eq!((why, state.end), (Why::HostFails, None));
    assert!(notes.position.is_some(), "the place is kept");
    let (why, state, _) = whole_run(&mut dead, &plan);
    assert_eq!((why, state.end), (Why::Ended, Some(End::Unreadable)), "alone it is the card's end");
}

/// Bytes and numbers give the same run.
#[test]
fn data_as_numbers_and_as_bytes_give_the_same() {
    let size = Bytes::mib(16);
    let plan = plan(size, Pattern::Random, None);
    let life = Life { end: SimEnd::SilentlyWrong, cycles: 6, ..LIFE };
    let card = card(size, life);
    let mut short = card.open(Seed::from_bits(5), Keeping::Short(SHORTHAND)).unwrap();
    let mut bytes = card.open(Seed::from_bits(5), Keeping::Bytes).unwrap();
    let (_, one, _) = whole_run(&mut *short, &plan);
    let (_, other, _) = whole_run(&mut *bytes, &plan);
    assert_eq!(one, other);
    assert!(one.end.is_some());
}

#[test]
fn a_hot_spot_wears_only_itself_without_levelling() {
    let size = Bytes::mib(64);
    let life = Life { levels: false, end: SimEnd::Never, spares_ppm: 0, cycles: 20, ..LIFE };
    let mut target = target(size, life);
    let (why, state, _) = whole_run(&mut *target, &plan(size, Pattern::HotSpot, None));
    assert_eq!((why, state.end), (Why::Ended, Some(End::Unreadable)));
    let middle = size.get() / 2 / 4096;
    assert!(state.bad.has(middle) && !state.bad.has(0));
}
