//! The free space of a FAT or exFAT file system as a target, of which only chosen stretches can be used.
//!
//! These file systems say where a file lies to root alone, and a file is written from its start on: what lies
//! before a byte that is written is filled with zeros. But both give out their free clusters in one order,
//! that of their addresses from some cluster on, whatever file asks (`fs/fat/fatent.c`: `fat_alloc_clusters`;
//! `fs/exfat/fatent.c`: `exfat_alloc_cluster`), and both can give a file clusters without writing them
//! (`fallocate` with `KEEP_SIZE`, Linux 4.5; `ftruncate` on exFAT, Linux 6.8). So the free space is reserved
//! from one end to the other by many files: one for each stretch to be used, and others for what lies between.
//! The addresses of this target count the bytes in the order in which the file system gives them out.
//!
//! It reserves nothing by itself, and does not know the device; the caller says what is left to others.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;

use cardproof_units::Bytes;
use rustix::fs::{FallocateFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::free_space::{FreeSpaceError, transfer};
use crate::in_turn::target_in_turn;
use crate::medium::{Medium, is_fat};
use crate::slots::Slots;
use crate::{Abilities, Engine, Extent, Fault, Op, OpKind, block_map};

/// No unit is shorter: direct I/O needs no larger block on any device in use.
const UNIT_MIN: u64 = 4096;

/// The longest file that FAT allows is a byte shorter than twice this.
const FILE_MAX: u64 = 2 << 30;

/// How many stretches one file for what lies between reserves at most: exFAT looks for the end of a file
/// that lies in pieces from its start.
const GAPS_MAX: u32 = 16;

/// What a trial reserves.
const TRIAL: u64 = 4 << 20;

/// Files that this process has open for other things.
const OTHER_FILES: u64 = 64;

/// Free space of which stretches can be used, once they are laid.
#[derive(Debug)]
pub struct SampledSpace {
    abilities: Abilities,
    slots: Slots,
    unit: u64,
    /// What the file system gives out in one piece.
    cluster: Bytes,
    stretches: Vec<Stretch>,
    /// The files between the stretches, which only keep their space.
    gaps: Vec<File>,
    filled: u64,
}

/// A file that can be used.
#[derive(Debug)]
struct Stretch {
    start: u64,
    length: u64,
    /// The bytes that are written, from its start on.
    written: u64,
    medium: Medium,
}

/// What making the stretches needs of its caller.
pub trait Layer {
    /// Makes a fresh, empty file without a name.
    ///
    /// # Errors
    /// The file system will not have it.
    fn create(&mut self) -> io::Result<File>;

    /// Whether it goes on; asked often.
    fn goes_on(&mut self) -> bool;
}

impl SampledSpace {
    /// Whether the file system of `file` is one whose free space can be used so; to be asked before
    /// anything is made.
    ///
    /// # Errors
    /// The file system's type cannot be read.
    pub fn is_for(file: impl AsFd) -> io::Result<bool> {
        Ok(is_fat(file.as_fd())?)
    }

    /// A target of about `size`, of which nothing can be used yet. `trial` is a fresh file without a name,
    /// with which it looks whether space can be reserved without writing it.
    ///
    /// # Errors
    /// It cannot, or there is no direct I/O.
    pub fn new(trial: File, size: Bytes) -> Result<Self, FreeSpaceError> {
        let filesystem = rustix::fs::fstatvfs(&trial).map_err(reserving)?;
        if filesystem.f_flag.contains(StatVfsMountFlags::SYNCHRONOUS) {
            return Err(FreeSpaceError::Synchronous);
        }
        let unit = filesystem.f_bsize.next_multiple_of(UNIT_MIN);
        let medium = Medium::unsized_file(trial, true)?;
        if !medium.directness.is_direct() {
            return Err(FreeSpaceError::Buffered);
        }
        let before = written_by_us()?;
        reserve(&medium.file, TRIAL)?;
        if written_by_us()?.saturating_sub(before) >= TRIAL / 2 {
            return Err(FreeSpaceError::WritesZeros);
        }
        let mut abilities = medium.abilities(Engine::Psync, 1, false);
        abilities.size = size.round_down_to(Bytes(unit));
        abilities.logical_block = abilities.logical_block.max(Bytes(512));
        abilities.discard = false;
        let slots = Slots::new(1, abilities.logical_block)?;
        let (stretches, gaps) = (Vec::new(), Vec::new());
        let cluster = Bytes(filesystem.f_bsize);
        Ok(Self { abilities, slots, unit, cluster, stretches, gaps, filled: 0 })
    }

    /// The unit of the file system's space, in bytes.
    #[must_use]
    pub const fn unit(&self) -> u64 {
        self.unit
    }

    /// How many stretches can be used.
    #[must_use]
    pub const fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// How many bytes the file system has written before what was written out of turn.
    #[must_use]
    pub const fn filled(&self) -> Bytes {
        Bytes(self.filled)
    }

    /// Where all lies that was written, as addresses and the pieces of the device from there on, in the order of the
    /// addresses.
    ///
    /// # Errors
    /// This process may not ask, which needs root, or the file system does not tell.
    pub fn pieces(&self) -> io::Result<Vec<(Bytes, Extent)>> {
        let mut all = Vec::new();
        for Stretch { start, written, medium, .. } in &self.stretches {
            let placed = block_map::places(&medium.file, Bytes(*written), self.cluster)?;
            all.extend(placed.into_iter().map(|it| (Bytes(*start) + it.file_offset, it)));
        }
        Ok(all)
    }

    /// Reserves all of the space, so that `stretches`, as (start, length) by address in whole units, can be
    /// used; `false` where the caller ended it.
    ///
    /// # Errors
    /// The file system has no room, or this process may not open so many files.
    pub fn lay(
        &mut self,
        stretches: &[(u64, u64)],
        layer: &mut dyn Layer,
    ) -> Result<bool, FreeSpaceError> {
        let count = stretches.len() as u64;
        allow_files(
            count + count / u64::from(GAPS_MAX) + 2 * (self.size() / FILE_MAX + 1) + OTHER_FILES,
        )?;
        let mut gap = Gap::default();
        let mut at = 0;
        for &(start, length) in stretches {
            if !gap.reserve(start - at, &mut self.gaps, layer)? {
                return Ok(false);
            }
            let end = start + length;
            let mut from = start;
            while from < end {
                let length = FILE_MAX.min(end - from);
                let medium =
                    Medium::unsized_file(layer.create().map_err(FreeSpaceError::Reserve)?, true)?;
                reserve(&medium.file, length)?;
                self.stretches.push(Stretch { start: from, length, written: 0, medium });
                from += length;
            }
            at = end;
        }
        gap.reserve(self.size().saturating_sub(at), &mut self.gaps, layer)
    }

    const fn size(&self) -> u64 {
        self.abilities.size.get()
    }

    /// Does one operation stretch by stretch.
    fn perform(&mut self, op: &Op) -> Result<Bytes, Fault> {
        if op.kind == OpKind::Flush {
            // Writes went to the device at once; its cache is emptied by a flush of any file.
            return self.stretches.first().map_or(Ok(Bytes::ZERO), |first| first.medium.flush());
        }
        let buffer = self.slots.buffers.slice_mut(op.slot);
        let mut moved = 0;
        while moved < op.length.get() {
            let address = op.offset.get() + moved;
            let index = self.stretches.partition_point(|stretch| stretch.start <= address);
            let Some(stretch) = index.checked_sub(1).and_then(|at| self.stretches.get_mut(at))
            else {
                break;
            };
            let inside = address - stretch.start;
            let length = stretch.length.saturating_sub(inside).min(op.length.get() - moved);
            if length == 0 {
                break;
            }
            let part = buffer.get_mut(Bytes(moved).as_len()..Bytes(moved + length).as_len());
            let done = transfer(&stretch.medium, op.kind, Bytes(inside), part.unwrap_or_default())?;
            if op.kind == OpKind::Write {
                self.filled += inside.saturating_sub(stretch.written);
                stretch.written = stretch.written.max(inside + done);
            }
            moved += done;
            if done < length {
                break;
            }
        }
        Ok(Bytes(moved))
    }
}

/// The file that takes what lies between two stretches.
#[derive(Debug, Default)]
struct Gap {
    /// How much the last file has reserved, and in how many pieces.
    reserved: u64,
    pieces: u32,
}

impl Gap {
    /// Reserves `length` bytes more; `false` where the caller ended it.
    fn reserve(
        &mut self,
        length: u64,
        files: &mut Vec<File>,
        layer: &mut dyn Layer,
    ) -> Result<bool, FreeSpaceError> {
        let mut left = length;
        while left > 0 {
            if !layer.goes_on() {
                return Ok(false);
            }
            if files.is_empty() || self.reserved >= FILE_MAX || self.pieces >= GAPS_MAX {
                files.push(layer.create().map_err(FreeSpaceError::Reserve)?);
                *self = Self::default();
            }
            let more = left.min(FILE_MAX - self.reserved);
            self.reserved += more;
            self.pieces += 1;
            left -= more;
            if let Some(file) = files.last() {
                reserve(file, self.reserved)?;
            }
        }
        Ok(layer.goes_on())
    }
}

/// Gives `file` its first `size` bytes of space.
fn reserve(file: &File, size: u64) -> Result<(), FreeSpaceError> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            rustix::fs::ftruncate(file, size).map_err(reserving)?;
        }
        other => other.map_err(reserving)?,
    }
    let blocks = rustix::fs::fstat(file).map_err(reserving)?.st_blocks as u64;
    if blocks * 512 < size { Err(FreeSpaceError::NothingReserved) } else { Ok(()) }
}

fn reserving(errno: Errno) -> FreeSpaceError {
    FreeSpaceError::Reserve(errno.into())
}

/// How many bytes this process has had written, as far as the kernel counts them
/// (`Documentation/filesystems/proc.rst`: `/proc/PID/io`).
fn written_by_us() -> Result<u64, FreeSpaceError> {
    let text = fs::read_to_string("/proc/self/io").map_err(FreeSpaceError::Uncounted)?;
    let count = text.lines().find_map(|line| line.strip_prefix("write_bytes:"));
    count
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| FreeSpaceError::Uncounted(io::ErrorKind::InvalidData.into()))
}

/// Lets this process open `needed` files, as far as it may.
fn allow_files(needed: u64) -> Result<(), FreeSpaceError> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(most) = limit.maximum.filter(|&most| most < needed) {
        return Err(FreeSpaceError::TooManyFiles { needed, most });
    }
    limit.current = Some(needed);
    setrlimit(Resource::Nofile, limit).map_err(reserving)
}

target_in_turn!(SampledSpace);
