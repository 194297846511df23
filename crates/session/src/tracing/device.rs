//! Which disk is recorded: the kernel tells of requests by the whole disk, never by a partition.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::{DeviceNumber, Disk, Sysroot, whole_disk};

use cardproof_units::in_words;

use crate::failure::Failure;

/// The disk that `path` is, or is a part of; by default the one with the file system of the current directory.
///
/// # Errors
/// There is none.
pub fn traced_disk(path: Option<&Path>) -> Result<Disk, Failure> {
    path.map_or_else(disk_under_current_directory, disk_of)
}

fn disk_of(path: &Path) -> Result<Disk, Failure> {
    // The kernel's name, such as loop0, stands for its node.
    let is_name = path.components().count() == 1 && !path.exists();
    let path = &if is_name { Path::new("/dev").join(path) } else { path.to_owned() };
    let shown = path.display();
    let metadata = fs::metadata(path).map_err(|error| {
        let text = format!(
            "cannot look at the device {shown}: {error}; `cardproof identify --all` names those \
             there are",
            error = in_words(&error)
        );
        Failure::of_opening(&error, text)
    })?;
    if !metadata.file_type().is_block_device() {
        return Err(Failure::usage(format!("{shown} is not a block device; name one")));
    }
    disk_with(metadata.rdev()).ok_or_else(|| {
        Failure::incomplete(format!("the system has no information about the device {shown}"))
    })
}

fn disk_under_current_directory() -> Result<Disk, Failure> {
    let metadata =
        fs::metadata(".").map_err(Failure::because("cannot look at the current directory"))?;
    disk_with(metadata.dev()).ok_or_else(|| {
        Failure::usage("the current directory is on no single block device; name one with --device")
    })
}

fn disk_with(number: u64) -> Option<Disk> {
    whole_disk(&Sysroot::default(), DeviceNumber::from_raw(number))
}

/// The number of `disk` as the tracepoints have it (`MKDEV`: 20 bits for the minor number).
pub(super) fn traced_number(disk: &Disk) -> u64 {
    u64::from(disk.number.major) << 20 | u64::from(disk.number.minor)
}
