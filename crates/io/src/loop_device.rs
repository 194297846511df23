//! The file or device behind a loop device, as the kernel has it open.
//!
//! sysfs tells the path of that file, and a path says nothing for certain: a hard link, a bind mount
//! or another view of the mounts gives the same file another name. The kernel also tells the file's
//! device and inode, to whoever may open the loop device. This module asks and decides nothing.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

/// The request and its answer are of `linux/loop.h`, part of the kernel's fixed interface.
const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// What a loop device goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopBacking {
    /// A block device.
    Device {
        /// Its number (`st_rdev`).
        number: u64,
    },
    /// A file.
    File {
        /// The number of its file system (`st_dev`).
        device: u64,
        /// Its inode.
        inode: u64,
    },
}

/// What the loop device at `node`, whose number is `number`, goes to; nothing where it is free.
///
/// # Errors
/// The node is missing, is another device, or this user may not open it.
pub fn loop_backing(node: &Path, number: u64) -> io::Result<Option<LoopBacking>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(node, flags, Mode::empty()) {
        Err(Errno::NXIO) => return Ok(None),
        opened => File::from(opened?),
    };
    if !is_device(&file.metadata()?, number) {
        return Err(io::Error::other("its node is another device"));
    }
    // SAFETY: the kernel fills a `loop_info64` for this request, and every field of ours is a number,
    // for which any bits are a value. A file that is no loop device refuses the request.
    let info = unsafe { ioctl(file.as_fd(), Getter::<LOOP_GET_STATUS64, LoopInfo64>::new()) };
    match info {
        Ok(info) => Ok(Some(info.backing())),
        Err(Errno::NXIO) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn is_device(metadata: &Metadata, number: u64) -> bool {
    metadata.file_type().is_block_device() && metadata.rdev() == number
}

impl LoopInfo64 {
    /// The third number is 0 where the file is no device, and the file's own device in some kernels.
    const fn backing(&self) -> LoopBacking {
        if self.rdevice == 0 || self.rdevice == self.device {
            LoopBacking::File { device: self.device, inode: self.inode }
        } else {
            LoopBacking::Device { number: self.rdevice }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_as_long_as_the_kernels() {
        assert_eq!(size_of::<LoopInfo64>(), 232);
    }

    #[test]
    fn a_node_that_is_no_such_device_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(loop_backing(file.path(), 7 << 8).is_err());
        assert!(loop_backing(Path::new("/dev/cardproof-no-such-node"), 7 << 8).is_err());
    }
}
