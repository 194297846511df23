//! `cardproof run --profile` with the name of a job: what a real program does, done on files in a
//! directory, and how long it took.
//!
//! The same safety as for every run: everything happens in a fresh directory of our own, is
//! announced before the first write, takes no more than a tenth of the free space unasked, and goes
//! at the end.

mod view;

use cardproof_record::{
    Conditions, Job as TimedJob, JobRun, Monitor, PhaseState, ProfileInfo, Record, State,
    TargetInfo, TargetKind,
};
use cardproof_runner::Watcher;
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::jobs::{Form, Job, Totals};

use crate::args::RunArgs;
use crate::engine::EngineArg;
use crate::exit::{Exit, Failure};
use crate::monitor::Beside;
use crate::result;
use crate::run::{blank, fresh_name, random_bits};
use crate::signals::Signals;
use crate::store::Store;
use crate::talk::Talk;
use crate::target::{OpenedTree, Wanted, open_tree};
use view::JobView;

/// What the engine is called that uses files as programs do.
const ENGINE: &str = "files";

/// A job and what it will do.
struct Chosen {
    job: Job,
    totals: Totals,
}

impl Chosen {
    fn new(job: Job, seed: Seed) -> Self {
        let totals = job.totals(seed);
        Self { job, totals }
    }

    /// The room that its files need: an eighth more, for what the file system needs itself.
    fn room(&self) -> Bytes {
        let peak = self.totals.space_peak.get();
        Bytes(peak.saturating_add(peak / 8)).max(Bytes::mib(1))
    }
}

/// Runs `job` in the directory that `args` name.
pub(crate) fn run(args: &RunArgs, job: Job, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    check(args, job.name)?;
    result::check_outputs(&args.output)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let (chosen, opened) = open(args, job, seed, talk)?;
    let store = Store::open()?;
    let OpenedTree { mut tree, surroundings, scratch, .. } = opened;
    let conditions = Conditions {
        target: target_info(&chosen.totals),
        device: surroundings.device,
        host: surroundings.host,
        filesystem: surroundings.filesystem,
        settings: surroundings.settings,
        unknown: surroundings.unknown,
        extra: Default::default(),
    };
    let (id, created) = fresh_name()?;
    let mut record = blank(profile(&chosen.job), seed, conditions, id, created);
    announce(args, &chosen, &record, talk);
    // What a killed run leaves is found as a record that did not end.
    store.save(&record)?;
    let mut view = JobView::new(talk, chosen.job.steps);
    let usage = cardproof_io::usage();
    let mut beside = Beside::start(record.conditions.device.name.as_deref());
    let filesystem = record.conditions.filesystem.as_ref().map(|known| &*known.kind);
    let run = cardproof_runner::run_job(
        &mut tree,
        &chosen.job,
        &chosen.totals,
        seed,
        &mut |progress| view.progress(progress),
        signals.stop(),
        beside.as_mut().map(|monitor| Watcher { monitor, filesystem }),
    );
    drop(beside);
    view.finish();
    record.monitor = cost(usage);
    drop(tree);
    if let Err(left) = scratch.remove() {
        talk.note(&left.to_string());
    }
    fill(&mut record, run);
    let unsaved = store.save(&record).err();
    result::publish(&record, &store, &args.output, talk)?;
    match unsaved {
        Some(failure) => Err(failure),
        None => Ok(exit_of(&record, signals)),
    }
}

/// What goes with phases and not with the job called `name`.
pub(crate) fn check(args: &RunArgs, name: &str) -> Result<(), Failure> {
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

/// The job, or its short form where there is no room for all of it, and a place for it.
fn open(args: &RunArgs, job: Job, seed: Seed, talk: Talk) -> Result<(Chosen, OpenedTree), Failure> {
    let whole = Chosen::new(job, seed);
    let short = whole.job.shorter().map(|job| Chosen::new(job, seed));
    let least = short.as_ref().map_or(whole.room(), Chosen::room);
    let wanted = Wanted {
        target: &args.target,
        size: args.size,
        access: &args.access,
        expect_device: args.expect_device.as_deref(),
        keeping: Keeping::Nothing,
    };
    let opened = open_tree(&wanted, whole.room(), least, &talk)?;
    match short {
        Some(short) if opened.room < whole.room() => {
            talk.note(&format!(
                "All of {} needs room for {}, and {} may be taken: doing its short form, {}. \
                 --size allows more.",
                whole.job.name,
                whole.room(),
                opened.room,
                short.job.name
            ));
            Ok((short, opened))
        }
        _ => Ok((whole, opened)),
    }
}

fn target_info(totals: &Totals) -> TargetInfo {
    TargetInfo {
        kind: TargetKind::Directory,
        size_bytes: totals.space_peak,
        engine: ENGINE.to_owned(),
        direct: false,
        buffered_reason: Some("as programs use files".to_owned()),
        ..TargetInfo::default()
    }
}

fn profile(job: &Job) -> ProfileInfo {
    ProfileInfo {
        name: job.name.to_owned(),
        version: job.version,
        time_budget_ns: Nanos::ZERO,
        extra: Default::default(),
    }
}

/// Says what will be done, and written, before the first write.
fn announce(args: &RunArgs, chosen: &Chosen, record: &Record, talk: Talk) {
    let Chosen { job, totals } = chosen;
    let whole = args.target.canonicalize();
    let name = whole.as_deref().unwrap_or(&args.target).display();
    talk.note(&format!("Measuring {name}: {}.", cardproof_report::title(record)));
    let whole = job.whole().filter(|_| job.form == Form::Short);
    let part = whole.map_or(String::new(), |whole| format!(" (a part of {})", whole.name));
    talk.note(&format!(
        "The job: {}{part}. Takes as long as the storage needs; writes {} to {} files of at most {} in \
         all, which are removed afterwards.",
        job.deed, totals.bytes_written_in_all, totals.files, totals.space_peak
    ));
    job.notes.iter().for_each(|note| talk.note(note));
}

/// What the job has cost since `before`.
pub(crate) fn cost(before: cardproof_io::Usage) -> Monitor {
    let now = cardproof_io::usage();
    Monitor {
        cpu_user_ns: Some(now.cpu_user.saturating_sub(before.cpu_user)),
        cpu_system_ns: Some(now.cpu_system.saturating_sub(before.cpu_system)),
        memory_peak_bytes: Some(now.memory_peak),
        ..Monitor::default()
    }
}

/// Puts `run` into its record. Only a whole run is a job's time.
fn fill(record: &mut Record, run: JobRun) {
    record.bytes_written = run.bytes_written_in_all;
    record.bytes_read = run.bytes_read;
    record.state = match run.state {
        PhaseState::Measured => State::Complete,
        PhaseState::Partial => State::Partial,
        PhaseState::NotMeasured { .. } => State::Failed,
    };
    if run.state == PhaseState::Measured {
        // Published times are of real systems' jobs, and ours are of what they do to the storage.
        let name = format!("job-{}", run.name);
        record.jobs.push(TimedJob { name, duration_ns: run.duration_ns });
    }
    record.job_runs.push(run);
}

pub(crate) fn exit_of(record: &Record, signals: &Signals) -> Exit {
    match (&record.state, signals.exit()) {
        (State::Partial, Some(exit)) => exit,
        (State::Complete, _) => Exit::Done,
        _ => Exit::Incomplete,
    }
}
