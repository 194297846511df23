//! One job on one file system.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use cardproof_io::files::FileTree;
use cardproof_io::scratch::Scratch;
use cardproof_jobs::{self as jobs, Job};
use cardproof_record::{JobRun, PhaseState};
use cardproof_sqlite::{Database, End, Limits, Setting};
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use super::contest::{CONFIDENCE, Task, Turn};
use super::modes;
use crate::target::of_scratch;

/// How many rows the table has: each turn lays it out anew.
const ROWS: u32 = 5000;

/// When the transactions end.
const TRANSACTIONS: Limits = Limits { transactions: 200, time: Nanos::from_secs(10) };

/// The user would have it end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// Does `task` in a fresh directory of our own in `directory`, whose contents follow from `seed`.
pub(super) fn perform(
    task: Task,
    directory: &Path,
    seed: Seed,
    stop: &AtomicBool,
) -> Result<Turn, Stopped> {
    let scratch = match Scratch::create(directory, None) {
        Ok(scratch) => scratch,
        Err(error) => return Ok(Err(of_scratch(&error).kind.in_record().to_owned())),
    };
    let turn = match scratch.create_tree() {
        Ok(mut tree) => match task.job() {
            Some(job) => do_job(&job, task, &mut tree, seed, stop),
            None => commit(&tree, seed, stop),
        },
        Err(error) => Ok(Err(of_scratch(&error).kind.in_record().to_owned())),
    };
    // The file system itself goes with the turn, or the next run finds what stays.
    let _ = scratch.remove();
    turn
}

/// What `task` writes at most, roughly, the file system's own share included.
pub(super) fn writes(task: Task) -> Bytes {
    match task.job() {
        Some(job) => {
            let totals = job.totals(Seed::from_bits(0));
            totals.bytes_written_in_all + Bytes(totals.syncs * Bytes::kib(24).get())
        }
        None => {
            let each = Setting::DEFAULT.bytes_a_transaction().get();
            Bytes(each * u64::from(TRANSACTIONS.transactions)) + Bytes::mib(4)
        }
    }
}

impl Task {
    /// The job of files that it is, unless it is none.
    fn job(self) -> Option<Job> {
        match self {
            Self::SyncedWrites => jobs::find("fsync-4k"),
            Self::Browser => jobs::find("browser"),
            Self::Packages => jobs::find("package-install").map(|job| job.shorter().unwrap_or(job)),
            Self::Transactions => None,
        }
    }
}

fn do_job(
    job: &Job,
    task: Task,
    tree: &mut FileTree,
    seed: Seed,
    stop: &AtomicBool,
) -> Result<Turn, Stopped> {
    let totals = job.totals(seed);
    let run = cardproof_runner::run_job(tree, job, &totals, seed, &mut |_| {}, stop, None);
    match &run.state {
        PhaseState::Partial => Err(Stopped),
        PhaseState::NotMeasured { cause } => Ok(Err(cause.clone())),
        PhaseState::Unknown => Ok(Err("the job ended in an unknown state".to_owned())),
        PhaseState::Measured => Ok(rate(&run, task)),
    }
}

/// The rate of a whole job, or of its writes.
fn rate(run: &JobRun, task: Task) -> Turn {
    let count = match task {
        Task::SyncedWrites => run.syncs.as_ref().map_or(0, |syncs| syncs.count) as f64,
        Task::Transactions | Task::Browser | Task::Packages => 1.0,
    };
    let rate = count / run.duration_ns.as_secs_f64();
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("it took no time".to_owned()) }
}

/// Transactions with SQLite's default journal.
fn commit(tree: &FileTree, seed: Seed, stop: &AtomicBool) -> Result<Turn, Stopped> {
    let mut database = match Database::lay_out(&tree.path_by_handle(), ROWS, seed, stop) {
        Ok(database) => database,
        Err(cardproof_sqlite::DatabaseError::Stopped) => return Err(Stopped),
        Err(error) => return Ok(Err(with_causes(&error))),
    };
    let run = database.run(Setting::DEFAULT, TRANSACTIONS, CONFIDENCE, &|| tree.now(), stop);
    if run.end == End::Stopped { Err(Stopped) } else { Ok(modes::turn(&run)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_a_missing_figure_has_no_path() {
        let place = Path::new("/home/ann/no-such-place");
        let (seed, never) = (Seed::from_bits(1), AtomicBool::new(false));
        let turn = perform(Task::SyncedWrites, place, seed, &never).unwrap();
        let cause = turn.unwrap_err();
        assert_eq!(cause, "the place is not there, or cannot be used so");
    }
}
