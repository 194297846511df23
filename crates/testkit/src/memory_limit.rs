//! A small computer's memory: a limit that the kernel sets for the processes started in it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use cardproof_units::Bytes;

use crate::LabError;
use crate::command::require_root;
use crate::control_group::{ControlGroup, has_controller, write};

/// A control group whose processes have so much memory together, page cache and all.
#[derive(Debug)]
pub struct MemoryLimit(ControlGroup);

impl MemoryLimit {
    /// A limit of `size`.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without root or without a controller that limits memory.
    pub fn new(size: Bytes) -> Result<Self, LabError> {
        require_root()?;
        let v1 = Path::new("/sys/fs/cgroup/memory");
        let v2 = Path::new("/sys/fs/cgroup");
        let (parent, file) = if v1.join("memory.limit_in_bytes").exists() {
            (v1, "memory.limit_in_bytes")
        } else if has_controller(v2, "memory") {
            write(&v2.join("cgroup.subtree_control"), "+memory")?;
            (v2, "memory.max")
        } else {
            return Err(LabError::unavailable("no control group limits memory here"));
        };
        let group = ControlGroup::below(parent)?;
        group.set(file, &size.get().to_string())?;
        Ok(Self(group))
    }

    /// A command that runs `program` under the limit.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.0.command(program)
    }
}
