//! Which slots are in flight: the part of the contract that every engine keeps alike.

use cardproof_units::{Bytes, Nanos};

use crate::{Completion, Fault, Op, Slot, SubmitError};

/// The operations in flight, by slot.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    slots: Vec<Option<Flying>>,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    op: Op,
    submitted: Nanos,
}

impl Flight {
    /// Room for slots `0..slots`, none in flight.
    pub(crate) fn new(slots: u16) -> Self {
        Self { slots: vec![None; usize::from(slots)], count: 0 }
    }

    /// How many operations are in flight.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether `slot` exists and is free.
    pub(crate) fn check_free(&self, slot: Slot) -> Result<(), SubmitError> {
        match self.slots.get(slot.index()) {
            None => Err(SubmitError::NoSuchSlot(slot.0)),
            Some(Some(_)) => Err(SubmitError::SlotInFlight(slot.0)),
            Some(None) => Ok(()),
        }
    }

    /// Notes that `op` has been taken; its time of submission is `submitted` until
    /// [`stamp`](Self::stamp) says better.
    pub(crate) fn take_off(&mut self, op: Op, submitted: Nanos) {
        if let Some(place) = self.slots.get_mut(op.slot.index()) {
            self.count += usize::from(place.is_none());
            *place = Some(Flying { op, submitted });
        }
    }

    /// Notes when `slot`'s operation was handed to the storage.
    #[cfg_attr(not(target_pointer_width = "64"), allow(dead_code, reason = "a ring needs it"))]
    pub(crate) fn stamp(&mut self, slot: Slot, submitted: Nanos) {
        if let Some(Some(flying)) = self.slots.get_mut(slot.index()) {
            flying.submitted = submitted;
        }
    }

    /// Ends the operation of `slot` as `outcome` says of it; `None` where none was in flight.
    pub(crate) fn land(
        &mut self,
        slot: Slot,
        completed: Nanos,
        outcome: impl FnOnce(&Op) -> Result<Bytes, Fault>,
    ) -> Option<Completion> {
        let flying = self.slots.get_mut(slot.index())?.take()?;
        self.count -= 1;
        Some(Completion {
            slot,
            kind: flying.op.kind,
            submitted: flying.submitted,
            completed: completed.max(flying.submitted),
            outcome: outcome(&flying.op),
        })
    }
}
