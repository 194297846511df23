//! The mounted file systems on a device that the user names.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use cardproof_device::{DeviceNumber, Sysroot, filesystems_on, is_disk, look_at_path, whole_disk};
use cardproof_rating::tuning::Mounted;

use crate::whole_device::block_device;

/// The file systems of the running system that lie on the block device `target`, each once; none for anything else.
#[must_use]
pub fn mounted_on(target: &Path) -> Vec<Mounted> {
    let root = Sysroot::default();
    let disk = block_device(target).and_then(|number| whole_disk(&root, number));
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
#[must_use]
pub fn is_on_whole_disk(target: &Path, mounted: &[Mounted]) -> bool {
    let number = match block_device(target) {
        Some(number) => (!mounted.is_empty()).then_some(number),
        None => {
            let directory = std::fs::metadata(target).ok().filter(std::fs::Metadata::is_dir);
            directory.map(|found| DeviceNumber::from_raw(found.dev()))
        }
    };
    number.is_some_and(|number| is_disk(&Sysroot::default(), number))
}
