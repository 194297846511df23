//! Page-aligned buffers, one for each slot, in one mapping.
//!
//! The mapping is anonymous, so pages that no operation touches take no memory, and its start
//! is aligned for direct I/O on any device.

use std::io;
use std::ptr::NonNull;

use cardproof_units::Bytes;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::{Slot, TargetError};

/// Every stride is a multiple of this, which is a page on most machines and enough alignment
/// for direct I/O on all of them.
const ALIGNMENT: usize = 4096;

/// The buffers of slots `0..slots`.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    map_length: usize,
    slots: u16,
    size: usize,
    stride: usize,
}

// SAFETY: the mapping belongs to this value alone; nothing in it is tied to a thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps `slots` buffers of `size` each.
    pub(crate) fn new(slots: u16, size: Bytes) -> Result<Self, TargetError> {
        let no_memory = |source: io::Error| TargetError::Memory {
            wanted: Bytes(size.get().saturating_mul(u64::from(slots))),
            source,
        };
        let stride = size.as_len().checked_next_multiple_of(ALIGNMENT);
        let map_length = stride.and_then(|stride| stride.checked_mul(usize::from(slots)));
        let (Some(stride), Some(map_length @ 1..)) = (stride, map_length) else {
            return Err(no_memory(io::ErrorKind::OutOfMemory.into()));
        };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice aliases nothing.
        let address = unsafe {
            mmap_anonymous(std::ptr::null_mut(), map_length, protection, MapFlags::PRIVATE)
        }
        .map_err(|errno| no_memory(errno.into()))?;
        let base = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| no_memory(io::ErrorKind::OutOfMemory.into()))?;
        Ok(Self { base, map_length, slots, size: size.as_len(), stride })
    }

    /// How many bytes each buffer holds.
    pub(crate) fn size(&self) -> Bytes {
        Bytes(self.size as u64)
    }

    /// How many buffers there are.
    pub(crate) fn slots(&self) -> u16 {
        self.slots
    }

    /// Where the buffer of `slot` begins; `None` where there is no such slot.
    pub(crate) fn start(&self, slot: Slot) -> Option<NonNull<u8>> {
        if slot.0 >= self.slots {
            return None;
        }
        // SAFETY: the slot exists, so its start lies inside the mapping.
        Some(unsafe { self.base.add(slot.index() * self.stride) })
    }

    /// The buffer of `slot`; empty where there is no such slot.
    ///
    /// The caller sees to it that no operation is using the buffer.
    pub(crate) fn slice_mut(&mut self, slot: Slot) -> &mut [u8] {
        match self.start(slot) {
            // SAFETY: `size` bytes from a slot's start lie inside the mapping, were initialised
            // by the kernel, and are borrowed through `&mut self`.
            Some(start) => unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.size) },
            None => &mut [],
        }
    }

    /// Keeps the mapping for the rest of the process's life, for when the kernel may still write
    /// into it.
    #[cfg_attr(not(target_pointer_width = "64"), allow(dead_code, reason = "a ring needs it"))]
    pub(crate) fn leak(&mut self) {
        self.map_length = 0;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.map_length == 0 {
            return;
        }
        // SAFETY: the mapping was made by `new` with this length, and no engine lets its buffers
        // go before every operation on them has ended.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.map_length) };
        debug_assert!(unmapped.is_ok(), "a mapping of our own can always be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let mut buffers = Buffers::new(3, Bytes(1000)).unwrap();
        for number in 0..3 {
            let slice = buffers.slice_mut(Slot(number));
            assert_eq!((slice.as_ptr() as usize % ALIGNMENT, slice.len()), (0, 1000));
            slice.fill(number as u8 + 1);
        }
        for number in 0..3 {
            assert!(buffers.slice_mut(Slot(number)).iter().all(|&byte| byte == number as u8 + 1));
        }
        assert!(buffers.slice_mut(Slot(3)).is_empty());
    }

    #[test]
    fn impossible_amounts_are_an_error() {
        for (slots, size) in [(0, 4096), (2, u64::MAX), (u16::MAX, 1 << 60)] {
            assert!(matches!(Buffers::new(slots, Bytes(size)), Err(TargetError::Memory { .. })));
        }
    }
}
