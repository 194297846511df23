//! Which mount an open file was reached through.
//!
//! A device number does not tell: a directory that somebody has bind-mounted into ours lies on the same
//! file system. The kernel numbers mounts, and tells the number in `statx` since Linux 5.8 and in
//! `/proc/self/fdinfo` since 3.15. Where it tells neither, nothing is known, and callers must leave
//! alone what they cannot place.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::Errno;

/// The number of the mount that `file` was reached through.
///
/// # Errors
/// [`Errno::NOSYS`] where this kernel does not tell.
pub(super) fn mount_id(file: impl AsFd) -> Result<u64, Errno> {
    let file = file.as_fd();
    by_statx(file).or_else(|| by_fdinfo(file)).ok_or(Errno::NOSYS)
}

/// Whether two open files were reached through one mount; false where that cannot be told.
pub(super) fn on_one_mount(one: impl AsFd, other: impl AsFd) -> bool {
    matches!((mount_id(one), mount_id(other)), (Ok(one), Ok(other)) if one == other)
}

fn by_statx(file: BorrowedFd<'_>) -> Option<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let status = rustix::fs::statx(file, c"", flags, StatxFlags::MNT_ID).ok()?;
    (status.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(status.stx_mnt_id)
}

fn by_fdinfo(file: BorrowedFd<'_>) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_tell_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let file = std::fs::File::open(directory.path()).unwrap();
        let told = mount_id(&file).unwrap();
        for way in [by_statx(file.as_fd()), by_fdinfo(file.as_fd())] {
            assert!(way.is_none_or(|id| id == told), "{way:?}");
        }
        let proc = std::fs::File::open("/proc").unwrap();
        assert!(on_one_mount(&file, &file) && !on_one_mount(&file, &proc));
    }
}
