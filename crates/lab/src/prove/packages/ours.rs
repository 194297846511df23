//! The three jobs as the program does them, each in full on a file system of its own.
//!
//! What a job lays out before it is not recorded, nor that it writes the archives: the real ones
//! are downloaded before as well.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use cardproof_io::scratch::Scratch;
use cardproof_jobs::{Job, Timing, find};
use cardproof_record::PhaseState;
use cardproof_runner::run_job;
use cardproof_units::{Nanos, Seed};

use super::JOBS;
use super::stage::{Seen, Stage, Watch};

/// The step that the real jobs have behind them.
const BEFORE: &str = "archives";

/// Does all three.
///
/// # Errors
/// The machine cannot do it, or a job did not reach its end.
pub(super) fn run(program: &Path) -> Result<[Seen; 3]> {
    let [install, remove, reinstall] = JOBS;
    Ok([one(program, install)?, one(program, remove)?, one(program, reinstall)?])
}

fn one(program: &Path, name: &str) -> Result<Seen> {
    let (seen, _) = on(&Stage::new()?, program, name)?;
    eprintln!("{name}: {}", seen.line());
    Ok(seen)
}

/// Does the job `name` on `stage`: what the device has seen, and the seconds that the job took in
/// the steps that were recorded and to settle.
///
/// # Errors
/// As [`run`].
pub(super) fn on(stage: &Stage, program: &Path, name: &str) -> Result<(Seen, f64)> {
    let job = find(name).with_context(|| format!("no job {name}"))?;
    let first = first_step(&job).with_context(|| format!("no step of {name} counts"))?;
    let scratch = Scratch::create(stage.path(), None)?;
    let mut tree = scratch.create_tree()?;
    let seed = Seed::from_bits(1);
    let totals = job.totals(seed);
    let stop = AtomicBool::new(false);
    let mut watch: Option<Result<Watch>> = None;
    let run = run_job(
        &mut tree,
        &job,
        &totals,
        seed,
        &mut |progress| {
            if progress.step == first && watch.is_none() {
                let begun = stage.begin(program);
                stop.store(begun.is_err(), Ordering::Relaxed);
                watch = Some(begun);
            }
        },
        &stop,
        None,
    );
    let seen = watch.context("the job told nothing of its steps")??.end()?;
    drop(tree);
    scratch.remove()?;
    ensure!(run.state == PhaseState::Measured, "{name}: {:?}", run.state);
    let recorded = run.steps.iter().filter(|step| step.name != BEFORE);
    let steps: f64 = recorded.map(|step| step.duration_ns.as_secs_f64()).sum();
    Ok((seen, steps + run.settle_ns.map_or(0.0, Nanos::as_secs_f64)))
}

/// The first step that is recorded.
fn first_step(job: &Job) -> Option<usize> {
    job.steps.iter().position(|step| step.timing == Timing::Counts && step.name != BEFORE)
}
