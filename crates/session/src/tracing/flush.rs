//! What a job leaves in memory, written to its disk: a part of what it asked of it.
//!
//! Only the file systems on the recorded disk are flushed. What others have in memory is not the
//! job's, writing it may take minutes on a slow card, and nobody asked for it. Where one of them
//! cannot be reached, all of the system's are flushed, since a trace without the job's last
//! writes would be wrong.

use std::io;
use std::path::Path;

use cardproof_device::{Disk, Sysroot, filesystems_on};
use rustix::fs::{Mode, OFlags};

/// Writes what the file systems on `disk` have in memory, and waits for it.
pub(super) fn flush(disk: &Disk) {
    if flush_each(disk).is_err() {
        rustix::fs::sync();
    }
}

fn flush_each(disk: &Disk) -> io::Result<()> {
    for filesystem in filesystems_on(&Sysroot::default(), disk)? {
        let point = filesystem.point.ok_or(io::ErrorKind::NotFound)?;
        flush_at(&point)?;
    }
    Ok(())
}

/// Flushes the file system that is mounted at `point`, a directory or, of a bind mount, anything.
fn flush_at(point: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(point, flags, Mode::empty())?;
    Ok(rustix::fs::syncfs(&opened)?)
}
