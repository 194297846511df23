//! What is measured: the capacity in the free space, and the speed.

use cardproof_probe::capacity::Wish;
use cardproof_rating::answer::{Question, Untested};
use cardproof_record::{Record, State};
use cardproof_runner::Repeat;
use cardproof_session::{
    CapacityCheck, CapacityMode, Event, Experiment, Failure as SessionFailure, FailureKind,
    FreeSpaceCheck, Frontend, Measured, Phases, Store, simulated_name,
};
use cardproof_units::{Bytes, Nanos};
use cardproof_workload::standard;

use super::CheckArgs;
use crate::args::{AccessArgs, EngineArg};
use crate::exit::Failure;
use crate::measuring::{Request, options};
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
    /// Where the records are.
    pub(super) store: Option<Store>,
}

/// Measures what `questions` need of the target.
pub(super) fn measure(
    args: &CheckArgs,
    questions: &[Question],
    is_writable: bool,
    signals: &Signals,
) -> Result<Measurements, Failure> {
    let talk = Talk::new(args.quiet);
    let is_simulated = simulated_name(&args.target).is_some();
    let mut measurements = Measurements::default();
    let asks = |question| questions.contains(&question);
    let tests_capacity = asks(Question::Real) && is_writable;
    let tests_speed = asks(Question::Fast);
    if (tests_capacity || tests_speed) && is_writable && !is_simulated {
        talk.note(
            "Takes about 75 seconds, on a slow card 100. Writes at most 896 MiB to test files and \
             deletes them; your files are not touched.",
        );
    }
    if tests_capacity {
        let wish = Wish { store: Some(STORE), full_below: Some(FULL_BELOW), ..Wish::default() };
        let found = if is_simulated {
            let check = CapacityCheck::new(wish, CapacityMode::Destroy, None);
            session(args, check, talk, signals)
        } else {
            let check = FreeSpaceCheck::new(wish)
                .with_time_max(CAPACITY_TIME_MAX)
                .with_witness(&args.target);
            session(args, check, talk, signals)
        };
        measurements.capacity = measurements.keep(found, talk)?;
    }
    if tests_speed && signals.exit().is_none() {
        let phases = Phases {
            profile: standard::check(),
            without_queue_or_cache: None,
            time_budget: None,
            repeat: Repeat::ONCE,
            capacity: measurements.capacity.as_ref().and_then(|record| record.capacity.clone()),
        };
        let found = session(args, phases, talk, signals);
        let record = measurements.keep(found, talk)?;
        measurements.speed = record.filter(|record| !record.phases.is_empty());
    }
    Ok(measurements)
}

/// One session, whose announcements are left out: the command has made its own.
fn session(
    args: &CheckArgs,
    experiment: impl Experiment,
    talk: Talk,
    signals: &Signals,
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
    let mut terminal = Unannounced(Terminal::new(talk));
    cardproof_session::measure(experiment, &options, &mut terminal, signals.stop())
}

impl Measurements {
    /// The record of a session. A place that does not allow one part leaves its question open; a wrong
    /// target ends the command.
    fn keep(
        &mut self,
        found: Result<Measured, SessionFailure>,
        talk: Talk,
    ) -> Result<Option<Record>, Failure> {
        let failure = match found {
            Ok(measured) => {
                if let Some(unsaved) = &measured.unsaved {
                    talk.note(&format!("The record was not saved: {unsaved}."));
                }
                self.store = measured.store.or(self.store.take());
                return Ok(Some(measured.record).filter(|record| record.state != State::Failed));
            }
            Err(failure) => failure,
        };
        self.untested = match failure.kind {
            FailureKind::Usage | FailureKind::Refused => return Err(failure.into()),
            FailureKind::ReadOnly => Untested::ReadOnly,
            FailureKind::TooLittleSpace => Untested::TooLittleSpace,
            FailureKind::Unsupported => Untested::Unsupported,
            FailureKind::Incomplete => {
                talk.note(&format!("Not tested: {failure}."));
                Untested::Failed
            }
        };
        Ok(None)
    }
}

/// A terminal that does not say what a session is about to do.
struct Unannounced(Terminal);

impl Frontend for Unannounced {
    fn tell(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Ready { .. }) {
            self.0.tell(event);
        }
    }
}
