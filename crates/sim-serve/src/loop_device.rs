//! A loop device over the served file, by the system's `losetup`.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Mode, OFlags};

use crate::server::ServeError;

/// An attached loop device.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// Attaches a free device to `file` with direct I/O, so that no page cache stands between.
    pub(crate) fn attach(file: &Path) -> Result<Self, ServeError> {
        let mut command = Command::new("losetup");
        command.args(["--find", "--show", "--direct-io=on", "--sector-size=512"]).arg(file);
        let output = command.output().map_err(ServeError::NoLosetup)?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        if !output.status.success() || path.as_os_str().is_empty() {
            return Err(ServeError::Losetup { said });
        }
        Ok(Self { path })
    }

    /// The attached devices whose file is in `directory`.
    pub(crate) fn all_in(directory: &Path) -> Vec<Self> {
        let Ok(devices) = std::fs::read_dir("/sys/class/block") else { return Vec::new() };
        let attached = devices.filter_map(Result::ok).filter_map(|device| {
            let below = std::fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
            let is_in = Path::new(below.trim_end_matches('\n')).parent() == Some(directory);
            is_in.then(|| Self { path: Path::new("/dev").join(device.file_name()) })
        });
        attached.collect()
    }

    /// The device's node.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether somebody has it mounted or open for himself alone.
    pub(crate) fn is_in_use(&self) -> bool {
        let alone = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
        matches!(rustix::fs::open(&self.path, alone, Mode::empty()), Err(rustix::io::Errno::BUSY))
    }

    /// Detaches it.
    pub(crate) fn detach(&self) -> Result<(), ServeError> {
        let output = Command::new("losetup").arg("--detach").arg(&self.path).output();
        let output = output.map_err(ServeError::NoLosetup)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(ServeError::Losetup { said })
    }
}
