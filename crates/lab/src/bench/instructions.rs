//! The instructions of one operation in the tool's own code, counted by callgrind: cardproof's beside
//! fio's.
//!
//! A count does not depend on what else the machine does. Each figure comes from two runs of different
//! numbers of operations, so that start and end fall out. What the kernel does for an operation is not
//! counted, on either side. Under valgrind threads run one at a time, so a deep queue's counts hold
//! fewer wake-ups than a free run has.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, LoopDevice};
use cardproof_units::Bytes;

use super::null::succeeded;
use super::ours;
use super::table::{Row, Table, Target};

/// fio ends at the end of its range, whatever number of operations it is told.
const SPAN: Bytes = Bytes::mib(256);

/// Operations of the two counted runs.
const COUNTED: [u64; 2] = [20_000, 60_000];

/// fio's psync with so many jobs counts operations for each of them.
const DEPTHS: [u16; 2] = [1, 32];

/// Every engine, pattern and depth.
pub(super) fn run(program: &Path) -> Result<Table> {
    let title = "Instructions of one operation of 4 KiB in the tool's own code (callgrind)";
    let mut table = Table::of_ratios(title);
    let device = LoopDevice::filled(SPAN, 3)?;
    for (engine, pattern) in [
        (FioEngine::Null, FioPattern::RandomRead),
        (FioEngine::Psync, FioPattern::RandomRead),
        (FioEngine::Psync, FioPattern::RandomWrite),
    ] {
        for queue_depth in DEPTHS {
            let target = match engine {
                FioEngine::Null => Path::new("null"),
                _ => device.path(),
            };
            let job = |ops| FioJob {
                target: target.to_owned(),
                engine,
                pattern,
                block_size: Bytes::kib(4),
                span: SPAN,
                queue_depth,
                end: FioEnd::Ops(ops),
            };
            add(&mut table, program, &job)?;
        }
    }
    Ok(table)
}

/// The row of one kind of job; of writes one more, with fio writing the same buffers again.
fn add(table: &mut Table, program: &Path, job: &impl Fn(u64) -> FioJob) -> Result<()> {
    let FioJob { engine, pattern, queue_depth, .. } = job(1);
    let ours = counted(COUNTED, |ops| Ok(ours::command(program, &job(ops), None)?))?;
    // Each of fio's jobs does the number of operations that it is told.
    let jobs = if engine == FioEngine::Psync { u64::from(queue_depth) } else { 1 };
    let fio = |is_fresh: bool| {
        counted(COUNTED, |ops| {
            let job = job(ops / jobs);
            let mut command =
                if is_fresh { job.command(None) } else { job.command_reusing_buffers() };
            // A job in a process of its own would escape the counter.
            if jobs == 1 {
                command.arg("--thread");
            }
            Ok(command)
        })
    };
    let mut row = |what: &str, fio: f64, target| {
        table.add(Row {
            name: format!("{engine:?} {pattern:?} depth {queue_depth}{what}"),
            other: format!("{fio:.0}"),
            ours: format!("{ours:.0}"),
            value: ours / fio,
            range: None,
            target,
        });
    };
    row("", fio(true)?, Target::AtMost(0.5));
    if pattern == FioPattern::RandomWrite {
        row(", fio without refill_buffers", fio(false)?, Target::None);
    }
    Ok(())
}

/// The instructions that one unit more takes, from the commands of two numbers of units.
pub(super) fn counted(
    [few, many]: [u64; 2],
    command: impl Fn(u64) -> Result<Command>,
) -> Result<f64> {
    let (least, most) = (count(&command(few)?)?, count(&command(many)?)?);
    Ok((most as f64 - least as f64) / (many - few) as f64)
}

/// The instructions of a whole run of `command`.
fn count(command: &Command) -> Result<u64> {
    let mut counter = Command::new("valgrind");
    counter.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    counter.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        counter.env(name, value.unwrap_or(OsStr::new("")));
    }
    let usage = succeeded(counter)?;
    collected(&String::from_utf8_lossy(&usage.stderr))
}

/// The number in callgrind's line `Collected : N`.
fn collected(said: &str) -> Result<u64> {
    let lines = said.lines().filter_map(|line| line.split_once("Collected :"));
    let mut numbers = lines.filter_map(|(_, number)| number.trim().parse().ok());
    numbers.next_back().with_context(|| format!("callgrind counted nothing:\n{said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_callgrinds_last_words() {
        let said = "==7== Events    : Ir\n==7== Collected : 51813449\n==7== \n";
        assert_eq!(collected(said).unwrap(), 51_813_449);
        assert!(collected("==7== Events    : Ir\n").is_err());
    }
}
