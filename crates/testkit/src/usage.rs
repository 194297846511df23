//! What a process cost: time from start to end, processor time, memory.
//!
//! The kernel hands these out with the process's end (`wait4`), so nothing is sampled and
//! nothing is missed.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Instant;

use cardproof_units::{Bytes, Nanos, in_words};
use wait4::Wait4;

use crate::LabError;

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Usage {
    /// How it ended.
    pub status: ExitStatus,
    /// From just before its start until its end was seen.
    pub elapsed: Nanos,
    /// Processor time in its own code, all threads.
    pub cpu_user: Nanos,
    /// Processor time in the kernel on its behalf, all threads.
    pub cpu_system: Nanos,
    /// The most memory it held. The kernel counts from the fork on, so this is at least what the
    /// measuring process itself holds, a few MiB.
    pub memory_peak: Bytes,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Usage {
    /// Runs `command` to its end, without standard input.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where it cannot be started.
    pub fn measure(mut command: Command) -> Result<Self, LabError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_owned();
        let failed = |error: io::Error| {
            LabError::unavailable(format!(
                "{} cannot be run ({why})",
                program.to_string_lossy(),
                why = in_words(&error)
            ))
        };
        let start = Instant::now();
        let mut child = command.spawn().map_err(failed)?;
        let stderr = child.stderr.take().map(read_aside);
        let stdout = read_all(child.stdout.take()).map_err(failed)?;
        let ended = child.wait4().map_err(failed)?;
        let elapsed = start.elapsed().into();
        let stderr = match stderr.map(thread::JoinHandle::join) {
            Some(Ok(bytes)) => bytes.map_err(failed)?,
            _ => Vec::new(),
        };
        Ok(Self {
            status: ended.status,
            elapsed,
            cpu_user: ended.rusage.utime.into(),
            cpu_system: ended.rusage.stime.into(),
            memory_peak: Bytes(ended.rusage.maxrss),
            stdout,
            stderr,
        })
    }
}

/// Runs `command` as it stands; how it ended, and the processor time that it and all it waited for took.
///
/// # Errors
/// It cannot be started.
pub fn status_and_cpu(command: &mut Command) -> io::Result<(ExitStatus, Nanos)> {
    let ended = command.spawn()?.wait4()?;
    Ok((ended.status, (ended.rusage.utime + ended.rusage.stime).into()))
}

/// Everything that comes out of a pipe, until its other end is closed.
fn read_all(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a pipe on a thread of its own, so that a talkative process is not held up.
fn read_aside(pipe: impl Read + Send + 'static) -> thread::JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || read_all(Some(pipe)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Usage {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Usage::measure(command).unwrap()
    }

    #[test]
    fn both_streams_and_the_status_are_kept() {
        let usage = shell("echo out; echo err >&2; exit 7");
        assert_eq!(usage.stdout, b"out\n");
        assert_eq!(usage.stderr, b"err\n");
        assert_eq!(usage.status.code(), Some(7));
    }

    #[test]
    fn a_process_that_fills_both_pipes_does_not_hang() {
        let usage = shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero");
        assert_eq!((usage.stdout.len(), usage.stderr.len()), (300_000, 300_000));
    }

    #[test]
    fn work_costs_processor_time_and_memory() {
        let usage = shell("head -c 200000000 /dev/zero | cksum");
        assert!(usage.cpu_user + usage.cpu_system > Nanos::ZERO, "{usage:?}");
        assert!(usage.memory_peak > Bytes::kib(500), "{usage:?}");
    }
}
