//! Whether a partition that begins at one place is faster than one that begins at another: both
//! measured in turn on the same storage.
//!
//! Each turn writes whole allocation units of a partition in random order, as a file system does that
//! fills one after another. Turns come in the order before, after, after, before, so that what drifts
//! weighs on both alike. What the difference means is for `cardproof_stats`.

use cardproof_io::{Completion, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::geometry::ProbeError;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Where the partition begins as it is.
    pub before: Bytes,
    /// Where it would begin.
    pub after: Bytes,
    /// What the file system fills at a time.
    pub unit: Bytes,
    /// How much of the target is used, from its start.
    pub span: Bytes,
    /// How many pairs of turns.
    pub pairs: u32,
    /// Seed for places and data.
    pub seed: Seed,
}

/// Rates in bytes a second, of each pair in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turns {
    /// Before.
    pub before: Vec<f64>,
    /// After.
    pub after: Vec<f64>,
    /// All bytes written.
    pub written: Bytes,
}

/// Units that one turn fills.
const UNITS_A_TURN: u64 = 4;

/// The size of each write.
const WRITE: u64 = 128 << 10;

/// The only slot.
const SLOT: Slot = Slot(0);

impl Trial {
    /// How much it writes.
    #[must_use]
    pub const fn bytes(&self) -> Bytes {
        let a_turn = UNITS_A_TURN * self.unit.get();
        // Filled once before, so that no turn writes where nothing was.
        Bytes(self.span.get() + 2 * self.pairs as u64 * a_turn)
    }

    /// Units that fit the span behind either beginning.
    const fn units(&self) -> u64 {
        let first = if self.before.get() > self.after.get() { self.before } else { self.after };
        self.span.saturating_sub(first).get() / self.unit.get()
    }

    /// Whether there is room for it.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.units() >= UNITS_A_TURN
    }

    /// Takes all turns on `target`; `is_stopped` is asked before each write.
    ///
    /// # Errors
    /// The engine failed, the device vanished or does not take writes, or somebody ended it.
    pub fn run(
        &self,
        target: &mut dyn Target,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Turns, ProbeError> {
        target.prepare(1, Bytes(WRITE))?;
        let random = Xoshiro256PlusPlus::seed_from_u64(self.seed.derive("layout"));
        let mut writer = Writer { target, is_stopped, random, written: 0 };
        writer.stretch(0, self.span.get() / WRITE * WRITE)?;
        let mut turns = Turns::default();
        for pair in 0..self.pairs {
            let places: Vec<u64> =
                (0..UNITS_A_TURN).map(|_| writer.random.next_u64() % self.units()).collect();
            let (before, after) = if pair.is_multiple_of(2) {
                let before = writer.turn(self.before, self.unit, &places)?;
                (before, writer.turn(self.after, self.unit, &places)?)
            } else {
                let after = writer.turn(self.after, self.unit, &places)?;
                (writer.turn(self.before, self.unit, &places)?, after)
            };
            turns.before.push(before);
            turns.after.push(after);
        }
        turns.written = Bytes(writer.written);
        Ok(turns)
    }
}

struct Writer<'a> {
    target: &'a mut dyn Target,
    is_stopped: &'a dyn Fn() -> bool,
    random: Xoshiro256PlusPlus,
    written: u64,
}

impl Writer<'_> {
    /// The rate of filling the units at `places` of a partition that begins at `start`.
    fn turn(&mut self, start: Bytes, unit: Bytes, places: &[u64]) -> Result<f64, ProbeError> {
        let begun = self.target.now();
        let bytes = unit.get() / WRITE * WRITE;
        for place in places {
            self.stretch(start.get() + place * unit.get(), bytes)?;
        }
        self.operate(Op::flush(SLOT))?;
        let took: Nanos = self.target.now().saturating_sub(begun);
        Ok((bytes * places.len() as u64) as f64 / took.as_secs_f64().max(1e-9))
    }

    fn stretch(&mut self, from: u64, bytes: u64) -> Result<(), ProbeError> {
        for step in 0..bytes / WRITE {
            self.random.fill_bytes(self.target.buffer(SLOT));
            self.operate(Op {
                slot: SLOT,
                kind: OpKind::Write,
                offset: Bytes(from + step * WRITE),
                length: Bytes(WRITE),
            })?;
            self.written += WRITE;
        }
        Ok(())
    }

    fn operate(&mut self, op: Op) -> Result<(), ProbeError> {
        if (self.is_stopped)() {
            return Err(ProbeError::Stopped);
        }
        let mut completions: Vec<Completion> = Vec::with_capacity(1);
        if let Submission::Done(completion) = self.target.submit(op)? {
            completions.push(completion);
        }
        while completions.is_empty() {
            self.target.complete(Wait::One, &mut completions)?;
        }
        match completions[0].outcome {
            Ok(_) => Ok(()),
            Err(fault) if fault.is_final() => Err(ProbeError::Vanished),
            Err(_) => Err(ProbeError::Unwritable),
        }
    }
}
