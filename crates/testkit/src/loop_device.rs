//! A loop device over a file in memory: a real block device whose every byte can be looked at.
//!
//! Direct I/O is asked for on the lower file, so that what the device is told reaches the file
//! at once and is charged to the process that asked.
//!
//! The device is detached as soon as it is open here, which the kernel puts off until nobody has
//! it open any more: so it goes with this process, however that ends.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;
use tempfile::NamedTempFile;

use crate::LabError;
use crate::command::{require_root, run};
use crate::noise::Noise;
use crate::orphans::{orphans, prefix};

/// A loop device, detached when dropped, with its backing file.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    image: NamedTempFile,
    direct: bool,
    /// What keeps the device attached.
    _node: File,
}

impl LoopDevice {
    /// A device of `size`, its image in memory where the machine has such a place. Every byte
    /// reads as zero and occupies nothing until written.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or without loop devices.
    pub fn new(size: Bytes) -> Result<Self, LabError> {
        let image = image_file(size)?;
        Self::over(image)
    }

    /// A device of `size` filled with noise from `seed`, so that no byte of it is a hole.
    ///
    /// # Errors
    /// As [`new`](Self::new), and where there is not enough memory.
    pub fn filled(size: Bytes, seed: u64) -> Result<Self, LabError> {
        let image = image_file(size)?;
        fill(image.as_file(), image.path(), size, seed)?;
        Self::over(image)
    }

    /// A device of `size` whose image lies in `directory` and occupies only what is written: on
    /// a smaller file system writing to it must fail at some point, as on a full thin volume.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn sparse_in(directory: &Path, size: Bytes) -> Result<Self, LabError> {
        Self::over(image_file_in(directory, size)?)
    }

    /// A device over `image`.
    fn over(image: NamedTempFile) -> Result<Self, LabError> {
        require_root()?;
        let attach = |direct: &str| {
            run(
                "losetup",
                ["--find", "--show", direct]
                    .map(AsRef::as_ref)
                    .into_iter()
                    .chain([image.path().as_os_str()]),
            )
        };
        let (answer, direct) = match attach("--direct-io=on") {
            Ok(answer) => (answer, true),
            Err(LabError::Command { .. }) => {
                (attach("--direct-io=off").map_err(|error| no_loop(&error))?, false)
            }
            Err(other) => return Err(other),
        };
        let path = PathBuf::from(answer.trim());
        let node = File::open(&path).map_err(LabError::file("open", &path));
        run("losetup", ["--detach".as_ref(), path.as_os_str()])?;
        let device = Self { path, image, direct, _node: node? };
        device.forget_partitions();
        Ok(device)
    }

    /// Lets the kernel forget the device's partitions, which would outlive the image and stand on the
    /// next device of this name.
    fn forget_partitions(&self) {
        let name = self.name();
        let entries = fs::read_dir(Path::new("/sys/block").join(&name)).into_iter().flatten();
        let has_partition = entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}p")));
        if has_partition {
            // One that is in use stays; its user sees to it.
            let _ = run("partx", ["--delete".as_ref(), self.path.as_os_str()]);
        }
    }

    /// The device's node, such as `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kernel's name of the device, such as `loop3`.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What names the device to cardproof as one to be destroyed.
    ///
    /// # Errors
    /// The kernel does not tell its size.
    pub fn identity(&self) -> Result<String, LabError> {
        identity(&self.path)
    }

    /// The file that holds the device's bytes.
    #[must_use]
    pub fn image(&self) -> &Path {
        self.image.path()
    }

    /// Whether the device bypasses the page cache of its image.
    #[must_use]
    pub const fn is_direct(&self) -> bool {
        self.direct
    }

    /// The device's number as `MAJOR:MINOR`.
    ///
    /// # Errors
    /// The kernel does not tell it.
    pub fn number(&self) -> Result<String, LabError> {
        let path = Path::new("/sys/class/block").join(self.name()).join("dev");
        let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
        Ok(text.trim().to_owned())
    }

    /// Makes the running device `size` long, whoever has it open: from then on what lies beyond
    /// cannot be read or written, as when a card is pulled out. A size of zero leaves nothing.
    ///
    /// # Errors
    /// The image cannot be cut or the kernel does not take the new size.
    pub fn resize(&self, size: Bytes) -> Result<(), LabError> {
        let image = self.image.path();
        self.image.as_file().set_len(size.get()).map_err(LabError::file("cut", image))?;
        run("losetup", ["--set-capacity".as_ref(), self.path.as_os_str()]).map(drop)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.forget_partitions();
    }
}

/// The identity of a device of a laboratory, which has no serial number: `NAME:SIZE_BYTES`.
///
/// # Errors
/// The kernel does not tell its size.
pub fn identity(device: &Path) -> Result<String, LabError> {
    /// The kernel counts sizes in sectors of 512 bytes, whatever the device's own blocks.
    const SECTOR: u64 = 512;
    let name = device.file_name().unwrap_or_default().to_string_lossy();
    let path = Path::new("/sys/class/block").join(&*name).join("size");
    let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
    let sectors: u64 = text.trim().parse().map_err(|_| LabError::Answer {
        tool: "sysfs",
        what: format!("{} is no size", path.display()),
    })?;
    Ok(format!("{name}:{}", sectors * SECTOR))
}

/// A refusal of `losetup` both with and without direct I/O: the machine has no loop devices.
fn no_loop(error: &LabError) -> LabError {
    LabError::unavailable(format!("no loop device to be had: {error}"))
}

/// An empty file of `size` in memory, or else in the directory for temporary files.
fn image_file(size: Bytes) -> Result<NamedTempFile, LabError> {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    // Memory is not for killed processes to keep.
    for orphan in orphans(&directory) {
        // Another test may be doing the same.
        let _ = fs::remove_file(orphan);
    }
    image_file_in(&directory, size)
}

/// An empty file of `size` in `directory`.
fn image_file_in(directory: &Path, size: Bytes) -> Result<NamedTempFile, LabError> {
    let image = tempfile::Builder::new()
        .prefix(&prefix())
        .suffix(".img")
        .tempfile_in(directory)
        .map_err(LabError::file("create an image in", directory))?;
    image.as_file().set_len(size.get()).map_err(LabError::file("lengthen", image.path()))?;
    Ok(image)
}

/// Writes `size` bytes of noise to `file`.
fn fill(mut file: &File, path: &Path, size: Bytes, seed: u64) -> Result<(), LabError> {
    let failed = || LabError::file("fill", path);
    let mut noise = Noise::new(seed);
    let mut block = vec![0; Bytes::mib(1).as_len()];
    file.seek(SeekFrom::Start(0)).map_err(failed())?;
    let mut left = size;
    while left > Bytes::ZERO {
        noise.fill(&mut block);
        let length = left.min(Bytes::mib(1));
        file.write_all(&block[..length.as_len()]).map_err(failed())?;
        left = left - length;
    }
    Ok(())
}
