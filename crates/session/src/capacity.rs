//! Is the capacity of a device real? The test of `cardproof_probe` on an open target, its record, and
//! the finding that follows from the record.

mod announcing;
mod free_space;
mod journal;
mod reading;
mod recovery;
mod saving;
mod stored;
mod surface;

pub use free_space::FreeSpaceCheck;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::Target;
use cardproof_probe::capacity::{Plan, Progress, Wish, run, shorthand};
use cardproof_record::{CapacityMethod, CapacityTest, ProfileInfo, Record, State};
use cardproof_sim::{Keeping, Shorthand};
use cardproof_units::{Bytes, Nanos, Seed};

use crate::announcement::{Effect, Prepared};
use crate::experiment::Experiment;
use crate::failure::{Failure, with_causes};
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// Test sectors as numbers.
pub(crate) const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

/// What the test may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityMode {
    /// Read only.
    Read,
    /// Overwrite, with leave to destroy.
    Destroy,
    /// Save each block to a journal, overwrite it, and put it back.
    Restore,
}

/// Where the journals of tests that restore lie, and the device to which they belong.
#[derive(Clone, Debug)]
pub struct Journals {
    /// The directory for journals where the user names none; it also says where the others are.
    pub home: PathBuf,
    /// The directory that the user names.
    pub named: Option<PathBuf>,
    /// The device, by what stays the same when it is plugged in again.
    pub device: String,
}

/// A test of the capacity.
pub struct CapacityCheck {
    wish: Wish,
    mode: CapacityMode,
    journals: Option<Journals>,
    is_surface_read: bool,
    is_reconnecting: bool,
    plan: Option<Plan>,
}

impl CapacityCheck {
    /// A test that excludes what `wish` says, as far as `mode` allows. `journals` are needed for
    /// [`CapacityMode::Restore`]; with the other modes they tell of a test that was killed.
    #[must_use]
    pub const fn new(wish: Wish, mode: CapacityMode, journals: Option<Journals>) -> Self {
        Self { wish, mode, journals, is_surface_read: false, is_reconnecting: false, plan: None }
    }

    /// The same test, which also reads every byte of the target at its end.
    #[must_use]
    pub fn with_surface(self, is_surface_read: bool) -> Self {
        Self { is_surface_read, ..self }
    }

    /// The same test, which disconnects the device and connects it again before it reads.
    #[must_use]
    pub fn with_reconnecting(self, is_reconnecting: bool) -> Self {
        Self { is_reconnecting, ..self }
    }
}

impl Experiment for CapacityCheck {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        let writing = match self.mode {
            CapacityMode::Read => Writing::Never,
            CapacityMode::Destroy | CapacityMode::Restore => Writing::Always,
        };
        StorageNeeds {
            span: Span::of(Bytes(u64::MAX)),
            writing,
            keeping: Keeping::Short(SHORTHAND),
            power_cuts: false,
            reconnects: self.is_reconnecting,
            whole_device: true,
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("verify", 1);
        let name = "verify".to_owned();
        if let Some(journals) = &self.journals {
            match self.mode {
                CapacityMode::Read => recovery::mention(journals, frontend),
                _ => recovery::recover(&mut *place.target, journals, frontend)?,
            }
        }
        if self.mode == CapacityMode::Read {
            let notes = announcing::of_reading(place, self.is_surface_read)?;
            let decided_by = String::new();
            return Ok(Prepared { name, decided_by, effect: Effect::default(), notes });
        }
        let block = place.target.abilities().logical_block;
        let plan = Plan::new(place.span, block, self.wish, draft.seed)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let time = reading::time_guess(&mut *place.target, &plan)?;
        let restores = self.mode == CapacityMode::Restore;
        let mut notes = announcing::of_writing(&plan, place.span, time, restores);
        if self.is_reconnecting {
            notes.push(announcing::of_reconnecting());
        }
        if let Some(journals) = self.journals.as_ref().filter(|_| restores) {
            journal::check_room(journals.directory(), plan.bytes_to_write())?;
        }
        let decided_by = format!("{plan:?} {}", self.is_surface_read);
        self.plan = Some(plan);
        let effect = Effect { time_guess: time, ..Effect::default() };
        Ok(Prepared { name, decided_by, effect, notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let begun = bench.place.target.now();
        match (self.plan.take(), &self.journals) {
            (Some(plan), Some(journals)) if self.mode == CapacityMode::Restore => {
                restoring(bench, &plan, journals);
            }
            (Some(plan), _) => {
                let method = CapacityMethod::Overwritten;
                let Bench { place, record, recorder, stop, .. } = bench;
                test(&mut *place.target, &plan, method, &mut Teller::new(recorder, stop), record);
            }
            (None, _) => bench.record.capacity = Some(reading::signs(bench)),
        }
        if self.is_surface_read {
            surface::read_all(bench);
        }
        let took = bench.place.target.now().saturating_sub(begun);
        if let Some(test) = &mut bench.record.capacity {
            test.time_ns = took;
        }
    }
}

fn restoring(bench: &mut Bench<'_, Storage>, plan: &Plan, journals: &Journals) {
    let Bench { place, record, recorder, stop, .. } = bench;
    let journal = match recovery::begin(journals, plan.salt()) {
        Ok(journal) => journal,
        Err(failure) => {
            recorder.note(&failure.message);
            record.state = State::Failed;
            return;
        }
    };
    let mut saving = saving::Saving::new(&mut *place.target, journal);
    let mut teller = Teller {
        saved: Some((saving.state(), plan.bytes_to_write())),
        ..Teller::new(recorder, stop)
    };
    test(&mut saving, plan, CapacityMethod::Restored, &mut teller, record);
    let state = saving.state();
    let journal = saving.into_journal();
    record.bytes_read += journal.saved();
    if let Some(test) = &mut record.capacity {
        // What is overwritten is read and saved, and later read again and put back.
        let written = test.planned_write_bytes;
        test.planned_write_bytes += written;
        test.planned_read_bytes += written + written;
    }
    if let Some(error) = state.failure() {
        recorder.note(&format!(
            "The journal cannot be written: {error}. The test has ended and says nothing; free some \
             space, or name another directory with --journal."
        ));
        record.state = State::Failed;
        record.capacity = None;
    }
    recorder.note("Puts back what was there.");
    match journal::restore(&mut *place.target, &journal, journal::Trust::SameRun) {
        Ok(restored) => {
            record.bytes_written += restored.written;
            record.bytes_read += restored.read;
            if let Err(failure) = recovery::end(journals, journal) {
                recorder.note(&failure.message);
            }
        }
        Err(failure) => {
            recorder.note(&failure.message);
            record.state = State::Failed;
        }
    }
}

/// Tells of the progress of a test, and once how long it takes.
struct Teller<'a, 'b> {
    recorder: &'a mut crate::recorder::Recorder<'b>,
    stop: &'a AtomicBool,
    /// With `--restore`: the time that saving took until now, and the bytes that the test will write.
    saved: Option<(saving::SavingState, Bytes)>,
    told: Option<Nanos>,
}

impl<'a, 'b> Teller<'a, 'b> {
    const fn new(recorder: &'a mut crate::recorder::Recorder<'b>, stop: &'a AtomicBool) -> Self {
        Self { recorder, stop, saved: None, told: None }
    }

    /// Whether the test goes on.
    fn tell(&mut self, progress: &Progress) -> bool {
        if let (Some(estimate), None) = (progress.estimate, self.told) {
            let restoring =
                self.saved.as_ref().map_or(Nanos::ZERO, |(saved, all)| saved.time_to_restore(*all));
            let time = estimate.total() + restoring;
            self.told = Some(time);
            self.recorder.note(&format!("New estimate from the first writes: {time} in total."));
        }
        self.recorder.tell(Event::Step {
            name: "verify",
            deed: &announcing::deed(progress),
            done: progress.done.as_f64() / progress.total.as_f64().max(1.0),
            elapsed: progress.elapsed,
        });
        let has_failed = self.saved.as_ref().is_some_and(|(saved, _)| saved.failure().is_some());
        !has_failed && !self.stop.load(Ordering::Relaxed)
    }
}

/// Runs the test on `target` and puts what it saw into `record`.
fn test(
    target: &mut dyn Target,
    plan: &Plan,
    method: CapacityMethod,
    teller: &mut Teller<'_, '_>,
    record: &mut Record,
) {
    let outcome = run(target, plan, &mut |progress: &Progress| teller.tell(progress));
    match outcome {
        Ok(outcome) => {
            record.bytes_written += outcome.bytes_written;
            record.bytes_read += outcome.bytes_read;
            record.state =
                if outcome.evidence.is_cut_short { State::Partial } else { State::Complete };
            record.capacity = Some(CapacityTest {
                planned_time_ns: teller.told,
                ..stored::stored(&outcome, plan, method)
            });
        }
        Err(error) => {
            let why = with_causes(&error);
            teller.recorder.note(&format!("The test has ended early: {why}."));
            record.state = State::Failed;
        }
    }
}
