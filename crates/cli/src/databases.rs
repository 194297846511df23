//! `cardproof run --profile sqlite`: how many transactions a second a real SQLite makes in each
//! journal mode, on the file system of a directory.
//!
//! The same safety as for every job. The modes that can lose a database are not among these; they
//! are for `compare-setups`, where they are named.

use std::sync::atomic::AtomicBool;

use cardproof_io::Usage;
use cardproof_io::files::{FileTree, written_for_storage};
use cardproof_record::{
    Conditions, Estimate, JobRun, JobTransactions, Latency, PhaseState, ProfileInfo, Record, State,
    TargetInfo, TargetKind,
};
use cardproof_runner::{JobWatch, Watcher};
use cardproof_sim::Keeping;
use cardproof_sqlite::{Database, End, Limits, ROWS, Run, Setting};
use cardproof_stats::LatencySummary;
use cardproof_units::{Bytes, Nanos, Seed};

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::jobs;
use crate::monitor::Beside;
use crate::result;
use crate::run::{blank, fresh_name, random_bits};
use crate::signals::Signals;
use crate::store::Store;
use crate::talk::Talk;
use crate::target::{OpenedTree, Wanted, open_tree};

/// The profile's name.
pub(crate) const NAME: &str = "sqlite";

/// What it is for.
pub(crate) const PURPOSE: &str = "how fast programs can keep what they know in a database";

/// Raised whenever figures stop being comparable with those of the version before.
const VERSION: u32 = 1;

/// How sure the intervals are, as in every record.
const CONFIDENCE: f64 = 0.99;

/// How long a mode may take: a card that makes 30 transactions a second then makes 300.
const TIME: Nanos = Nanos::from_secs(10);

/// What `profiles` says of it.
pub(crate) fn explained() -> String {
    let modes: String = Setting::USUAL
        .iter()
        .map(|mode| {
            let (pragmas, costs) = (mode.pragmas(), mode.what_a_crash_costs());
            format!("  {:<27}  {pragmas}; {costs}\n", mode.name())
        })
        .collect();
    format!(
        "{NAME} (version {VERSION})\n  For: {PURPOSE}\n  \
         From: SQLite {} itself, driven as programs drive it: one row in each transaction, in a table \
         of {ROWS} rows\n  In a directory, in at most {}, writes about {} where it is fast\n\n{modes}\n",
        cardproof_sqlite::version(),
        TIME * Setting::USUAL.len() as u64,
        written(),
    )
}

/// Runs it in the directory that `args` name.
pub(crate) fn run(args: &RunArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    jobs::check(args, NAME)?;
    result::check_outputs(&args.output)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let OpenedTree { tree, surroundings, scratch, .. } = open(args, talk)?;
    let store = Store::open()?;
    let conditions = Conditions {
        target: target_info(),
        device: surroundings.device,
        host: surroundings.host,
        filesystem: surroundings.filesystem,
        settings: surroundings.settings,
        unknown: surroundings.unknown,
        extra: Default::default(),
    };
    let (id, created) = fresh_name()?;
    let record = blank(profile(), seed, conditions, id, created);
    announce(&record, talk);
    let beside = Beside::start(record.conditions.device.name.as_deref());
    let usage = cardproof_io::usage();
    let mut work = Work { tree, store: &store, usage, beside, record, talk };
    let unsaved = work.all_modes(seed, signals).err();
    let Work { tree, record, .. } = work;
    drop(tree);
    if let Err(left) = scratch.remove() {
        talk.note(&left.to_string());
    }
    result::publish(&record, &store, &args.output, talk)?;
    match unsaved {
        Some(failure) => Err(failure),
        None => Ok(jobs::exit_of(&record, signals)),
    }
}

fn open(args: &RunArgs, talk: Talk) -> Result<OpenedTree, Failure> {
    let wanted = Wanted {
        target: &args.target,
        size: args.size,
        access: &args.access,
        expect_device: args.expect_device.as_deref(),
        keeping: Keeping::Nothing,
    };
    let room = Database::size_max(ROWS);
    open_tree(&wanted, room, room, &talk)
}

fn target_info() -> TargetInfo {
    TargetInfo {
        kind: TargetKind::Directory,
        size_bytes: Database::size_max(ROWS),
        engine: NAME.to_owned(),
        direct: false,
        buffered_reason: Some("as programs use files".to_owned()),
        ..TargetInfo::default()
    }
}

fn profile() -> ProfileInfo {
    ProfileInfo {
        name: NAME.to_owned(),
        version: VERSION,
        time_budget_ns: TIME * Setting::USUAL.len() as u64,
        extra: Default::default(),
    }
}

/// Says what will be done, and written, before the first write.
fn announce(record: &Record, talk: Talk) {
    talk.note(&format!("Measuring {}.", cardproof_report::title(record)));
    talk.note(&format!(
        "A database of SQLite {} in {} journal modes, each for at most {TIME}; writes up to \
         about {} to files of at most {} in all, which are removed afterwards.",
        cardproof_sqlite::version(),
        Setting::USUAL.len(),
        written(),
        Database::size_max(ROWS),
    ));
}

/// About what all modes together write where time does not end them, the file system's own share included.
fn written() -> Bytes {
    let of_modes = Setting::USUAL.iter().map(|mode| {
        Bytes(mode.bytes_a_transaction().get() * u64::from(mode.transactions_wanted()))
    });
    of_modes.sum::<Bytes>() + Database::size_max(ROWS)
}

/// A run under way.
struct Work<'a> {
    tree: FileTree,
    store: &'a Store,
    usage: Usage,
    /// Looks at the system.
    beside: Option<Beside>,
    record: Record,
    talk: Talk,
}

impl Work<'_> {
    /// Runs every mode and saves the record after each.
    fn all_modes(&mut self, seed: Seed, signals: &Signals) -> Result<(), Failure> {
        // What a killed run leaves is found as a record that did not end.
        self.store.save(&self.record)?;
        let written_before = written_for_storage();
        let stop = signals.stop();
        match Database::lay_out(&self.tree.path_by_handle(), ROWS, seed, stop) {
            Ok(mut database) => {
                for mode in Setting::USUAL {
                    if signals.exit().is_some() {
                        break;
                    }
                    self.talk.note(&format!("  {:<10} {}", mode.name(), mode.pragmas()));
                    let run = self.one_mode(mode, &mut database, stop);
                    self.record.job_runs.push(run);
                    self.store.save(&self.record)?;
                }
            }
            // Without a database no mode was measured, all for the same cause.
            Err(error) if signals.exit().is_none() => {
                let failed = |mode| failed(mode, &error.to_string());
                self.record.job_runs = Setting::USUAL.map(failed).into();
            }
            Err(_) => {}
        }
        self.record.bytes_written = since(written_before);
        self.record.monitor = jobs::cost(self.usage);
        self.record.state = self.state(signals);
        self.store.save(&self.record)
    }

    /// Runs `mode` and looks at the system meanwhile.
    fn one_mode(&mut self, mode: Setting, database: &mut Database, stop: &AtomicBool) -> JobRun {
        let filesystem = self.record.conditions.filesystem.as_ref().map(|known| &*known.kind);
        let watcher = self.beside.as_mut().map(|monitor| Watcher { monitor, filesystem });
        let limits = Limits { transactions: mode.transactions_wanted(), time: TIME };
        let (tree, before) = (&self.tree, written_for_storage());
        let mut watch = JobWatch::new(watcher);
        watch.begin();
        let run = database.run(mode, limits, CONFIDENCE, &|| tree.now(), stop);
        watch.end();
        let mut run = of_run(&run, since(before));
        if !matches!(run.state, PhaseState::NotMeasured { .. }) {
            watch.note(&mut run);
        }
        run
    }

    fn state(&self, signals: &Signals) -> State {
        if signals.exit().is_some() {
            return State::Partial;
        }
        let is_measured = |run: &JobRun| run.state == PhaseState::Measured;
        if self.record.job_runs.iter().all(is_measured) { State::Complete } else { State::Failed }
    }
}

/// What this process has written since it had written `before`.
fn since(before: Option<Bytes>) -> Bytes {
    let now = written_for_storage();
    now.zip(before).map_or(Bytes::ZERO, |(now, before)| now.saturating_sub(before))
}

/// A mode that could not be run.
fn failed(mode: Setting, cause: &str) -> JobRun {
    let state = PhaseState::NotMeasured { cause: cause.to_owned() };
    JobRun { state, duration_ns: Nanos::ZERO, ..in_record(mode) }
}

/// What a record says of a mode of which nothing is known yet.
fn in_record(mode: Setting) -> JobRun {
    let deed = format!("SQLite {} in its mode {}", cardproof_sqlite::version(), mode.name());
    JobRun::begun(format!("{NAME}-{}", mode.name()), VERSION, deed)
}

/// `run`, in which `written` was written, as a record has it.
fn of_run(run: &Run, written: Bytes) -> JobRun {
    let state = match &run.end {
        End::Failed { cause } => return failed(run.setting, cause),
        End::Stopped => PhaseState::Partial,
        End::Complete => PhaseState::Measured,
    };
    JobRun {
        state,
        duration_ns: run.duration,
        ops: run.transactions,
        bytes_written: written,
        bytes_written_in_all: written,
        transactions: run.latency_summary().map(|summary| JobTransactions {
            count: run.transactions,
            per_s: run.rate.map(|rate| Estimate {
                estimate: rate.estimate,
                low: rate.low,
                high: rate.high,
                confidence: CONFIDENCE,
            }),
            latency_ns: latency(summary),
            a_crash_costs: run.setting.what_a_crash_costs().to_owned(),
        }),
        ..in_record(run.setting)
    }
}

fn latency(summary: LatencySummary) -> Latency {
    let LatencySummary { min, mean, p50, p90, p99, p999, max } = summary;
    Latency { min, mean, p50, p90, p99, p999, max }
}
