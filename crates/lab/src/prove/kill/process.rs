//! A command that runs, and everything that it has started.
//!
//! What a killed command started may live on for a moment: the shell that takes down what it has put up,
//! a tool that was just called. A variable in their environment tells them from all other processes.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run;

/// The variable that marks the processes of one command.
const VARIABLE: &str = "CARDPROOF_PROOF_OF_KILLS";

/// How long what was started may outlive a command.
const OUTLIVES_MAX: Duration = Duration::from_secs(20);

/// How long a command may take to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What marks the processes of one command.
pub(super) struct Tag(String);

impl Tag {
    /// One that no other command has.
    pub(super) fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{count}", std::process::id()))
    }

    /// Waits until none of the processes is there any more; what is there still after a long time.
    pub(super) fn wait_for_all(&self) -> Result<Option<String>> {
        let is_over = wait_for(OUTLIVES_MAX, || Ok(self.alive().is_none()))?;
        Ok(if is_over { None } else { self.alive() })
    }

    /// The command line of one of the processes.
    fn alive(&self) -> Option<String> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let is_ours = |environment: &[u8]| {
            environment.split(|byte| *byte == 0).any(|word| word == wanted.as_bytes())
        };
        let processes = fs::read_dir("/proc").ok()?.flatten();
        for process in processes {
            let is_number = process.file_name().as_encoded_bytes()[0].is_ascii_digit();
            // One that has just ended has no environment any more.
            let environment = || fs::read(process.path().join("environ")).unwrap_or_default();
            if is_number && is_ours(&environment()) {
                let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
                return Some(String::from_utf8_lossy(&words).replace('\0', " "));
            }
        }
        None
    }
}

/// Looks until `happened` or `time` is over; whether it happened.
pub(super) fn wait_for(time: Duration, mut happened: impl FnMut() -> Result<bool>) -> Result<bool> {
    let start = Instant::now();
    while !happened()? {
        if start.elapsed() >= time {
            return Ok(false);
        }
        std::thread::sleep(LOOK_EVERY.min(time));
    }
    Ok(true)
}

/// A command that was started.
pub(super) struct Running {
    child: Child,
}

impl Running {
    /// Starts `command`, marked by `tag`.
    pub(super) fn start(mut command: Command, tag: &Tag) -> Result<Self> {
        command.env(VARIABLE, &tag.0).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().context("the program does not start")?;
        Ok(Self { child })
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits for its end for exactly `time`; whether it came.
    pub(super) fn ends_within(&mut self, time: Duration) -> Result<bool> {
        std::thread::sleep(time);
        self.has_ended()
    }

    /// Kills it and waits for its end.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end, as Ctrl-C does.
    pub(super) fn interrupt(&self) -> Result<()> {
        run("kill", ["-INT", &self.process().to_string()])?;
        Ok(())
    }

    /// Waits for its end, which must be a success.
    pub(super) fn end(&mut self, words: &[&str]) -> Result<()> {
        let has_ended = wait_for(PATIENCE, || self.has_ended())?;
        if !has_ended {
            self.kill()?;
        }
        ensure!(has_ended, "{words:?} hangs");
        let status = self.child.wait()?;
        ensure!(status.success(), "{words:?} ends with {status}");
        Ok(())
    }
}
