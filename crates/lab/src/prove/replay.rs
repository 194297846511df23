//! `cargo xtask prove replay`: whether a job's replay takes the time that the job took, on
//! the storage on which it was recorded.
//!
//! Each pair makes ext4, records a job on it (many small files, each written, synced and renamed,
//! as a package manager does), takes the file system away, and replays the trace on the same bare
//! device. Storages: a loop device that the kernel limits for everybody, its own threads included;
//! simulated cards in real time; and a loop device in memory, which is as fast as this computer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cardproof_record::Record;
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::{
    Filesystem, KernelThrottle, LabError, Limits, LoopDevice, Mount, identity,
};
use cardproof_units::{Bytes, Seed};

use super::{Asked, DependsOn, Proof, Proved, Rows, Takes};
use crate::program::{self, Build};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "replay",
    shows: "whether a replay takes the time that the job took where it was recorded; --count is of pairs",
    document: "docs/design/traces.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count, Takes::Only],
    run,
};

/// A storage, and how many files the job writes on it: some ten seconds' worth.
struct Storage {
    name: &'static str,
    kind: Kind,
    files: u32,
}

enum Kind {
    /// A loop device that may read 1500 times and write 500 times a second.
    Limited,
    /// A simulated card in real time.
    Card,
    /// A loop device without a limit.
    Memory,
}

const STORAGES: [Storage; 4] = [
    Storage { name: "limited", kind: Kind::Limited, files: 500 },
    // About 500 random writes a second of 16 KiB.
    Storage { name: "sandisk-industrial", kind: Kind::Card, files: 800 },
    // The fastest card.
    Storage { name: "sandisk-extreme-a1", kind: Kind::Card, files: 800 },
    Storage { name: "memory", kind: Kind::Memory, files: 1000 },
];

/// What the limited loop device may do in a second.
const LIMITS: Limits =
    Limits { read_iops: Some(1500), write_iops: Some(500), read_bytes: None, write_bytes: None };

/// Pairs on each storage unless asked otherwise; the median counts.
const PAIRS: usize = 5;
const PAIRS_SHORT: usize = 1;

/// By how much the replay may be off.
const WITHIN: f64 = 0.10;

/// The job: $0 files of 4 to 52 KiB.
const JOB: &str = "i=0; while [ $i -lt $0 ]; do \
    dd if=/dev/urandom of=f$i.new bs=4k count=$((1 + i % 13)) conv=fsync status=none; \
    mv f$i.new f$i; i=$((i + 1)); done";

/// The loop devices' size.
const SIZE: Bytes = Bytes::gib(1);

/// What is cleared so that no file system is found any more.
const SIGNATURES: usize = 1 << 16;

/// Runs the pairs on each storage; whether all medians are near enough.
fn run(asked: &Asked) -> Result<Proved> {
    let pairs = asked.count_or(PAIRS, PAIRS_SHORT);
    ensure!(pairs % 2 == 1, "a median needs an odd number of pairs");
    let known = STORAGES.map(|storage| storage.name);
    if let Some(name) = asked.only.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no storage {name}; there are {}", known.join(", "));
    }
    let program = program::build(Build::Quick)?;
    let mut holds = true;
    let mut rows = Rows::below(
        "| storage | recorded, s | replayed, s | ratio: median | lowest to highest |\n\
         | --- | ---: | ---: | ---: | --- |",
    )?;
    let is_asked = |name: &str| asked.only.is_empty() || asked.only.iter().any(|it| it == name);
    for storage in STORAGES.iter().filter(|storage| is_asked(storage.name)) {
        match on(&program, storage, pairs) {
            Ok((row, is_near)) => {
                rows.add(&row)?;
                holds &= is_near;
            }
            Err(error) => match error.downcast_ref::<LabError>() {
                Some(LabError::Unavailable(reason)) => {
                    rows.add(&format!("| {} | skipped: {reason} | | | |", storage.name))?;
                }
                _ => return Err(error),
            },
        }
    }
    Ok(Proved { tables: rows.into_text(), holds })
}

/// The row of `storage`, and whether its median is near enough.
fn on(program: &Path, storage: &Storage, pairs: usize) -> Result<(String, bool)> {
    let row = |title: &str, device: &Path| row(program, title, device, storage.files, pairs);
    match storage.kind {
        Kind::Card => on_card(storage.name, row),
        Kind::Memory => row("loop device in memory", LoopDevice::new(SIZE)?.path()),
        Kind::Limited => {
            let device = LoopDevice::new(SIZE)?;
            let _limit = KernelThrottle::new(&device, &LIMITS)?;
            row("loop device, 1500 reads and 500 writes a second", device.path())
        }
    }
}

fn on_card<T>(name: &str, row: impl Fn(&str, &Path) -> Result<T>) -> Result<T> {
    let directory = tempfile::tempdir()?;
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1.0,
        block_device: true,
        backing: None,
        log: None,
    };
    let mut server = Server::start(cardproof_sim::find(name)?, Seed::from_bits(1), &options)?;
    let device = server.device().context("the card has no block device")?.to_owned();
    let done = row(&format!("`{name}`, simulated, in real time"), &device);
    server.stop()?;
    done
}

/// Runs the pairs on `device`: their row, and whether the median is near enough.
fn row(
    program: &Path,
    name: &str,
    device: &Path,
    files: u32,
    pairs: usize,
) -> Result<(String, bool)> {
    let mut all = (0..pairs).map(|_| pair(program, device, files)).collect::<Result<Vec<_>>>()?;
    all.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let ratio = |(recorded, replayed): (f64, f64)| replayed / recorded;
    let (recorded, replayed) = all[pairs / 2];
    let median = ratio(all[pairs / 2]);
    let row = format!(
        "| {name} | {recorded:.2} | {replayed:.2} | {median:.3} | {:.3} to {:.3} |",
        ratio(all[0]),
        ratio(all[pairs - 1])
    );
    Ok((row, (median - 1.0).abs() <= WITHIN))
}

/// The seconds of the job and of its replay.
fn pair(program: &Path, device: &Path, files: u32) -> Result<(f64, f64)> {
    let place = tempfile::tempdir()?;
    let trace = place.path().join("job.trace");
    format(device)?;
    let mount = Mount::node(device, Filesystem::Ext4, "")?;
    let mut capture = Command::new(program);
    capture.current_dir(mount.path()).args(["replay", "record", "--output"]).arg(&trace);
    succeed(capture.args(["--", "sh", "-c", JOB]).arg(files.to_string()))?;
    drop(mount);
    clear(device)?;
    let json = place.path().join("record.json");
    let mut replay = Command::new(program);
    let destroy = format!("--destroy={}", identity(device)?);
    replay.args(["replay", "run"]).arg(&trace).arg(device).args([&destroy, "--quiet", "--json"]);
    succeed(replay.arg(&json).env("XDG_DATA_HOME", place.path()))?;
    let record = Record::from_json(&std::fs::read_to_string(&json)?)?;
    let replay = record.replays.first().context("the record has no replay")?;
    Ok((replay.recorded_ns.as_secs_f64(), replay.duration_ns.as_secs_f64()))
}

/// Makes ext4 with everything written now and nothing left for a thread to do later.
fn format(device: &Path) -> Result<()> {
    let lazy = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
    succeed(Command::new("mkfs.ext4").args(["-q", "-F", "-E", lazy]).arg(device))
}

fn clear(device: &Path) -> Result<()> {
    let mut file = OpenOptions::new().write(true).open(device)?;
    file.write_all(&vec![0; SIGNATURES])?;
    file.sync_all()?;
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
