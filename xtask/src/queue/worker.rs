//! One worker of the queue: runs a test in a process of its own and tells how it ended.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cardproof_testkit::{SKIP_LOG, status_and_cpu};

use super::programs::Test;

/// After so many seconds a test is killed, and has failed.
const TEST_SECONDS_MAX: &str = "900";

/// What `timeout` ends with where it has killed: itself, by the signal that it sends.
const KILLED: i32 = 9;

/// How a test ended.
pub(super) struct Ended {
    /// The test's full name.
    pub(super) name: String,
    /// How long its process took.
    pub(super) took: Duration,
    /// How much of that its processes computed.
    pub(super) computed: Duration,
    pub(super) verdict: Verdict,
}

pub(super) enum Verdict {
    Passed,
    /// The reasons that it gave.
    Skipped(Vec<String>),
    /// It has been shown how.
    Failed,
}

/// A variable of a test's environment.
pub(super) type Variable = (&'static str, String);

/// A worker's files.
pub(super) struct Desk {
    printed: PathBuf,
    skips: PathBuf,
}

impl Desk {
    /// The desk of the worker `number` in `place`.
    pub(super) fn new(place: &Path, number: usize) -> Self {
        let file = |kind: &str| place.join(format!("worker-{number}.{kind}"));
        Self { printed: file("out"), skips: file("skips") }
    }

    /// Runs `test` with `variables`; shows what it printed where it failed, and why where it was skipped.
    ///
    /// # Errors
    /// The process cannot be started, or the worker's files cannot be used.
    pub(super) fn run(&self, test: &Test, variables: Vec<Variable>) -> Result<Ended> {
        fs::write(&self.skips, "").with_context(|| self.skips.display().to_string())?;
        let printed =
            File::create(&self.printed).with_context(|| self.printed.display().to_string())?;
        let mut command = Command::new("timeout");
        command
            .args(["--foreground", "--signal=KILL", TEST_SECONDS_MAX])
            .arg(&test.program.executable)
            .args(["--exact", &test.name, "--include-ignored"])
            .envs(variables)
            .env(SKIP_LOG, &self.skips)
            .stdin(Stdio::null())
            .stdout(printed.try_clone()?)
            .stderr(printed);
        test.program.surround(&mut command);
        let start = Instant::now();
        let (status, computed) =
            status_and_cpu(&mut command).context("cannot start timeout; install coreutils")?;
        let took = start.elapsed();
        let name = test.full_name();
        let verdict = self.verdict(&name, status)?;
        Ok(Ended { name, took, computed: computed.into(), verdict })
    }

    fn verdict(&self, name: &str, status: ExitStatus) -> Result<Verdict> {
        if !status.success() {
            let printed = fs::read(&self.printed)?;
            let how = match status.signal() {
                Some(KILLED) => format!("was killed, after {TEST_SECONDS_MAX} s or by another"),
                _ => status.to_string(),
            };
            println!("FAILED {name}: {how}\n{}", String::from_utf8_lossy(&printed));
            return Ok(Verdict::Failed);
        }
        let reasons = reasons(&fs::read_to_string(&self.skips)?);
        if reasons.is_empty() {
            return Ok(Verdict::Passed);
        }
        println!("   skipped: {name}: {}", reasons.join("; "));
        Ok(Verdict::Skipped(reasons))
    }
}

/// The reasons in a log of skips. A line is `skipped: NAME: REASON`, and no name has a space.
fn reasons(log: &str) -> Vec<String> {
    let reason = |line: &str| {
        let rest = line.strip_prefix("skipped: ").unwrap_or(line);
        rest.split_once(": ").map_or(rest, |(_, reason)| reason).to_owned()
    };
    log.lines().map(reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_skip_is_kept() {
        assert_eq!(
            reasons("skipped: it::b::skips: needs root: say sudo\nskipped: b: no xfs\n"),
            ["needs root: say sudo", "no xfs"]
        );
        assert!(reasons("").is_empty());
    }
}
