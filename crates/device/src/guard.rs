//! The guard before a destructive run: every objection is listed, and a device is opened for
//! writing only when none is left.
//!
//! Two kinds of objection are told apart. What is in use (mounted, swap, part of something else)
//! is never written, whatever the user says. All else is written when the user has named the very
//! device, by an [`Identity`] that no other card shares. A block device always needs its name: no
//! list of signatures is complete, so nothing found on it does not mean that nothing is there. A
//! regular file needs it unless the file is one hole, to which nothing was ever written.
//!
//! The guard reads and never writes. It does not repair, unmount or wipe anything: its messages
//! say which command does.

mod content;
mod error;
mod identity;
mod in_use;
mod loops;
mod objection;
mod open;
mod partition_table;
mod signatures;
mod superblocks;
mod swaps;

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_units::{Bytes, in_words};
use rustix::fs::{FlockOperation, flock};

pub use error::{GuardError, Refusal};
pub(crate) use identity::serial;
pub use identity::{Identity, Leave};
pub use objection::{Holder, Objection};
pub use open::{Cleared, open_for_destruction};

use crate::block::BlockDevice;
use crate::{DeviceNumber, Sysroot};
use content::Content;
use in_use::Users;
use loops::{FileId, FileInUse};

/// How the user agreed to have the target destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// In general, without saying what: enough for a regular file that was never written to.
    General,
    /// By naming the target; the text must be its [`Identity`].
    Named(String),
}

/// A target, and all that can be said against overwriting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The path as given by the user.
    pub path: PathBuf,
    /// What the user must type to have it destroyed.
    pub identity: Identity,
    /// Every objection, those that nothing lifts first.
    pub objections: Vec<Objection>,
    /// Whether only its identity gives leave, even where nothing was found.
    needs_name: bool,
}

impl Inspection {
    fn new(path: &Path, identity: Identity, found: Vec<Objection>, needs_name: bool) -> Self {
        let mut objections: Vec<Objection> = Vec::new();
        for objection in found {
            if !objections.contains(&objection) {
                objections.push(objection);
            }
        }
        objections.sort_by_key(Objection::can_be_lifted);
        Self { path: path.to_owned(), identity, objections, needs_name }
    }

    /// The first objection that no name lifts, such as that it is in use.
    #[must_use]
    pub fn forbidden_by(&self) -> Option<&Objection> {
        self.objections.iter().find(|objection| !objection.can_be_lifted())
    }

    /// Whether the target may be overwritten with this `consent`.
    ///
    /// # Errors
    /// The consent names another device, or an objection stands.
    pub fn check(&self, consent: &Consent) -> Result<(), GuardError> {
        if let Consent::Named(typed) = consent
            && !self.identity.matches(typed)
        {
            return Err(GuardError::OtherIdentity {
                path: self.path.clone(),
                typed: typed.clone(),
                identity: self.identity.clone(),
                leave: Leave::default(),
            });
        }
        let is_named = matches!(consent, Consent::Named(_));
        let is_settled = |objection: &Objection| is_named && objection.can_be_lifted();
        if (is_named || !self.needs_name) && self.objections.iter().all(is_settled) {
            return Ok(());
        }
        Err(GuardError::Refused(Refusal {
            path: self.path.clone(),
            identity: self.identity.clone(),
            objections: self.objections.clone(),
            leave: Leave::default(),
        }))
    }
}

/// Lists all that can be said against overwriting the block device or regular file at `path`,
/// which is opened for reading only.
///
/// # Errors
/// There is no such device or file, or it cannot be opened.
pub fn inspect(root: &Sysroot, path: &Path) -> Result<Inspection, GuardError> {
    let target = Target::at(path)?;
    let mut file = match File::open(&target.real) {
        Ok(file) => file,
        Err(error) => return inspect_closed(root, path, &target, error),
    };
    inspect_open(root, path, &target, &mut file)
}

/// Checks that nobody uses the regular file at `path`, where there is one: no loop device, no swap.
/// What it holds is not looked at. It is to be the file below a simulated card; another card that is
/// served keeps its own file locked, so one without a lock is not that.
///
/// # Errors
/// It is in use, that cannot be told, or it cannot be opened.
pub fn check_file_free(root: &Sysroot, path: &Path) -> Result<(), GuardError> {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Ok(());
    }
    let target = Target::at(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))?;
    let mut file =
        File::open(&target.real).map_err(|source| GuardError::from_open(path, source))?;
    let mut inspection = inspect_open(root, path, &target, &mut file)?;
    // The lock goes when the file is closed, at the end of this function.
    let is_locked = flock(&file, FlockOperation::NonBlockingLockShared).is_err();
    inspection.objections.retain(|objection| match objection {
        Objection::NoMedium => false,
        Objection::MayBeHeld { is_served_card: true, .. } => is_locked,
        objection => !objection.can_be_lifted(),
    });
    let own = Consent::Named(inspection.identity.to_string());
    inspection.check(&own)
}

/// Lists all that can be said against overwriting the block device with `number`, known to the
/// user as `path`, whose content is read from `content`.
///
/// # Errors
/// sysfs does not know the device.
pub fn inspect_device<R: Read + Seek>(
    root: &Sysroot,
    path: &Path,
    number: DeviceNumber,
    content: &mut R,
) -> Result<Inspection, GuardError> {
    let unknown = || GuardError::UnknownDevice { path: path.to_owned(), number };
    let device = BlockDevice::by_number(root, number).ok_or_else(unknown)?;
    let identity = Identity::of_device(&device).ok_or_else(unknown)?;
    let mut objections = objections_of_device(root, &device, identity.size());
    objections.extend(objections_to_content(content, identity.size()));
    Ok(Inspection::new(path, identity, objections, true))
}

/// What a path leads to.
#[derive(Debug)]
struct Target {
    /// The path without links.
    real: PathBuf,
    kind: TargetKind,
}

#[derive(Debug)]
enum TargetKind {
    Device(DeviceNumber),
    File { size: Bytes, id: FileId },
}

impl Target {
    /// Looks at `path`. A link to a device is followed, for `/dev/disk/by-id` is made of them; a
    /// link to a file is not, for nobody types a link to mean the file.
    fn at(path: &Path) -> Result<Self, GuardError> {
        let unreachable = |source| GuardError::Unreachable { path: path.to_owned(), source };
        let metadata = fs::metadata(path).map_err(unreachable)?;
        let real = fs::canonicalize(path).map_err(unreachable)?;
        let file_type = metadata.file_type();
        if file_type.is_block_device() {
            let number = DeviceNumber::from_raw(metadata.rdev());
            return Ok(Self { real, kind: TargetKind::Device(number) });
        }
        if !file_type.is_file() {
            return Err(GuardError::NotStorage { path: path.to_owned() });
        }
        if fs::symlink_metadata(path).map_err(unreachable)?.is_symlink() {
            return Err(GuardError::Symlink { path: path.to_owned(), real });
        }
        Ok(Self {
            real,
            kind: TargetKind::File {
                size: Bytes(metadata.len()),
                id: FileId::from_metadata(&metadata),
            },
        })
    }
}

/// The inspection of `target`, which is open as `file`.
fn inspect_open(
    root: &Sysroot,
    path: &Path,
    target: &Target,
    file: &mut File,
) -> Result<Inspection, GuardError> {
    match target.kind {
        TargetKind::Device(number) => inspect_device(root, path, number, file),
        TargetKind::File { size, .. } => {
            let objections = objections_to_file(root, target, file, size)
                .map_err(|source| GuardError::from_open(path, source))?;
            let identity = Identity::of_file(&target.real, size);
            Ok(Inspection::new(path, identity, objections, false))
        }
    }
}

/// The inspection of a device that could not be opened: with no medium in it that is an
/// objection like others, all else is an error.
fn inspect_closed(
    root: &Sysroot,
    path: &Path,
    target: &Target,
    error: std::io::Error,
) -> Result<Inspection, GuardError> {
    let is_empty = error.raw_os_error() == Some(rustix::io::Errno::NOMEDIUM.raw_os_error());
    if let TargetKind::Device(number) = target.kind
        && is_empty
    {
        return inspect_device(root, path, number, &mut std::io::empty());
    }
    Err(GuardError::from_open(path, error))
}

fn objections_of_device(root: &Sysroot, device: &BlockDevice<'_>, size: Bytes) -> Vec<Objection> {
    let mut objections = in_use_of(root, device);
    if size == Bytes::ZERO {
        objections.push(Objection::NoMedium);
    }
    if device.switch("ro") == Some(true) {
        objections.push(Objection::ReadOnly { node: device.node() });
    }
    let names: Vec<_> =
        device.partitions().iter().map(|partition| partition.name().to_owned()).collect();
    if !names.is_empty() {
        objections.push(Objection::Partitions { names });
    }
    objections
}

/// Who uses the disk `device`, which must then neither be written nor disconnected.
pub(crate) fn in_use_of(root: &Sysroot, device: &BlockDevice<'_>) -> Vec<Objection> {
    match Users::read(root) {
        Ok(users) => users.of_device(device),
        Err(unknown) => vec![unknown],
    }
}

/// All that can be said against overwriting the regular file `file`, which is open.
fn objections_to_file(
    root: &Sysroot,
    target: &Target,
    file: &mut File,
    size: Bytes,
) -> std::io::Result<Vec<Objection>> {
    let of_content = objections_to_content(file, size);
    let bears_swap = of_content
        .iter()
        .any(|objection| matches!(objection, Objection::Signature { kind: "swap" }));
    let data = holds_data(file);
    let in_use = FileInUse::target(&target.real, file, data.is_some())?;
    let mut objections = match Users::read(root) {
        Ok(users) => users.of_file(&in_use, bears_swap),
        Err(unknown) => vec![unknown],
    };
    if size == Bytes::ZERO {
        objections.push(Objection::NoMedium);
    }
    objections.extend(of_content);
    objections.extend(data);
    Ok(objections)
}

/// What `content` bears.
fn objections_to_content<R: Read + Seek>(content: &mut R, size: Bytes) -> Vec<Objection> {
    let mut content = Content::new(content, size);
    let tables = partition_table::find(&mut content);
    let signatures = signatures::find(&mut content);
    let formats = signatures::find_formats(&mut content);
    let mut objections: Vec<_> =
        tables.into_iter().map(|kind| Objection::PartitionTable { kind }).collect();
    objections.extend(signatures.into_iter().map(|kind| Objection::Signature { kind }));
    objections.extend(formats.into_iter().map(|kind| Objection::ImageFormat { kind }));
    if let Some(error) = content.into_failure() {
        objections.push(Objection::Unreadable { reason: in_words(&error) });
    }
    objections
}

/// Whether anything was ever written to `file`. A device is judged by signatures alone, because a
/// used one is never blank; a file with any block of its own may be somebody's.
fn holds_data(file: &File) -> Option<Objection> {
    let first_data = rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0));
    let is_all_hole = first_data == Err(rustix::io::Errno::NXIO);
    (!is_all_hole).then_some(Objection::HoldsData)
}
