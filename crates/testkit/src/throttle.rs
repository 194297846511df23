//! A limit that the kernel sets on a device: operations and bytes a second, known beforehand.
//!
//! The limit holds for the processes started through [`Throttle::command`]. Where the machine
//! has the blkio controller of cgroup v1 that is used, else `io.max` of cgroup v2. The group is
//! removed with the value; the processes must have ended by then. What killed tests have left is
//! removed by the next.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use cardproof_units::Bytes;

use crate::command::require_root;
use crate::orphans::{orphans, prefix};
use crate::{LabError, LoopDevice};

/// What a device may do in a second. What is `None` is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Reads a second.
    pub read_iops: Option<u32>,
    /// Writes a second.
    pub write_iops: Option<u32>,
    /// Bytes read in a second.
    pub read_bytes: Option<Bytes>,
    /// Bytes written in a second.
    pub write_bytes: Option<Bytes>,
}

/// A control group whose processes are limited on one device.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// Limits `device`.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or without a controller that limits I/O.
    pub fn new(device: &LoopDevice, limits: &Limits) -> Result<Self, LabError> {
        require_root()?;
        let number = device.number()?;
        let v1 = Path::new("/sys/fs/cgroup/blkio");
        if v1.join("blkio.throttle.read_iops_device").exists() {
            let throttle = Self::make(v1)?;
            throttle.limit_v1(&number, limits)?;
            return Ok(throttle);
        }
        let v2 = Path::new("/sys/fs/cgroup");
        let controllers = fs::read_to_string(v2.join("cgroup.controllers")).unwrap_or_default();
        if controllers.split_whitespace().any(|name| name == "io") {
            write(&v2.join("cgroup.subtree_control"), "+io")?;
            let throttle = Self::make(v2)?;
            write(&throttle.group.join("io.max"), &limits.io_max(&number))?;
            return Ok(throttle);
        }
        Err(LabError::unavailable("no control group limits I/O here (blkio.throttle or io.max)"))
    }

    /// A fresh group below `parent`.
    fn make(parent: &Path) -> Result<Self, LabError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for orphan in orphans(parent) {
            // A group with processes in it stays, and another test may be doing the same.
            let _ = fs::remove_dir(orphan);
        }
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let group = parent.join(format!("{}{count}", prefix()));
            match fs::create_dir(&group) {
                Ok(()) => return Ok(Self { group }),
                // That of a process that had our number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let reason = format!("no control group can be made ({error})");
                    return Err(LabError::unavailable(reason));
                }
            }
        }
    }

    /// Sets the limits in the files of cgroup v1.
    fn limit_v1(&self, number: &str, limits: &Limits) -> Result<(), LabError> {
        limits
            .v1_rules(number)
            .iter()
            .try_for_each(|(file, rule)| write(&self.group.join(file), rule))
    }

    /// A command that runs `program` inside the group from its first instruction on.
    ///
    /// A shell enters the group and then becomes the program, so the process started is the
    /// program itself and takes its signals.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("echo $$ > \"$1\" && shift && exec \"$@\"")
            .arg("sh")
            .arg(self.group.join("cgroup.procs"))
            .arg(program);
        command
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // A drop has nobody to tell; a group that stays is empty and limits nobody.
        let _ = fs::remove_dir(&self.group);
    }
}

impl Limits {
    /// The files of cgroup v1 and what is to be written to each for the device `number`.
    pub(crate) fn v1_rules(&self, number: &str) -> Vec<(&'static str, String)> {
        let values = [
            ("blkio.throttle.read_iops_device", self.read_iops.map(u64::from)),
            ("blkio.throttle.write_iops_device", self.write_iops.map(u64::from)),
            ("blkio.throttle.read_bps_device", self.read_bytes.map(Bytes::get)),
            ("blkio.throttle.write_bps_device", self.write_bytes.map(Bytes::get)),
        ];
        let rule = |(file, value): (_, Option<u64>)| Some((file, format!("{number} {}", value?)));
        values.into_iter().filter_map(rule).collect()
    }

    /// The line for `io.max` of cgroup v2.
    fn io_max(&self, number: &str) -> String {
        let value = |limit: Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
        format!(
            "{number} rbps={} wbps={} riops={} wiops={}",
            value(self.read_bytes.map(Bytes::get)),
            value(self.write_bytes.map(Bytes::get)),
            value(self.read_iops.map(u64::from)),
            value(self.write_iops.map(u64::from)),
        )
    }
}

/// Writes `text` to a file of the kernel.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(LabError::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_max_names_every_limit() {
        let limits = Limits {
            read_iops: Some(33),
            write_bytes: Some(Bytes(10_000_000)),
            ..Limits::default()
        };
        assert_eq!(limits.io_max("7:0"), "7:0 rbps=max wbps=10000000 riops=33 wiops=max");
    }
}
