//! Running the program: to its end, or until something has happened.

use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Longer than any run here takes; a process that is still there then hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The exit status; for a process ended by a signal, 128 and its number, as shells say it.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or_default())
    }

    /// The same, after checking that it is `code`.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            code,
            "unexpected status\n-- stderr\n{}\n-- stdout\n{:.2000}",
            self.stderr,
            self.stdout
        );
        self
    }
}

/// A process that runs, with both its streams being read. It is killed when this is dropped, so that a
/// test that fails leaves nothing that others meet.
pub(crate) struct Running {
    child: Child,
    streams: Receiver<(Stream, String)>,
    ended: Vec<(Stream, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

/// Starts `command` without standard input.
pub(crate) fn start(mut command: Command) -> Running {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawned(&mut command);
    let (sender, streams) = channel();
    let stdout = (Stream::Stdout, Box::new(child.stdout.take().unwrap()) as Box<dyn Read + Send>);
    let stderr = (Stream::Stderr, Box::new(child.stderr.take().unwrap()) as Box<dyn Read + Send>);
    for (stream, mut pipe) in [stdout, stderr] {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            // The receiver is gone only where the test has failed already.
            let _ = sender.send((stream, String::from_utf8(bytes).expect("the streams are text")));
        });
    }
    Running { child, streams, ended: Vec::new() }
}

/// Spawns `command`. A copy of the program that was just written is busy as long as a child of another test, which was
/// forked meanwhile, has not yet begun its own program.
fn spawned(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            started => return started.expect("the program starts"),
        }
    }
}

/// Runs `command` to its end.
pub(crate) fn run(command: Command) -> Ended {
    start(command).end()
}

impl Running {
    /// Waits for the end for at most `time`; whether it came.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        while self.ended.len() < 2 {
            match self.streams.recv_timeout(time) {
                Ok(stream) => self.ended.push(stream),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        true
    }

    /// Waits until `happened`; false where the process ended before. The wait is on the process's
    /// end, with a look at `happened` every millisecond.
    pub(crate) fn until(&mut self, happened: impl Fn() -> bool) -> bool {
        while !happened() {
            if self.ends_within(Duration::from_millis(1)) {
                return false;
            }
        }
        true
    }

    /// Sends `signal`.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        // It may have ended in this moment, which is no fault.
        let _ = kill_process(pid, signal);
    }

    /// The text of standard error; empty until the program has closed it.
    pub(crate) fn complaint(&self) -> &str {
        let said = self.ended.iter().find(|(stream, _)| *stream == Stream::Stderr);
        said.map_or("", |(_, text)| text)
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        if !self.ends_within(PATIENCE) {
            self.child.kill().unwrap();
            panic!("the program hangs");
        }
        let status = self.child.wait().unwrap();
        let text = |wanted: Stream| {
            let found = self.ended.iter().find(|(stream, _)| *stream == wanted);
            found.map(|(_, text)| text.clone()).unwrap_or_default()
        };
        Ended { status, stdout: text(Stream::Stdout), stderr: text(Stream::Stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended, which is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
