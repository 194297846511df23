//! Which disk is recorded: the kernel tells of requests by the whole disk, never by a partition.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;

use crate::exit::Failure;

/// A whole disk.
pub(super) struct Disk {
    major: u32,
    minor: u32,
    directory: PathBuf,
}

impl Disk {
    /// The disk that `path` is, or is a part of.
    pub(super) fn of_device(path: &Path) -> Result<Self, Failure> {
        let metadata = fs::metadata(path).map_err(|error| {
            Failure::usage(format!("cannot look at the device {}: {error}", path.display()))
        })?;
        if !metadata.file_type().is_block_device() {
            let path = path.display();
            return Err(Failure::usage(format!("{path} is no block device; name one")));
        }
        Self::of_number(metadata.rdev())
    }

    /// The disk with the file system of the current directory.
    pub(super) fn under_current_directory() -> Result<Self, Failure> {
        let metadata =
            fs::metadata(".").map_err(Failure::because("cannot look at the current directory"))?;
        Self::of_number(metadata.dev())
    }

    fn of_number(number: u64) -> Result<Self, Failure> {
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let unknown = |_| {
            Failure::usage(
                "the current directory is on no single block device; name one with --device",
            )
        };
        let directory = fs::canonicalize(link).map_err(unknown)?;
        match directory.parent() {
            Some(whole) if directory.join("partition").exists() => Self::at(whole),
            _ => Self::at(&directory),
        }
    }

    fn at(directory: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(directory.join("dev"))
            .map_err(Failure::because("cannot read the device's number"))?;
        let number = text.trim().split_once(':').and_then(|(major, minor)| {
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
        });
        let Some((major, minor)) = number else {
            return Err(Failure::incomplete("the system gives no number for the device"));
        };
        Ok(Self { major, minor, directory: directory.to_owned() })
    }

    /// Its number as the tracepoints have it (`MKDEV`: 20 bits for the minor number).
    pub(super) const fn number(&self) -> u64 {
        (self.major as u64) << 20 | self.minor as u64
    }

    /// Its name, such as `mmcblk0`.
    pub(super) fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// How much it holds; zero where the system does not tell.
    pub(super) fn size(&self) -> Bytes {
        let text = fs::read_to_string(self.directory.join("size")).unwrap_or_default();
        Bytes(text.trim().parse::<u64>().unwrap_or(0).saturating_mul(512))
    }
}
