//! `cargo xtask prove sqlite`: what a transaction of one row costs the storage in each journal
//! mode, beside published figures.
//!
//! The database is on ext4 on a loop device in memory; writes, bytes and flushes are those that the
//! kernel counts for that device (`/sys/block/NAME/stat`) between the beginning and the end of a
//! run. Needs root.

use std::fs;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use cardproof_sqlite::{Database, Limits, ROWS, Setting};
use cardproof_testkit::{Filesystem, LoopDevice, Mount};
use cardproof_units::{Bytes, Nanos, Seed};

use super::{Asked, DependsOn, Proof, Proved, Rows};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "sqlite",
    shows: "what a transaction costs the storage in each journal mode",
    document: "docs/design/sqlite.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[],
    run,
};

/// How many transactions are counted, all in one run from the mode's beginning.
const TRANSACTIONS: u32 = 1000;

/// Published costs of a transaction on ext4: writes, KiB (from, to), flushes. They were measured by
/// tracing the block layer under a table of single-row transactions.
const PUBLISHED: [(&str, f64, (f64, f64), f64); 5] = [
    ("delete", 9.1, (66.0, 100.0), 4.1),
    ("truncate", 11.1, (79.0, 79.0), 6.1),
    ("persist", 14.0, (50.0, 50.0), 6.1),
    ("wal-full", 2.5, (26.0, 26.0), 1.5),
    ("wal-normal", 0.04, (9.0, 9.0), 0.01),
];

/// What the kernel counted.
#[derive(Clone, Copy, Debug)]
struct Counts {
    writes: f64,
    kibibytes: f64,
    flushes: f64,
}

/// Counts for every mode and shows each row when it is known.
fn run(_: &Asked) -> Result<Proved> {
    Ok(Proved { tables: table()?, holds: true })
}

fn table() -> Result<String> {
    let device = LoopDevice::new(Bytes::mib(512))?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    let go_on = AtomicBool::new(false);
    let mut database = Database::lay_out(mount.path(), ROWS, Seed::from_bits(1), &go_on)?;
    let mut rows = Rows::below(
        "| mode | writes: here | published | KiB: here | published | flushes: here | published |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    )?;
    for (name, writes, (low, high), flushes) in PUBLISHED {
        let setting = Setting::find(name).context("no such mode")?;
        let counts = count(&mut database, setting, &device, &go_on)?;
        let bytes = if low < high { format!("{low} to {high}") } else { low.to_string() };
        rows.add(&format!(
            "| {name} | {} | {writes} | {} | {bytes} | {} | {flushes} |",
            digits(counts.writes),
            digits(counts.kibibytes),
            digits(counts.flushes),
        ))?;
    }
    Ok(rows.into_text())
}

/// What one transaction in `setting` costs, on average over a run.
fn count(
    database: &mut Database,
    setting: Setting,
    device: &LoopDevice,
    stop: &AtomicBool,
) -> Result<Counts> {
    let limits = Limits { transactions: TRANSACTIONS, time: Nanos::from_secs(600) };
    // A short run first leaves the mode set up, and nothing of the one before to be written.
    let short = Limits { transactions: 1, ..limits };
    database.run(setting, short, 0.99, &|| Nanos::ZERO, stop);
    sync_all()?;
    let before = read(device)?;
    let run = database.run(setting, limits, 0.99, &|| Nanos::ZERO, stop);
    let after = read(device)?;
    ensure!(run.transactions == u64::from(TRANSACTIONS), "{}: {:?}", setting.name(), run.end);
    let each = |index: usize| (after[index] - before[index]) as f64 / f64::from(TRANSACTIONS);
    Ok(Counts { writes: each(4), kibibytes: each(6) / 2.0, flushes: each(15) })
}

/// Has everything written that waits to be.
fn sync_all() -> Result<()> {
    ensure!(std::process::Command::new("sync").status()?.success(), "sync failed");
    Ok(())
}

/// The kernel's counters of `device` (Documentation/block/stat.rst): the fifth is writes, the
/// seventh sectors of 512 bytes written, the sixteenth flushes.
fn read(device: &LoopDevice) -> Result<Vec<u64>> {
    let path = format!("/sys/block/{}/stat", device.name());
    let text = fs::read_to_string(&path)?;
    let counters: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    ensure!(counters.len() > 15, "{path} tells of no flushes; Linux 5.5 is needed");
    Ok(counters)
}

/// A decimal where it means something, and more where there is nothing before it.
fn digits(value: f64) -> String {
    if value < 1.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}
