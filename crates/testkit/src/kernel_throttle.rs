//! A limit on a device that binds whoever uses it, the kernel's own threads included.
//!
//! A control group limits its processes; what the kernel writes on their behalf, such as a file
//! system's journal, is charged to the root group. In cgroup v1 the root group can be limited
//! too; in v2 it has no `io.max`, so there this laboratory cannot be had.
//!
//! The rule must not outlive its maker, or it would slow down whatever gets the device next. So a
//! [`Keeper`] removes it: with the value, and with the process however that ends.

use std::path::{Path, PathBuf};

use crate::command::require_root;
use crate::control_group::write;
use crate::keeper::Keeper;
use crate::{LabError, Limits, LoopDevice};

/// Where the root group of cgroup v1 is.
const ROOT: &str = "/sys/fs/cgroup/blkio";

/// Removes the rules of the device $0 from the files that follow.
const REMOVE: &str = "for file; do echo \"$0 0\" > \"$file\"; done";

/// A device that is limited for everybody.
#[derive(Debug)]
pub struct KernelThrottle {
    _keeper: Keeper,
}

impl KernelThrottle {
    /// Limits `device` for all processes of the root group and for the kernel.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or without the blkio controller of cgroup v1.
    pub fn new(device: &LoopDevice, limits: &Limits) -> Result<Self, LabError> {
        require_root()?;
        let root = Path::new(ROOT);
        if !root.join("blkio.throttle.write_iops_device").exists() {
            return Err(LabError::unavailable(
                "the kernel's own threads cannot be limited here (needs blkio.throttle of cgroup \
                 v1; the root group of v2 has no io.max)",
            ));
        }
        let number = device.number()?;
        let rules: Vec<(PathBuf, String)> = limits
            .v1_rules(&number)
            .into_iter()
            .map(|(file, rule)| (root.join(file), rule))
            .collect();
        // The keeper comes first, so that there is never a rule without one.
        let words = std::iter::once(number.as_ref());
        let words = words.chain(rules.iter().map(|(file, _)| file.as_os_str()));
        let throttle = Self { _keeper: Keeper::new(REMOVE, words)? };
        for (file, rule) in &rules {
            write(file, rule)?;
        }
        Ok(throttle)
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;
    use crate::lab_or_skip;

    #[test]
    fn a_rule_is_there_while_the_value_is_and_gone_with_it() {
        let device = lab_or_skip!(LoopDevice::new(Bytes::mib(1)));
        let number = device.number().unwrap();
        let limits = Limits { write_iops: Some(500), ..Limits::default() };
        let rules = || {
            let file = Path::new(ROOT).join("blkio.throttle.write_iops_device");
            std::fs::read_to_string(file).unwrap_or_default()
        };
        let rule = format!("{number} 500");
        let throttle = lab_or_skip!(KernelThrottle::new(&device, &limits));
        assert!(rules().lines().any(|line| line == rule), "{}", rules());
        drop(throttle);
        let prefix = format!("{number} ");
        assert!(!rules().lines().any(|line| line.starts_with(&prefix)), "{}", rules());
    }
}
