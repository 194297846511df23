//! What can be set up of a target: a device, an image, or the device of a directory.

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cardproof_device::guard::{self, Objection};
use cardproof_device::{Partition, Sysroot, partitions, partitions_of_image};
use cardproof_record::Conditions;
use cardproof_units::{Bytes, in_words, with_causes};

use crate::failure::Failure;
use crate::whole_device::block_device;

/// Whether this computer swaps to a device or a file; compressed memory is none. Where that is not known it may.
#[must_use]
pub fn has_swap() -> bool {
    let Ok(swaps) = fs::read_to_string("/proc/swaps") else { return true };
    swaps.lines().skip(1).any(|line| !line.starts_with("/dev/zram"))
}

/// Where the file system is mounted that holds the directory `target`: the highest directory above it on the
/// same device.
#[must_use]
pub fn mount_point_of(target: &Path) -> Option<PathBuf> {
    let directory = target.canonicalize().ok().filter(|path| path.is_dir())?;
    let device = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
    let of_all = device(&directory)?;
    let mut point = directory.as_path();
    for above in directory.ancestors() {
        if device(above) != Some(of_all) {
            break;
        }
        point = above;
    }
    Some(point.to_owned())
}

/// Refuses a file that is no image of a disk: one in which no partition has room, or one that holds something else.
///
/// # Errors
/// It is none, or cannot be looked at.
pub fn refuse_no_image(target: &Path, size: Bytes) -> Result<(), Failure> {
    const IMAGE_MIN: Bytes = Bytes::mib(16);
    let why = if size < IMAGE_MIN {
        format!("it has {size}, and an image {IMAGE_MIN} or more")
    } else if bears_a_disk(target)? {
        return Ok(());
    } else {
        "it has no partition table and no file system, and it is not empty".to_owned()
    };
    Err(Failure::usage(format!(
        "{} is not an image of a disk: {why}; name a block device such as /dev/sda, an unpacked image of a whole card, \
         a directory on the card, or sim:NAME",
        target.display()
    )))
}

/// Whether the file `target` begins with nothing, or bears what stands on a disk.
fn bears_a_disk(target: &Path) -> Result<bool, Failure> {
    const BLANK: usize = 64 << 10;
    let failed = |error: &(dyn Error + 'static)| Failure::usage(with_causes(error));
    let real = target.canonicalize().map_err(|error| failed(&error))?;
    let found = guard::inspect(&Sysroot::default(), &real).map_err(|error| failed(&error))?;
    let is_of_disk = |objection: &Objection| {
        matches!(objection, Objection::PartitionTable { .. } | Objection::Signature { .. })
    };
    let mut start = vec![0; BLANK];
    let read = File::open(&real).and_then(|mut file| file.read_exact(&mut start));
    read.map_err(|error| failed(&error))?;
    Ok(start.iter().all(|byte| *byte == 0) || found.objections.iter().any(is_of_disk))
}

/// The partitions of `target`; of a directory, the one that holds it.
///
/// # Errors
/// An image cannot be read.
pub fn partitions_of(target: &Path, conditions: &Conditions) -> Result<Vec<Partition>, Failure> {
    if let Some(filesystem) = &conditions.filesystem {
        let of_directory = |start| Partition { number: 1, start, size: Bytes::ZERO };
        return Ok(filesystem.partition_start_bytes.map(of_directory).into_iter().collect());
    }
    if let Some(number) = block_device(target) {
        return Ok(partitions(&Sysroot::default(), number));
    }
    if !target.is_file() {
        return Ok(Vec::new());
    }
    partitions_of_image(target).map_err(|error| {
        Failure::incomplete(format!(
            "cannot read {}: {error}",
            target.display(),
            error = in_words(&error)
        ))
    })
}
