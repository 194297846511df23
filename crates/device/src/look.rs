//! The first look: from a path or a block device to the conditions of a record.
//!
//! It opens no device and needs no root. What cannot be read is absent from the answer; only a
//! path that cannot be reached at all is an error.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_record::{DeviceInfo, FilesystemInfo, HostInfo, SettingsInfo, Unknown};
use cardproof_units::Bytes;

use crate::block::BlockDevice;
use crate::device::{LAYERS_MAX, Layers};
use crate::host::look_at_host;
use crate::identify::alignment::{is_aligned, start_of};
use crate::identify::power::clock_max;
use crate::identify::sources::Sources;
use crate::mounts::{Mount, Mounts};
use crate::stack::Storage;
use crate::{DeviceNumber, Sysroot, device, options, settings};

/// All of a record's conditions but the target itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The storage device.
    pub device: DeviceInfo,
    /// The computer.
    pub host: HostInfo,
    /// The file system, for a path on one.
    pub filesystem: Option<FilesystemInfo>,
    /// Settings that change figures.
    pub settings: SettingsInfo,
    /// What could not be found out, why, and what would be needed.
    pub unknown: Vec<Unknown>,
}

/// What to do about a path that leads nowhere: only the path of a device is found in a list of devices.
#[must_use]
pub fn missing_hint(path: &Path) -> &'static str {
    if path.starts_with("/dev") {
        "check the name: `lsblk` lists devices"
    } else {
        "check its spelling, and that the card is mounted"
    }
}

/// Why there is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The path leads nowhere.
    #[error("{path} does not exist; {hint}", path = path.display(), hint = missing_hint(path))]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path leads nowhere for this user.
    #[error("cannot look at {path}; check who may enter the directories above it", path = path.display())]
    Unreachable {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is something else.
    #[error("{path} is not a block device; name one, such as /dev/mmcblk0, or a directory on it", path = path.display())]
    NotABlockDevice {
        /// The path as given.
        path: PathBuf,
    },
    /// There is no such device below a root that is not the running system's.
    #[error("there is no {path} in what was given; there is: {known}", path = path.display())]
    NotInRoot {
        /// The path as given.
        path: PathBuf,
        /// The names of what there is.
        known: String,
    },
}

impl LookError {
    /// Why `path` cannot be reached.
    pub(crate) fn unreachable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            _ => Self::Unreachable { path, source },
        }
    }
}

/// Looks at the storage that `path` is on, or at the block device that it is.
///
/// # Errors
/// The path cannot be reached.
pub fn look_at_path(root: &Sysroot, path: &Path) -> Result<Surroundings, LookError> {
    let unreachable = |source| LookError::unreachable(path, source);
    let metadata = fs::metadata(path).map_err(unreachable)?;
    if metadata.file_type().is_block_device() {
        return Ok(look_at_number(root, DeviceNumber::from_raw(metadata.rdev())));
    }
    let real = fs::canonicalize(path).map_err(unreachable)?;
    let mounts = Mounts::read(root).unwrap_or_default();
    let number = DeviceNumber::from_raw(metadata.dev());
    let mount = mounts.holding(&real, number);
    let storage = match mount {
        Some(mount) => Storage::of_mount(root, mount),
        None => BlockDevice::by_number(root, number).map(|device| Storage::Device(device.whole())),
    };
    let filesystem = mount.map(|mount| describe_filesystem(root, mount, Some(&real)));
    Ok(look_at_storage(root, storage.as_ref(), &mounts, filesystem))
}

/// Looks at the block device whose node is `path`.
///
/// # Errors
/// The path cannot be reached, or is no block device.
pub fn look_at_block_device(root: &Sysroot, path: &Path) -> Result<Surroundings, LookError> {
    let metadata = fs::metadata(path).map_err(|source| LookError::unreachable(path, source))?;
    if !metadata.file_type().is_block_device() {
        return Err(LookError::NotABlockDevice { path: path.to_owned() });
    }
    Ok(look_at_number(root, DeviceNumber::from_raw(metadata.rdev())))
}

/// Looks at the whole device of the block device with `number`.
#[must_use]
pub fn look_at_number(root: &Sysroot, number: DeviceNumber) -> Surroundings {
    let mounts = Mounts::read(root).unwrap_or_default();
    let storage =
        BlockDevice::by_number(root, number).map(|device| Storage::Device(device.whole()));
    look_at_storage(root, storage.as_ref(), &mounts, None)
}

fn look_at_storage(
    root: &Sysroot,
    storage: Option<&Storage<'_>>,
    mounts: &Mounts,
    filesystem: Option<FilesystemInfo>,
) -> Surroundings {
    let sources = Sources::new(root);
    let found = surroundings(&sources, storage, mounts, filesystem);
    Surroundings { unknown: sources.into_unknown(), ..found }
}

/// The surroundings; what is unknown is noted in `sources`.
pub(crate) fn surroundings(
    sources: &Sources<'_>,
    storage: Option<&Storage<'_>>,
    mounts: &Mounts,
    mut filesystem: Option<FilesystemInfo>,
) -> Surroundings {
    let root = sources.root();
    let host = look_at_host(root);
    let layers = Layers { mounts, sources, host: &host };
    let device = storage.map(|storage| device::describe(storage, &layers, LAYERS_MAX));
    let device = device.unwrap_or_default();
    let mut settings = settings::describe(storage, mounts, LAYERS_MAX);
    settings.governor = settings::governor(root);
    settings.processor_clock_max_hz = clock_max(root);
    if let Some(filesystem) = &mut filesystem {
        let unit = device.card.as_ref().and_then(|card| card.allocation_unit_bytes);
        let start = filesystem.partition_start_bytes;
        filesystem.is_aligned = start.and_then(|start| is_aligned(start, unit));
    }
    Surroundings { device, host, filesystem, settings, unknown: Vec::new() }
}

/// The file system of `mount`, the place of its partition, and the space that it has at `path`,
/// where that is a path of the running system.
pub(crate) fn describe_filesystem(
    root: &Sysroot,
    mount: &Mount,
    path: Option<&Path>,
) -> FilesystemInfo {
    let space = path.and_then(|path| rustix::fs::statvfs(path).ok());
    let partition = BlockDevice::by_number(root, mount.device);
    let bytes = |blocks: u64| {
        let fragment = space.as_ref()?.f_frsize;
        blocks.checked_mul(fragment).map(Bytes)
    };
    FilesystemInfo {
        kind: mount.kind.clone(),
        options: options::public(&mount.options, &mount.super_options),
        size_bytes: space.as_ref().and_then(|space| bytes(space.f_blocks)),
        free_bytes: space.as_ref().and_then(|space| bytes(space.f_bavail)),
        partition_start_bytes: partition.as_ref().and_then(start_of),
        ..FilesystemInfo::default()
    }
}
