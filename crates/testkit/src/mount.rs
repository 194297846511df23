//! A file system on a loop device, mounted at a fresh place and unmounted with the value, or with
//! the process, should that be killed.

use std::path::Path;

use tempfile::TempDir;

use crate::command::{require_root, run};
use crate::keeper::Keeper;
use crate::{LabError, LoopDevice};

/// The file systems that the laboratory can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filesystem {
    /// ext4.
    Ext4,
    /// XFS; needs 300 MiB.
    Xfs,
    /// Btrfs; needs 114 MiB.
    Btrfs,
    /// FAT.
    Vfat,
}

impl Filesystem {
    /// The kernel's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Vfat => "vfat",
        }
    }

    /// Makes an empty file system on `device`, whatever was there before.
    ///
    /// # Errors
    /// The tool is not installed, or failed.
    pub fn make(self, device: &LoopDevice) -> Result<(), LabError> {
        let program = format!("mkfs.{}", self.name());
        let options: &[&str] = match self {
            // Lazy initialisation would go on writing behind a measurement.
            Self::Ext4 => &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            Self::Xfs | Self::Btrfs => &["-q", "-f"],
            Self::Vfat => &["-I"],
        };
        let device = device.path().as_os_str();
        run(&program, options.iter().map(AsRef::as_ref).chain([device])).map(drop)
    }
}

/// Takes the mount at $0 away, and the place.
const TAKE_AWAY: &str = "umount --lazy \"$0\"; rmdir \"$0\"";

/// A mounted file system.
#[derive(Debug)]
pub struct Mount {
    point: TempDir,
    keeper: Keeper,
}

impl Mount {
    /// Mounts the file system on `device` with `options`, such as `ro` or nothing.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or where the kernel lacks the file system.
    pub fn new(
        device: &LoopDevice,
        filesystem: Filesystem,
        options: &str,
    ) -> Result<Self, LabError> {
        Self::node(device.path(), filesystem, options)
    }

    /// Mounts the file system on the block device `node`, such as a partition.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn node(node: &Path, filesystem: Filesystem, options: &str) -> Result<Self, LabError> {
        Self::source(node, filesystem.name(), options)
    }

    /// Mounts a file system in memory with `options`, such as `size=64M`.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root.
    pub fn tmpfs(options: &str) -> Result<Self, LabError> {
        Self::source(Path::new("tmpfs"), "tmpfs", options)
    }

    /// Mounts the directories at `lower` and `upper` as one, with `work` beside `upper` for the kernel's own use.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or where the kernel lacks overlays.
    pub fn overlay(lower: &Path, upper: &Path, work: &Path) -> Result<Self, LabError> {
        let [lower, upper, work] = [lower, upper, work].map(Path::display);
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        Self::source(Path::new("overlay"), "overlay", &options)
    }

    /// Mounts the kernel's tracing, the same that everybody else sees who mounts it.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or where the kernel traces nothing.
    pub fn tracefs() -> Result<Self, LabError> {
        Self::source(Path::new("none"), "tracefs", "")
    }

    /// Mounts `source` at a fresh place.
    fn source(source: &Path, filesystem: &str, options: &str) -> Result<Self, LabError> {
        require_root()?;
        require_in_kernel(filesystem)?;
        let point = tempfile::Builder::new()
            .prefix("cardproof-lab-mount-")
            .tempdir()
            .map_err(LabError::file("create a mount point in", &std::env::temp_dir()))?;
        let options = if options.is_empty() { "defaults" } else { options };
        // The keeper comes first, so that there is never a mount without one.
        let mut keeper = Keeper::new(TAKE_AWAY, [point.path()])?;
        let mounted = run(
            "mount",
            [
                "-t".as_ref(),
                filesystem.as_ref(),
                "-o".as_ref(),
                options.as_ref(),
                source.as_os_str(),
                point.path().as_os_str(),
            ],
        );
        match mounted {
            Ok(_) => Ok(Self { point, keeper }),
            Err(error) => {
                keeper.dismiss();
                Err(error)
            }
        }
    }

    /// The mounted directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// Mounts it anew with `options`, such as `ro`.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn remount(&self, options: &str) -> Result<(), LabError> {
        let options = format!("remount,{options}");
        run("mount", ["-o".as_ref(), options.as_ref(), self.path().as_os_str()]).map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let point = self.point.path().as_os_str();
        // Something may still be open below it after a failed test; then it goes when that is
        // closed, rather than never.
        if run("umount", [point]).is_err() {
            let _ = run("umount", ["--lazy".as_ref(), point]);
        }
        self.keeper.dismiss();
    }
}

/// Whether the kernel knows `filesystem`, loading its module if there is one.
fn require_in_kernel(filesystem: &str) -> Result<(), LabError> {
    let known = || {
        std::fs::read_to_string("/proc/filesystems")
            .unwrap_or_default()
            .lines()
            .any(|line| line.split_whitespace().last() == Some(filesystem))
    };
    if known() || (run("modprobe", [filesystem]).is_ok() && known()) {
        return Ok(());
    }
    Err(LabError::unavailable(format!("this kernel has no {filesystem}")))
}
