//! Requests of one kind, so many in flight at a time: the workload behind the figures of today's cards.

use cardproof_io::{Completion, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Nanos, Seed, Throughput};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::MeasureError;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deep {
    /// Reads or writes.
    pub kind: OpKind,
    /// At random places, or one after the other from the beginning, and again.
    pub is_random: bool,
    /// The size of each.
    pub block: Bytes,
    /// How many are in flight.
    pub depth: u16,
    /// The range, from the beginning of the target on.
    pub span: Bytes,
}

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// New requests are handed over for so long on the target's clock.
    For(Nanos),
    /// Until this amount is done.
    Of(Bytes),
}

impl Deep {
    /// Does `amount` of it to `target` and returns its rate, from the first request handed over to the
    /// last one over; `seed` decides the places.
    ///
    /// # Errors
    /// [`MeasureError`] where any operation fails.
    pub fn rate(
        &self,
        target: &mut dyn Target,
        amount: Amount,
        seed: Seed,
    ) -> Result<Throughput, MeasureError> {
        target.prepare(self.depth, self.block)?;
        let blocks = (self.span.get() / self.block.get()).max(1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("deep requests"));
        let start = target.now();
        let is_wanted = |count: u64, now: Nanos| match amount {
            Amount::For(time) => now.saturating_sub(start) < time,
            Amount::Of(bytes) => count * self.block.get() < bytes.get(),
        };
        let mut free: Vec<Slot> = (0..self.depth).rev().map(Slot).collect();
        let mut completions = Vec::with_capacity(usize::from(self.depth));
        let mut count = 0;
        loop {
            while is_wanted(count, target.now()) {
                let Some(slot) = free.pop() else { break };
                let place = if self.is_random { random.next_u64() } else { count } % blocks;
                let (kind, length) = (self.kind, self.block);
                let op = Op { slot, kind, offset: length * place, length };
                if let Submission::Done(completion) = target.submit(op)? {
                    completions.push(completion);
                }
                count += 1;
            }
            if free.len() == usize::from(self.depth) {
                break;
            }
            if completions.is_empty() {
                target.complete(Wait::One, &mut completions)?;
            }
            for Completion { slot, outcome, .. } in completions.drain(..) {
                outcome?;
                free.push(slot);
            }
        }
        let seconds = target.now().saturating_sub(start).as_secs_f64();
        Ok(Throughput((count * self.block.get()) as f64 / seconds))
    }
}
