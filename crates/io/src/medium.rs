//! An open file or block device, and the plain system calls on it.
//!
//! Both engines share it: it knows the size, the block size and whether direct I/O works, and
//! does the operations that are too rare to be worth a queue.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use cardproof_units::Bytes;
use rustix::fs::{Advice, FallocateFlags, FileType, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::discard::discard_on_device;
use crate::extents;
use crate::{
    Abilities, Arrangement, Caching, Calls, Directness, Engine, Fault, FileState, Op, TargetError,
};

/// The block size assumed where the kernel does not tell which one direct I/O needs: no device
/// in use needs a larger one.
const SAFE_BLOCK: Bytes = Bytes(4096);

/// The types of FAT and exFAT, whose files cannot be given a size without writing it
/// (`linux/magic.h`: MSDOS_SUPER_MAGIC, EXFAT_SUPER_MAGIC).
const GROWING: [u32; 2] = [0x4d44, 0x2011_bab0];

/// Why a file or device cannot serve as a target.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither a regular file nor a block device.
    #[error("only regular files and block devices can be measured")]
    NotStorage,
    /// It holds not even one block.
    #[error("it is smaller than one block of {logical_block}; name a larger file or a directory")]
    TooSmall {
        /// What it holds.
        size: Bytes,
        /// What it would need.
        logical_block: Bytes,
    },
    /// The kernel would not tell about it.
    #[error("cannot {doing}")]
    Os {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The engine that was asked for by name cannot be had.
    #[error("{reason}; use --engine psync or --engine auto")]
    NoEngine {
        /// Why not, in words.
        reason: String,
    },
}

impl OpenError {
    /// The same as an error of `engine`, which was driving the file already.
    pub(crate) fn in_engine(self, engine: &'static str) -> TargetError {
        let (doing, source) = match self {
            Self::Os { doing, source } => (doing, source),
            other => ("arrange the file", io::Error::other(other)),
        };
        TargetError::Engine { engine, doing, source }
    }
}

/// An open file or block device.
#[derive(Debug)]
pub(crate) struct Medium {
    pub(crate) file: File,
    pub(crate) size: Bytes,
    pub(crate) logical_block: Bytes,
    pub(crate) directness: Directness,
    /// The file is fresh and our own, so it may be emptied.
    is_our_own: bool,
    is_block_device: bool,
    /// How the last phase was arranged.
    caching: Caching,
    calls: Calls,
}

impl Medium {
    /// Takes `file` over and turns direct I/O on where it can be had and is `wanted`.
    pub(crate) fn new(file: File, direct_wanted: bool) -> Result<Self, OpenError> {
        let failed = |doing| move |errno: Errno| OpenError::Os { doing, source: errno.into() };
        let stat = rustix::fs::fstat(&file).map_err(failed("read the file's status"))?;
        let is_block_device = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => false,
            FileType::BlockDevice => true,
            _ => return Err(OpenError::NotStorage),
        };
        let directness = directness_of(file.as_fd(), direct_wanted)?;
        let (size, logical_block) = if is_block_device {
            let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
                .map_err(failed("find the end of the device"))?;
            let block = rustix::fs::ioctl_blksszget(&file)
                .map_err(failed("read the device's block size"))?;
            (Bytes(size), Bytes(u64::from(block)))
        } else {
            (Bytes(stat.st_size as u64), file_block(file.as_fd(), &directness))
        };
        let size = size.round_down_to(logical_block);
        if size == Bytes::ZERO {
            return Err(OpenError::TooSmall { size, logical_block });
        }
        Ok(Self {
            file,
            size,
            logical_block,
            directness,
            is_our_own: false,
            is_block_device,
            caching: caching_of(direct_wanted),
            calls: Calls::Queued,
        })
    }

    /// Takes a fresh file over that is to hold `size`.
    pub(crate) fn new_file(
        file: File,
        size: Bytes,
        direct_wanted: bool,
    ) -> Result<Self, OpenError> {
        reserve(file.as_fd(), size)?;
        let mut medium = Self::unsized_file(file, direct_wanted)?;
        medium.size = size.round_down_to(medium.logical_block);
        if medium.size == Bytes::ZERO {
            return Err(OpenError::TooSmall { size, logical_block: medium.logical_block });
        }
        Ok(medium)
    }

    /// Takes a regular file over whose size is not looked at.
    pub(crate) fn unsized_file(file: File, direct_wanted: bool) -> Result<Self, OpenError> {
        let directness = directness_of(file.as_fd(), direct_wanted)?;
        let logical_block = file_block(file.as_fd(), &directness);
        Ok(Self {
            file,
            size: Bytes::ZERO,
            logical_block,
            directness,
            is_our_own: true,
            is_block_device: false,
            caching: caching_of(direct_wanted),
            calls: Calls::Queued,
        })
    }

    /// What a target of `engine` on it can do, with at most `queue_depth_max` operations at a time.
    pub(crate) fn abilities(
        &self,
        engine: Engine,
        queue_depth_max: u16,
        read_only: bool,
    ) -> Abilities {
        Abilities {
            engine,
            engine_fallback: None,
            size: self.size,
            logical_block: self.logical_block,
            directness: self.directness.clone(),
            read_only,
            written_before: read_only && self.is_written_throughout(),
            discard: !read_only,
            keeps_data: true,
            queue_depth_max,
        }
    }

    /// Whether the file system says that every byte of the file was written.
    fn is_written_throughout(&self) -> bool {
        !self.is_block_device && extents::is_written(&self.file, self.size).unwrap_or(false)
    }

    /// Whether operations are plain system calls, one after the other.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_cached() || self.calls == Calls::Plain
    }

    /// Whether operations pass through the page cache because they are meant to.
    const fn is_cached(&self) -> bool {
        matches!(self.caching, Caching::Through { .. })
    }

    /// Makes the file and its cache what `wanted` says, and tells how operations go from here.
    pub(crate) fn arrange(&mut self, wanted: Arrangement) -> Result<Directness, OpenError> {
        let failed = |doing| move |errno: Errno| OpenError::Os { doing, source: errno.into() };
        self.calls = wanted.calls;
        if wanted.caching == self.caching && wanted.file == FileState::AsIs && !self.is_cached() {
            return Ok(self.directness.clone());
        }
        rustix::fs::fsync(&self.file).map_err(failed("write back what the page cache holds"))?;
        self.renew(wanted.file)?;
        self.drop_cache().map_err(failed("empty the page cache"))?;
        if wanted.caching != self.caching {
            self.directness = self.take_way(wanted.caching)?;
            self.caching = wanted.caching;
        }
        Ok(self.directness.clone())
    }

    /// Empties the file, where it is ours to empty.
    fn renew(&self, wanted: FileState) -> Result<(), OpenError> {
        if !self.is_our_own || wanted == FileState::AsIs {
            return Ok(());
        }
        rustix::fs::ftruncate(&self.file, 0).map_err(|errno| OpenError::Os {
            doing: "empty the test file",
            source: errno.into(),
        })?;
        match wanted {
            FileState::Reserved(size) => reserve(self.file.as_fd(), size.min(self.size)),
            FileState::Growing | FileState::AsIs => Ok(()),
        }
    }

    /// Lets go of what the page cache holds of the file, which has been written back.
    fn drop_cache(&self) -> Result<(), Errno> {
        rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
    }

    /// Turns direct I/O on or off.
    fn take_way(&self, caching: Caching) -> Result<Directness, OpenError> {
        let failed =
            |errno: Errno| OpenError::Os { doing: "set the file's flags", source: errno.into() };
        match caching {
            Caching::Bypassed => directness_of(self.file.as_fd(), true),
            Caching::Through { random } => {
                let advice = if random { Advice::Random } else { Advice::Normal };
                rustix::fs::fadvise(&self.file, 0, None, advice).map_err(failed)?;
                turn_direct_off(self.file.as_fd()).map_err(failed)?;
                let reason = "the profile goes through the page cache, as its tool does";
                Ok(Directness::Buffered { reason: reason.to_owned() })
            }
        }
    }

    /// Makes completed writes durable.
    pub(crate) fn flush(&self) -> Result<Bytes, Fault> {
        rustix::fs::fsync(&self.file)?;
        Ok(Bytes::ZERO)
    }

    /// Discards the range of `op`: on a device by the command itself, since a hole in a device is written with
    /// zeros; in a file by a hole.
    pub(crate) fn discard(&self, op: &Op) -> Result<Bytes, Fault> {
        if self.is_block_device {
            discard_on_device(self.file.as_fd(), op.offset, op.length)?;
            return Ok(op.length);
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.file, flags, op.offset.get(), op.length.get())?;
        Ok(op.length)
    }
}

/// Reserves `size` bytes for a file where that costs no writing.
fn reserve(file: BorrowedFd<'_>, size: Bytes) -> Result<(), OpenError> {
    let failed = |doing| move |errno: Errno| OpenError::Os { doing, source: errno.into() };
    // FAT and exFAT would fill the space with zeros, at the price of writing all of it twice;
    // there the file grows as it is laid out.
    if is_fat(file).map_err(failed("read the file system's type"))? {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.get()) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(failed("reserve space for the test file")(errno)),
    }
}

/// Whether `file` lies on FAT or exFAT.
pub(crate) fn is_fat(file: BorrowedFd<'_>) -> Result<bool, Errno> {
    let filesystem = rustix::fs::fstatfs(file)?;
    Ok(GROWING.contains(&(filesystem.f_type as u32)))
}

/// What a file opened as `direct_wanted` says does.
const fn caching_of(direct_wanted: bool) -> Caching {
    if direct_wanted { Caching::Bypassed } else { Caching::Through { random: false } }
}

/// Clears O_DIRECT.
fn turn_direct_off(file: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    rustix::fs::fcntl_setfl(file, flags.difference(OFlags::DIRECT))
}

fn directness_of(file: BorrowedFd<'_>, wanted: bool) -> Result<Directness, OpenError> {
    if !wanted {
        return Ok(Directness::Buffered { reason: "direct I/O was not asked for".to_owned() });
    }
    turn_direct_on(file)
        .map_err(|errno| OpenError::Os { doing: "set the file's flags", source: errno.into() })
}

/// Sets O_DIRECT, or says why it cannot be set.
fn turn_direct_on(file: BorrowedFd<'_>) -> Result<Directness, Errno> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    match rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT) {
        Ok(()) => Ok(Directness::Direct),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Directness::Buffered {
            reason: "this file system does not support direct I/O".to_owned(),
        }),
        Err(errno) => Err(errno),
    }
}

/// The unit of direct I/O on a regular file (`STATX_DIOALIGN`, Linux 6.1), or a safe guess.
fn file_block(file: BorrowedFd<'_>, directness: &Directness) -> Bytes {
    if !directness.is_direct() {
        return Bytes(512);
    }
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN;
    match rustix::fs::statx(file, c"", rustix::fs::AtFlags::EMPTY_PATH, wanted) {
        Ok(status)
            if StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::DIOALIGN)
                && status.stx_dio_offset_align.is_power_of_two() =>
        {
            Bytes(u64::from(status.stx_dio_offset_align).max(512))
        }
        _ => SAFE_BLOCK,
    }
}
