//! A whole disk, for those who need no more of it than what the kernel calls it.

use cardproof_units::Bytes;

use crate::block::BlockDevice;
use crate::{DeviceNumber, Sysroot};

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

/// The disk that the device with `number` is, or is a partition of; `None` where sysfs knows none.
#[must_use]
pub fn whole_disk(root: &Sysroot, number: DeviceNumber) -> Option<Disk> {
    let disk = BlockDevice::by_number(root, number)?.whole();
    Some(Disk { name: disk.name().to_owned(), number: disk.number()?, size: disk.size() })
}
