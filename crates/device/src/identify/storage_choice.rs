//! From what a user names to the storage: a directory, a device, or nothing.
//!
//! On the running system a path means what it means to the shell. Below another root there are no
//! paths to open, only the mount table and the devices' names.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_record::FilesystemInfo;

use super::storages::storages;
use crate::block::BlockDevice;
use crate::look::{LookError, describe_filesystem};
use crate::mounts::{Mount, Mounts, below_dev};
use crate::stack::Storage;
use crate::{DeviceNumber, Sysroot};

/// What to identify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageChoice {
    /// What lies under this path, or the device that it names, with or without `/dev/`.
    Named(PathBuf),
    /// The storage that the system at the root runs from or, where that is on none, the first.
    System,
}

/// What was found.
pub(super) struct Found<'root> {
    pub(super) storage: Option<Storage<'root>>,
    pub(super) filesystem: Option<FilesystemInfo>,
    /// The node that the mount table names, such as `/dev/mmcblk0p2`.
    pub(super) node: Option<String>,
}

/// The storage at `place`.
pub(super) fn find<'root>(
    root: &'root Sysroot,
    place: &StorageChoice,
    mounts: &Mounts,
) -> Result<Found<'root>, LookError> {
    match place {
        StorageChoice::System => Ok(system(root, mounts)),
        StorageChoice::Named(path) if root.is_running_system() => {
            on_running_system(root, path, mounts)
        }
        StorageChoice::Named(path) => {
            below_root(root, path, mounts).ok_or_else(|| no_such(root, path))
        }
    }
}

fn system<'root>(root: &'root Sysroot, mounts: &Mounts) -> Found<'root> {
    let at_root = mounts.at(Path::new("/"));
    if let Some(found) = at_root.map(|mount| of_mount(root, mount))
        && matches!(found.storage, Some(Storage::Device(_)))
    {
        return found;
    }
    let first = storages(root).into_iter().find_map(|one| BlockDevice::by_name(root, &one.name));
    Found { storage: first.map(Storage::Device), filesystem: None, node: None }
}

fn on_running_system<'root>(
    root: &'root Sysroot,
    path: &Path,
    mounts: &Mounts,
) -> Result<Found<'root>, LookError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(source) => {
            let unreachable = LookError::unreachable(path, source);
            return device_named(root, path).ok_or(unreachable);
        }
    };
    if metadata.file_type().is_block_device() {
        let device = BlockDevice::by_number(root, DeviceNumber::from_raw(metadata.rdev()));
        return Ok(whole_device(device));
    }
    let real = fs::canonicalize(path).map_err(|source| LookError::unreachable(path, source))?;
    let number = DeviceNumber::from_raw(metadata.dev());
    let Some(mount) = mounts.holding(&real, number) else {
        return Ok(whole_device(BlockDevice::by_number(root, number)));
    };
    let filesystem = Some(describe_filesystem(root, mount, Some(&real)));
    Ok(Found { storage: Storage::of_mount(root, mount), filesystem, node: node_of(mount) })
}

fn below_root<'root>(root: &'root Sysroot, path: &Path, mounts: &Mounts) -> Option<Found<'root>> {
    if let Some(found) = device_named(root, path) {
        return Some(found);
    }
    let is_directory = path.is_absolute() && !path.starts_with("/dev");
    is_directory.then(|| mounts.at(path).map(|mount| of_mount(root, mount)))?
}

fn of_mount<'root>(root: &'root Sysroot, mount: &Mount) -> Found<'root> {
    let filesystem = Some(describe_filesystem(root, mount, None));
    Found { storage: Storage::of_mount(root, mount), filesystem, node: node_of(mount) }
}

/// The node in the mount table, unless its name is one that its owner gave it.
fn node_of(mount: &Mount) -> Option<String> {
    let name = below_dev(&mount.source)?;
    (!name.contains('/')).then(|| format!("/dev/{name}"))
}

/// The whole device called `path`, `/dev/` before it or not.
fn device_named<'root>(root: &'root Sysroot, path: &Path) -> Option<Found<'root>> {
    let device = if path.is_absolute() {
        BlockDevice::by_node(root, path)
    } else {
        BlockDevice::by_name(root, path.to_str()?)
    };
    Some(whole_device(Some(device?)))
}

fn whole_device(device: Option<BlockDevice<'_>>) -> Found<'_> {
    let storage = device.map(|device| Storage::Device(device.whole()));
    Found { storage, filesystem: None, node: None }
}

fn no_such(root: &Sysroot, path: &Path) -> LookError {
    let names: Vec<String> = storages(root).into_iter().map(|one| one.name).collect();
    let known = if names.is_empty() { "no storage".to_owned() } else { names.join(", ") };
    LookError::NotInRoot { path: path.to_owned(), known }
}
