//! `cardproof replay record --files`: records what a job asks of its files, through strace.
//!
//! strace is asked for no contents, and its lines come through a pipe of ours that lies in no directory and
//! are never stored: they hold names. What is kept has none.

use std::fs::File;
use std::io::{self, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use cardproof_trace::calls::{CallTrace, StraceReader};
use rustix::fs::OFlags;

use super::{RecordArgs, Summary, lines, save_trace, summary, trace_name};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::talk::Talk;

/// What strace is to do: follow children, name the files of descriptors, tell times, and print
/// nothing of what is read and written.
const OPTIONS: [&str; 8] = ["-f", "-y", "-ttt", "-T", "-s", "0", "-e", CALLS];

/// Calls that name a file or a descriptor, and those that make the processes that inherit them.
const CALLS: &str = "trace=%file,%desc,clone,?clone3,?fork,?vfork,sync";

/// Runs the command under strace and keeps what it asked of its files.
pub(super) fn run(args: &RecordArgs, signals: &Signals, talk: Talk) -> Result<Exit, Failure> {
    let recording = Recording::start()?;
    talk.note("Recording the job's calls on files with strace, which slows it down.");
    let status = job(&recording.path(), &args.command);
    let (reader, not_understood) = recording.stop()?;
    let status = status?;
    if reader.calls() == 0 {
        return Err(Failure::incomplete(format!(
            "strace ended with {status} and told of no call on a file; if it may not trace here, \
             run as root or allow it (kernel.yama.ptrace_scope)"
        )));
    }
    talk.note(&format!("The job ended with {status}. Recorded {} calls.", reader.calls()));
    if not_understood > 0 {
        talk.note(&format!("{not_understood} lines of strace were not understood."));
    }
    let requests = reader.calls();
    let trace: CallTrace = reader.finish(&trace_name(args), &args.description);
    save_trace(args, &trace.written(), talk)?;
    summary(args, &Summary { requests, not_understood, ..Summary::of(args) })?;
    let is_whole = not_understood == 0;
    Ok(signals.exit().unwrap_or(if is_whole { Exit::Done } else { Exit::Incomplete }))
}

/// Runs the job under strace to its end, with our terminal.
fn job(pipe: &Path, command: &[String]) -> Result<ExitStatus, Failure> {
    let mut strace = Command::new("strace");
    strace.args(OPTIONS).arg("-o").arg(pipe).arg("--").args(command);
    strace.status().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(
            "there is no strace here, through which calls on files are recorded; install it \
             (apt install strace)",
        ),
        _ => Failure::incomplete(format!("cannot run strace: {error}")),
    })
}

/// A thread that reads what strace writes.
struct Recording {
    /// The end of the pipe that strace opens, through our own table of open files: there is no such path
    /// any more once we have ended, so that a strace that starts then ends at once.
    pipe: PipeWriter,
    is_done: Arc<AtomicBool>,
    reader: Option<JoinHandle<io::Result<(StraceReader, u64)>>>,
}

impl Recording {
    fn start() -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::incomplete(format!("cannot make a pipe for strace: {error}"))
        };
        let (from, pipe) = io::pipe().map_err(failed)?;
        rustix::fs::fcntl_setfl(&from, OFlags::NONBLOCK).map_err(|errno| failed(errno.into()))?;
        let is_done = Arc::<AtomicBool>::default();
        let seen = Arc::clone(&is_done);
        let reader = std::thread::spawn(move || read(File::from(OwnedFd::from(from)), &seen));
        Ok(Self { pipe, is_done, reader: Some(reader) })
    }

    /// The pipe's name for whoever we start.
    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.pipe.as_raw_fd()))
    }

    /// What was read, and how many lines were not understood.
    fn stop(mut self) -> Result<(StraceReader, u64), Failure> {
        self.is_done.store(true, Ordering::Relaxed);
        match self.reader.take().map(JoinHandle::join) {
            Some(Ok(Ok(read))) => Ok(read),
            Some(Ok(Err(error))) => {
                Err(Failure::incomplete(format!("cannot read what strace tells: {error}")))
            }
            _ => Err(Failure::incomplete("the reader of strace has failed")),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
    }
}

fn read(pipe: File, is_done: &AtomicBool) -> io::Result<(StraceReader, u64)> {
    let (mut reader, mut not_understood) = (StraceReader::default(), 0);
    lines::read(pipe, is_done, |line| not_understood += u64::from(reader.add(line).is_err()))?;
    Ok((reader, not_understood))
}
