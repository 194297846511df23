//! Where the blocks of a file lie on the device, on file systems that say it block by block only.
//!
//! FAT and exFAT do not answer `FS_IOC_FIEMAP`. They answer `FIBMAP` (`linux/fs.h`), which needs `CAP_SYS_RAWIO`.
//! This module asks and decides nothing.

use std::io;
use std::os::fd::AsFd;

use cardproof_units::Bytes;
use rustix::ioctl::{Opcode, Updater, ioctl};

use crate::Extent;

/// `_IO(0x00, 1)`: turns the number of a block of a file into the number of a block of the device, 0 for none.
const FIBMAP: Opcode = 1;

/// `_IO(0x00, 2)`: the size of these blocks in bytes.
const FIGETBSZ: Opcode = 2;

/// Where the first `length` bytes of `file` lie, in the order of the file. Each `cluster`, which is asked for its first
/// block alone, lies in one piece.
///
/// # Errors
/// A part of them has no place, this process may not ask, or the file system does not tell.
pub(crate) fn places(file: impl AsFd, length: Bytes, cluster: Bytes) -> io::Result<Vec<Extent>> {
    let block = u64::try_from(ask::<FIGETBSZ>(&file, 0)?).unwrap_or(0);
    if block == 0 || cluster.get() == 0 || !cluster.get().is_multiple_of(block) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut found: Vec<Extent> = Vec::new();
    let mut at = 0;
    while at < length.get() {
        let place = place(&file, at / block)? * block;
        match found.last_mut() {
            Some(last) if (last.device_offset + last.length).get() == place => {
                last.length += cluster;
            }
            _ => found.push(Extent {
                file_offset: Bytes(at),
                device_offset: Bytes(place),
                length: cluster,
            }),
        }
        at += cluster.get();
    }
    Ok(found)
}

/// The number of the device's block that is the block `number` of `file`.
fn place(file: &impl AsFd, number: u64) -> io::Result<u64> {
    let number = i32::try_from(number).map_err(|_| io::ErrorKind::Unsupported)?;
    match u64::try_from(ask::<FIBMAP>(file, number)?) {
        Ok(0) | Err(_) => Err(io::ErrorKind::Unsupported.into()),
        Ok(place) => Ok(place),
    }
}

fn ask<const REQUEST: Opcode>(file: &impl AsFd, number: i32) -> io::Result<i32> {
    let mut number = number;
    // SAFETY: for both requests the kernel reads and writes one `int`.
    unsafe { ioctl(file.as_fd(), Updater::<REQUEST, i32>::new(&mut number)) }?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::io::Write;

    use cardproof_testkit::{skip, test_name};

    use super::*;
    use crate::extents;

    /// ext4 tells both ways; where it does, both say the same.
    #[test]
    fn blocks_lie_where_extents_say() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 300 << 10]).unwrap();
        file.sync_all().unwrap();
        let (Ok(extents), Ok(blocks)) =
            (extents(&file), places(&file, Bytes::kib(300), Bytes::kib(4)))
        else {
            skip(test_name!(), "this user or file system does not tell both ways");
            return;
        };
        let at = |extents: &[Extent], offset: u64| {
            let holds = |it: &&Extent| {
                (it.file_offset.get()..(it.file_offset + it.length).get()).contains(&offset)
            };
            let found = extents.iter().find(holds).unwrap();
            found.device_offset.get() + offset - found.file_offset.get()
        };
        for offset in (0..300 << 10).step_by(4096) {
            assert_eq!(at(&blocks, offset), at(&extents, offset));
        }
    }

    #[test]
    fn what_has_no_place_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(places(&file, Bytes::mib(1), Bytes::kib(4)).is_err());
    }
}
