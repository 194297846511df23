//! A disk, for those who need no more of it than what the kernel calls it and how it is addressed.

use std::path::PathBuf;

use cardproof_units::Bytes;

use crate::block::{BlockDevice, node_of};
use crate::identify::alignment::start_of;
use crate::{DeviceNumber, Sysroot};

/// No disk of Linux is addressed in less.
const LOGICAL_BLOCK_MIN: u64 = 512;

/// What the kernel calls a whole disk, and how large it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its name, such as `mmcblk0`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// What it holds; `None` where the system does not tell.
    pub size: Option<Bytes>,
}

impl Disk {
    /// Where its node is, by the kernel's rule.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        node_of(&self.name)
    }
}

/// The disk that the device with `number` is, or is a partition of; `None` where sysfs knows none.
#[must_use]
pub fn whole_disk(root: &Sysroot, number: DeviceNumber) -> Option<Disk> {
    let disk = BlockDevice::by_number(root, number)?.whole();
    Some(Disk { name: disk.name().to_owned(), number: disk.number()?, size: disk.size() })
}

/// A partition of a disk or of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its number, from 1 on.
    pub number: usize,
    /// Where it begins, in bytes from the disk's start.
    pub start: Bytes,
    /// How long it is.
    pub size: Bytes,
}

/// The partitions of the disk with `number`, by their numbers (`partition` and `start` of
/// Documentation/ABI/testing/sysfs-block, the latter in sectors of 512 bytes). None where sysfs knows no such disk or no
/// partition on it.
#[must_use]
pub fn partitions(root: &Sysroot, number: DeviceNumber) -> Vec<Partition> {
    let all = BlockDevice::by_number(root, number).map(|disk| disk.partitions());
    let told = |partition: &BlockDevice<'_>| {
        Some(Partition {
            number: partition.text("partition")?.parse().ok()?,
            start: start_of(partition)?,
            size: partition.size()?,
        })
    };
    let mut partitions: Vec<Partition> = all.iter().flatten().filter_map(told).collect();
    partitions.sort_unstable_by_key(|partition| partition.number);
    partitions
}

/// Whether the device with `number` is a disk itself: no partition of one, and nothing that is made of other devices
/// or of a file. `false` where sysfs knows no such device.
#[must_use]
pub fn is_disk(root: &Sysroot, number: DeviceNumber) -> bool {
    const OF_OTHERS: [&str; 4] = ["partition", "dm/name", "md/level", "loop/backing_file"];
    let device = BlockDevice::by_number(root, number);
    device.is_some_and(|device| OF_OTHERS.iter().all(|file| device.text(file).is_none()))
}

/// The unit in which the disk that the device with `number` is, or is a partition of, is addressed:
/// a power of two from 512 bytes on (`queue/logical_block_size` of
/// Documentation/ABI/stable/sysfs-block). `None` where sysfs knows no such device or does not tell.
#[must_use]
pub fn logical_block(root: &Sysroot, number: DeviceNumber) -> Option<Bytes> {
    let disk = BlockDevice::by_number(root, number)?.whole();
    let bytes: u64 = disk.text("queue/logical_block_size")?.parse().ok()?;
    (bytes.is_power_of_two() && bytes >= LOGICAL_BLOCK_MIN).then_some(Bytes(bytes))
}

/// Whether the loop device with `number` passes by the page cache of the file that it is over
/// (`loop/dio`, which the kernel decides whatever was asked of it). `None` where it is no loop
/// device, has no file, or the kernel does not tell.
#[must_use]
pub fn is_loop_direct(root: &Sysroot, number: DeviceNumber) -> Option<bool> {
    BlockDevice::by_number(root, number)?.switch("loop/dio")
}
