//! The tool's own speed: a target that does nothing, beside fio's engine that does nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, Usage};
use cardproof_units::{Bytes, Nanos};

use super::ours;
use super::rounds::{Better, Contender, Rounds, median, range};
use super::table::{Row, Table, Target};

/// Each timed run. Processors change their pace by the second, so many short pairs tell more than
/// a few long ones.
const TIME: FioEnd = FioEnd::Time(Nanos::from_millis(700));

/// How many pairs for each that was asked for.
const PAIRS_EACH: usize = 3;

/// What both do at `queue_depth`, until `end`.
fn job(queue_depth: u16, end: FioEnd) -> FioJob {
    FioJob {
        target: "null".into(),
        engine: FioEngine::Null,
        pattern: FioPattern::RandomRead,
        block_size: Bytes::kib(4),
        span: Bytes::gib(1),
        queue_depth,
        end,
    }
}

/// Operations a second, memory, and the time of a whole process for one block.
pub(super) fn run(program: &Path, rounds: usize) -> Result<Table> {
    let mut table = Table::of_ratios("The tool itself: null target beside fio --ioengine=null");
    for depth in [1, 32] {
        table.add(speed(program, depth, rounds * PAIRS_EACH)?);
    }
    let long = job(32, TIME);
    let short = job(1, FioEnd::Ops(1));
    let memory = |usage: &Usage| usage.memory_peak.as_f64() / 1_048_576.0;
    let time = |usage: &Usage| usage.elapsed.as_millis_f64();
    table.add(usage_row("peak memory, MiB", program, &long, rounds, memory)?);
    table.add(usage_row("one block, start to finish, ms", program, &short, rounds, time)?);
    Ok(table)
}

/// Operations a second, latencies recorded in full.
fn speed(program: &Path, queue_depth: u16, rounds: usize) -> Result<Row> {
    let long = job(queue_depth, TIME);
    let mut contenders: [Contender<'_>; 2] =
        [Box::new(|| Ok(long.run(None)?.into())), Box::new(|| ours::run(program, &long, None))];
    let runs = Rounds::run(&mut contenders, rounds)?;
    let comparison = runs.compare(Better::Higher, |sample| sample.iops);
    Ok(Row {
        name: format!("depth {queue_depth}: operations a second, millions"),
        other: format!("{:.2}", comparison.other / 1e6),
        ours: format!("{:.2}", comparison.ours / 1e6),
        value: comparison.ratio,
        range: Some(comparison.range),
        target: Target::AtLeast(2.0),
    })
}

/// A figure of whole processes, fio's and ours in turn.
fn usage_row(
    name: &str,
    program: &Path,
    job: &FioJob,
    rounds: usize,
    figure: impl Fn(&Usage) -> f64,
) -> Result<Row> {
    let (mut others, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let fio_first = round % 2 == 0;
        for is_fio in [fio_first, !fio_first] {
            if is_fio {
                others.push(figure(&succeeded(job.command(None))?));
            } else {
                ours.push(figure(&succeeded(ours::command(program, job, None)?)?));
            }
        }
    }
    let ratios: Vec<f64> = ours.iter().zip(&others).map(|(ours, other)| ours / other).collect();
    Ok(Row {
        name: name.to_owned(),
        other: format!("{:.1}", median(&others)),
        ours: format!("{:.1}", median(&ours)),
        value: median(&ratios),
        range: Some(range(&ratios)),
        target: Target::AtMost(1.0),
    })
}

/// What the process of `command` cost, if it succeeded.
pub(super) fn succeeded(command: Command) -> Result<Usage> {
    let program = command.get_program().to_string_lossy().into_owned();
    let usage = Usage::measure(command)?;
    if !usage.status.success() {
        bail!("{program} ended with {}: {}", usage.status, String::from_utf8_lossy(&usage.stderr));
    }
    Ok(usage)
}
