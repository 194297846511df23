//! The hub as a process, and the rows that the programs beside it show.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Scene;

/// The rows that `command` shows, each with the name of its table before it.
pub(super) fn shown(command: &mut Command) -> Result<Vec<String>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().context("the program has no output")?;
    let mut rows = Vec::new();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        eprintln!("{line}");
        if let Some(row) = line.strip_prefix("shown ") {
            rows.push(row.to_owned());
        }
    }
    ensure!(child.wait()?.success(), "the program failed: {command:?}");
    ensure!(!rows.is_empty(), "the program showed no row: {command:?}");
    Ok(rows)
}

/// A running hub; killed where it is not stopped.
#[derive(Debug)]
pub(super) struct Hub {
    process: Child,
    pub(super) address: String,
}

impl Hub {
    pub(super) fn start(scene: &Scene, place: &[&str]) -> Result<Self> {
        let data = scene.place.join("hub-data");
        let mut command = Command::new(scene.hub());
        command.arg("serve").args(place);
        if place[0] != "--data" {
            command.arg("--data").arg(&data);
        }
        command.args(["--listen", "127.0.0.1:0", "--no-seed", "--no-dump"]);
        command.args(["--submissions-per-hour", "0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = process.stdout.take().context("the hub has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().rsplit("http://").next().unwrap_or_default().to_owned();
        ensure!(address.contains(':'), "the hub did not start");
        Ok(Self { process, address })
    }

    pub(super) fn memory_max_bytes(&self) -> Result<f64> {
        memory_max_bytes(&self.process).context("the hub has ended")
    }

    pub(super) fn stop(&mut self) -> Result<()> {
        let pid = self.process.id().to_string();
        ensure!(Command::new("kill").arg(&pid).status()?.success(), "the hub has ended");
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // One that was stopped is gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The most memory that `process` has had so far.
pub(super) fn memory_max_bytes(process: &Child) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0)
}
