//! Four cards on a hub, one of whose readers fails for a while; and the whole hub failing.

use anyhow::Result;
use cardproof_io::{
    Abilities, Completion, Described, Fault, Op, OpKind, Slot, Submission, SubmitError, Target,
    TargetError, Wait,
};
use cardproof_probe::endure::{
    Cycle, Pattern, Plan, Position, Progress, State, Watch, Why, Wish, run as wear_out,
};
use cardproof_sim::Keeping;
use cardproof_sim::fault::Life;
use cardproof_units::{Bytes, Nanos, Seed};

use super::{Part, Quiet, SHORTHAND, card};

/// How many times a reader fails, each at another moment and for another time.
const FAILURES: u64 = 400;
const FAILURES_SHORT: u64 = 40;

const SIZE: Bytes = Bytes::mib(64);

/// A target that reports errors from a time on for a while, on its own clock.
struct FailingReader {
    inner: Box<dyn Target + Send>,
    from: Nanos,
    to: Nanos,
    fault: Fault,
}

impl Target for FailingReader {
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }

    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner.prepare(slots, buffer_size)
    }

    fn describe(&mut self, slot: Slot, data: Described) -> bool {
        self.inner.describe(slot, data)
    }

    fn described(&self, slot: Slot) -> Option<[u64; 3]> {
        self.inner.described(slot)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let now = self.inner.now();
        if op.kind != OpKind::Flush && (self.from..self.to).contains(&now) {
            let Op { slot, kind, .. } = op;
            let outcome = Err(self.fault);
            let completed = now;
            return Ok(Submission::Done(Completion {
                slot,
                kind,
                submitted: now,
                completed,
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

/// A card whose neighbours fail as well.
struct OnFailingHub;

impl Watch for OnFailingHub {
    fn progress(&mut self, progress: &Progress) -> bool {
        Quiet.progress(progress)
    }

    fn keep_cycle(&mut self, cycle: &Cycle) -> Result<(), String> {
        Quiet.keep_cycle(cycle)
    }

    fn keep_position(&mut self, position: &Position) -> Result<(), String> {
        Quiet.keep_position(position)
    }

    fn others_fail(&mut self) -> bool {
        true
    }
}

/// Four cards in turn, of which one meets a failing reader; and hubs that fail for good.
pub(super) fn prove(is_short: bool, seed: Seed) -> Result<Part> {
    let failures = if is_short { FAILURES_SHORT } else { FAILURES };
    let wish = Wish { pattern: Pattern::Random, cycles_max: Some(4), bytes_max: None };
    let (mut charged, mut unseen, mut ended) = (0, 0, 0);
    for number in 0..failures {
        for seat in 0..4 {
            let own = Seed::from_bits(seed.get() ^ number << 8 ^ seat);
            let plan = Plan::new(SIZE, wish.clone(), own)?;
            let inner = card(SIZE, Life::ENDLESS)?.open(own, Keeping::Short(SHORTHAND))?;
            let from = Nanos::from_millis(100 + number * 397 % 9_000);
            let lasts = if seat == 1 {
                Nanos::from_millis(200 + number * 1_700 % 68_000)
            } else {
                Nanos::ZERO
            };
            let fault = if number % 2 == 0 { Fault::InputOutput } else { Fault::TimedOut };
            let mut target = FailingReader { inner, from, to: from + lasts, fault };
            let mut state = State::new(&plan);
            let why = wear_out(&mut target, &plan, &mut state, &mut Quiet)?;
            charged += u32::from(state.bad.count() > 0 || state.end.is_some());
            ended += u32::from(why != Why::WishMet);
            let seen = state.cycles.iter().map(|it| it.tally.host_errors + it.tally.transient);
            unseen += u32::from(seat == 1 && seen.sum::<u64>() == 0);
        }
        let own = Seed::from_bits(seed.get() ^ number << 16);
        let plan = Plan::new(SIZE, wish.clone(), own)?;
        let inner = card(SIZE, Life::ENDLESS)?.open(own, Keeping::Short(SHORTHAND))?;
        let (from, to) = (Nanos::from_millis(100 + number * 211 % 9_000), Nanos(u64::MAX));
        let mut target = FailingReader { inner, from, to, fault: Fault::InputOutput };
        let mut state = State::new(&plan);
        let why = wear_out(&mut target, &plan, &mut state, &mut OnFailingHub)?;
        charged += u32::from(why != Why::HostFails || state.end.is_some());
    }
    Ok(Part {
        sentence: format!(
            "A reader that fails for 0.2 to 68 s under one of four cards, {failures} times: counted \
             against a card {charged} times, not noticed {unseen} times, stopped a run {ended} times. \
             A hub that fails for good under all its cards, {failures} times, ended no card."
        ),
        holds: charged == 0 && unseen == 0 && ended == 0,
    })
}
