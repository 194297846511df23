//! What a path or a device rests on: one block device, several, or memory.
//!
//! A figure taken on an encrypted volume or in a loop device's file says something about the
//! medium below only if one knows which that is. The way down is followed as long as there is
//! exactly one thing below; where there are several, their number is all that is told.
//!
//! On the running system the kernel is asked which file a loop device has open. The path that sysfs
//! tells is that of one view of the mounts: in a chroot or a container it leads nowhere, or to another
//! file. Nothing is told where that leaves the layer below unknown.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use cardproof_io::{LoopBacking, loop_backing};

use crate::block::BlockDevice;
use crate::layer::Layer;
use crate::mounts::{Mount, Mounts};
use crate::{DeviceNumber, Sysroot};

/// What something rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage<'root> {
    /// One whole block device.
    Device(BlockDevice<'root>),
    /// Several block devices.
    Several(usize),
    /// The host's memory.
    Memory,
}

impl<'root> Storage<'root> {
    /// What the file system of `mount` rests on, as far as it can be told.
    pub(crate) fn of_mount(root: &'root Sysroot, mount: &Mount) -> Option<Self> {
        if matches!(mount.kind.as_str(), "tmpfs" | "ramfs") {
            return Some(Self::Memory);
        }
        if !mount.device.is_anonymous() {
            return Self::numbered(root, mount.device);
        }
        let source = BlockDevice::by_node(root, &mount.source)?;
        match btrfs_members(root, source.name()).len() {
            0 | 1 => Some(Self::Device(source.whole())),
            several => Some(Self::Several(several)),
        }
    }

    /// What `device`, a whole device, rests on, if it is not a medium itself.
    pub(crate) fn below(device: &BlockDevice<'root>, mounts: &Mounts) -> Option<Self> {
        if let Some(file) = device.backing_file() {
            return Self::below_loop(device, &file, mounts);
        }
        let mut slaves = device.slaves();
        match slaves.len() {
            0 => None,
            1 => slaves.pop().map(|only| Self::Device(only.whole())),
            several => Some(Self::Several(several)),
        }
    }

    /// What the loop device `device` rests on, whose file's path is `path` in some view of the mounts.
    fn below_loop(device: &BlockDevice<'root>, path: &Path, mounts: &Mounts) -> Option<Self> {
        let root = device.root();
        if !root.is_running_system() {
            return Self::at_path(root, path, mounts);
        }
        match told_backing(device) {
            Ok(Some(LoopBacking::Device { number })) => {
                Self::numbered(root, DeviceNumber::from_raw(number))
            }
            Ok(Some(LoopBacking::File { device, inode })) => {
                Self::of_file(root, path, (device, inode), mounts)
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                path.exists().then(|| Self::at_path(root, path, mounts)).flatten()
            }
            Ok(None) | Err(_) => None,
        }
    }

    /// What the file or device at `path` rests on, by the path alone.
    fn at_path(root: &'root Sysroot, path: &Path, mounts: &Mounts) -> Option<Self> {
        if let Some(device) = BlockDevice::by_node(root, path) {
            return Some(Self::Device(device.whole()));
        }
        Self::of_mount(root, mounts.at(path)?)
    }

    /// What the file with the device and inode of `id` rests on, which may be at `path`.
    ///
    /// A btrfs gives its files a number that the mount table does not have. There the path decides, if
    /// it leads to this very file.
    fn of_file(root: &'root Sysroot, path: &Path, id: (u64, u64), mounts: &Mounts) -> Option<Self> {
        let number = DeviceNumber::from_raw(id.0);
        if !number.is_anonymous() {
            return Self::numbered(root, number);
        }
        if let Some(mount) = mounts.iter().find(|mount| mount.device == number) {
            return Self::of_mount(root, mount);
        }
        let real = fs::canonicalize(path).ok()?;
        let found = fs::metadata(&real).ok()?;
        let is_same = (found.dev(), found.ino()) == id;
        is_same.then(|| Self::of_mount(root, mounts.holding(&real, number)?)).flatten()
    }

    fn numbered(root: &'root Sysroot, number: DeviceNumber) -> Option<Self> {
        BlockDevice::by_number(root, number).map(|device| Self::Device(device.whole()))
    }
}

/// What the kernel of the running system says that the loop device `device` goes to; nothing where it
/// is free.
///
/// # Errors
/// sysfs does not tell its number, its node is missing or another device, or this user may not open it.
pub(crate) fn told_backing(device: &BlockDevice<'_>) -> io::Result<Option<LoopBacking>> {
    let number =
        device.number().ok_or_else(|| io::Error::other("sysfs does not tell its number"))?;
    loop_backing(&device.node(), rustix::fs::makedev(number.major, number.minor))
}

/// The names of the devices of the mounted btrfs that `name` is a part of; empty where it is
/// part of none.
pub(crate) fn btrfs_members(root: &Sysroot, name: &str) -> Vec<String> {
    let filesystems = root.list("sys/fs/btrfs").unwrap_or_default();
    let members_of = |id: &String| {
        let directory = format!("sys/fs/btrfs/{id}/devices");
        let mut members = root.list(&directory).ok()?;
        members.retain(|member| root.has(format!("{directory}/{member}")));
        Some(members)
    };
    filesystems
        .iter()
        .filter_map(members_of)
        .find(|members| members.iter().any(|member| member == name))
        .unwrap_or_default()
}

/// What kind of layer `device` is, if it is one and says so.
pub(crate) fn layer(device: &BlockDevice<'_>) -> Option<Layer> {
    if let Some(level) = device.text("md/level") {
        return Some(Layer::Md(level));
    }
    if let Some(file) = device.backing_file() {
        return Some(Layer::Loop { is_over_device: is_over_device(device, &file) });
    }
    Layer::of_device_mapper(&device.text("dm/uuid")?)
}

/// Whether the loop device `device` goes to a block device; `path` decides where no kernel can be asked.
fn is_over_device(device: &BlockDevice<'_>, path: &Path) -> bool {
    let root = device.root();
    let told = root.is_running_system().then(|| told_backing(device).ok().flatten()).flatten();
    told.map_or_else(
        || BlockDevice::by_node(root, path).is_some(),
        |told| matches!(told, LoopBacking::Device { .. }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card with an ext4, and a tmpfs.
    const DUMP_MOUNTS: &str = "\
21 1 179:2 / / rw - ext4 /dev/mmcblk0p2 rw
22 21 0:44 / /hidden rw - tmpfs tmpfs rw
23 21 0:45 / /merged rw - overlay overlay rw
";

    #[test]
    fn a_file_in_memory_is_not_storage_where_its_path_leads_elsewhere() {
        let tree = tempfile::tempdir().unwrap();
        let place = |path: &str| {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        fs::write(place("proc/self/mountinfo"), DUMP_MOUNTS).unwrap();
        fs::create_dir_all(place("sys/devices/mmcblk0")).unwrap();
        let link = place("sys/dev/block/179:2");
        std::os::unix::fs::symlink("../../devices/mmcblk0", link).unwrap();
        let other = place("other.img");
        fs::write(&other, "another file").unwrap();
        let root = Sysroot::new(tree.path());
        let mounts = Mounts::read(&root).unwrap();
        let card = BlockDevice::by_number(&root, "179:2".parse().unwrap()).unwrap();
        let nowhere = Path::new("/no/such/image");
        let cases = [
            ((0, 44), nowhere, Some(Storage::Memory)),
            ((0, 44), &other, Some(Storage::Memory)),
            ((179, 2), nowhere, Some(Storage::Device(card))),
            ((8, 1), &other, None),
            ((0, 45), nowhere, None),
            ((0, 99), nowhere, None),
            ((0, 99), &other, None),
        ];
        for ((major, minor), path, expected) in cases {
            let id = (rustix::fs::makedev(major, minor), 7);
            let found = Storage::of_file(&root, path, id, &mounts);
            assert_eq!(found, expected, "{major}:{minor} {}", path.display());
        }
    }
}
