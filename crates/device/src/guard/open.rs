//! Opening a target for writing, once the guard has nothing left to say.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use cardproof_units::Bytes;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::loops::FileId;
use super::swaps::kernel_says_swap;
use super::{Consent, GuardError, Identity, Objection, Target, TargetKind, inspect, inspect_open};
use crate::{DeviceNumber, Sysroot};

/// How often a busy device is tried again, and how long apart: a second in all.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// A target that may be overwritten, open for reading and writing.
///
/// As long as the file is open the kernel lets nobody mount a block device, and no other
/// cardproof opens a file.
#[derive(Debug)]
pub struct Cleared {
    /// The target, at its first byte.
    pub file: File,
    /// What the device says of itself.
    pub identity: Identity,
    /// The objections that the user's naming it has lifted: what will be lost.
    pub lifted: Vec<Objection>,
}

/// Opens the block device or regular file at `path` for writing, if nothing speaks against it
/// with this `consent`.
///
/// A block device is opened with `O_EXCL`, which fails while anybody else uses it. The
/// inspection is then made again on the open device, so that nothing slips in between.
///
/// # Errors
/// An objection stands, it is held, or it cannot be opened. Nothing was written.
pub fn open_for_destruction(
    root: &Sysroot,
    path: &Path,
    consent: &Consent,
) -> Result<Cleared, GuardError> {
    inspect(root, path)?.check(consent)?;
    let target = Target::at(path)?;
    let mut file = open_alone(path, &target)?;
    check_unchanged(path, &target, &mut file)?;
    let mut inspection = inspect_open(root, path, &target, &mut file)?;
    if matches!(target.kind, TargetKind::File { .. }) && kernel_says_swap(&file) {
        inspection.objections.insert(0, Objection::Swap { node: path.to_owned() });
    }
    inspection.check(consent)?;
    check_size(path, inspection.identity.size(), &mut file)?;
    file.rewind().map_err(|source| GuardError::from_open(path, source))?;
    Ok(Cleared { file, identity: inspection.identity, lifted: inspection.objections })
}

/// Opens `target` so that nobody else can use it at the same time.
fn open_alone(path: &Path, target: &Target) -> Result<File, GuardError> {
    let failed = |errno: Errno| GuardError::from_open(path, errno.into());
    let alone = match target.kind {
        TargetKind::Device(_) => OFlags::EXCL,
        TargetKind::File { .. } => OFlags::NOFOLLOW,
    };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | alone;
    let file = open_when_free(&target.real, flags).map_err(failed)?;
    if matches!(target.kind, TargetKind::File { .. }) {
        lock_when_free(&file).map_err(failed)?;
    }
    Ok(file.into())
}

/// Locks `file`, with patience as for a device: the kernel gives the file of a process that was killed
/// back a moment after its end.
fn lock_when_free(file: &OwnedFd) -> Result<(), Errno> {
    for _ in 1..ATTEMPTS {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN) => thread::sleep(BETWEEN_ATTEMPTS),
            other => return other,
        }
    }
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Opens `path`, with patience where it is busy: the kernel gives a device back a moment after the
/// end of a program that was killed while it drove it through io_uring.
fn open_when_free(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    for _ in 0..ATTEMPTS {
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) => thread::sleep(BETWEEN_ATTEMPTS),
            opened_or_not => return opened_or_not,
        }
    }
    rustix::fs::open(path, flags, Mode::empty())
}

/// Whether `file` is what the path led to when it was looked at.
fn check_unchanged(path: &Path, target: &Target, file: &mut File) -> Result<(), GuardError> {
    let metadata = file.metadata().map_err(|source| GuardError::from_open(path, source))?;
    let is_same = match target.kind {
        TargetKind::Device(number) => DeviceNumber::from_raw(metadata.rdev()) == number,
        TargetKind::File { size, id } => {
            metadata.is_file()
                && Bytes(metadata.len()) == size
                && FileId::from_metadata(&metadata) == id
        }
    };
    if is_same { Ok(()) } else { Err(GuardError::Changed { path: path.to_owned() }) }
}

/// Whether `file` is as long as its identity says.
fn check_size(path: &Path, size: Bytes, file: &mut File) -> Result<(), GuardError> {
    let end = file.seek(SeekFrom::End(0)).map_err(|source| GuardError::from_open(path, source))?;
    if Bytes(end) == size { Ok(()) } else { Err(GuardError::Changed { path: path.to_owned() }) }
}
