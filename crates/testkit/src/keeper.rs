//! What must be undone when this process ends, also when it is killed.
//!
//! A value's drop does not run then. So a shell waits for the end of a pipe from here, which the
//! kernel closes however this process ends, and does what is to be done. It is in a process group of
//! its own, so that what is sent to ours does not reach it.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use cardproof_units::in_words;

use crate::LabError;

/// Nothing to do where a line comes; at the end of the input without one, what follows.
const WAIT: &str = "trap '' HUP INT TERM; read -r _ && exit; ";

/// Does its work when it is dropped, and when this process is killed.
#[derive(Debug)]
pub(crate) struct Keeper {
    shell: Child,
}

impl Keeper {
    /// One that runs the shell commands `work` at the end, with `words` as `$0` and what follows.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] without a shell.
    pub(crate) fn new<W: AsRef<OsStr>>(
        work: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, LabError> {
        let shell = Command::new("sh")
            .arg("-c")
            .arg(format!("{WAIT}{work}"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                LabError::unavailable(format!("no shell to be had ({why})", why = in_words(&error)))
            })?;
        Ok(Self { shell })
    }

    /// Spares it the work: there is nothing to do any more.
    pub(crate) fn dismiss(&mut self) {
        if let Some(pipe) = &mut self.shell.stdin {
            // Without a reader there is nobody to dismiss.
            let _ = pipe.write_all(b"\n");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A drop has nobody to tell.
        let _ = self.shell.wait();
    }
}
