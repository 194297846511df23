//! How much a disk has taken, from whomever: whether others write to it while a test does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::block::BlockDevice;
use crate::origin::lowest_device;
use crate::{DeviceNumber, Sysroot};

/// Of the counters of a device, the one of the sectors written.
const WRITTEN: usize = 6;

/// What a sector of the counters is.
const SECTOR: u64 = 512;

/// The kernel's counter of what is written to a disk.
#[derive(Debug)]
pub struct WriteCounter {
    root: Sysroot,
    disk: DeviceNumber,
}

impl WriteCounter {
    /// The counter of the disk that holds the file system of `directory`, or of the lowest device below it where it
    /// has no device of its own. `None` where nothing counts.
    #[must_use]
    pub fn of_filesystem(root: &Sysroot, directory: &Path) -> Option<Self> {
        let number = DeviceNumber::from_raw(fs::metadata(directory).ok()?.dev());
        let own = BlockDevice::by_number(root, number).map(|device| device.whole().number());
        let disk = own.unwrap_or_else(|| lowest_device(root, directory))?;
        let counter = Self { root: root.clone(), disk };
        counter.bytes().map(|_| counter)
    }

    /// How many bytes the disk has taken since it appeared.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let device = BlockDevice::by_number(&self.root, self.disk)?;
        if device.switch("queue/iostats") == Some(false) {
            return None;
        }
        device.counters()?.get(WRITTEN)?.checked_mul(SECTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_partition_counts_unless_it_is_told_not_to() {
        let tree = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let number = DeviceNumber::from_raw(fs::metadata(tree.path()).unwrap().dev());
        let part = format!("sys/dev/block/{number}");
        put("sys/devices/sda/dev", "8:0");
        put("sys/devices/sda/stat", "1 0 100 0 3 0 70 0 0 0 0");
        put("sys/devices/sda/sda1/dev", &number.to_string());
        put("sys/devices/sda/sda1/partition", "1");
        fs::create_dir_all(tree.path().join("sys/dev/block")).unwrap();
        let link = |target: &str, at: &str| {
            std::os::unix::fs::symlink(target, tree.path().join(at)).unwrap();
        };
        link("../../devices/sda/sda1", &part);
        link("../../devices/sda", "sys/dev/block/8:0");
        let root = Sysroot::new(tree.path());
        let counter = WriteCounter::of_filesystem(&root, tree.path()).unwrap();
        assert_eq!(counter.bytes(), Some(70 * 512));
        put("sys/devices/sda/queue/iostats", "0\n");
        assert_eq!(counter.bytes(), None);
        assert!(WriteCounter::of_filesystem(&root, tree.path()).is_none());
    }
}
