//! The slots of a device: buffers, what is in flight, and data given as numbers.

use cardproof_io::{Described, Slot, SubmitError, TargetError};
use cardproof_units::Bytes;

/// Buffers begin at multiples of this.
const ALIGNMENT: usize = 4096;

/// One slot.
#[derive(Clone, Debug, Default)]
struct OneSlot {
    memory: Vec<u8>,
    start: usize,
    in_flight: bool,
    described: Option<Described>,
    found: Option<[u64; 3]>,
}

/// All slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    slots: Vec<OneSlot>,
    buffer_size: usize,
}

impl Slots {
    pub(super) fn new(count: u16, buffer_size: Bytes) -> Result<Self, TargetError> {
        let wanted = Bytes(buffer_size.get().saturating_mul(u64::from(count)));
        let refused =
            || TargetError::Memory { wanted, source: std::io::ErrorKind::OutOfMemory.into() };
        if count == 0 {
            return Err(refused());
        }
        let length = buffer_size.as_len().checked_add(ALIGNMENT).ok_or_else(refused)?;
        let mut slots = Vec::new();
        for _ in 0..count {
            let mut slot = OneSlot::default();
            slot.memory.try_reserve_exact(length).map_err(|_| refused())?;
            slot.memory.resize(length, 0);
            slot.start = slot.memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
            slots.push(slot);
        }
        Ok(Self { slots, buffer_size: buffer_size.as_len() })
    }

    pub(super) const fn buffer_size(&self) -> Bytes {
        Bytes(self.buffer_size as u64)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.slots.iter().filter(|slot| slot.in_flight).count()
    }

    /// Whether `slot` exists and is free.
    pub(super) fn check_free(&self, slot: Slot) -> Result<(), SubmitError> {
        match self.slots.get(slot.index()) {
            None => Err(SubmitError::NoSuchSlot(slot.0)),
            Some(found) if found.in_flight => Err(SubmitError::SlotInFlight(slot.0)),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn set_in_flight(&mut self, slot: Slot, in_flight: bool) {
        self.slots[slot.index()].in_flight = in_flight;
    }

    /// The buffer of an existing slot.
    pub(super) fn bytes(&mut self, slot: Slot) -> &mut [u8] {
        let OneSlot { memory, start, .. } = &mut self.slots[slot.index()];
        &mut memory[*start..*start + self.buffer_size]
    }

    pub(super) fn describe(&mut self, slot: Slot, data: Described) {
        self.slots[slot.index()].described = Some(data);
    }

    /// What the operation on `slot` was described by, once.
    pub(super) fn take_described(&mut self, slot: Slot) -> Option<Described> {
        self.slots[slot.index()].described.take()
    }

    pub(super) fn set_found(&mut self, slot: Slot, numbers: Option<[u64; 3]>) {
        self.slots[slot.index()].found = numbers;
    }

    pub(super) fn found(&self, slot: Slot) -> Option<[u64; 3]> {
        self.slots.get(slot.index()).and_then(|slot| slot.found)
    }
}
