//! How many transactions a second a real SQLite makes in each journal mode, on the file system of a
//! directory.
//!
//! The modes that can lose a database are not among these; they are for comparing setups, where
//! they are named.

use cardproof_facts::CONFIDENCE;
use cardproof_io::files::written_for_storage;
use cardproof_record::{
    EngineName, Estimate, JobRun, JobTransactions, Latency, PhaseState, ProfileInfo, Record, State,
};
use cardproof_runner::JobWatch;
use cardproof_sqlite::{Database, DatabaseError, End, Limits, ROWS, Run, Setting};
use cardproof_stats::LatencySummary;
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{FilesNeeds, OpenedTree};

/// The profile's name.
pub const NAME: &str = "sqlite";

/// What it is for.
pub const PURPOSE: &str = "the speed of SQLite in each journal mode";

/// Raised whenever figures stop being comparable with those of the version before.
const VERSION: u32 = 1;

/// How long a mode may take: a card that makes 30 transactions a second then makes 300.
const TIME: Nanos = Nanos::from_secs(10);

/// What `profiles` says of it.
#[must_use]
pub fn explained() -> String {
    let modes: String = Setting::USUAL
        .iter()
        .map(|mode| {
            let (pragmas, costs) = (mode.pragmas(), mode.what_a_crash_costs());
            format!("  {:<27}  {pragmas}; {costs}\n", mode.name())
        })
        .collect();
    format!(
        "{NAME} (version {VERSION})\n  For: {PURPOSE}\n  \
         From: SQLite {} as programs use it: one row in each transaction, in a table \
         of {ROWS} rows\n  In a directory, in at most {}, writes about {} where it is fast\n\n{modes}\n",
        cardproof_sqlite::version(),
        TIME * Setting::USUAL.len() as u64,
        written(),
    )
}

/// SQLite's usual journal modes, one after the other on one database.
#[derive(Clone, Copy, Debug)]
pub struct JournalModes(());

impl JournalModes {
    /// All of them.
    ///
    /// # Errors
    /// SQLite is not built in.
    pub fn new() -> Result<Self, Failure> {
        if cardproof_sqlite::IS_BUILT_IN {
            Ok(Self(()))
        } else {
            Err(Failure::usage(DatabaseError::BuiltWithout))
        }
    }
}

impl Experiment for JournalModes {
    type Place = OpenedTree;

    fn needs(&mut self, _seed: Seed) -> FilesNeeds {
        let room = Database::size_max(ROWS);
        FilesNeeds { room, room_min: room }
    }

    fn prepare(
        &mut self,
        _place: &mut OpenedTree,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.conditions.target.size_bytes = Database::size_max(ROWS);
        draft.conditions.target.engine = EngineName::Sqlite;
        let time = TIME * Setting::USUAL.len() as u64;
        draft.profile = ProfileInfo {
            name: NAME.to_owned(),
            version: VERSION,
            time_budget_ns: time,
            extra: Default::default(),
        };
        let deed = format!(
            "A database of SQLite {} in {} journal modes, each for at most {TIME}.",
            cardproof_sqlite::version(),
            Setting::USUAL.len(),
        );
        Ok(Prepared {
            name: NAME.to_owned(),
            decided_by: String::new(),
            effect: Effect {
                time_max: Some(time),
                time_guess: time,
                writes: Writes::AtMost(written()),
                span: Database::size_max(ROWS),
                files: None,
            },
            notes: vec![deed],
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, OpenedTree>) {
        let written_before = written_for_storage();
        let laid_out =
            Database::lay_out(&bench.place.tree.path_by_handle(), ROWS, bench.seed, bench.stop);
        match laid_out {
            Ok(mut database) => all_modes(&mut database, bench),
            // Without a database no mode was measured, all for the same cause.
            Err(error) if !bench.is_stopped() => {
                let failed = |mode| failed(mode, &with_causes(&error));
                bench.record.job_runs = Setting::USUAL.map(failed).into();
            }
            Err(_) => {}
        }
        bench.record.bytes_written = written_since(written_before);
        bench.record.state = state(bench);
    }
}

/// Runs every mode and saves the record after each.
fn all_modes(database: &mut Database, bench: &mut Bench<'_, OpenedTree>) {
    let start = bench.place.tree.now();
    for (index, mode) in Setting::USUAL.into_iter().enumerate() {
        if bench.is_stopped() {
            return;
        }
        bench.recorder.tell(Event::Step {
            name: mode.name(),
            deed: &mode.pragmas(),
            done: index as f64 / Setting::USUAL.len() as f64,
            elapsed: bench.place.tree.now().saturating_sub(start),
        });
        let run = one_mode(mode, database, bench);
        bench.record.job_runs.push(run);
        bench.checkpoint();
    }
}

/// Runs `mode` and looks at the system meanwhile.
fn one_mode(mode: Setting, database: &mut Database, bench: &mut Bench<'_, OpenedTree>) -> JobRun {
    let limits = Limits { transactions: mode.transactions_wanted(), time: TIME };
    let (tree, before) = (&bench.place.tree, written_for_storage());
    let (watcher, _) = bench.recorder.watcher();
    let mut watch = JobWatch::new(watcher);
    watch.begin();
    let run = database.run(mode, limits, CONFIDENCE, &|| tree.now(), bench.stop);
    watch.end();
    let mut run = of_run(&run, written_since(before));
    if !matches!(run.state, PhaseState::NotMeasured { .. }) {
        watch.note(&mut run);
    }
    run
}

fn state(bench: &Bench<'_, OpenedTree>) -> State {
    if bench.is_stopped() {
        return State::Partial;
    }
    let is_measured = |run: &JobRun| run.state == PhaseState::Measured;
    if bench.record.job_runs.iter().all(is_measured) { State::Complete } else { State::Failed }
}

/// At most what all modes together write where time does not end them, the file system's own share included.
fn written() -> Bytes {
    let of_modes = Setting::USUAL.iter().map(|mode| {
        Bytes(mode.bytes_a_transaction().get() * u64::from(mode.transactions_wanted()))
    });
    of_modes.sum::<Bytes>() + Database::size_max(ROWS)
}

/// What this process has written since it had written `before`.
pub(crate) fn written_since(before: Option<Bytes>) -> Bytes {
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
            is_durable: run.setting.is_durable(),
        }),
        ..in_record(run.setting)
    }
}

fn latency(summary: LatencySummary) -> Latency {
    let LatencySummary { min, mean, p50, p90, p99, p999, max } = summary;
    Latency { min, mean, p50, p90, p99, p999, max }
}
