//! The free space of a file system as a target: a file that reserves it, addressed as the device is.
//!
//! A test of the capacity needs addresses over the whole device and an order among them. A file that
//! reserves the free space has them, in pieces. This target joins the pieces in the order of the device:
//! its offset 0 is the lowest byte of the device that the file holds. Operations are done at once, one
//! system call for each piece that they touch.
//!
//! It reserves no space by itself and knows no device; the caller says what is left to others.

use std::fs::File;
use std::io;

use cardproof_units::Bytes;
use rustix::io::Errno;

use crate::extents::{Extent, extents};
use crate::in_turn::target_in_turn;
use crate::medium::{Medium, OpenError};
use crate::slots::Slots;
use crate::{Abilities, Engine, Fault, Op, OpKind, TargetError};

/// Where pieces begin and how long they are: multiples of this, which no file system's block exceeds.
const PIECE_UNIT: Bytes = Bytes(4096);

/// The type of F2FS (`linux/magic.h`: F2FS_SUPER_MAGIC).
const F2FS: u32 = 0xf2f5_2010;

/// Why free space cannot serve as a target.
#[derive(Debug, thiserror::Error)]
pub enum FreeSpaceError {
    /// The file could not be made.
    #[error(transparent)]
    Medium(#[from] OpenError),
    /// Buffers could not be had.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The file system does not tell where a file lies on its device.
    #[error("this file system does not say where its files lie on the device")]
    NoPlaces(#[source] io::Error),
    /// Direct I/O cannot be had, so reads may come from memory.
    #[error("this file system does not support direct I/O, so reads may come from memory")]
    Buffered,
    /// The file has no piece of its own on the device.
    #[error("this file system gave the test file no places of its own on the device")]
    NothingReserved,
    /// What is written goes elsewhere than to the space that was reserved.
    #[error("F2FS writes data to other places than those that it has reserved")]
    Moves,
    /// Space could not be reserved.
    #[error("space could not be reserved")]
    Reserve(#[source] io::Error),
    /// Reserving writes.
    #[error(
        "this kernel writes zeros into the space that it reserves on this file system (exFAT before Linux 6.8)"
    )]
    WritesZeros,
    /// Whether reserving writes cannot be seen.
    #[error("this kernel does not count what a process writes")]
    Uncounted(#[source] io::Error),
    /// Each change would be written at once.
    #[error("it is mounted with the option sync, so reserving its space would take hours")]
    Synchronous,
    /// The process may not open as many files as the test needs.
    #[error("the test needs {needed} open files, and this process may open {most} (ulimit -H -n)")]
    TooManyFiles {
        /// Files.
        needed: u64,
        /// Its limit.
        most: u64,
    },
}

/// A file that reserves free space, as a target in the order of the device.
#[derive(Debug)]
pub struct FreeSpaceTarget {
    abilities: Abilities,
    slots: Slots,
    medium: Medium,
    pieces: Pieces,
}

impl FreeSpaceTarget {
    /// Reserves `size` with `file`, a fresh and empty regular file opened for reading and writing.
    ///
    /// # Errors
    /// There is no room, no direct I/O, or no answer to where the file lies; the file may then have
    /// its size already.
    pub fn new(file: File, size: Bytes) -> Result<Self, FreeSpaceError> {
        let filesystem =
            rustix::fs::fstatfs(&file).map_err(|errno| FreeSpaceError::NoPlaces(errno.into()))?;
        if filesystem.f_type as u32 == F2FS {
            return Err(FreeSpaceError::Moves);
        }
        let medium = Medium::new_file(file, size, true)?;
        if !medium.directness.is_direct() {
            return Err(FreeSpaceError::Buffered);
        }
        let found = extents(&medium.file).map_err(FreeSpaceError::NoPlaces)?;
        let pieces = Pieces::new(&found, medium.size);
        if pieces.size() == Bytes::ZERO {
            return Err(FreeSpaceError::NothingReserved);
        }
        let mut abilities = medium.abilities(Engine::Psync, 1, false);
        abilities.size = pieces.size();
        abilities.logical_block = abilities.logical_block.max(Bytes(512));
        abilities.discard = false;
        let slots = Slots::new(1, abilities.logical_block)?;
        Ok(Self { abilities, slots, medium, pieces })
    }

    /// The pieces, in the order of the device.
    #[must_use]
    pub fn pieces(&self) -> &[Extent] {
        &self.pieces.extents
    }

    /// Where the byte at `offset` of this target lies on the device; `None` beyond its end.
    #[must_use]
    pub fn device_offset(&self, offset: Bytes) -> Option<Bytes> {
        self.pieces.at(offset).map(|(piece, inside)| piece.device_offset + inside)
    }

    /// Whether the file still lies where it lay when this target was made.
    ///
    /// # Errors
    /// The file system does not tell.
    pub fn is_in_place(&self) -> io::Result<bool> {
        let found = extents(&self.medium.file)?;
        Ok(Pieces::new(&found, self.medium.size) == self.pieces)
    }

    /// Gives at most `part` of the file's space back, from its end; what is left of it. The kernel may discard
    /// what is freed before it answers, which can take seconds and cannot be stopped.
    ///
    /// # Errors
    /// The file system refuses. The rest is then given back when the file is closed.
    pub fn give_back(&mut self, part: Bytes) -> io::Result<Bytes> {
        let left = self.medium.size.saturating_sub(part);
        self.medium.file.set_len(left.get())?;
        self.medium.size = left;
        Ok(left)
    }

    /// Does one operation piece by piece.
    fn perform(&mut self, op: &Op) -> Result<Bytes, Fault> {
        if op.kind == OpKind::Flush {
            return self.medium.flush();
        }
        let buffer = self.slots.buffers.slice_mut(op.slot);
        let mut moved = 0;
        while moved < op.length.get() {
            let offset = op.offset + Bytes(moved);
            let Some((piece, inside)) = self.pieces.at(offset) else { break };
            let length = (op.length.get() - moved).min(piece.length.get() - inside.get());
            let part = buffer.get_mut(Bytes(moved).as_len()..Bytes(moved + length).as_len());
            let at = piece.file_offset + inside;
            let done = transfer(&self.medium, op.kind, at, part.unwrap_or_default())?;
            moved += done;
            if done < length {
                break;
            }
        }
        Ok(Bytes(moved))
    }
}

/// Reads or writes `part` at the file's offset `at`. A signal only repeats it.
pub(crate) fn transfer(
    medium: &Medium,
    kind: OpKind,
    at: Bytes,
    part: &mut [u8],
) -> Result<u64, Fault> {
    loop {
        let result = if kind == OpKind::Write {
            rustix::io::pwrite(&medium.file, part, at.get())
        } else {
            rustix::io::pread(&medium.file, &mut *part, at.get())
        };
        match result {
            Err(Errno::INTR) => {}
            other => return Ok(other? as u64),
        }
    }
}

target_in_turn!(FreeSpaceTarget);

/// Pieces of a file in the order of the device, and where each begins when they are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pieces {
    extents: Vec<Extent>,
    starts: Vec<u64>,
    size: u64,
}

impl Pieces {
    /// The whole units of `found` within the first `file_size` of the file.
    fn new(found: &[Extent], file_size: Bytes) -> Self {
        let mut extents: Vec<Extent> =
            found.iter().filter_map(|extent| whole_units(extent, file_size)).collect();
        extents.sort_by_key(|extent| extent.device_offset);
        let mut pieces = Self::default();
        for extent in extents {
            pieces.push(extent);
        }
        pieces
    }

    /// Adds `extent`. Writing to a part of a reserved stretch divides it without moving it, so what goes
    /// on where the last piece ends belongs to that piece.
    fn push(&mut self, extent: Extent) {
        let length = extent.length;
        match self.extents.last_mut() {
            Some(last)
                if last.device_offset + last.length == extent.device_offset
                    && last.file_offset + last.length == extent.file_offset =>
            {
                last.length += length;
            }
            _ => {
                self.starts.push(self.size);
                self.extents.push(extent);
            }
        }
        self.size += length.get();
    }

    const fn size(&self) -> Bytes {
        Bytes(self.size)
    }

    /// The piece that holds `offset`, and how far into it.
    fn at(&self, offset: Bytes) -> Option<(&Extent, Bytes)> {
        if offset.get() >= self.size {
            return None;
        }
        let index = self.starts.partition_point(|&start| start <= offset.get()).checked_sub(1)?;
        Some((self.extents.get(index)?, Bytes(offset.get() - self.starts.get(index)?)))
    }
}

/// The part of `extent` that lies in the first `file_size` and is made of whole units.
fn whole_units(extent: &Extent, file_size: Bytes) -> Option<Extent> {
    let unit = PIECE_UNIT.get();
    if !extent.file_offset.is_multiple_of(PIECE_UNIT) {
        return None;
    }
    let left = file_size.saturating_sub(extent.file_offset);
    let length = extent.length.min(left).get() / unit * unit;
    (length > 0).then_some(Extent { length: Bytes(length), ..*extent })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(file_offset: u64, device_offset: u64, length: u64) -> Extent {
        Extent {
            file_offset: Bytes(file_offset * 4096),
            device_offset: Bytes(device_offset * 4096),
            length: Bytes(length * 4096),
        }
    }

    #[test]
    fn pieces_are_joined_in_the_order_of_the_device() {
        let pieces = Pieces::new(&[extent(0, 50, 2), extent(2, 10, 3)], Bytes(5 * 4096));
        assert_eq!(pieces.size(), Bytes(5 * 4096));
        let place = |block: u64| {
            let (piece, inside) = pieces.at(Bytes(block * 4096)).unwrap();
            (piece.device_offset + inside).get() / 4096
        };
        assert_eq!((0..5).map(place).collect::<Vec<_>>(), [10, 11, 12, 50, 51]);
        assert_eq!(pieces.at(Bytes(5 * 4096)), None);
    }

    #[test]
    fn a_stretch_that_was_written_in_part_stays_one_piece() {
        let whole = Pieces::new(&[extent(0, 10, 9)], Bytes(9 * 4096));
        let divided = [extent(0, 10, 4), extent(4, 14, 1), extent(5, 15, 4)];
        assert_eq!(Pieces::new(&divided, Bytes(9 * 4096)), whole);
    }

    #[test]
    fn space_beyond_the_end_of_the_file_is_left_out() {
        let pieces = Pieces::new(&[extent(0, 1, 8)], Bytes(3 * 4096 + 100));
        assert_eq!(pieces.size(), Bytes(3 * 4096));
        assert_eq!(Pieces::new(&[], Bytes(4096)).size(), Bytes::ZERO);
    }
}
