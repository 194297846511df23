//! Speed and cost beside fio on a loop device over a file in memory, which no card comes near.
//!
//! fio runs io_uring both as it comes and with registered buffers and files; for each quantity
//! ours is compared with the better of the two. It writes both fresh data in every block, as
//! cardproof does, and the same buffers again and again; each has rows of its own.

use std::ops::Range;
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
                let fresh = 0..engines.len();
                for row in rows(&runs, fresh, engines[0], pattern, depth, "") {
                    table.add(row);
                }
                if pattern == FioPattern::RandomWrite {
                    let old = engines.len()..2 * engines.len();
                    let note = ", fio without refill_buffers";
                    for row in rows(&runs, old, engines[0], pattern, depth, note) {
                        table.add(row);
                    }
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
    if pattern == FioPattern::RandomWrite {
        for &engine in engines {
            contenders.push(Box::new(move || Ok(job(engine).run_reusing_buffers()?.into())));
        }
    }
    contenders.push(Box::new(|| ours::run(program, &job(engines[0]), None)));
    Rounds::run(&mut contenders, rounds)
}

/// The three rows of one race against `others`. The limits on processor time are set for io_uring at
/// depth 32, reading: there the tool, not the kernel's way to the device, is what costs; and on its own
/// code for every write of fresh data.
fn rows(
    runs: &Rounds,
    others: Range<usize>,
    engine: FioEngine,
    pattern: FioPattern,
    depth: u16,
    note: &str,
) -> [Row; 3] {
    let is_write = pattern == FioPattern::RandomWrite;
    let limited = engine != FioEngine::Psync && depth == 32 && !is_write;
    let cpu_target = |is_limited, limit| match is_limited {
        true => Target::AtMost(limit),
        false => Target::None,
    };
    let name = |what: &str| format!("{engine:?} {pattern:?} depth {depth}{note}: {what}");
    let compare = |better, quantity| runs.compare_with(others.clone(), better, quantity);
    let iops = compare(Better::Higher, |sample| sample.iops);
    let user = compare(Better::Lower, |sample| sample.cpu_user_ns);
    let total = compare(Better::Lower, |sample| sample.cpu_total_ns);
    let user_is_limited = limited || is_write && note.is_empty();
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
        row("user CPU, ns/op", user, 0, cpu_target(user_is_limited, 0.5)),
        row("total CPU, ns/op", total, 0, cpu_target(limited, 0.85)),
    ]
}
