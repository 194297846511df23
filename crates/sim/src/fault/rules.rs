//! Faults by rule: what goes wrong, and when.

use std::ops::Range;

use cardproof_io::{Completion, Fault, Op, OpKind, Target};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::layered::{Admission, Layer, Layered, abilities_of, as_asked, delegate_target};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The operation fails with this fault and does nothing.
    Fail(Fault),
    /// The operation does nothing and fails with [`Fault::TimedOut`] after this time.
    TimeOut(Nanos),
    /// So many bits are turned over: in what a read returns, or in what a write stores.
    FlipBits(u32),
    /// The blocks of [`When::range`] hold a pattern of their own, whatever is written there.
    Stick,
    /// A write goes this much further on, starting again from zero at the end; a read, flush or
    /// discard is left alone.
    Misdirect(Bytes),
    /// A write or flush is reported done and never made; a read or discard is left alone.
    Lose,
    /// This operation and every later one, and those in flight, fail with [`Fault::Vanished`].
    Vanish,
}

/// When something goes wrong: every condition must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// Only operations of this kind, or of any.
    pub kind: Option<OpKind>,
    /// Only operations that touch these bytes; a flush touches none and all.
    pub range: Range<u64>,
    /// Only these operations, counted from 1 since the target was made.
    pub numbers: Range<u64>,
    /// Only so many in a million of those left, chosen by the seed.
    pub chance_ppm: u32,
}

impl When {
    /// Always.
    pub const ALWAYS: Self =
        Self { kind: None, range: 0..u64::MAX, numbers: 0..u64::MAX, chance_ppm: 1_000_000 };

    /// At operation `number` alone, counted from 1.
    #[must_use]
    pub const fn at(number: u64) -> Self {
        Self { numbers: number..number + 1, ..Self::ALWAYS }
    }

    /// From operation `number` on, counted from 1.
    #[must_use]
    pub const fn from(number: u64) -> Self {
        Self { numbers: number..u64::MAX, ..Self::ALWAYS }
    }

    /// Whenever an operation of `kind` touches `range`.
    #[must_use]
    pub const fn touching(kind: Option<OpKind>, range: Range<u64>) -> Self {
        Self { kind, range, ..Self::ALWAYS }
    }

    fn holds(&self, op: &Op, number: u64, random: &mut Xoshiro256PlusPlus) -> bool {
        self.kind.is_none_or(|kind| kind == op.kind)
            && self.numbers.contains(&number)
            && (op.kind == OpKind::Flush || self.touches(op))
            && (self.chance_ppm >= 1_000_000
                || random.next_u64() % 1_000_000 < u64::from(self.chance_ppm))
    }

    fn touches(&self, op: &Op) -> bool {
        let end = op.offset.get() + op.length.get();
        op.offset.get() < self.range.end && self.range.start < end
    }
}

/// One way of failing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// What goes wrong.
    pub effect: Effect,
    /// When.
    pub when: When,
}

/// A target with faults.
#[derive(Debug)]
pub struct FaultyCard<T>(Layered<T, RuleLayer>);

impl<T: Target> FaultyCard<T> {
    /// Lets `inner` fail by `rules`; of those that hold for an operation the first counts, except
    /// [`Effect::Stick`], which always does. `seed` decides the chances and the bits.
    pub fn new(inner: T, rules: Vec<FaultRule>, seed: Seed) -> Self {
        let abilities = abilities_of(&inner);
        let (stuck, rules) = rules.into_iter().partition(|rule| rule.effect == Effect::Stick);
        let layer = RuleLayer {
            rules,
            stuck,
            size: abilities.size,
            block: abilities.logical_block,
            ops: 0,
            vanished: false,
            fates: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("faults")),
        };
        Self(Layered::new(inner, layer, abilities))
    }
}

delegate_target!(FaultyCard<T: Target>);

/// What is to be done when the operation of a slot is over.
#[derive(Clone, Debug, Default)]
enum Fate {
    #[default]
    Nothing,
    /// Turn these bits of the buffer over: the damage of a read, or the repair of a write's data.
    Flip(Vec<u64>),
    /// It moved nothing, but that is not to be seen.
    Pretend,
}

/// The layer behind a [`FaultyCard`].
#[derive(Debug)]
struct RuleLayer {
    rules: Vec<FaultRule>,
    stuck: Vec<FaultRule>,
    size: Bytes,
    block: Bytes,
    ops: u64,
    vanished: bool,
    fates: Vec<Fate>,
    random: Xoshiro256PlusPlus,
}

impl RuleLayer {
    fn effect_on(&mut self, op: &Op) -> Option<Effect> {
        let (number, random) = (self.ops, &mut self.random);
        self.rules.iter().find(|rule| rule.when.holds(op, number, random)).map(|rule| rule.effect)
    }

    fn choose_bits(&mut self, op: &Op, count: u32) -> Vec<u64> {
        (0..count).map(|_| self.random.next_u64() % (op.length.get() * 8).max(1)).collect()
    }

    fn flip(&mut self, op: &Op, data: &mut [u8], count: u32) -> Admission {
        if matches!(op.kind, OpKind::Read | OpKind::Write) {
            let bits = self.choose_bits(op, count);
            if op.kind == OpKind::Write {
                turn_over(&bits, data);
            }
            self.fates[op.slot.index()] = Fate::Flip(bits);
        }
        Admission::Pass(*op)
    }

    fn misdirect(&self, op: &Op, by: Bytes) -> Op {
        if op.kind != OpKind::Write {
            return *op;
        }
        let offset = (op.offset.get() + by.round_down_to(self.block).get()) % self.size.get();
        let offset = offset.min(self.size.get() - op.length.get());
        Op { offset: Bytes(offset), ..*op }
    }

    /// A write that is only pretended takes a flush's turn below, so that it comes in its order.
    fn lose(&mut self, op: &Op) -> Op {
        match op.kind {
            OpKind::Read | OpKind::Discard => *op,
            OpKind::Write | OpKind::Flush => {
                self.fates[op.slot.index()] = Fate::Pretend;
                Op::flush(op.slot)
            }
        }
    }

    /// Puts the pattern of stuck blocks over what a read returned.
    fn overlay_stuck(&self, op: &Op, data: &mut [u8]) {
        let (block, start) = (self.block.get(), op.offset.get());
        for rule in &self.stuck {
            for (number, bytes) in data[..op.length.as_len()].chunks_mut(block as usize).enumerate()
            {
                let address = start + number as u64 * block;
                let range = &rule.when.range;
                if address < range.end && range.start < address + block {
                    Xoshiro256PlusPlus::seed_from_u64(address).fill_bytes(bytes);
                }
            }
        }
    }
}

/// Turns `bits` of `data` over.
fn turn_over(bits: &[u64], data: &mut [u8]) {
    for bit in bits {
        if let Some(byte) = data.get_mut((bit / 8) as usize) {
            *byte ^= 1 << (bit % 8);
        }
    }
}

impl<T: Target> Layer<T> for RuleLayer {
    fn prepare(&mut self, slots: u16) {
        self.fates = vec![Fate::Nothing; usize::from(slots)];
    }

    fn admit(&mut self, below: &mut T, op: &Op) -> Admission {
        self.ops += 1;
        self.fates[op.slot.index()] = Fate::Nothing;
        let failed = |fault, after| Admission::Answer { after, outcome: Err(fault) };
        if self.vanished {
            return failed(Fault::Vanished, Nanos::ZERO);
        }
        match self.effect_on(op) {
            None | Some(Effect::Stick) => Admission::Pass(*op),
            Some(Effect::Fail(fault)) => failed(fault, Nanos::ZERO),
            Some(Effect::TimeOut(after)) => failed(Fault::TimedOut, after),
            Some(Effect::FlipBits(count)) => self.flip(op, below.buffer(op.slot), count),
            Some(Effect::Misdirect(by)) => Admission::Pass(self.misdirect(op, by)),
            Some(Effect::Lose) => Admission::Pass(self.lose(op)),
            Some(Effect::Vanish) => {
                self.vanished = true;
                failed(Fault::Vanished, Nanos::ZERO)
            }
        }
    }

    fn finish(&mut self, below: &mut T, asked: &Op, turn: &Completion) -> Result<Bytes, Fault> {
        let data = below.buffer(asked.slot);
        let fate = std::mem::take(&mut self.fates[asked.slot.index()]);
        if let Fate::Flip(bits) = &fate {
            turn_over(bits, data);
        }
        if self.vanished {
            return Err(Fault::Vanished);
        }
        if asked.kind == OpKind::Read && turn.outcome.is_ok() {
            self.overlay_stuck(asked, data);
        }
        match fate {
            Fate::Pretend => as_asked(asked, turn),
            Fate::Nothing | Fate::Flip(_) => turn.outcome,
        }
    }
}
