//! How much the disk of a file system has taken, after all that waits is written: what others may have written while
//! a test did shows in it.

use std::fs::File;
use std::path::Path;

use cardproof_device::{Sysroot, WriteCounter};

/// The disk of a file system counts what is written to it.
pub(super) struct Written {
    directory: File,
    counter: WriteCounter,
}

impl Written {
    /// Of the file system of `directory`; `None` where nothing counts.
    pub(super) fn of(directory: &Path) -> Option<Self> {
        let counter = WriteCounter::of_filesystem(&Sysroot::default(), directory)?;
        Some(Self { directory: File::open(directory).ok()?, counter })
    }

    /// How many bytes the disk has taken; `None` where that is not known.
    pub(super) fn bytes(&self) -> Option<u64> {
        rustix::fs::syncfs(&self.directory).ok()?;
        self.counter.bytes()
    }
}
