//! What is measured: the capacity in the free space, and the speed.

use std::fs;

use cardproof_probe::capacity::Wish;
use cardproof_rating::answer::{Question, SeenBeside, Untested};
use cardproof_record::{Record, State, TargetKind};
use cardproof_runner::Repeat;
use cardproof_session::{
    Bench, CapacityCheck, CapacityMode, Event, Experiment, Failure as SessionFailure, FailureKind,
    FreeSpaceCheck, Frontend, Measured, Phases, Place, Prepared, Store, has_holes, simulated_name,
};
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::standard;

use super::CheckArgs;
use super::seen::Seen;
use crate::args::{AccessArgs, EngineArg};
use crate::exit::Failure;
use crate::measuring::{Request, options};
use crate::others;
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// The hidden store that the short test of the capacity excludes: twice the largest ever found in a fake.
const STORE: Bytes = Bytes::mib(256);

/// So much free space is written in full: what the short test writes of more.
const FULL_BELOW: Bytes = Bytes::mib(384);

/// How long the short test of the capacity goes on: a card that writes 8 MB/s is filled up to [`STORE`] in it
/// and read back.
const CAPACITY_TIME_MAX: Nanos = Nanos::from_secs(45);

/// What was measured.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    /// The test of the capacity.
    pub(super) capacity: Option<Record>,
    /// The speed.
    pub(super) speed: Option<Record>,
    /// Why a part was not measured, where one was not.
    pub(super) untested: Untested,
    /// What failed, where a part could not be completed.
    pub(super) failure: Option<String>,
    /// Why a record that was begun could not be saved.
    pub(super) unsaved: Option<String>,
    /// Where the records are.
    pub(super) store: Option<Store>,
}

/// Measures what `questions` need of the target.
pub(super) fn measure(
    args: &CheckArgs,
    questions: &[Question],
    seen: &Seen,
    signals: &Signals,
) -> Result<Measurements, Failure> {
    let talk = Talk::new(args.quiet);
    let is_writable = seen.is_writable;
    let is_simulated = simulated_name(&args.target).is_some();
    let mut measurements = Measurements::default();
    let asks = |question| questions.contains(&question);
    let tests_capacity = asks(Question::Real) && is_writable;
    let is_measurable = is_writable || !fs::metadata(&args.target).is_ok_and(|it| has_holes(&it));
    let tests_speed = asks(Question::Fast) && is_measurable;
    if !is_measurable {
        measurements.untested = Untested::Holes;
    }
    if is_simulated {
        TargetKind::Simulated.note_on_time().iter().for_each(|sentence| talk.note(sentence));
    } else if is_writable {
        announce(tests_capacity, tests_speed, talk);
    }
    if tests_speed && is_writable && !is_simulated {
        others::tell(talk);
    }
    if tests_capacity {
        let wish = Wish { store: Some(STORE), full_below: Some(FULL_BELOW), ..Wish::default() };
        let found = if is_simulated {
            let check = CapacityCheck::new(wish, CapacityMode::Destroy, None);
            session(args, measurements.beside(seen, check), talk, signals, false)
        } else {
            let check = FreeSpaceCheck::new(wish).with_time_max(CAPACITY_TIME_MAX);
            session(args, measurements.beside(seen, check), talk, signals, false)
        };
        measurements.capacity = measurements.keep(found)?;
    }
    // What this user may not write to, no later part may.
    let is_permitted = measurements.untested != Untested::NotPermitted;
    if tests_speed && is_permitted && signals.exit().is_none() {
        let phases = Phases {
            profile: standard::check(),
            without_queue_or_cache: None,
            time_budget: None,
            repeat: Repeat::ONCE,
            capacity: measurements.capacity.as_ref().and_then(|record| record.capacity().cloned()),
        };
        let phases = measurements.beside(seen, phases);
        let found = session(args, phases, talk, signals, tests_capacity);
        let record = measurements.keep(found)?;
        measurements.speed = record.filter(|record| !record.phases.is_empty());
    }
    Ok(measurements)
}

/// Says how long the tests take and how much they write, at the most.
fn announce(tests_capacity: bool, tests_speed: bool, talk: Talk) {
    let (time, written) = match (tests_capacity, tests_speed) {
        (true, true) => ("at most 75 seconds, on a slow card 100", Bytes::mib(896)),
        (true, false) => ("at most 45 seconds", FULL_BELOW),
        (false, true) => ("at most 60 seconds", Bytes::mib(512)),
        (false, false) => return,
    };
    talk.note(&format!(
        "Takes {time}. Writes at most {written} to test files, on a fake more, and deletes them; your files are not \
         changed."
    ));
}

/// One session, whose announcements are left out: the command has made its own. That no record is kept is said
/// once for all sessions: `is_later` is true for those after the first.
fn session(
    args: &CheckArgs,
    experiment: impl Experiment,
    talk: Talk,
    signals: &Signals,
    is_later: bool,
) -> Result<Measured, SessionFailure> {
    let access = AccessArgs { destroy: None, engine: EngineArg::Auto };
    let request = Request {
        target: &args.target,
        label: args.label.as_ref(),
        size: None,
        seed: args.seed,
        access: &access,
        expect_device: None,
        require: &[],
        output: &args.output,
        quiet: args.quiet,
    };
    let options = options(&request).map_err(|failure| SessionFailure {
        kind: FailureKind::Incomplete,
        message: failure.message,
    })?;
    let mut terminal = Unannounced { terminal: Terminal::unannounced(talk), is_later };
    cardproof_session::measure(experiment, &options, &mut terminal, signals.stop())
}

/// An experiment whose record keeps what was seen beside it.
struct Beside<E> {
    experiment: E,
    seen: Option<serde_json::Value>,
}

impl<E: Experiment> Experiment for Beside<E> {
    type Place = E::Place;

    fn needs(&mut self, seed: Seed) -> <E::Place as Place>::Needs {
        self.experiment.needs(seed)
    }

    fn prepare(
        &mut self,
        place: &mut E::Place,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, SessionFailure> {
        draft.seen_beside = self.seen.take();
        self.experiment.prepare(place, draft, frontend)
    }

    fn run(&mut self, bench: &mut Bench<'_, E::Place>) {
        self.experiment.run(bench);
    }
}

impl Measurements {
    /// `experiment`, whose record keeps what was `seen`, and why the capacity was not tested.
    fn beside<E>(&self, seen: &Seen, experiment: E) -> Beside<E> {
        let untested = seen.untested(self.untested);
        let seen = SeenBeside {
            signs: seen.signs.clone(),
            power: seen.power,
            untested,
            failure: self.failure.clone(),
            earlier: seen.earlier.clone(),
        };
        Beside { experiment, seen: seen.kept() }
    }

    /// The record of a session. A place that does not allow one part leaves its question open; a wrong
    /// target ends the command.
    fn keep(&mut self, found: Result<Measured, SessionFailure>) -> Result<Option<Record>, Failure> {
        let failure = match found {
            Ok(measured) => {
                self.unsaved = self.unsaved.take().or(measured.unsaved.map(|it| it.message));
                self.store = measured.store.or(self.store.take());
                if measured.record.state == State::Failed {
                    self.untested = Untested::Failed;
                    return Ok(None);
                }
                return Ok(Some(measured.record));
            }
            Err(failure) => failure,
        };
        self.untested = match failure.kind {
            FailureKind::Usage | FailureKind::Refused => return Err(failure.into()),
            FailureKind::ReadOnly => Untested::ReadOnly,
            FailureKind::NotPermitted => Untested::NotPermitted,
            FailureKind::TooLittleSpace => Untested::TooLittleSpace,
            FailureKind::Unsupported => Untested::Unsupported,
            FailureKind::Incomplete => {
                self.failure = self.failure.take().or(Some(failure.message));
                Untested::Failed
            }
        };
        Ok(None)
    }
}

/// A terminal that says once for all sessions of a check what stands in the way of keeping them.
struct Unannounced {
    terminal: Terminal,
    is_later: bool,
}

impl Frontend for Unannounced {
    fn tell(&mut self, event: Event<'_>) {
        // It was said of the first of them.
        if !(self.is_later && matches!(event, Event::Unkept(_))) {
            self.terminal.tell(event);
        }
    }
}
