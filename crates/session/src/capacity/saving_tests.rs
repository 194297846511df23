//! A whole test with saving and putting back, on cards that fail.

use cardproof_evidence::capacity::Observation;
use cardproof_io::Slot;
use cardproof_probe::capacity::{Outcome, Plan, Progress, Watch, Wish, run};
use cardproof_sim::{Keeping, describe};
use cardproof_testkit::some_of;
use cardproof_units::Seed;

use super::super::journal::Opened;
use super::super::marks;
use super::super::putting_back::{Restored, Trust, put_back};
use super::super::steady::Moved;
use super::*;

struct Follower(SavingState);

impl Watch for Follower {
    fn progress(&mut self, _: &Progress) -> bool {
        true
    }

    fn is_untouched(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        self.0.is_untouched(offset_bytes, length_bytes)
    }
}

/// What a test with saving has shown, and what putting back has done.
struct Tested {
    outcome: Outcome,
    state: SavingState,
    restored: Restored,
    before: Vec<Option<Vec<u8>>>,
    after: Vec<Option<Vec<u8>>>,
}

const SIZE: u64 = 16_000_000 / 4096 * 4096;
const PIECE: u64 = 4096;

/// Each piece of the card; `None` where it cannot be read.
fn contents(target: &mut dyn Target) -> Vec<Option<Vec<u8>>> {
    target.prepare(1, Bytes(PIECE)).unwrap();
    let mut steady = Steady::new(target, Slot(0));
    let mut piece = |at| {
        let back = steady.read(at, PIECE).unwrap();
        back.is_read.iter().all(|&is_read| is_read).then_some(back.data)
    };
    (0..SIZE / PIECE).map(|number| piece(number * PIECE)).collect()
}

/// Tests a card of 16 MB with the given damage, which is full of data.
fn tested(damage: &str) -> Tested {
    let text = format!("size = \"16MB\"\n[damage]\n{damage}");
    let mut target =
        describe("card", &text).unwrap().open(Seed::from_bits(3), Keeping::Bytes).unwrap();
    target.prepare(1, Bytes(PIECE)).unwrap();
    let mut steady = Steady::new(&mut *target, Slot(0));
    for number in 0..SIZE / PIECE {
        let data: Vec<u8> = (0..PIECE).map(|at| (number * 7 + at * 13) as u8).collect();
        assert_eq!(steady.write(number * PIECE, &data).unwrap(), 0);
    }
    let before = contents(&mut *target);
    let file = tempfile::tempfile().unwrap();
    let (size, block) = (target.abilities().size, target.abilities().logical_block);
    let plan = Plan::new(size, block, Wish::default(), Seed::from_bits(1)).unwrap().salted(0x5aa5);
    let mut journal = Journal::create(file.try_clone().unwrap(), "16000000", 0x5aa5).unwrap();
    let places = marks::places(size, block, 0x5aa5);
    marks::set(&mut *target, &mut journal, &places, &mut Moved::default()).unwrap();
    let mut saving = Saving::new(&mut *target, &mut journal);
    let state = saving.state();
    let outcome = run(&mut saving, &plan, &mut Follower(state.clone())).unwrap();
    // What is on the disk counts.
    let Opened::Journal(mut journal, _) = Journal::open(file).unwrap() else {
        panic!("no journal")
    };
    let restored = put_back(&mut *target, &mut journal, Trust::SameRun);
    let after = contents(&mut *target);
    Tested { outcome, state, restored, before, after }
}

#[test]
fn what_cannot_be_saved_is_not_overwritten_and_not_called_wrong() {
    let tested = tested("share = 0.01\ngives = \"error\"");
    let observations = &tested.outcome.evidence.observations;
    assert!(observations.len() > 1000 && observations.iter().all(Observation::is_right));
    let (stretches, untested) = tested.state.untouched();
    let unreadable = tested.before.iter().filter(|piece| piece.is_none()).count() as u64;
    assert!(unreadable > 10 && untested == Bytes(unreadable * PIECE), "{untested}: {stretches:?}");
    assert!(tested.restored.is_whole(), "{:?}", tested.restored);
    assert!(tested.before == tested.after, "data were lost");
}

#[test]
fn requests_that_fail_once_lose_nothing() {
    for share in some_of(["0.02", "0.001"], 2) {
        let tested = tested(&format!("transient_share = {share}"));
        assert!(tested.restored.is_whole(), "{:?}", tested.restored);
        assert_eq!(tested.state.untouched().1, Bytes::ZERO);
        assert!(tested.before == tested.after, "data were lost");
        let mut observations = tested.outcome.evidence.observations.iter();
        assert!(observations.all(Observation::is_right), "{share}");
    }
}

fn done(kind: OpKind, length: Bytes, took: Nanos) -> Completion {
    let outcome = Ok(length);
    Completion { slot: Slot(0), kind, submitted: Nanos::ZERO, completed: took, outcome }
}

#[test]
fn the_time_to_restore_has_the_flush_that_long_writes_need() {
    let state = SavingState::default();
    state.note_time(Bytes::mib(1), Nanos::from_millis(5));
    state.note(&done(OpKind::Write, Bytes::mib(1), Nanos::from_millis(10)));
    state.note(&done(OpKind::Flush, Bytes::ZERO, Nanos::from_millis(15)));
    assert_eq!(state.time_to_restore(Bytes::mib(1)), Nanos::from_millis(30));
    assert_eq!(state.time_to_restore(Bytes::mib(3)), Nanos::from_millis(90));
}
