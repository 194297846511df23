//! A limit that the kernel sets on a device: operations and bytes a second, known beforehand.
//!
//! The limit holds for the processes started through [`Throttle::command`]. Where the machine
//! has the blkio controller of cgroup v1 that is used, else `io.max` of cgroup v2.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use cardproof_units::Bytes;

use crate::command::require_root;
use crate::control_group::{ControlGroup, has_controller, write};
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
    group: ControlGroup,
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
            let throttle = Self { group: ControlGroup::below(v1)? };
            throttle.limit_v1(&number, limits)?;
            return Ok(throttle);
        }
        let v2 = Path::new("/sys/fs/cgroup");
        if has_controller(v2, "io") {
            write(&v2.join("cgroup.subtree_control"), "+io")?;
            let throttle = Self { group: ControlGroup::below(v2)? };
            throttle.group.set("io.max", &limits.io_max(&number))?;
            return Ok(throttle);
        }
        Err(LabError::unavailable("no control group limits I/O here (blkio.throttle or io.max)"))
    }

    /// Sets the limits in the files of cgroup v1.
    fn limit_v1(&self, number: &str, limits: &Limits) -> Result<(), LabError> {
        limits.v1_rules(number).iter().try_for_each(|(file, rule)| self.group.set(file, rule))
    }

    /// A command that runs `program` inside the group from its first instruction on.
    ///
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.group.command(program)
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
