//! The mounted file systems on a device that the user names.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::{DeviceNumber, Sysroot, filesystems_on, is_disk, look_at_path, whole_disk};
use cardproof_rating::tuning::Mounted;

/// The file systems of the running system that lie on the block device `target`, each once; none for anything else.
pub(crate) fn on_device(target: &Path) -> Vec<Mounted> {
    let root = Sysroot::default();
    let metadata = std::fs::metadata(target).ok();
    let device = metadata.filter(|metadata| metadata.file_type().is_block_device());
    let number = device.map(|metadata| DeviceNumber::from_raw(metadata.rdev()));
    let disk = number.and_then(|number| whole_disk(&root, number));
    let found = disk.and_then(|disk| filesystems_on(&root, &disk).ok());
    let points = found.into_iter().flatten().filter_map(|filesystem| filesystem.point);
    let mounted = points.map(|point| {
        let looked_at = look_at_path(&root, &point).ok();
        let filesystem = looked_at.and_then(|seen| seen.filesystem).unwrap_or_default();
        Mounted { point, filesystem }
    });
    mounted.collect()
}

/// Whether the file system of the directory `target`, or one of those `mounted` from the device `target`, is on a disk
/// itself. For a disk without partitions.
pub(crate) fn is_on_whole_disk(target: &Path, mounted: &[Mounted]) -> bool {
    let Ok(metadata) = std::fs::metadata(target) else { return false };
    let number = match metadata.file_type() {
        kind if kind.is_dir() => metadata.dev(),
        kind if kind.is_block_device() && !mounted.is_empty() => metadata.rdev(),
        _ => return false,
    };
    is_disk(&Sysroot::default(), DeviceNumber::from_raw(number))
}
