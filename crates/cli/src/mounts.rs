//! The mounted file systems on a device that the user names.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::{DeviceNumber, Sysroot, filesystems_on, look_at_path, whole_disk};
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
