//! Which devices are meant, and which are worth looking at when none is named.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use cardproof_units::in_words;

use super::disk::DiskCounters;
use crate::block::BlockDevice;
use crate::{Sysroot, look_at_path};

/// Why nothing is known by a name.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    /// No device and no path.
    #[error("there is no device or path {name}; the devices are: {known}")]
    Unknown {
        /// What was named.
        name: String,
        /// What there is, in words.
        known: String,
    },
    /// A path that no block device holds.
    #[error("no block device is known to hold {path}; name the device itself", path = path.display())]
    NoDevice {
        /// The path.
        path: PathBuf,
    },
    /// The path cannot be looked at.
    #[error("cannot look at {path}: {}", in_words(error), path = path.display())]
    Unreachable {
        /// The path.
        path: PathBuf,
        /// What the kernel said.
        error: io::Error,
    },
}

/// The kernel's name of the device meant by `name`: a name such as `mmcblk0`, the path of a
/// device, or a path on its file system.
///
/// # Errors
/// Nothing is known by this name.
pub fn device_at(root: &Sysroot, name: &str) -> Result<String, NameError> {
    if let Some(device) = BlockDevice::by_name(root, name) {
        return Ok(device.name().to_owned());
    }
    let path = Path::new(name);
    match fs::canonicalize(path) {
        Ok(real) => on_path(root, path, &real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let known = worth_watching(root).join(", ");
            let known = if known.is_empty() { "none is active".to_owned() } else { known };
            Err(NameError::Unknown { name: name.to_owned(), known })
        }
        Err(error) => Err(NameError::Unreachable { path: path.to_owned(), error }),
    }
}

/// The device at `real`, or that which holds it.
fn on_path(root: &Sysroot, path: &Path, real: &Path) -> Result<String, NameError> {
    let is_device = fs::metadata(real).is_ok_and(|metadata| metadata.file_type().is_block_device());
    let found = if is_device {
        BlockDevice::by_node(root, real).map(|device| device.name().to_owned())
    } else {
        look_at_path(root, real).ok().and_then(|surroundings| surroundings.device.name)
    };
    found.ok_or_else(|| NameError::NoDevice { path: path.to_owned() })
}

/// Devices that are no storage of their own: named, they are watched all the same.
const SELDOM_MEANT: [&str; 5] = ["loop", "ram", "zram", "sr", "fd"];

/// The devices to watch when none is named: storage, or else whatever has been used.
#[must_use]
pub fn worth_watching(root: &Sysroot) -> Vec<String> {
    let active = active_devices(root);
    let is_meant = |name: &&String| !SELDOM_MEANT.iter().any(|kind| name.starts_with(kind));
    let storage: Vec<String> = active.iter().filter(is_meant).cloned().collect();
    if storage.is_empty() { active } else { storage }
}

/// The whole devices that have done anything since they appeared, in order.
fn active_devices(root: &Sysroot) -> Vec<String> {
    let names = root.list("sys/block").unwrap_or_default();
    let is_active = |name: &String| {
        let line = root.text(format!("sys/block/{name}/stat"));
        let counters = line.and_then(|line| DiskCounters::parse(&line));
        counters.is_some_and(|counters| counters != DiskCounters::default())
    };
    names.into_iter().filter(is_active).collect()
}

#[cfg(test)]
mod tests {
    use cardproof_units::with_causes;

    use super::*;

    #[test]
    fn a_path_that_cannot_be_looked_at_has_one_cause() {
        let error = device_at(&Sysroot::default(), &"n".repeat(300)).unwrap_err();
        let said = format!("cannot look at {}: File name too long", "n".repeat(300));
        assert_eq!(with_causes(&error), said);
    }
}
