//! What a path or a device rests on: one block device, several, or memory.
//!
//! A figure taken on an encrypted volume or in a loop device's file says something about the
//! medium below only if one knows which that is. The way down is followed as long as there is
//! exactly one thing below; where there are several, their number is all that is told.

use std::path::Path;

use crate::Sysroot;
use crate::block::BlockDevice;
use crate::mounts::{Mount, Mounts};

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
            return BlockDevice::by_number(root, mount.device)
                .map(|device| Self::Device(device.whole()));
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
            return Self::below_loop(device.root(), &file, mounts);
        }
        let mut slaves = device.slaves();
        match slaves.len() {
            0 => None,
            1 => slaves.pop().map(|only| Self::Device(only.whole())),
            several => Some(Self::Several(several)),
        }
    }

    /// What a loop device over `file` rests on.
    fn below_loop(root: &'root Sysroot, file: &Path, mounts: &Mounts) -> Option<Self> {
        if let Some(device) = BlockDevice::by_node(root, file) {
            return Some(Self::Device(device.whole()));
        }
        Self::of_mount(root, mounts.at(file)?)
    }
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

/// What kind of layer `device` is, in words, if it is one and says so.
///
/// The kind is the prefix of the device-mapper's UUID, by its convention the name of the
/// subsystem that made it; the rest, which is unique to the machine, is not kept.
pub(crate) fn layer(device: &BlockDevice<'_>) -> Option<String> {
    if let Some(level) = device.text("md/level") {
        return Some(format!("md {level}"));
    }
    if let Some(file) = device.backing_file() {
        let is_over_device = BlockDevice::by_node(device.root(), &file).is_some();
        let over = if is_over_device { "a device" } else { "a file" };
        return Some(format!("loop over {over}"));
    }
    let uuid = device.text("dm/uuid")?;
    const KINDS: [(&str, &str); 8] = [
        ("CRYPT-LUKS1-", "LUKS1 encryption"),
        ("CRYPT-LUKS2-", "LUKS2 encryption"),
        ("CRYPT-VERITY-", "dm-verity"),
        ("CRYPT-", "dm-crypt encryption"),
        ("LVM-", "LVM volume"),
        ("mpath-", "multipath"),
        ("DMRAID-", "firmware RAID"),
        ("VDO-", "VDO deduplication"),
    ];
    KINDS.iter().find(|(prefix, _)| uuid.starts_with(prefix)).map(|(_, words)| (*words).to_owned())
}
