//! `cardproof capture --files`: records what a job asks of its files, through strace.
//!
//! strace is asked for no contents, and its lines come through a pipe that only we can open and
//! are never stored: they hold names. What is kept has none.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use cardproof_trace::calls::{CallTrace, StraceReader};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::{CaptureArgs, Summary, lines, save_trace, summary, trace_name};
use crate::exit::{Exit, Failure};
use crate::leftovers;
use crate::signals::Signals;
use crate::talk::Talk;

/// What strace is to do: follow children, name the files of descriptors, tell times, and print
/// nothing of what is read and written.
const OPTIONS: [&str; 8] = ["-f", "-y", "-ttt", "-T", "-s", "0", "-e", CALLS];

/// Calls that name a file or a descriptor, and those that make the processes that inherit them.
const CALLS: &str = "trace=%file,%desc,clone,?clone3,?fork,?vfork,sync";

/// How the directory of the pipe is called, before the number of its process.
const PLACE: &str = "cardproof-strace-";

/// Removes a pipe of ours and its directory.
fn remove_pipe(directory: &Path) {
    let pipe = directory.join("pipe");
    if fs::symlink_metadata(&pipe).is_ok_and(|found| found.file_type().is_fifo()) {
        let _ = fs::remove_file(pipe);
    }
    leftovers::remove_empty(directory);
}

/// Runs the command under strace and keeps what it asked of its files.
pub(super) fn run(args: &CaptureArgs, signals: &Signals, talk: Talk) -> Result<Exit, Failure> {
    let recording = Recording::start()?;
    talk.note("Recording the job's calls on files with strace, which slows it down.");
    let status = job(&recording.pipe, &args.command);
    let (reader, not_understood) = recording.stop()?;
    let status = status?;
    if reader.calls() == 0 {
        return Err(Failure::incomplete(format!(
            "strace ended with {status} and told of no call on a file; if it may not trace here, \
             run as root or allow it (kernel.yama.ptrace_scope)"
        )));
    }
    talk.note(&format!("The job ended with {status}; {} calls.", reader.calls()));
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
    pipe: PathBuf,
    is_done: Arc<AtomicBool>,
    reader: Option<JoinHandle<io::Result<(StraceReader, u64)>>>,
}

impl Recording {
    fn start() -> Result<Self, Failure> {
        leftovers::sweep(PLACE, remove_pipe);
        let directory = std::env::temp_dir().join(format!("{PLACE}{}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&directory)
            .map_err(Failure::because(format!("cannot make {}", directory.display())))?;
        let pipe = directory.join("pipe");
        let mut recording = Self { pipe, is_done: Arc::default(), reader: None };
        let pipe = recording.open().map_err(Failure::because("cannot make a pipe for strace"))?;
        let is_done = Arc::clone(&recording.is_done);
        recording.reader = Some(std::thread::spawn(move || read(pipe, &is_done)));
        Ok(recording)
    }

    /// Makes the pipe and opens its reading end, which does not wait for strace.
    fn open(&self) -> io::Result<File> {
        mknodat(CWD, &self.pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let no_wait = OFlags::NONBLOCK.bits() as i32;
        OpenOptions::new().read(true).custom_flags(no_wait).open(&self.pipe)
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
        let _ = fs::remove_file(&self.pipe);
        if let Some(directory) = self.pipe.parent() {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn read(pipe: File, is_done: &AtomicBool) -> io::Result<(StraceReader, u64)> {
    let (mut reader, mut not_understood) = (StraceReader::default(), 0);
    lines::read(pipe, is_done, |line| not_understood += u64::from(reader.add(line).is_err()))?;
    Ok((reader, not_understood))
}
