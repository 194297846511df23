//! What the program weighs: times of small runs, memory of a whole one, sizes, the first build.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cardproof_testkit::{
    Filesystem, FioEnd, FioEngine, FioJob, FioPattern, LabError, LoopDevice, Mount, Usage,
};
use cardproof_units::Bytes;

use super::null::succeeded;
use super::ours;
use super::rounds::{median, range};
use super::table::{Row, Table, Target};
use crate::program::cargo;

/// How many times a run of milliseconds is repeated.
const REPEATS: usize = 21;

/// Every figure.
pub(super) fn run(program: &Path, with_build: bool) -> Result<Table> {
    let mut table = Table::of_figures("What the program weighs");
    table.add(repeated("`cardproof --version`, ms", 10.0, || {
        let mut command = Command::new(program);
        command.arg("--version");
        Ok(command)
    })?);
    table.add(repeated("a run of one block, ms", 3.0, || {
        Ok(ours::command(program, &one_block(), None)?)
    })?);
    add_standard_run(&mut table, program)?;
    let binary = fs::metadata(program)?.len() as f64;
    table.add(figure("binary, MB", binary / 1e6, Target::AtMost(8.0)));
    if with_build {
        table.add(figure("first build, minutes", first_build_minutes()?, Target::AtMost(3.0)));
    }
    Ok(table)
}

/// A phase of a single operation.
fn one_block() -> FioJob {
    FioJob {
        target: "null".into(),
        engine: FioEngine::Null,
        pattern: FioPattern::RandomRead,
        block_size: Bytes::kib(4),
        span: Bytes::mib(1),
        queue_depth: 1,
        end: FioEnd::Ops(1),
    }
}

/// The median time of many runs of a command, in milliseconds.
fn repeated(name: &str, limit_ms: f64, command: impl Fn() -> Result<Command>) -> Result<Row> {
    let times: Vec<f64> = (0..REPEATS)
        .map(|_| Ok(succeeded(command()?)?.elapsed.as_millis_f64()))
        .collect::<Result<_>>()?;
    let row = figure(name, median(&times), Target::AtMost(limit_ms));
    Ok(Row { range: Some(range(&times)), ..row })
}

/// A row of one figure.
fn figure(name: &str, value: f64, target: Target) -> Row {
    Row {
        name: name.to_owned(),
        other: String::new(),
        ours: format!("{value:.1}"),
        value,
        range: None,
        target,
    }
}

/// A whole run of the `standard` profile on a file system in memory, with its report.
fn add_standard_run(table: &mut Table, program: &Path) -> Result<()> {
    let device = LoopDevice::new(Bytes::gib(4))?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    let report = mount.path().join("report.html");
    let mut command = Command::new(program);
    command.args(["run", "--profile", "standard", "--quiet", "--html"]).arg(&report);
    command.arg(mount.path()).env("XDG_DATA_HOME", mount.path());
    let usage = succeeded(command).context("a standard run failed")?;
    let report = fs::metadata(&report).context("the run left no report")?.len() as f64;
    table.add(figure("`standard` run, peak memory, MiB", mib(&usage), Target::AtMost(8.0)));
    table.add(figure("`standard` run, seconds", usage.elapsed.as_secs_f64(), Target::AtMost(90.0)));
    table.add(figure("report, kB", report / 1e3, Target::AtMost(600.0)));
    Ok(())
}

/// Peak memory in MiB.
fn mib(usage: &Usage) -> f64 {
    usage.memory_peak.as_f64() / 1_048_576.0
}

/// How long the first build of the program takes, with the sources of its dependencies at hand.
fn first_build_minutes() -> Result<f64> {
    let fresh = std::env::temp_dir().join(format!("cardproof-first-build-{}", std::process::id()));
    let mut command = cargo();
    command.args(["build", "--release", "--package", "cardproof-cli", "--target-dir"]).arg(&fresh);
    let start = Instant::now();
    let status = command.status();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    fs::remove_dir_all(&fresh).map_err(|error| LabError::File {
        doing: "remove",
        path: fresh,
        error,
    })?;
    ensure!(status?.success(), "the first build failed");
    Ok(minutes)
}
