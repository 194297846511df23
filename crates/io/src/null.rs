//! The null target: operations end as soon as they are taken and move nothing.
//!
//! It measures cardproof itself: what is left when the storage costs nothing.

use cardproof_units::{Bytes, Nanos};

use crate::clock;
use crate::slots::Slots;
use crate::{
    Abilities, Completion, Directness, Engine, Op, OpKind, Slot, Submission, SubmitError, Target,
    TargetError, Usage, Wait, usage,
};

/// A target that does nothing, at once.
///
/// With one slot every operation is done when it is taken; with more, operations wait for
/// [`complete`](Target::complete), as they would with a real queue.
#[derive(Debug)]
pub struct NullTarget {
    abilities: Abilities,
    slots: Slots,
    waiting: Vec<Slot>,
}

impl NullTarget {
    /// A null target that claims to hold `size`, rounded down to its block of 512 bytes.
    ///
    /// # Errors
    /// [`TargetError::Memory`] when not even one page can be had.
    pub fn new(size: Bytes) -> Result<Self, TargetError> {
        let logical_block = Bytes(512);
        Ok(Self {
            abilities: Abilities {
                engine: Engine::Null,
                engine_fallback: None,
                size: size.round_down_to(logical_block),
                logical_block,
                directness: Directness::Direct,
                read_only: false,
                written_before: false,
                discard: true,
                keeps_data: false,
                queue_depth_max: 1024,
            },
            slots: Slots::new(1, logical_block)?,
            waiting: Vec::new(),
        })
    }
}

/// What the operation would have moved.
fn moved(op: &Op) -> Bytes {
    match op.kind {
        OpKind::Flush => Bytes::ZERO,
        OpKind::Read | OpKind::Write | OpKind::Discard => op.length,
    }
}

impl Target for NullTarget {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        clock::monotonic()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.slots.ensure_idle()?;
        self.slots = Slots::new(slots, buffer_size)?;
        self.waiting = Vec::with_capacity(usize::from(slots));
        Ok(())
    }

    fn cost(&self) -> Option<Usage> {
        Some(usage())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.slots.free_buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.slots.check(&self.abilities, &op)?;
        let submitted = clock::monotonic();
        if self.slots.buffers.slots() == 1 {
            // It takes no time: it is over when it begins, and one look at the clock tells both.
            let outcome = Ok(moved(&op));
            return Ok(Submission::Done(Completion::new(&op, submitted, submitted, outcome)));
        }
        self.slots.flight.take_off(op, submitted);
        self.waiting.push(op.slot);
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if let (Wait::Until(deadline), true) = (wait, self.waiting.is_empty()) {
            clock::sleep_until(deadline);
        }
        let completed = clock::monotonic();
        for slot in self.waiting.drain(..) {
            completions.extend(self.slots.flight.land(slot, completed, |op| Ok(moved(op))));
        }
        Ok(())
    }
}
