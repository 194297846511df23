//! The discard of a block device: its driver tells the card that a range holds nothing of value.
//!
//! `fallocate` cannot ask for it: the kernel turns a hole in a block device into zeros that are written.

use std::os::fd::BorrowedFd;

use cardproof_units::Bytes;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl};

/// `BLKDISCARD` of `linux/fs.h`, part of the kernel's fixed interface: `_IO(0x12, 119)`.
const BLKDISCARD: Opcode = 0x1277;

/// Discards `length` at `offset` of a block device. The kernel also drops what its page cache holds of that
/// range.
pub(crate) fn discard_on_device(
    device: BorrowedFd<'_>,
    offset: Bytes,
    length: Bytes,
) -> Result<(), Errno> {
    let range = [offset.get(), length.get()];
    // SAFETY: BLKDISCARD reads two integers of 64 bits, start and length in bytes, from the pointer that it is
    // given, and keeps nothing of it. On a file that is no block device it fails.
    unsafe { ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }
}
