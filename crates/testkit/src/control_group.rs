//! A control group of the kernel, for the processes that are started in it.
//!
//! The group is removed with the value; the processes must have ended by then. Groups that killed tests
//! have left are removed by the next test.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use cardproof_units::in_words;

use crate::LabError;
use crate::orphans::{orphans, prefix};

/// An own group below a controller's directory.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    directory: PathBuf,
}

impl ControlGroup {
    /// A fresh group below `parent`.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where none can be made.
    pub(crate) fn below(parent: &Path) -> Result<Self, LabError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for orphan in orphans(parent) {
            // A group with processes in it stays, and another test may be doing the same.
            let _ = fs::remove_dir(orphan);
        }
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let directory = parent.join(format!("{}{count}", prefix()));
            match fs::create_dir(&directory) {
                Ok(()) => return Ok(Self { directory }),
                // That of a process that had our number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let reason =
                        format!("no control group can be made ({why})", why = in_words(&error));
                    return Err(LabError::unavailable(reason));
                }
            }
        }
    }

    /// Writes `text` to the group's file `name`.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(crate) fn set(&self, name: &str, text: &str) -> Result<(), LabError> {
        write(&self.directory.join(name), text)
    }

    /// A command that runs `program` inside the group from its first instruction on.
    ///
    /// A shell enters the group and then becomes the program, so the process started is the
    /// program itself and takes its signals.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("echo $$ > \"$1\" && shift && exec \"$@\"")
            .arg("sh")
            .arg(self.directory.join("cgroup.procs"))
            .arg(program);
        command
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A drop has nobody to tell; a group that stays is empty and limits nobody.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Whether cgroup v2 at `root` has `controller`.
pub(crate) fn has_controller(root: &Path, controller: &str) -> bool {
    let controllers = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    controllers.split_whitespace().any(|name| name == controller)
}

/// Writes `text` to a file of the kernel.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(LabError::file("write", path))
}
