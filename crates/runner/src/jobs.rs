//! Runs a job on files: does each operation when the one before is done, as the program does that
//! the job follows, and says how long that took.
//!
//! Only the time of the steps that count is the job's. What the file system writes later, on its
//! own, is waited for afterwards and told apart. The first fault ends the job without a time: half
//! an installation is no measurement.

mod drive;
mod tally;
mod watch;

use std::sync::atomic::AtomicBool;

use cardproof_io::files::{FileFault, FileTree};
use cardproof_jobs::{FileOp, Job, Totals};
use cardproof_record::{JobPart, JobPartStep, JobRun, PhaseState, Warning, WarningCause};
use cardproof_units::{Nanos, Seed, with_causes};

use crate::monitor::Watcher;
use drive::Drive;
use tally::Tally;
pub use watch::JobWatch;

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobProgress {
    /// The step's place in the job.
    pub step: usize,
    /// Operations done.
    pub ops: u64,
    /// Of so many.
    pub ops_of: u64,
    /// The time since the job's start, its preparation included.
    pub elapsed: Nanos,
}

/// Why a job did not reach its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    /// An operation failed.
    #[error(transparent)]
    File(#[from] FileFault),
    /// An operation on a file that is not open; a fault of the job's.
    #[error("the job uses the file {0}, which it has not opened; this is a fault of cardproof")]
    NotOpen(u8),
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
}

/// Runs `job`, of which `totals` were counted, in `tree`, which is empty, and tells `progress`
/// before each step, whose time has not begun then, and now and then. What `watcher` sees while the
/// steps that count are done is kept with the figures.
///
/// It ends with the job, when `stop` turns true ([`PhaseState::Partial`]), or with the first fault
/// ([`PhaseState::NotMeasured`] with the cause and without a time). The files stay.
pub fn run_job(
    tree: &mut FileTree,
    job: &Job,
    totals: &Totals,
    seed: Seed,
    progress: &mut dyn FnMut(JobProgress),
    stop: &AtomicBool,
    watcher: Option<Watcher<'_>>,
) -> JobRun {
    let mut run = blank(job, totals, seed);
    let Some(mut tally) = Tally::new(job.steps) else {
        let cause = "there is no memory for its figures".to_owned();
        return JobRun { state: PhaseState::NotMeasured { cause }, ..run };
    };
    let mut watch = JobWatch::new(watcher);
    let mut drive = Drive::new(tree, seed, &mut tally, &mut watch, stop);
    let done = drive.run(job.stream(seed), totals.ops, progress);
    let links_left_out = drive.links_left_out();
    run.bytes_written_in_all = tally.bytes_written_in_all;
    run.state = match done {
        Ok(()) => PhaseState::Measured,
        Err(JobError::Stopped) => PhaseState::Partial,
        Err(error) => {
            let why = with_causes(&error);
            let cause = match tally.step_name() {
                Some(step) => format!("in the step {step}: {why}"),
                None => why,
            };
            return JobRun { state: PhaseState::NotMeasured { cause }, ..run };
        }
    };
    tally.put_into(&mut run);
    if run.state == PhaseState::Measured {
        // A job that empties the cache before it reads means to read from the storage.
        run.empties_cache = job.stream(seed).any(|op| matches!(op, FileOp::DropCache(_)));
        run.warnings = warnings(&run, links_left_out);
    }
    watch.note(&mut run);
    run
}

fn blank(job: &Job, totals: &Totals, seed: Seed) -> JobRun {
    let run = JobRun::begun(job.name.to_owned(), job.version, job.deed.clone());
    JobRun { part_of: part_of(job, totals, seed), ..run }
}

fn part_of(job: &Job, totals: &Totals, seed: Seed) -> Option<JobPart> {
    let whole = job.whole()?;
    let of_whole = whole.totals(seed);
    Some(JobPart {
        name: whole.name.to_owned(),
        syncs_ratio: ratio(of_whole.syncs, totals.syncs),
        steps: part_steps(job, &whole, seed),
    })
}

/// How much more there is to do in each step of `whole` than in the same of `part`.
fn part_steps(part: &Job, whole: &Job, seed: Seed) -> Vec<JobPartStep> {
    let (few, many) = (part.step_totals(seed), whole.step_totals(seed));
    let steps = part.steps.iter().zip(few.iter().zip(&many));
    steps
        .filter(|(spec, _)| spec.counts())
        .map(|(spec, (few, many))| JobPartStep {
            name: spec.name.to_owned(),
            syncs_ratio: ratio(many.syncs, few.syncs),
            calls_ratio: ratio(many.calls, few.calls),
        })
        .collect()
}

fn ratio(many: u64, few: u64) -> f64 {
    many as f64 / (few as f64).max(1.0)
}

/// What speaks against the time by facts alone: nothing here depends on a threshold.
fn warnings(run: &JobRun, links_left_out: u64) -> Vec<Warning> {
    let is_untold = run.empties_cache && run.bytes_from_storage.is_none();
    let cached = is_untold.then_some(WarningCause::ReadsUntold);
    let links =
        (links_left_out > 0).then_some(WarningCause::LinksLeftOut { links: links_left_out });
    cached.into_iter().chain(links).map(Warning::from).collect()
}
