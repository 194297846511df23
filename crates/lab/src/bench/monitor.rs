//! What the monitor beside a run costs: the same phase by cardproof without it and with it, in
//! turn, on a device that the kernel limits and on one in memory, which no card comes near.

use std::cell::RefCell;
use std::path::Path;

use anyhow::Result;
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, Limits, LoopDevice, Throttle};
use cardproof_units::{Bytes, Nanos};

use super::ours;
use super::rounds::{Better, Comparison, Contender, Rounds, median, range};
use super::table::{Row, Table, Target};

const SPAN: Bytes = Bytes::mib(256);

/// How far the median ratio of rates may be from one.
const MARGIN: f64 = 0.01;

/// The most of one processor that the monitor's thread may use.
const CPU_MAX: f64 = 0.005;

/// Processors change their pace by the second, so many short pairs tell more than a few long ones.
const PAIRS_EACH: usize = 3;

/// Rates with and without, and the processor time of the thread by its own clock.
pub(super) fn run(program: &Path, rounds: usize) -> Result<Table> {
    let mut table = Table::of_own_ratios("The monitor beside a run");
    let device = LoopDevice::filled(SPAN, 1)?;
    let shares = RefCell::new(Vec::new());
    let limits = Limits { read_iops: Some(1500), write_iops: Some(500), ..Limits::default() };
    for (name, limits, depth, time, rounds) in [
        ("1500/500, depth 1", Some(limits), 1, Nanos::from_secs(3), rounds),
        ("in memory, depth 1", None, 1, Nanos::from_secs(2), rounds * PAIRS_EACH),
        ("in memory, depth 32", None, 32, Nanos::from_secs(2), rounds * PAIRS_EACH),
    ] {
        let job = job(&device, depth, time);
        let fresh = || limits.as_ref().map(|limits| Throttle::new(&device, limits)).transpose();
        let mut contenders: [Contender<'_>; 2] = [
            Box::new(|| ours::run(program, &job, fresh()?.as_ref())),
            Box::new(|| {
                let (sample, share) = ours::run_monitored(program, &job, fresh()?.as_ref())?;
                shares.borrow_mut().push(share);
                Ok(sample)
            }),
        ];
        let runs = Rounds::run(&mut contenders, rounds)?;
        table.add(rate_row(name, runs.compare(Better::Higher, |sample| sample.iops)));
    }
    table.add(cpu_row(&shares.borrow()));
    Ok(table)
}

fn job(device: &LoopDevice, queue_depth: u16, time: Nanos) -> FioJob {
    FioJob {
        target: device.path().to_owned(),
        engine: FioEngine::IoUring,
        pattern: FioPattern::RandomRead,
        block_size: Bytes::kib(4),
        span: SPAN,
        queue_depth,
        end: FioEnd::Time(time),
    }
}

fn rate_row(name: &str, comparison: Comparison) -> Row {
    Row {
        name: format!("{name}: IOPS without and with"),
        other: format!("{:.0}", comparison.other),
        ours: format!("{:.0}", comparison.ours),
        value: comparison.ratio,
        range: Some(comparison.range),
        target: Target::OneWithin(MARGIN),
    }
}

/// In per cent of one processor.
fn cpu_row(shares: &[f64]) -> Row {
    let percent: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
    Row {
        name: "processor time of its thread, % of one".to_owned(),
        other: String::new(),
        ours: format!("{:.3}", median(&percent)),
        value: median(&percent),
        range: Some(range(&percent)),
        target: Target::AtMost(100.0 * CPU_MAX),
    }
}
