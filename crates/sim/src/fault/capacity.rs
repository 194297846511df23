//! Cards that announce more than they hold, in every way in which such cards are made.
//!
//! Fake cards are ordinary cards with a controller that lies about the size. What happens to an
//! address beyond the flash differs; and some keep the last writes in a memory, so that whoever
//! reads a file straight back finds it in order.

use cardproof_io::{Abilities, Completion, Op, OpKind, Target};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::target::Due;

use super::beyond::{LatestWrites, TimePerByte, Turns};
use super::layered::{Admission, Finish, Layer, Layered, abilities_of, as_asked, delegate_target};

/// What happens to addresses beyond the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The address starts again from zero, so that writing beyond overwrites the front.
    WrapAround,
    /// Writes are dropped; reads give this byte throughout.
    Drop {
        /// What every byte reads as.
        reads_as: u8,
    },
    /// Every address beyond is the last block of the flash.
    LastBlock,
    /// Writes are dropped; reads give something else each time.
    Limbo,
}

/// A lie about the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityFake {
    /// How many bytes the card says it holds; the target below holds the rest of the truth.
    pub announced: Bytes,
    /// What happens to the addresses it does not have.
    pub beyond: Beyond,
    /// How many bytes of the latest writes beyond the flash are still read back rightly.
    pub remembers: Bytes,
}

/// A target under a [`CapacityFake`].
#[derive(Debug)]
pub struct FakeTarget<T>(Layered<T, CapacityLayer>);

impl<T: Target> FakeTarget<T> {
    /// Lets `inner` announce what `fake` says. An announced size below the real one is raised
    /// to it; both count whole blocks. `seed` decides what limbo reads as.
    pub fn new(inner: T, fake: &CapacityFake, seed: Seed) -> Self {
        let real = inner.abilities().size;
        let block = inner.abilities().logical_block;
        let abilities = Abilities {
            size: fake.announced.round_down_to(block).max(real),
            ..abilities_of(&inner)
        };
        let layer = CapacityLayer::new(fake, real, block, seed);
        Self(Layered::new(inner, layer, abilities))
    }
}

delegate_target!(FakeTarget<T: Target>);

impl<T: Target + Due> Due for FakeTarget<T> {
    fn next_due(&mut self) -> Option<Nanos> {
        self.0.next_due()
    }
}

/// The layer behind a [`FakeTarget`].
#[derive(Debug)]
struct CapacityLayer {
    beyond: Beyond,
    real: u64,
    block: usize,
    latest: LatestWrites,
    turns: Vec<Turns>,
    time_per_byte: TimePerByte,
    random: Xoshiro256PlusPlus,
}

impl CapacityLayer {
    fn new(fake: &CapacityFake, real: Bytes, block: Bytes, seed: Seed) -> Self {
        Self {
            beyond: fake.beyond,
            real: real.get(),
            block: block.as_len(),
            latest: LatestWrites::new(fake.remembers, block),
            turns: Vec::new(),
            time_per_byte: TimePerByte::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("limbo")),
        }
    }

    /// How many bytes of `op` lie in the flash.
    fn length_within(&self, op: &Op) -> usize {
        let within = self.real.saturating_sub(op.offset.get()).min(op.length.get());
        usize::try_from(within).unwrap_or(usize::MAX)
    }

    /// The operation that stands for `op` where addresses start again from zero.
    fn admit_wrapped(&mut self, op: &Op) -> Admission {
        let offset = op.offset.get() % self.real;
        let first = op.length.get().min(self.real - offset);
        self.turns[op.slot.index()] =
            Turns::Rotate { done: 0, turn: Bytes(first).as_len(), lap: Bytes(self.real).as_len() };
        Admission::Pass(Op { offset: Bytes(offset), length: Bytes(first), ..*op })
    }

    /// The operation that stands for `op` where the last block is everything beyond it.
    fn admit_last_block(&mut self, op: &Op, data: &mut [u8], within: usize) -> Admission {
        let block = self.block;
        let place = within.saturating_sub(block);
        if op.kind == OpKind::Write {
            let saved = data[place..place + block].to_vec();
            let length = op.length.as_len();
            data.copy_within(length - block..length, place);
            self.turns[op.slot.index()] = Turns::PutBack { place, saved };
        }
        if within > 0 {
            return Admission::Pass(Op { length: Bytes(within as u64), ..*op });
        }
        let last = Bytes(self.real - block as u64);
        Admission::Pass(Op { offset: last, length: Bytes(block as u64), ..*op })
    }

    /// The part of `op` that has a place, or an answer where it has none.
    fn admit_dropped(&mut self, op: &Op, data: &mut [u8], within: usize) -> Admission {
        if within > 0 {
            return Admission::Pass(Op { length: Bytes(within as u64), ..*op });
        }
        if op.kind == OpKind::Read {
            self.make_up(op, data, 0);
        }
        let after = self.time_per_byte.estimate(op);
        Admission::Answer { after, outcome: Ok(op.length) }
    }

    /// Fills the part of a read from `within` on with what the card gives for no flash.
    fn make_up(&mut self, op: &Op, data: &mut [u8], within: usize) {
        let length = op.length.as_len();
        match self.beyond {
            Beyond::Drop { reads_as } => data[within..length].fill(reads_as),
            Beyond::Limbo => self.random.fill_bytes(&mut data[within..length]),
            Beyond::LastBlock => {
                let block = self.block;
                let from = within.saturating_sub(block);
                for place in (from + block..length).step_by(block) {
                    data.copy_within(from..from + block, place);
                }
            }
            Beyond::WrapAround => {}
        }
        self.latest.recall(op.offset.get(), &mut data[..length]);
    }
}

impl<T: Target> Layer<T> for CapacityLayer {
    fn prepare(&mut self, slots: u16) {
        self.turns = vec![Turns::One; usize::from(slots)];
    }

    fn admit(&mut self, below: &mut T, op: &Op) -> Admission {
        let data = below.buffer(op.slot);
        self.turns[op.slot.index()] = Turns::One;
        let within = self.length_within(op);
        if op.kind == OpKind::Flush || within == op.length.as_len() {
            return Admission::Pass(*op);
        }
        if op.kind == OpKind::Write {
            let beyond = op.offset.get() + within as u64;
            self.latest.note(beyond, &data[within..op.length.as_len()]);
        }
        match (op.kind, self.beyond) {
            (OpKind::Discard, _) => self.admit_dropped(op, &mut [], within),
            (_, Beyond::WrapAround) => self.admit_wrapped(op),
            (_, Beyond::LastBlock) => self.admit_last_block(op, data, within),
            (_, Beyond::Drop { .. } | Beyond::Limbo) => self.admit_dropped(op, data, within),
        }
    }

    fn finish(&mut self, below: &mut T, asked: &Op, turn: &Completion) -> Finish {
        let data = below.buffer(asked.slot);
        self.time_per_byte.learn(turn);
        let state = std::mem::take(&mut self.turns[asked.slot.index()]);
        let next = state.after(asked, turn, data);
        if let Some((state, op)) = next {
            self.turns[asked.slot.index()] = state;
            return Finish::Again(op);
        }
        let within = self.length_within(asked);
        if turn.outcome.is_ok() && asked.kind == OpKind::Read && within < asked.length.as_len() {
            self.make_up(asked, data, within);
        }
        Finish::End(as_asked(asked, turn))
    }
}
