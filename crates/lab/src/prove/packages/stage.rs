//! Where a job is done and watched: a fresh ext4 on a loop device in memory or another device, its
//! block requests recorded by `cardproof replay record`.
//!
//! A job of another program is the captured command itself. A job that is done in this process is
//! captured around a command that only waits for the end of its input.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, run};
use cardproof_trace::{Shape, TraceReader};
use cardproof_units::Bytes;
use tempfile::TempDir;

/// The file system's size: room for a desktop, its archives, and as much again.
const SIZE: Bytes = Bytes::gib(8);

/// What a trace is called.
const TRACE: &str = "job.trace";

/// A mounted file system on its device.
#[derive(Debug)]
pub(crate) struct Stage {
    // Unmounted before its device goes.
    mount: Mount,
    device: PathBuf,
    _memory: Option<LoopDevice>,
}

/// What a device saw of a job.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) shape: Shape,
    /// The trace itself.
    pub(super) trace: Vec<u8>,
    /// From the job's start to its end, the sync after it included.
    pub(super) seconds: f64,
}

impl Seen {
    /// What the trace in the file `path` tells.
    fn read(path: &Path, seconds: f64) -> Result<Self> {
        let trace = std::fs::read(path).with_context(|| path.display().to_string())?;
        let mut shape = Shape::new();
        for request in TraceReader::new(&trace)? {
            shape.add(&request?);
        }
        Ok(Self { shape, trace, seconds })
    }

    /// Its figures in a line.
    pub(super) fn line(&self) -> String {
        let shape = &self.shape;
        format!(
            "{:.0} s, {} reads, {} writes, {} flushes, {:.0} MB, {:.1} % up to 4 KiB, {:.1} % in two \
             streams",
            self.seconds,
            shape.reads,
            shape.writes,
            shape.flushes,
            shape.bytes_written.get() as f64 / 1e6,
            100.0 * shape.share_up_to_4k(),
            100.0 * shape.sequential_share(2),
        )
    }
}

impl Stage {
    /// A fresh one.
    ///
    /// # Errors
    /// The machine cannot give it.
    pub(crate) fn new() -> Result<Self> {
        let device = LoopDevice::new(SIZE)?;
        Filesystem::Ext4.make(&device)?;
        let mount = Mount::new(&device, Filesystem::Ext4, "")?;
        Ok(Self { mount, device: device.path().to_owned(), _memory: Some(device) })
    }

    /// A fresh one on `device`, which may be slow: its tables of inodes stay as they are, and
    /// nobody clears them later.
    ///
    /// # Errors
    /// The device does not take it.
    pub(super) fn on(device: &Path) -> Result<Self> {
        let later = "lazy_itable_init=1,lazy_journal_init=1,nodiscard";
        let words = ["-q", "-F", "-E", later].map(AsRef::as_ref);
        run("mkfs.ext4", words.into_iter().chain([device.as_os_str()]))?;
        let mount = Mount::node(device, Filesystem::Ext4, "noinit_itable")?;
        Ok(Self { mount, device: device.to_owned(), _memory: None })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.mount.path()
    }

    /// What the device sees of `job`, which is run by `program`, this workspace's own.
    ///
    /// # Errors
    /// The capture fails or its trace has holes.
    pub(super) fn watch(&self, program: &Path, job: &Command) -> Result<Seen> {
        let place = tempfile::tempdir()?;
        let trace = place.path().join(TRACE);
        self.settle()?;
        let mut capture = self.capture(program, &trace);
        capture.arg(job.get_program()).args(job.get_args());
        let start = Instant::now();
        let output = capture.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
        let seconds = start.elapsed().as_secs_f64();
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Seen::read(&trace, seconds)
    }

    /// Begins to watch what the device sees of something that this process does.
    ///
    /// # Errors
    /// The capture does not begin.
    pub(super) fn begin(&self, program: &Path) -> Result<Watch> {
        let place = tempfile::tempdir()?;
        self.settle()?;
        let mut capture = self.capture(program, &place.path().join(TRACE));
        // It ends with its input.
        let child = capture.arg("cat").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut watch = Watch { place, child, start: Instant::now() };
        watch.await_recording()?;
        watch.start = Instant::now();
        Ok(watch)
    }

    fn capture(&self, program: &Path, trace: &Path) -> Command {
        let mut capture = Command::new(program);
        capture.args(["replay", "record", "--device"]).arg(&self.device);
        capture.arg("--output").arg(trace).arg("--");
        capture
    }

    /// Writes what is still in memory, so that it is not counted as the next job's.
    fn settle(&self) -> Result<()> {
        run("sync", ["--file-system".as_ref(), self.path().as_os_str()])?;
        Ok(())
    }
}

/// A recording that goes on.
#[derive(Debug)]
pub(super) struct Watch {
    place: TempDir,
    child: Child,
    start: Instant,
}

impl Watch {
    /// Ends it.
    ///
    /// # Errors
    /// The capture failed or its trace has holes.
    pub(super) fn end(mut self) -> Result<Seen> {
        drop(self.child.stdin.take());
        let mut said = String::new();
        if let Some(mut talk) = self.child.stderr.take() {
            talk.read_to_string(&mut said)?;
        }
        ensure!(self.child.wait()?.success(), "the capture failed: {said}");
        let seconds = self.start.elapsed().as_secs_f64();
        Seen::read(&self.place.path().join(TRACE), seconds)
    }

    /// Waits for the word that everything is recorded from here on.
    fn await_recording(&mut self) -> Result<()> {
        let talk = self.child.stderr.as_mut().context("no standard error")?;
        let mut line = String::new();
        // A byte at a time: what comes after the line is for later.
        while !line.ends_with('\n') {
            let mut byte = [0];
            if talk.read(&mut byte)? == 0 {
                break;
            }
            line.push(char::from(byte[0]));
        }
        ensure!(line.starts_with("Recording"), "the capture did not begin: {line}");
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // After `end` there is nothing left to end and to wait for.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
