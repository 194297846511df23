//! The slots of an engine: their buffers, and which are in flight.
//!
//! The part of the contract that every engine keeps alike is kept here.

use cardproof_units::Bytes;

use crate::buffers::Buffers;
use crate::flight::Flight;
use crate::{Abilities, Op, Slot, SubmitError, TargetError};

/// Slots with their buffers.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) buffers: Buffers,
    pub(crate) flight: Flight,
}

impl Slots {
    /// `slots` slots whose buffers hold `buffer_size` each, none in flight.
    pub(crate) fn new(slots: u16, buffer_size: Bytes) -> Result<Self, TargetError> {
        Ok(Self { buffers: Buffers::new(slots, buffer_size)?, flight: Flight::new(slots) })
    }

    /// Whether the slots may be replaced.
    pub(crate) fn ensure_idle(&self) -> Result<(), TargetError> {
        match self.flight.count() {
            0 => Ok(()),
            count => Err(TargetError::InFlight(count)),
        }
    }

    /// Whether `op` may be submitted to a target of `abilities`.
    pub(crate) fn check(&self, abilities: &Abilities, op: &Op) -> Result<(), SubmitError> {
        self.flight.check_free(op.slot)?;
        abilities.check(op, self.buffers.size())
    }

    /// The buffer of `slot`; empty where there is no such slot or it is in flight.
    pub(crate) fn free_buffer(&mut self, slot: Slot) -> &mut [u8] {
        match self.flight.check_free(slot) {
            Ok(()) => self.buffers.slice_mut(slot),
            Err(_) => &mut [],
        }
    }
}
