//! The ground that all setups are tried on: one loop device, on which one file system after the
//! other is made, mounted, used and taken away.
//!
//! All of them get the same place of the storage, so that none has the better half of the card. In
//! a directory the loop device lies over a file of ours, which was written through once, so that
//! the file system below has nothing left to decide; on a device, over its beginning. Mounts are
//! ours alone and the loop device is detached as soon as it is open, so that whatever ends this
//! process also takes them away; what is left then is a directory with our marker, which the next
//! run removes.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::scratch::Scratch;
use cardproof_io::{MountFlags, PrivateMount, PrivateMounts};
use cardproof_record::{Warning, WarningCause};
use cardproof_units::{Bytes, Seed, in_words, with_causes};
use cardproof_workload::{DataPattern, Generation};

use super::catalogue::Setup;
use super::loop_device::LoopDevice;
use super::programs::find_program;
use crate::failure::Failure;

/// What is written at a time.
const PIECE: Bytes = Bytes::mib(1);

/// How much at either end of a device can hold what tells that there is a file system.
const SIGNATURES: Bytes = Bytes::mib(1);

/// The loop device, our own view of the mounts, and where a file system appears in it.
pub(super) struct SetupStorage {
    mounts: PrivateMounts,
    device: LoopDevice,
    /// The file or device below it.
    below: File,
    size: Bytes,
    /// A directory of ours: in our view of the mounts file systems lie over it.
    point: PathBuf,
}

/// Why a setup cannot be tried, and what helps.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotTried {
    /// The tool that makes it is not there.
    #[error("{program} is not installed; on Debian: apt-get install {package}")]
    NoMaker { program: &'static str, package: &'static str },
    /// The kernel has not got it.
    #[error("this kernel has no {filesystem}; another kernel, or its module, is needed")]
    NotInKernel { filesystem: &'static str },
    /// There is too little room for it.
    #[error("{filesystem} needs {needed}, and there are {size}; give a larger --size")]
    TooSmall { filesystem: &'static str, needed: Bytes, size: Bytes },
    /// The tool failed.
    #[error("{program} failed: {said}")]
    NotMade { program: &'static str, said: String },
    /// The kernel refused it.
    #[error("it cannot be mounted ({}); the kernel log (`dmesg`) tells why", in_words(.0))]
    NotMounted(std::io::Error),
}

impl SetupStorage {
    /// Attaches a loop device over the first `size` of `below`, in a view of the mounts of our own.
    /// File systems will appear over `scratch`.
    pub(super) fn prepare(below: File, size: Bytes, scratch: &Scratch) -> Result<Self, Failure> {
        let mounts = PrivateMounts::enter().map_err(Failure::because(
            "cannot have mounts of our own, on which file systems are compared; are you root?",
        ))?;
        let point = scratch.path();
        let point = point.canonicalize().unwrap_or(point);
        let device = LoopDevice::attach(&below, size)?;
        Ok(Self { mounts, device, below, size, point })
    }

    /// What makes figures from here doubtful.
    pub(super) fn doubt(&self) -> Option<Warning> {
        (!self.device.is_direct()).then(|| WarningCause::LoopCached.into())
    }

    /// Whether `setup` can be tried here at all.
    pub(super) fn check(&self, setup: &Setup) -> Result<(), NotTried> {
        let (program, package) = setup.maker;
        if find_program(program).is_none() {
            return Err(NotTried::NoMaker { program, package });
        }
        if self.size < setup.size_min {
            let Setup { filesystem, size_min: needed, .. } = *setup;
            return Err(NotTried::TooSmall { filesystem, needed, size: self.size });
        }
        Ok(())
    }

    /// Makes the file system of `setup`, empty, and mounts it.
    pub(super) fn lay(&self, setup: &Setup) -> Result<PrivateMount, NotTried> {
        self.check(setup)?;
        self.make(setup)?;
        let flags = MountFlags { no_access_times: setup.no_access_times };
        self.mounts
            .mount(self.device.node(), &self.point, setup.filesystem, setup.mount, flags)
            .map_err(|source| match source.raw_os_error() {
                Some(number) if number == rustix::io::Errno::NODEV.raw_os_error() => {
                    NotTried::NotInKernel { filesystem: setup.filesystem }
                }
                _ => NotTried::NotMounted(source),
            })
    }

    fn make(&self, setup: &Setup) -> Result<(), NotTried> {
        let (program, package) = setup.maker;
        let path = find_program(program).ok_or(NotTried::NoMaker { program, package })?;
        let output = Command::new(path).args(setup.make).arg(self.device.node()).output();
        let said = match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "),
            Err(error) => with_causes(&error),
        };
        Err(NotTried::NotMade { program, said })
    }

    /// Clears what tells of the last file system, so that a device is left empty and not with the
    /// ruins of one.
    pub(super) fn clear_signatures(self) -> std::io::Result<()> {
        let Self { device, mut below, size, .. } = self;
        // What a program has written to the loop device may wait in memory until that is closed.
        drop(device);
        let zeros = vec![0; SIGNATURES.as_len()];
        for start in [Bytes::ZERO, size.saturating_sub(SIGNATURES)] {
            below.seek(SeekFrom::Start(start.get()))?;
            below.write_all(&zeros)?;
        }
        below.sync_all()
    }
}

/// Writes `size` of `file` once, with what nothing can compress, until `stop` is set.
pub(super) fn fill(
    mut file: &File,
    size: Bytes,
    seed: Seed,
    stop: &AtomicBool,
) -> std::io::Result<()> {
    let pattern = DataPattern::new(seed);
    let mut piece = vec![0; PIECE.as_len()];
    let mut position = Bytes::ZERO;
    while position < size && !stop.load(Ordering::Relaxed) {
        pattern.fill(&mut piece, position, Generation(0));
        file.write_all(&piece[..PIECE.min(size - position).as_len()])?;
        position += PIECE;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_refused_mount_has_one_cause() {
        let error = NotTried::NotMounted(std::io::Error::from_raw_os_error(22));
        let said = "it cannot be mounted (Invalid argument); the kernel log (`dmesg`) tells why";
        assert_eq!(error.to_string(), said);
        assert!(error.source().is_none());
    }
}
