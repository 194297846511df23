//! Experiments that say something of a device say nothing of one of its partitions.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::{DeviceNumber, Sysroot, guard, whole_disk};

use crate::failure::Failure;

/// The number of the block device at `path`; `None` for anything else.
pub(crate) fn block_device(path: &Path) -> Option<DeviceNumber> {
    let metadata = fs::metadata(path).ok()?;
    metadata.file_type().is_block_device().then(|| DeviceNumber::from_raw(metadata.rdev()))
}

/// Refuses `target` where it is a partition, and names its device. A partition in use that `destroys`
/// would overwrite is left to the guard, which says by what it is used.
///
/// # Errors
/// It is a partition.
pub fn refuse_partition(target: &Path, destroys: bool) -> Result<(), Failure> {
    let Some(number) = block_device(target) else { return Ok(()) };
    let disk = whole_disk(&Sysroot::default(), number).filter(|disk| disk.number != number);
    let Some(disk) = disk else { return Ok(()) };
    if destroys && is_in_use(target) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is a partition, and this command is for a whole device; name /dev/{}",
        target.display(),
        disk.name
    )))
}

fn is_in_use(target: &Path) -> bool {
    guard::inspect(&Sysroot::default(), target).is_ok_and(|found| found.forbidden_by().is_some())
}
