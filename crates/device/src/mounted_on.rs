//! Which mounted file systems lie on a disk: on itself, on its partitions, or on what is made of
//! these, such as volumes, arrays, and loop devices over files.
//!
//! Only what this process sees is told: a file system that is mounted in another view of the
//! mounts alone is in no table of ours.

use std::io;
use std::path::PathBuf;

use crate::block::BlockDevice;
use crate::device::LAYERS_MAX;
use crate::mounts::{Mount, Mounts};
use crate::stack::btrfs_members;
use crate::{DeviceNumber, Disk, Sysroot};

/// A mounted file system, and where to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedFilesystem {
    /// The number by which the mount table knows it.
    pub number: DeviceNumber,
    /// A place where it is mounted and not hidden by another mount; `None` where each is hidden.
    pub point: Option<PathBuf>,
}

/// The mounted file systems that lie on `disk`, each once; those that lie on others of them come
/// before these.
///
/// # Errors
/// The mount table cannot be read.
pub fn filesystems_on(root: &Sysroot, disk: &Disk) -> io::Result<Vec<MountedFilesystem>> {
    let mounts = Mounts::read(root)?;
    let way = Way { root, mounts: &mounts, disk: &disk.name };
    let mut found: Vec<(usize, MountedFilesystem)> = Vec::new();
    let seen_at = |mount: &Mount| {
        let is_seen = mounts.at(&mount.point).is_some_and(|seen| seen.id == mount.id);
        is_seen.then(|| mount.point.clone())
    };
    for mount in mounts.iter() {
        match found.iter_mut().find(|(_, known)| known.number == mount.device) {
            Some((_, known)) => known.point = known.point.take().or_else(|| seen_at(mount)),
            None => found.extend(way.below_mount(mount, LAYERS_MAX).map(|layers| {
                (layers, MountedFilesystem { number: mount.device, point: seen_at(mount) })
            })),
        }
    }
    found.sort_by_key(|(layers, _)| std::cmp::Reverse(*layers));
    Ok(found.into_iter().map(|(_, filesystem)| filesystem).collect())
}

/// The way down to a disk, counted in layers; `None` where it does not lead there, or is longer
/// than anybody stacks.
struct Way<'a> {
    root: &'a Sysroot,
    mounts: &'a Mounts,
    disk: &'a str,
}

impl Way<'_> {
    fn below_mount(&self, mount: &Mount, layers_left: usize) -> Option<usize> {
        if !mount.device.is_anonymous() {
            let device = BlockDevice::by_number(self.root, mount.device)?;
            return self.below_device(&device, layers_left);
        }
        let source = BlockDevice::by_node(self.root, &mount.source)?;
        let members = btrfs_members(self.root, source.name());
        let members = members.iter().filter_map(|name| BlockDevice::by_name(self.root, name));
        let ways = members.chain([source]).filter_map(|one| self.below_device(&one, layers_left));
        ways.max()
    }

    fn below_device(&self, device: &BlockDevice<'_>, layers_left: usize) -> Option<usize> {
        let whole = device.whole();
        if whole.name() == self.disk {
            return Some(0);
        }
        let layers_left = layers_left.checked_sub(1)?;
        let of_slaves = device.slaves().into_iter().chain(whole.slaves());
        let below = of_slaves.filter_map(|slave| self.below_device(&slave, layers_left)).max();
        below.or_else(|| self.below_loop(&whole, layers_left)).map(|layers| layers + 1)
    }

    fn below_loop(&self, device: &BlockDevice<'_>, layers_left: usize) -> Option<usize> {
        let file = device.backing_file()?;
        match BlockDevice::by_node(self.root, &file) {
            Some(below) => self.below_device(&below, layers_left),
            None => self.below_mount(self.mounts.at(&file)?, layers_left),
        }
    }
}
