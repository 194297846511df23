//! What a job asks of a disk, recorded from the kernel's tracepoints.
//!
//! The kernel tells of every request in an instance of our own beside whatever else is traced; it goes at the
//! end, also after Ctrl-C. No data and no names are kept.

mod device;
mod flush;
mod instance;
mod lines;

use std::process::{Command, ExitStatus};

use cardproof_device::Disk;
use cardproof_trace::PipeReader;

use cardproof_units::in_words;

use crate::failure::Failure;
use instance::Instance;

pub use device::traced_disk;

/// A recording that goes on.
pub struct Recording<'d> {
    disk: &'d Disk,
    instance: Instance,
}

impl<'d> Recording<'d> {
    /// Begins to record the requests of `disk`.
    ///
    /// # Errors
    /// The kernel does not tell of them, or not this user.
    pub fn start(disk: &'d Disk) -> Result<Self, Failure> {
        Ok(Self { disk, instance: Instance::start(device::traced_number(disk))? })
    }

    /// Runs `command` to its end, with our terminal: how it ended, and what it asked of the disk, what it left in
    /// memory included.
    ///
    /// # Errors
    /// It cannot be run, or the recording cannot be read.
    pub fn of_job(self, command: &[String]) -> Result<(ExitStatus, PipeReader), Failure> {
        let status = job(command);
        // What the job left in memory is a part of it.
        flush::flush(self.disk);
        let recorded = self.instance.stop()?;
        Ok((status?, recorded))
    }
}

fn job(command: &[String]) -> Result<ExitStatus, Failure> {
    let Some((program, words)) = command.split_first() else {
        return Err(Failure::usage("name the command to record after --"));
    };
    Command::new(program).args(words).status().map_err(|error| {
        Failure::usage(format!("cannot run {program}: {error}", error = in_words(&error)))
    })
}
