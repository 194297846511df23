//! Speed and cost beside fio on a loop device over a file in memory, which no card comes near.
//!
//! fio runs io_uring both as it comes and with registered buffers and files; for each quantity
//! ours is compared with the better of the two.

use std::path::Path;

use anyhow::Result;
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, LoopDevice};
use cardproof_units::{Bytes, Nanos};

use super::ours;
use super::rounds::{Better, Contender, Rounds};
use super::table::{Row, Table, Target};

/// The whole device.
const SPAN: Bytes = Bytes::mib(256);

/// Each run. Processors change their pace by the second, so many short pairs tell more than a few
/// long ones.
const TIME: Nanos = Nanos::from_secs(1);

/// How many rounds for each that was asked for.
const ROUNDS_EACH: usize = 2;

/// Every engine, pattern and depth.
pub(super) fn run(program: &Path, rounds: usize) -> Result<Table> {
    let mut table = Table::of_ratios("Beside fio on a loop device in memory, 4 KiB random");
    let device = LoopDevice::filled(SPAN, 2)?;
    for engines in [&[FioEngine::Psync][..], &[FioEngine::IoUring, FioEngine::IoUringFixed]] {
        for pattern in [FioPattern::RandomRead, FioPattern::RandomWrite] {
            for depth in [1, 32] {
                let runs = race(program, &device, engines, pattern, depth, rounds * ROUNDS_EACH)?;
                for row in rows(&runs, engines[0], pattern, depth) {
                    table.add(row);
                }
            }
        }
    }
    Ok(table)
}

/// Runs fio in each way of `engines`, and ours in the way of the first.
fn race(
    program: &Path,
    device: &LoopDevice,
    engines: &[FioEngine],
    pattern: FioPattern,
    queue_depth: u16,
    rounds: usize,
) -> Result<Rounds> {
    let job = |engine| FioJob {
        target: device.path().to_owned(),
        engine,
        pattern,
        block_size: Bytes::kib(4),
        span: SPAN,
        queue_depth,
        end: FioEnd::Time(TIME),
    };
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for &engine in engines {
        contenders.push(Box::new(move || Ok(job(engine).run(None)?.into())));
    }
    contenders.push(Box::new(|| ours::run(program, &job(engines[0]), None)));
    Rounds::run(&mut contenders, rounds)
}

/// The three rows of one race. The limits on processor time are set for io_uring at depth 32,
/// reading: there the tool, not the kernel's way to the device, is what costs.
fn rows(runs: &Rounds, engine: FioEngine, pattern: FioPattern, depth: u16) -> [Row; 3] {
    let limited = engine != FioEngine::Psync && depth == 32 && pattern == FioPattern::RandomRead;
    let cpu_target = |limit| if limited { Target::AtMost(limit) } else { Target::None };
    let name = |what: &str| format!("{engine:?} {pattern:?} depth {depth}: {what}");
    let iops = runs.compare(Better::Higher, |sample| sample.iops);
    let user = runs.compare(Better::Lower, |sample| sample.cpu_user_ns);
    let total = runs.compare(Better::Lower, |sample| sample.cpu_total_ns);
    let row = |what: &str, comparison: super::rounds::Comparison, decimals: usize, target| Row {
        name: name(what),
        other: format!("{:.decimals$}", comparison.other),
        ours: format!("{:.decimals$}", comparison.ours),
        value: comparison.ratio,
        range: Some(comparison.range),
        target,
    };
    [
        row("IOPS", iops, 0, Target::AtLeast(1.0)),
        row("user CPU, ns/op", user, 0, cpu_target(0.5)),
        row("total CPU, ns/op", total, 0, cpu_target(0.85)),
    ]
}
