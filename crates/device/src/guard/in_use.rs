//! Who is using a device: mounts, swap, and whatever is stacked over it.
//!
//! A device is in use when anything that shares bytes with it is. So the search covers the
//! device, its partitions, its whole device if it is a partition itself, everything made of any
//! of these, and, below a loop device, the device or file that it goes to. What this process
//! cannot see (a mount in another namespace) is left to the kernel, which refuses a second
//! exclusive opener of a device. Of files no kernel does; they are told apart by device and inode.

use std::path::Path;

use super::loops::{Backing, FileInUse, Loops};
use super::objection::{Holder, Objection};
use super::swaps::Swaps;
use crate::Sysroot;
use crate::block::BlockDevice;
use crate::mounts::{Mount, Mounts};
use crate::stack::{btrfs_members, layer};

/// What the mount table, the swap table and the loop devices say, read once.
pub(super) struct Users<'root> {
    root: &'root Sysroot,
    mounts: Mounts,
    swaps: Swaps<'root>,
    loops: Loops<'root>,
}

impl<'root> Users<'root> {
    /// Reads the tables.
    ///
    /// # Errors
    /// One of them cannot be read, and with it any answer.
    pub(super) fn read(root: &'root Sysroot) -> Result<Self, Objection> {
        let unknown = |what| move |_| Objection::Unknown { what };
        let mounts = Mounts::read(root).map_err(unknown("/proc/self/mountinfo"))?;
        let swaps = Swaps::read(root).map_err(unknown("/proc/swaps"))?;
        let loops = Loops::read(root, &mounts).map_err(unknown("/sys/class/block"))?;
        Ok(Self { root, mounts, swaps, loops })
    }

    /// Every use of `device`.
    pub(super) fn of_device(&self, device: &BlockDevice<'root>) -> Vec<Objection> {
        let mut family =
            Family { users: self, targets: Vec::new(), members: Vec::new(), held: Vec::new() };
        family.add_target(device);
        let mut objections = Vec::new();
        for member in &family.members {
            objections.extend(self.mounts_of(member));
            objections.extend(self.swaps.on_device(member));
            objections.extend(self.unseen_btrfs_on(member));
        }
        let sizes: Vec<_> = family.members.iter().map(BlockDevice::size).collect();
        objections.extend(family.held);
        objections.extend(self.loops.unknown(&sizes));
        objections
    }

    /// Every use of the regular file `file`, which `bears_swap`'s signature or not.
    pub(super) fn of_file(&self, file: &FileInUse, bears_swap: bool) -> Vec<Objection> {
        let mut objections = self.loops.over_file(file, None);
        objections.extend(self.swaps.on_file(file, bears_swap));
        // To a file of which every byte is a hole nobody has written anything through a loop device.
        let written = file.as_target.as_ref().filter(|target| target.holds_data);
        objections.extend(written.and_then(|target| self.loops.unknown(&[Some(target.size)])));
        objections
    }

    fn mounts_of(&self, device: &BlockDevice<'root>) -> Vec<Objection> {
        let number = device.number();
        let is_of_device = |mount: &&Mount| {
            if !mount.device.is_anonymous() {
                return Some(mount.device) == number;
            }
            self.names(&mount.source, device)
        };
        let mounts = self.mounts.iter().filter(is_of_device);
        mounts
            .map(|mount| Objection::Mounted { node: device.node(), at: mount.point.clone() })
            .collect()
    }

    /// Whether `node` is a path to `device`.
    fn names(&self, node: &Path, device: &BlockDevice<'root>) -> bool {
        BlockDevice::by_node(self.root, node).is_some_and(|named| named.name() == device.name())
    }

    /// The mount table names only one device of a btrfs; the others are found here.
    fn unseen_btrfs_on(&self, device: &BlockDevice<'root>) -> Option<Objection> {
        let is_member = !btrfs_members(self.root, device.name()).is_empty();
        (is_member && self.mounts_of(device).is_empty())
            .then(|| Objection::Held { node: device.node(), by: Holder::Btrfs })
    }
}

/// The devices that share bytes with a target, and who holds them.
struct Family<'users, 'root> {
    users: &'users Users<'root>,
    /// The target and what it is a part of or goes to: these are not held by one another.
    targets: Vec<BlockDevice<'root>>,
    members: Vec<BlockDevice<'root>>,
    held: Vec<Objection>,
}

impl<'root> Family<'_, 'root> {
    /// Adds `target` with all that is on, over and under it.
    fn add_target(&mut self, target: &BlockDevice<'root>) {
        if self.targets.contains(target) {
            return;
        }
        let whole = target.whole();
        self.targets.extend([target.clone(), whole.clone()]);
        self.add(target);
        if target.is_partition() {
            self.add_without_partitions(&whole);
        }
        match self.users.loops.backing_of(&whole) {
            Some(Backing::Device(below)) => self.add_target(&below.clone()),
            Some(Backing::File { path, id, .. }) => {
                let file = FileInUse { path: path.clone(), id: *id, as_target: None };
                self.held.extend(self.users.loops.over_file(&file, Some(whole.name())));
                self.held.extend(self.users.swaps.on_file(&file, false));
            }
            None => {}
        }
    }

    /// Adds `device`, its partitions, and all that is made of any of these.
    fn add(&mut self, device: &BlockDevice<'root>) {
        if self.add_without_partitions(device) {
            for partition in device.partitions() {
                self.add(&partition);
            }
        }
    }

    /// Adds `device` and all that is made of it; false where it is known already.
    fn add_without_partitions(&mut self, device: &BlockDevice<'root>) -> bool {
        if self.members.contains(device) {
            return false;
        }
        self.members.push(device.clone());
        for holder in device.holders() {
            let by = Holder::Device {
                name: holder.name().to_owned(),
                label: holder.text("dm/name"),
                kind: layer(&holder),
            };
            self.add_holder(device, &holder, by);
        }
        let users = self.users;
        for holder in users.loops.over_device(device) {
            self.add_holder(device, holder, Holder::Loop { node: holder.node() });
        }
        true
    }

    fn add_holder(&mut self, device: &BlockDevice<'root>, holder: &BlockDevice<'root>, by: Holder) {
        if self.targets.contains(holder) {
            return;
        }
        self.held.push(Objection::Held { node: device.node(), by });
        self.add(holder);
    }
}
