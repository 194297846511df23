//! `cardproof run`: a profile's phases, a job on files, or SQLite's journal modes.

use cardproof_jobs as jobs;
use cardproof_runner::Repeat;
use cardproof_session::{JobOnFiles, Phases, sqlite};
use cardproof_workload::application;

use crate::args::{EngineArg, RunArgs};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, measure};
use crate::profile_choice;
use crate::signals::Signals;

/// The most runs before steady state (SNIA PTS: 25).
const STEADY_RUNS_MAX: u32 = 25;

/// The fewest runs of which it can be told whether they are steady.
const STEADY_RUNS_MIN: u32 = cardproof_stats::STEADY_WINDOW as u32;

/// Measures what `args` name.
pub(crate) fn run(args: &RunArgs, signals: &Signals) -> Result<Exit, Failure> {
    let request = request(args);
    if let Some(runs) = args.repeat.filter(|&runs| args.until_steady && runs < STEADY_RUNS_MIN) {
        return Err(Failure::usage(format!(
            "--until-steady judges the last {STEADY_RUNS_MIN} runs, so --repeat {runs} is too few; give \
             --repeat {STEADY_RUNS_MIN} or more, or leave it out"
        )));
    }
    let name = profile_choice::canonical(&args.profile);
    if let Some(job) = jobs::find(name) {
        check_for_job(args, job.name)?;
        return measure(JobOnFiles::new(job), &request, signals);
    }
    if name == sqlite::NAME {
        check_for_job(args, sqlite::NAME)?;
        return measure(sqlite::JournalModes::new()?, &request, signals);
    }
    let without_queue_or_cache =
        (name == "a2").then(|| application::a1().with_confidence(args.confidence));
    let phases = Phases {
        profile: profile_choice::profile(args)?,
        without_queue_or_cache,
        time_budget: args.time_budget,
        repeat: repeat(args),
        capacity: None,
    };
    measure(phases, &request, signals)
}

fn request(args: &RunArgs) -> Request<'_> {
    Request {
        target: &args.target,
        label: args.label.as_ref(),
        size: args.size,
        seed: args.seed,
        access: &args.access,
        expect_device: args.expect_device.as_ref(),
        require: &args.require,
        output: &args.output,
        quiet: args.quiet,
    }
}

/// How often to run it.
fn repeat(args: &RunArgs) -> Repeat {
    let runs = match args.repeat {
        Some(runs) => runs,
        None if args.until_steady => STEADY_RUNS_MAX,
        None => Repeat::ONCE.runs,
    };
    Repeat { runs, until_steady: args.until_steady }
}

/// Refuses options that go with phases and not with the job called `name`.
fn check_for_job(args: &RunArgs, name: &str) -> Result<(), Failure> {
    let refused = |option: &str, why: &str| {
        Err(Failure::usage(format!("{option} does not go with {name}: {why}; leave it out")))
    };
    if args.time_budget.is_some() {
        return refused("--time-budget", "it does a fixed amount of work, however long it takes");
    }
    if args.repeat.is_some() || args.until_steady {
        return refused("--repeat or --until-steady", "a job is run once; run it again by itself");
    }
    if !args.require.is_empty() {
        return refused("--require", "no class is defined by a job");
    }
    if args.access.engine != EngineArg::Auto {
        return refused("--engine", "it uses files as programs do, by plain calls");
    }
    Ok(())
}
