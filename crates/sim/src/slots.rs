//! The slots of a simulated target: their buffers, and which of them are in flight.

use std::io;

use cardproof_io::{Described, Slot, SubmitError, TargetError};
use cardproof_units::Bytes;

/// Buffers start on multiples of this, as they would on a real target.
const ALIGNMENT: usize = 4096;

/// Slots `0..slots`.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    memory: Vec<u8>,
    first: usize,
    stride: usize,
    buffer_size: usize,
    in_flight: Vec<bool>,
    /// Data of each slot as numbers, where its user gave or wants them so.
    pub(crate) described: Vec<Option<Described>>,
    /// The numbers of what the last read of each slot found.
    pub(crate) found: Vec<Option<[u64; 3]>>,
    flying: usize,
}

impl Slots {
    /// `slots` slots with buffers of `buffer_size`, none in flight.
    pub(crate) fn new(slots: u16, buffer_size: Bytes) -> Result<Self, TargetError> {
        let no_memory = || TargetError::Memory {
            wanted: Bytes(buffer_size.get().saturating_mul(u64::from(slots))),
            source: io::ErrorKind::OutOfMemory.into(),
        };
        let count = usize::from(slots);
        let stride = buffer_size.as_len().checked_next_multiple_of(ALIGNMENT);
        let stride = stride.ok_or_else(no_memory)?;
        let length = stride.checked_mul(count).and_then(|bytes| bytes.checked_add(ALIGNMENT));
        let length = length.filter(|_| count > 0).ok_or_else(no_memory)?;
        let mut memory = Vec::new();
        memory.try_reserve_exact(length).map_err(|_| no_memory())?;
        memory.resize(length, 0);
        let first = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let in_flight = vec![false; count];
        Ok(Self {
            memory,
            first,
            stride,
            buffer_size: buffer_size.as_len(),
            in_flight,
            described: vec![None; count],
            found: vec![None; count],
            flying: 0,
        })
    }

    /// How many bytes each buffer holds.
    pub(crate) const fn buffer_size(&self) -> Bytes {
        Bytes(self.buffer_size as u64)
    }

    /// How many slots are in flight.
    pub(crate) const fn flying(&self) -> usize {
        self.flying
    }

    /// Whether `slot` exists and is free.
    pub(crate) fn check_free(&self, slot: Slot) -> Result<(), SubmitError> {
        match self.in_flight.get(slot.index()) {
            None => Err(SubmitError::NoSuchSlot(slot.0)),
            Some(true) => Err(SubmitError::SlotInFlight(slot.0)),
            Some(false) => Ok(()),
        }
    }

    /// Notes that `slot` is in flight.
    pub(crate) fn take_off(&mut self, slot: Slot) {
        self.in_flight[slot.index()] = true;
        self.flying += 1;
    }

    /// Notes that `slot` is free again.
    pub(crate) fn land(&mut self, slot: Slot) {
        self.in_flight[slot.index()] = false;
        self.flying -= 1;
    }

    /// The buffer of an existing slot, in flight or not.
    pub(crate) fn bytes(&mut self, slot: Slot) -> &mut [u8] {
        let start = self.first + slot.index() * self.stride;
        &mut self.memory[start..start + self.buffer_size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let mut slots = Slots::new(3, Bytes(1000)).unwrap();
        for number in 0..3_u16 {
            let bytes = slots.bytes(Slot(number));
            assert_eq!((bytes.as_ptr() as usize % ALIGNMENT, bytes.len()), (0, 1000));
            bytes.fill(number as u8);
        }
        assert!((0..3_u16).all(|n| slots.bytes(Slot(n)).iter().all(|&byte| byte == n as u8)));
    }

    #[test]
    fn impossible_amounts_are_an_error() {
        for (slots, size) in [(0, 4096), (2, u64::MAX), (u16::MAX, 1 << 60)] {
            assert!(matches!(Slots::new(slots, Bytes(size)), Err(TargetError::Memory { .. })));
        }
    }
}
