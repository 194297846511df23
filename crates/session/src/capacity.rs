//! Is the capacity of a device real? The test of `cardproof_probe` on an open target, its record, and
//! the finding that follows from the record.

mod announcing;
mod elsewhere;
mod files;
mod free_space;
mod journal;
mod marks;
#[cfg(test)]
mod model;
mod own;
mod putting_back;
mod reading;
mod recovery;
mod saving;
mod stable;
mod steady;
mod stored;
mod surface;

pub use files::{FilesWish, has_test_files, test_files};
pub use free_space::FreeSpaceCheck;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_device::{ReadWitness, Sysroot};
use cardproof_io::Target;
use cardproof_probe::capacity::{Plan, Progress, Watch, Wish, run, shorthand};
use cardproof_record::{CapacityMethod, CapacityTest, ProfileInfo, Record, State, Trial};
use cardproof_sim::{Keeping, Shorthand};
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::announcement::{Effect, Prepared};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};
use putting_back::{Trust, put_back};
pub use recovery::Journals;
use recovery::LockedJournal;
use steady::Moved;

/// Test sectors as numbers.
pub(crate) const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

/// The most stretches that a record keeps of those that could not be tested.
const UNREADABLE_MAX: usize = 64;

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

/// A test of the capacity.
pub struct CapacityCheck {
    wish: Wish,
    mode: CapacityMode,
    journals: Option<Journals>,
    is_surface_read: bool,
    is_reconnecting: bool,
    /// What is tested, where it is real.
    target: Option<PathBuf>,
    plan: Option<Plan>,
    /// The journal of this test, once it has begun.
    journal: Option<LockedJournal>,
}

impl CapacityCheck {
    /// A test that excludes what `wish` says, as far as `mode` allows. `journals` are needed for
    /// [`CapacityMode::Restore`]; with the other modes they tell of a test that was killed.
    #[must_use]
    pub const fn new(wish: Wish, mode: CapacityMode, journals: Option<Journals>) -> Self {
        Self {
            wish,
            mode,
            journals,
            is_surface_read: false,
            is_reconnecting: false,
            plan: None,
            target: None,
            journal: None,
        }
    }

    /// The same test, which also reads every byte of the target at its end.
    #[must_use]
    pub fn with_surface(self, is_surface_read: bool) -> Self {
        Self { is_surface_read, ..self }
    }

    /// The same test, which looks whether its reads come from the storage of `target`, the device or file
    /// that is tested.
    #[must_use]
    pub fn with_witness(self, target: &Path) -> Self {
        Self { target: Some(target.to_owned()), ..self }
    }

    /// The same test, which disconnects the device and connects it again before it reads.
    #[must_use]
    pub fn with_reconnecting(self, is_reconnecting: bool) -> Self {
        Self { is_reconnecting, ..self }
    }

    /// All that decides the result in `span` of a simulated card with blocks of `block`.
    fn decided_by(&self, span: Bytes, block: Bytes) -> String {
        let Wish { store, bad_share, is_full, full_below } = self.wish;
        let [store, full_below] = [store, full_below].map(|bytes| bytes.map(Bytes::get));
        let wish = serde_json::json!([store, bad_share, is_full, full_below]);
        let surface = self.is_surface_read;
        serde_json::json!([span.get(), block.get(), wish, surface]).to_string()
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
            reconnects: self.is_reconnecting,
            whole_device: true,
            ..StorageNeeds::new(Span::new(Bytes(u64::MAX)), writing, Keeping::Short(SHORTHAND))
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
                CapacityMode::Read => recovery::mention(&mut *place.target, journals, frontend),
                CapacityMode::Destroy => {
                    recovery::recover(&mut *place.target, journals, None, frontend)?;
                }
                CapacityMode::Restore => {
                    self.journal = Some(begun(&mut *place.target, journals, frontend)?);
                }
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
        let is_surface = self.is_surface_read;
        let surface = is_surface.then(|| reading::time_to_read(&mut *place.target)).transpose()?;
        let cost = announcing::Cost { time, surface, restores };
        let mut notes = announcing::of_writing(&plan, place.span, place.kind, &cost);
        if self.is_reconnecting {
            notes.push(announcing::of_reconnecting());
        }
        if let Some(journals) = self.journals.as_ref().filter(|_| restores) {
            recovery::check_room(journals, plan.bytes_to_write())?;
        }
        let decided_by = self.decided_by(place.span, block);
        self.plan = Some(plan);
        let effect = Effect { time_guess: time, ..Effect::default() };
        Ok(Prepared { name, decided_by, effect, notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let begun = bench.place.target.now();
        let read_before = bench.record.bytes_read;
        let target = self.target.as_deref().filter(|_| self.mode != CapacityMode::Read);
        let witness = target.map(|target| ReadWitness::begin(&Sysroot::default(), target));
        match (self.plan.take(), self.journal.take(), &self.journals) {
            (Some(plan), Some(journal), Some(journals)) => {
                restoring(bench, plan, journal, journals);
            }
            (Some(plan), ..) => {
                let method = CapacityMethod::Overwritten;
                let Bench { place, record, recorder, stop, .. } = bench;
                let mut teller = Teller::new(recorder, stop, record.is_simulated());
                test(&mut *place.target, &plan, method, &mut teller, record);
            }
            (None, ..) => bench.record.trial = Some(Trial::Capacity(reading::signs(bench))),
        }
        if let Some(mut witness) = witness
            && let Some(Trial::Capacity(test)) = &mut bench.record.trial
        {
            witness.note(bench.record.bytes_read.saturating_sub(read_before));
            test.origin = Some(witness.end());
        }
        if self.is_surface_read {
            surface::read_all(bench);
        }
        let took = bench.place.target.now().saturating_sub(begun);
        if let Some(Trial::Capacity(test)) = &mut bench.record.trial {
            test.time_ns = took;
        }
    }
}

/// A journal for this test, after what killed tests have left was put back.
fn begun(
    target: &mut dyn Target,
    journals: &Journals,
    frontend: &mut dyn Frontend,
) -> Result<LockedJournal, Failure> {
    // A test that begins at the same time finds this one's journal. Where there is no room for another
    // journal, an earlier one is put back all the same.
    let journal = recovery::begin(journals);
    let own = journal.as_ref().ok().map(|journal| journal.path.as_path());
    recovery::recover(target, journals, own, frontend)?;
    journal
}

/// Tests with saving, and puts back what was there.
fn restoring(
    bench: &mut Bench<'_, Storage>,
    plan: Plan,
    mut locked: LockedJournal,
    journals: &Journals,
) {
    let Bench { place, record, recorder, stop, .. } = bench;
    let plan = plan.salted(locked.journal.salt());
    let block = place.target.abilities().logical_block;
    let marks = marks::places(place.target.abilities().size, block, plan.salt());
    let mut moved = Moved::default();
    match marks::set(&mut *place.target, &mut locked.journal, &marks, &mut moved) {
        Ok(()) => {
            let mut teller = Teller::new(recorder, stop, false);
            saving(&mut *place.target, &plan, &mut locked, &mut teller, record);
        }
        Err(error) => {
            recorder.note(&format!("The test has ended before it began: {error}."));
            record.state = State::Failed;
        }
    }
    recorder.note("Puts back what was there.");
    let restored = put_back(&mut *place.target, &mut locked.journal, Trust::SameRun);
    moved += restored.moved;
    record.bytes_written += moved.written;
    record.bytes_read += moved.read;
    if let Some(error) = restored.unclosed.as_ref().filter(|_| restored.is_whole()) {
        recorder.note(&recovery::unclosed(&locked.path, error));
        return;
    }
    let ended = if restored.is_whole() {
        recovery::end(journals, &locked)
    } else {
        Err(recovery::incomplete(&locked.path, &restored))
    };
    match ended {
        Ok(kept) => recorder.note(&format!(
            "Everything is back and was read back. The journal is kept for a week: {}",
            kept.display()
        )),
        Err(failure) => {
            recorder.note(&failure.message);
            record.state = State::Failed;
        }
    }
}

/// Runs the test on `target` and saves what it overwrites.
fn saving(
    target: &mut dyn Target,
    plan: &Plan,
    locked: &mut LockedJournal,
    teller: &mut Teller<'_, '_>,
    record: &mut Record,
) {
    let mut saving = saving::Saving::new(target, &mut locked.journal);
    let state = saving.state();
    teller.saved = Some((state.clone(), plan.bytes_to_write()));
    test(&mut saving, plan, CapacityMethod::Restored, teller, record);
    record.bytes_read += state.read();
    record.bytes_written = record.bytes_written.saturating_sub(state.skipped());
    let (untouched, untested) = state.untouched();
    if let Some(Trial::Capacity(test)) = &mut record.trial {
        let written = test.planned_write_bytes;
        test.planned_write_bytes += written;
        test.planned_read_bytes += announcing::restoring_reads(written);
        test.untested_bytes = untested;
        test.unreadable = untouched.into_iter().take(UNREADABLE_MAX).collect();
    }
    if let Some(error) = state.failure() {
        teller.recorder.note(&format!(
            "The journal cannot be written: {error}. The test has ended and says nothing; free some \
             space, or name another directory with --journal."
        ));
        record.state = State::Failed;
        record.trial = None;
    }
}

/// Tells of the progress of a test, and once how long it takes.
struct Teller<'a, 'b> {
    recorder: &'a mut crate::recorder::Recorder<'b>,
    stop: &'a AtomicBool,
    /// With `--restore`: the time that saving took until now, and the bytes that the test will write.
    saved: Option<(saving::SavingState, Bytes)>,
    told: Option<Nanos>,
    /// Whether time is that of a model, which passes much faster.
    is_simulated: bool,
}

impl<'a, 'b> Teller<'a, 'b> {
    const fn new(
        recorder: &'a mut crate::recorder::Recorder<'b>,
        stop: &'a AtomicBool,
        is_simulated: bool,
    ) -> Self {
        Self { recorder, stop, saved: None, told: None, is_simulated }
    }

    /// Whether the test goes on.
    fn tell(&mut self, progress: &Progress) -> bool {
        if let (Some(estimate), None) = (progress.estimate, self.told) {
            let restoring =
                self.saved.as_ref().map_or(Nanos::ZERO, |(saved, all)| saved.time_to_restore(*all));
            let time = estimate.total() + restoring;
            self.told = Some(time);
            // Simulated time passes in moments.
            if !self.is_simulated {
                self.recorder.note(&format!(
                    "By the speed of the first writes, the test of the capacity takes about {}.",
                    time.in_whole_seconds()
                ));
            }
        }
        self.recorder.tell(Event::Step {
            name: "capacity",
            deed: &announcing::deed(progress),
            done: progress.done.as_f64() / progress.total.as_f64().max(1.0),
            elapsed: progress.elapsed,
        });
        let has_failed = self.saved.as_ref().is_some_and(|(saved, _)| saved.failure().is_some());
        !has_failed && !self.stop.load(Ordering::Relaxed)
    }
}

impl Watch for Teller<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.tell(progress)
    }

    fn is_untouched(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let saved = self.saved.as_ref();
        saved.is_some_and(|(saved, _)| saved.is_untouched(offset_bytes, length_bytes))
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
    match run(target, plan, teller) {
        Ok(outcome) => {
            record.bytes_written += outcome.bytes_written;
            record.bytes_read += outcome.bytes_read;
            record.state =
                if outcome.evidence.is_cut_short { State::Partial } else { State::Complete };
            record.trial = Some(Trial::Capacity(CapacityTest {
                planned_time_ns: teller.told,
                ..stored::stored(&outcome, plan, method)
            }));
        }
        Err(error) => {
            let why = with_causes(&error);
            teller.recorder.note(&format!("The test has ended early: {why}."));
            record.state = State::Failed;
        }
    }
}
