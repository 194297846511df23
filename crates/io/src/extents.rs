//! Where the bytes of a file lie on the device below its file system.
//!
//! The kernel answers with `FS_IOC_FIEMAP` (`linux/fiemap.h`), without root, for the owner of the file.
//! FAT and exFAT do not answer. This module asks and decides nothing.

use std::io;
use std::os::fd::AsFd;

use cardproof_units::Bytes;
use rustix::ioctl::{Opcode, Updater, ioctl};

/// `FS_IOC_FIEMAP` of `linux/fs.h`: `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: Opcode = 0xc020_660b;

/// `FIEMAP_FLAG_SYNC`: what is delayed gets its place first.
const SYNC: u32 = 1;

/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;

/// The flags of an extent that has no plain place of its own: unknown, delayed, encoded, encrypted, not
/// aligned, inline, tail, shared.
const UNPLACED: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400 | 0x2000;

/// The flags of an extent of which it is not certain that its data were written and lie on the storage:
/// unknown, delayed, encoded, inline, tail, allocated but never written.
const PERHAPS_UNWRITTEN: u32 = 0x2 | 0x4 | 0x8 | 0x200 | 0x400 | 0x800;

/// Extents that one question asks for.
const EXTENTS_A_QUESTION: usize = 256;

/// `struct fiemap_extent`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for its answer.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [FiemapExtent; EXTENTS_A_QUESTION],
}

/// A stretch of a file that lies in one piece on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file.
    pub file_offset: Bytes,
    /// Where it begins on the block device that holds the file system.
    pub device_offset: Bytes,
    /// Its length, at least 1.
    pub length: Bytes,
}

/// The extents of `file` that have a place of their own, in the order of the file. Space that is reserved
/// and not yet written counts; holes, shared, compressed and encrypted stretches do not.
///
/// # Errors
/// The file system does not tell ([`io::ErrorKind::Unsupported`]), or asking failed.
pub fn extents(file: impl AsFd) -> io::Result<Vec<Extent>> {
    let mut found = Vec::new();
    each(&file, |extent| {
        found.extend(extent.placed());
        true
    })?;
    Ok(found)
}

/// Whether every byte of `file` up to `size` was written: it has neither holes nor space that is only
/// reserved.
///
/// # Errors
/// The file system does not tell ([`io::ErrorKind::Unsupported`]), or asking failed.
pub(crate) fn is_written(file: impl AsFd, size: Bytes) -> io::Result<bool> {
    let mut written_to = 0;
    each(&file, |extent| {
        let is_next = extent.logical <= written_to && extent.flags & PERHAPS_UNWRITTEN == 0;
        if is_next {
            written_to = extent.logical.saturating_add(extent.length);
        }
        is_next
    })?;
    Ok(written_to >= size.get())
}

/// Shows the extents of `file` to `goes_on` in the order of the file, until that says no.
fn each(file: &impl AsFd, mut goes_on: impl FnMut(&FiemapExtent) -> bool) -> io::Result<()> {
    let mut start = 0;
    loop {
        let answer = ask(file, start)?;
        let mapped = &answer.extents[..(answer.mapped_extents as usize).min(EXTENTS_A_QUESTION)];
        let Some(last) = mapped.last() else { return Ok(()) };
        let end = last.logical.saturating_add(last.length);
        if !mapped.iter().all(&mut goes_on) || last.flags & LAST != 0 || end <= start {
            return Ok(());
        }
        start = end;
    }
}

fn ask(file: &impl AsFd, start: u64) -> io::Result<Box<Fiemap>> {
    let mut question = Box::new(Fiemap {
        start,
        length: u64::MAX - start,
        flags: SYNC,
        mapped_extents: 0,
        extent_count: EXTENTS_A_QUESTION as u32,
        reserved: 0,
        extents: [FiemapExtent::default(); EXTENTS_A_QUESTION],
    });
    // SAFETY: for this request the kernel reads and writes a `fiemap` and up to `extent_count` extents
    // behind it, which are the array's length; all fields are numbers, for which any bits are a value.
    unsafe { ioctl(file.as_fd(), Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut question)) }?;
    Ok(question)
}

impl FiemapExtent {
    fn placed(&self) -> Option<Extent> {
        (self.flags & UNPLACED == 0 && self.length > 0).then_some(Extent {
            file_offset: Bytes(self.logical),
            device_offset: Bytes(self.physical),
            length: Bytes(self.length),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use cardproof_testkit::{skip, test_name};

    use super::*;

    #[test]
    fn the_structures_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<FiemapExtent>(), 56);
        assert_eq!(size_of::<Fiemap>(), 32 + 56 * EXTENTS_A_QUESTION);
        assert_eq!(FS_IOC_FIEMAP >> 16 & 0x3fff, 32);
    }

    #[test]
    fn what_has_no_place_of_its_own_is_left_out() {
        let plain = FiemapExtent { logical: 1, physical: 2, length: 3, ..FiemapExtent::default() };
        let unwritten = FiemapExtent { flags: 0x800 | LAST, ..plain };
        let shared = FiemapExtent { flags: 0x2000, ..plain };
        let placed = Extent { file_offset: Bytes(1), device_offset: Bytes(2), length: Bytes(3) };
        assert_eq!(plain.placed(), Some(placed));
        assert_eq!(unwritten.placed(), Some(placed));
        assert_eq!(shared.placed(), None);
    }

    #[test]
    fn holes_and_reserved_space_are_not_written() {
        let size = Bytes::kib(64);
        let path = std::env::temp_dir().join(format!("cardproof-extents-{}", std::process::id()));
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path);
        std::fs::remove_file(&path).expect("it was made");
        let file = file.expect("it can be made");
        let is_written = || is_written(&file, size).expect("it has told of the hole");
        file.set_len(size.get()).expect("it has room");
        match super::is_written(&file, size) {
            Ok(is_written) => assert!(!is_written, "a hole"),
            Err(_) => return skip(test_name!(), "this file system does not tell where files lie"),
        }
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size.get())
            .expect("it has room");
        assert!(!is_written(), "reserved");
        file.write_all_at(&vec![7; size.get() as usize], 0).expect("it has room");
        assert!(is_written(), "written");
    }

    #[test]
    fn a_file_without_places_is_an_error_or_empty() {
        let nothing = std::fs::File::open("/proc/self/maps").map(extents);
        assert!(nothing.is_ok_and(|found| found.is_err()));
    }
}
