//! Power cuts: what was not flushed is at risk, and a card may lie about what was.
//!
//! This is the worst that the contract of a target allows: every write is volatile until a
//! flush that came after it has ended, however long ago it was. A real card is kinder, but a
//! file system must not count on it.

use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Target};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::layered::{Admission, Layer, Layered, abilities_of, delegate_target};
use crate::target::Peek;

/// What becomes of writes that were not flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtRisk {
    /// All are lost.
    Lost,
    /// Each is lost or kept, as the seed has it: also a later one kept and an earlier one lost.
    AnySurvive,
    /// Each block of each is lost or kept.
    Torn,
}

/// How a card loses power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLoss {
    /// Cut the power at this operation, counted from 1, before it does anything.
    pub at_operation: Option<u64>,
    /// What becomes of writes that were not flushed.
    pub at_risk: AtRisk,
    /// Whether a flush is more than words. If not, it is reported done at once.
    pub honours_flush: bool,
    /// How many bytes of the latest writes can be volatile at most.
    pub volatile_max: Bytes,
}

/// A target whose power can be cut.
#[derive(Debug)]
pub struct PowerCutTarget<T>(Layered<T, PowerLayer>);

impl<T: Target + Peek> PowerCutTarget<T> {
    /// Puts `inner` on a supply that fails as `loss` says; `seed` decides what survives.
    pub fn new(inner: T, loss: PowerLoss, seed: Seed) -> Self {
        let abilities = abilities_of(&inner);
        let layer = PowerLayer {
            loss,
            block: abilities.logical_block.as_len(),
            ops: 0,
            off: false,
            at_risk: Vec::new(),
            at_risk_bytes: 0,
            doomed: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("power")),
        };
        Self(Layered::new(inner, layer, abilities))
    }

    /// Cuts the power: what is in flight and everything after it fails with
    /// [`Fault::Vanished`] until [`restore_power`](Self::restore_power).
    pub fn cut_power(&mut self) {
        let Layered { inner, layer, .. } = &mut self.0;
        layer.cut(inner);
    }

    /// Turns the power on again; the card holds what survived.
    pub fn restore_power(&mut self) {
        self.0.layer.off = false;
    }

    /// Whether the power is off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.0.layer.off
    }
}

delegate_target!(PowerCutTarget<T: PeekTarget>);

/// A target into which one can peek.
pub trait PeekTarget: Target + Peek {}

impl<T: Target + Peek> PeekTarget for T {}

/// A write that a power cut can undo.
#[derive(Clone, Debug)]
struct Volatile {
    offset: Bytes,
    /// What was there before.
    before: Vec<u8>,
    /// The slot in which it is in flight, if it is.
    in_flight: Option<Slot>,
    /// The flush that will make it durable, if one is under way.
    covered_by: Option<Slot>,
}

/// The layer behind a [`PowerCutTarget`].
#[derive(Debug)]
struct PowerLayer {
    loss: PowerLoss,
    block: usize,
    ops: u64,
    off: bool,
    /// Writes that a cut can undo, in the order in which they were made.
    at_risk: Vec<Volatile>,
    at_risk_bytes: usize,
    /// By slot: the operation was in flight when the power was cut.
    doomed: Vec<bool>,
    random: Xoshiro256PlusPlus,
}

impl PowerLayer {
    fn cut<T: Peek>(&mut self, below: &mut T) {
        if self.off {
            return;
        }
        self.off = true;
        self.doomed.fill(true);
        let mut undone = std::mem::take(&mut self.at_risk);
        self.at_risk_bytes = 0;
        for write in undone.iter_mut().rev() {
            let mut written = vec![0; write.before.len()];
            below.peek(write.offset, &mut written);
            below.poke(write.offset, &write.before);
            write.before = written;
        }
        for write in &undone {
            self.redo(below, write.offset, &write.before);
        }
    }

    /// Makes of `written` at `offset` what survives.
    fn redo<T: Peek>(&mut self, below: &mut T, offset: Bytes, written: &[u8]) {
        match self.loss.at_risk {
            AtRisk::Lost => {}
            AtRisk::AnySurvive => {
                if self.toss() {
                    below.poke(offset, written);
                }
            }
            AtRisk::Torn => {
                for (number, block) in written.chunks(self.block).enumerate() {
                    if self.toss() {
                        below.poke(offset + Bytes((number * self.block) as u64), block);
                    }
                }
            }
        }
    }

    fn toss(&mut self) -> bool {
        self.random.next_u64() & 1 == 1
    }

    /// Remembers what `op` is about to overwrite.
    fn note_write<T: Peek>(&mut self, below: &T, op: &Op) {
        let mut before = vec![0; op.length.as_len()];
        below.peek(op.offset, &mut before);
        self.at_risk_bytes += before.len();
        let in_flight = Some(op.slot);
        self.at_risk.push(Volatile { offset: op.offset, before, in_flight, covered_by: None });
        self.settle_oldest();
    }

    /// Lets go of the oldest writes beyond what can be volatile.
    fn settle_oldest(&mut self) {
        let mut settled = 0;
        while self.at_risk_bytes > self.loss.volatile_max.as_len() && settled < self.at_risk.len() {
            if self.at_risk[settled].in_flight.is_some() {
                break;
            }
            self.at_risk_bytes -= self.at_risk[settled].before.len();
            settled += 1;
        }
        self.at_risk.drain(..settled);
    }

    /// A flush answers for the writes that were complete when it came.
    fn note_flush(&mut self, slot: Slot) {
        for write in &mut self.at_risk {
            if write.in_flight.is_none() && write.covered_by.is_none() {
                write.covered_by = Some(slot);
            }
        }
    }

    fn end_flush(&mut self, slot: Slot, worked: bool) {
        if worked {
            self.at_risk.retain(|write| write.covered_by != Some(slot));
            self.at_risk_bytes = self.at_risk.iter().map(|write| write.before.len()).sum();
        }
        for write in &mut self.at_risk {
            if write.covered_by == Some(slot) {
                write.covered_by = None;
            }
        }
    }

    fn end_write(&mut self, slot: Slot) {
        for write in &mut self.at_risk {
            if write.in_flight == Some(slot) {
                write.in_flight = None;
            }
        }
        self.settle_oldest();
    }
}

impl<T: Target + Peek> Layer<T> for PowerLayer {
    fn prepare(&mut self, slots: u16) {
        self.doomed = vec![false; usize::from(slots)];
    }

    fn admit(&mut self, below: &mut T, op: &Op) -> Admission {
        self.ops += 1;
        if self.loss.at_operation == Some(self.ops) {
            self.cut(below);
        }
        if self.off {
            return Admission::Answer { after: Nanos::ZERO, outcome: Err(Fault::Vanished) };
        }
        self.doomed[op.slot.index()] = false;
        match op.kind {
            OpKind::Write => self.note_write(below, op),
            OpKind::Flush if !self.loss.honours_flush => {
                return Admission::Answer { after: Nanos::ZERO, outcome: Ok(Bytes::ZERO) };
            }
            OpKind::Flush => self.note_flush(op.slot),
            OpKind::Read | OpKind::Discard => {}
        }
        Admission::Pass(*op)
    }

    fn finish(&mut self, _below: &mut T, asked: &Op, turn: &Completion) -> Result<Bytes, Fault> {
        if self.doomed[asked.slot.index()] {
            return Err(Fault::Vanished);
        }
        match asked.kind {
            OpKind::Write => self.end_write(asked.slot),
            OpKind::Flush => self.end_flush(asked.slot, turn.outcome.is_ok()),
            OpKind::Read | OpKind::Discard => {}
        }
        turn.outcome
    }
}
