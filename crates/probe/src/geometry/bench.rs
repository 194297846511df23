//! One operation at a time on a target, each timed on the target's own clock.

use cardproof_io::{
    Completion, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::plan::Plan;

/// Why a probe cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// An operation was refused; the probe made a mistake.
    #[error("the target refused an operation")]
    Refused(#[from] SubmitError),
    /// The engine failed.
    #[error("the engine that drives the target failed")]
    Failed(#[from] TargetError),
    /// The device is gone.
    #[error("the device was disconnected; connect it and start again")]
    Vanished,
    /// The device does not take writes any more.
    #[error("the device fails to write; check the kernel's log")]
    Unwritable,
    /// More would be written than was announced.
    #[error("the probe would write more than the {announced} that it announced")]
    MoreThanAnnounced {
        /// What was announced.
        announced: Bytes,
    },
    /// Somebody ended it.
    #[error("the probe was ended")]
    Stopped,
}

/// Somebody who follows a probe and may end it.
pub trait Watch {
    /// A step begins, after so much of the whole, 0 to 1.
    fn step(&mut self, name: &'static str, done: f64);

    /// Whether it is to end; asked before every operation.
    fn is_stopped(&self) -> bool;
}

/// The largest operation.
pub(super) const BUFFER: Bytes = Bytes::kib(512);

/// The only slot.
const SLOT: Slot = Slot(0);

/// Every block of this size is made different from all others.
const SECTOR: usize = 512;

/// Writes that fail in a row before the probe gives up.
const FAILURES_MOST: u32 = 8;

/// A target, driven one operation at a time.
pub(super) struct Bench<'a> {
    target: &'a mut dyn Target,
    watch: &'a mut dyn Watch,
    random: Xoshiro256PlusPlus,
    noise: Vec<u8>,
    stamp: u64,
    written: u64,
    written_most: Bytes,
    read: u64,
    failures: u32,
    completions: Vec<Completion>,
    /// The unit of addresses, in bytes.
    pub(super) block: u64,
}

impl<'a> Bench<'a> {
    /// Prepares `target`.
    pub(super) fn new(
        target: &'a mut dyn Target,
        plan: &Plan,
        watch: &'a mut dyn Watch,
    ) -> Result<Self, ProbeError> {
        target.prepare(1, BUFFER)?;
        let seed: Seed = plan.scope.seed;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("geometry"));
        let mut noise = vec![0; BUFFER.as_len()];
        random.fill_bytes(&mut noise);
        let block = plan.scope.logical_block.get();
        Ok(Self {
            target,
            watch,
            random,
            noise,
            stamp: 0,
            written: 0,
            written_most: plan.bytes_most(),
            read: 0,
            failures: 0,
            completions: Vec::with_capacity(1),
            block,
        })
    }

    pub(super) fn now(&mut self) -> Nanos {
        self.target.now()
    }

    pub(super) const fn written(&self) -> Bytes {
        Bytes(self.written)
    }

    pub(super) const fn read_so_far(&self) -> Bytes {
        Bytes(self.read)
    }

    /// Tells of the next step.
    pub(super) fn step(&mut self, name: &'static str, done: f64) -> Result<(), ProbeError> {
        self.watch.step(name, done);
        self.check()
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }

    /// The numbers below `count`, in random order.
    pub(super) fn shuffled(&mut self, count: u64) -> Vec<u64> {
        let mut numbers: Vec<u64> = (0..count).collect();
        for place in (1..numbers.len()).rev() {
            let other = self.below(place as u64 + 1) as usize;
            numbers.swap(place, other);
        }
        numbers
    }

    /// Leaves the storage alone for `time`.
    pub(super) fn rest(&mut self, time: Nanos) -> Result<(), ProbeError> {
        let until = self.target.now().saturating_add(time);
        let mut none = Vec::new();
        while self.target.now() < until {
            self.check()?;
            // A tenth of a second at a time, so that a wish to end is heard.
            let next = self.target.now().saturating_add(Nanos::from_millis(100)).min(until);
            self.target.complete(Wait::Until(next), &mut none)?;
        }
        Ok(())
    }

    /// The time of a read; `None` where it failed.
    pub(super) fn read(&mut self, offset: u64, length: u64) -> Result<Option<Nanos>, ProbeError> {
        let time = self.finish(OpKind::Read, offset, length)?;
        self.read += length;
        Ok(time)
    }

    /// The time of a write of new data; `None` where it failed.
    pub(super) fn write(&mut self, offset: u64, length: u64) -> Result<Option<Nanos>, ProbeError> {
        if self.written + length > self.written_most.get() {
            return Err(ProbeError::MoreThanAnnounced { announced: self.written_most });
        }
        let buffer = &mut self.target.buffer(SLOT)[..Bytes(length).as_len()];
        if self.stamp == 0 || buffer.len() > SECTOR {
            buffer.copy_from_slice(&self.noise[..buffer.len()]);
        }
        for sector in buffer.chunks_mut(SECTOR) {
            self.stamp += 1;
            sector[..8].copy_from_slice(&self.stamp.to_le_bytes());
        }
        let time = self.finish(OpKind::Write, offset, length)?;
        self.written += length;
        self.failures = if time.is_some() { 0 } else { self.failures + 1 };
        if self.failures >= FAILURES_MOST { Err(ProbeError::Unwritable) } else { Ok(time) }
    }

    fn finish(
        &mut self,
        kind: OpKind,
        offset: u64,
        length: u64,
    ) -> Result<Option<Nanos>, ProbeError> {
        self.check()?;
        let op = Op { slot: SLOT, kind, offset: Bytes(offset), length: Bytes(length) };
        self.completions.clear();
        if let Submission::Done(completion) = self.target.submit(op)? {
            self.completions.push(completion);
        }
        while self.completions.is_empty() {
            self.target.complete(Wait::One, &mut self.completions)?;
        }
        let completion = self.completions[0];
        match completion.outcome {
            Ok(moved) if moved.get() == length => Ok(Some(completion.latency())),
            Err(fault) if fault.is_final() => Err(ProbeError::Vanished),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    fn check(&self) -> Result<(), ProbeError> {
        if self.watch.is_stopped() { Err(ProbeError::Stopped) } else { Ok(()) }
    }
}

/// The middle of some times; zero of none.
pub(super) fn middle(times: &[Nanos]) -> Nanos {
    at_percent(times, 50)
}

/// The time below which so many per cent of `times` lie; zero of none.
pub(super) fn at_percent(times: &[Nanos], percent: usize) -> Nanos {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or(Nanos::ZERO)
}
