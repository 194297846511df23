//! Is the capacity of a device real? The test of `cardproof_probe` on an open target, its record, and
//! the finding that follows from the record.

mod journal;
mod reading;

use std::path::PathBuf;

use cardproof_evidence::capacity::{Evidence, Finding, Writes as Written, infer};
use cardproof_io::Target;
use cardproof_probe::capacity::{Plan, Progress, Stage, Wish, run, shorthand};
use cardproof_record::{CapacityMethod, CapacityTest, ProfileInfo, Record, State};
use cardproof_sim::{Keeping, Shorthand};
use cardproof_units::{Bytes, Nanos, Seed};

use crate::announcement::{Effect, Prepared};
use crate::experiment::Experiment;
use crate::failure::{Failure, with_causes};
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};
use journal::{Journal, Saving};

/// Test sectors as numbers.
pub(crate) const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

/// What the test may do.
#[derive(Clone, Debug)]
pub enum CapacityMode {
    /// Read only.
    Read,
    /// Overwrite, with leave to destroy.
    Destroy,
    /// Save each block to a journal in this directory, overwrite it, and put it back; the text names
    /// the device in the journal.
    Restore {
        /// Where the journal lies.
        journals: PathBuf,
        /// The device, by what stays the same when it is plugged in again.
        device: String,
    },
}

/// A test of the capacity.
pub struct CapacityCheck {
    wish: Wish,
    mode: CapacityMode,
    plan: Option<Plan>,
}

impl CapacityCheck {
    /// A test that excludes what `wish` says, as far as `mode` allows.
    #[must_use]
    pub const fn new(wish: Wish, mode: CapacityMode) -> Self {
        Self { wish, mode, plan: None }
    }
}

impl Experiment for CapacityCheck {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        let writing = match self.mode {
            CapacityMode::Read => Writing::Never,
            CapacityMode::Destroy | CapacityMode::Restore { .. } => Writing::Always,
        };
        StorageNeeds {
            span: Span::of(Bytes(u64::MAX)),
            writing,
            keeping: Keeping::Short(SHORTHAND),
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo {
            name: "verify".to_owned(),
            version: 1,
            time_budget_ns: Nanos::ZERO,
            extra: Default::default(),
        };
        let name = "verify".to_owned();
        if matches!(self.mode, CapacityMode::Read) && place.simulated_card.is_none() {
            let notes = vec!["Only reads; nothing is written.".to_owned()];
            let decided_by = String::new();
            return Ok(Prepared { name, decided_by, effect: Effect::default(), notes });
        }
        if let CapacityMode::Restore { journals, device } = &self.mode {
            journal::recover(&mut *place.target, journals, device, frontend)?;
        }
        let plan = Plan::new(place.span, self.wish, draft.seed)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let time = reading::time_guess(&mut *place.target, &plan)?;
        let notes = announcement(&plan, place.span, time, &self.mode);
        if let CapacityMode::Restore { journals, .. } = &self.mode {
            journal::check_room(journals, plan.bytes_to_write())?;
        }
        let decided_by = format!("{plan:?}");
        self.plan = Some(plan);
        let effect = Effect { time_guess: time, ..Effect::default() };
        Ok(Prepared { name, decided_by, effect, notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let Some(plan) = self.plan.take() else {
            let test = reading::signs(bench);
            bench.record.capacity = Some(test);
            return;
        };
        match &self.mode {
            CapacityMode::Restore { journals, device } => {
                restoring(bench, &plan, journals, device);
            }
            CapacityMode::Read | CapacityMode::Destroy => {
                let method = CapacityMethod::Overwritten;
                let Bench { place, record, recorder, stop, .. } = bench;
                test(&mut *place.target, &plan, method, record, recorder, stop);
            }
        }
    }
}

/// What will be written and read, and how long it takes, before the first write.
fn announcement(plan: &Plan, size: Bytes, time: Nanos, mode: &CapacityMode) -> Vec<String> {
    let written = plan.bytes_to_write();
    let share = 100.0 * written.as_f64() / size.as_f64().max(1.0);
    let restores = matches!(mode, CapacityMode::Restore { .. });
    let (time, twice) =
        if restores { (time * 2, ", saved first and put back") } else { (time, "") };
    let mut notes = vec![format!(
        "Writes {written} ({share:.1} % of the device){twice} and reads {}; about {time} if it \
         writes as fast as it reads.",
        plan.bytes_to_read()
    )];
    if restores {
        notes.push(
            "A device that lies about its size cannot be restored in full: what lies beyond its \
             real size was lost before the test, and a write beyond it may land on good data. The \
             order of restoring undoes that where addresses start again."
                .to_owned(),
        );
    }
    notes
}

fn restoring(
    bench: &mut Bench<'_, Storage>,
    plan: &Plan,
    journals: &std::path::Path,
    device: &str,
) {
    let Bench { place, record, recorder, stop, .. } = bench;
    let journal = match Journal::create(journals, device, plan.salt()) {
        Ok(journal) => journal,
        Err(failure) => {
            recorder.note(&failure.message);
            record.state = State::Failed;
            return;
        }
    };
    let mut saving = Saving::new(&mut *place.target, journal);
    test(&mut saving, plan, CapacityMethod::Restored, record, recorder, stop);
    let journal = saving.into_journal();
    recorder.note("Puts back what was there.");
    match journal::restore(&mut *place.target, &journal) {
        Ok(restored) => {
            record.bytes_written += restored.written;
            record.bytes_read += restored.read;
            if let Err(failure) = journal.remove() {
                recorder.note(&failure.message);
            }
        }
        Err(failure) => {
            recorder.note(&failure.message);
            record.state = State::Failed;
        }
    }
}

/// Runs the test on `target` and puts what it saw into `record`.
fn test(
    target: &mut dyn Target,
    plan: &Plan,
    method: CapacityMethod,
    record: &mut Record,
    recorder: &mut crate::recorder::Recorder<'_>,
    stop: &std::sync::atomic::AtomicBool,
) {
    let outcome = run(target, plan, &mut |progress: &Progress| {
        recorder.tell(Event::Step {
            name: "verify",
            deed: &deed(progress),
            done: progress.done.as_f64() / progress.total.as_f64().max(1.0),
            elapsed: progress.elapsed,
        });
        !stop.load(std::sync::atomic::Ordering::Relaxed)
    });
    match outcome {
        Ok(outcome) => {
            record.bytes_written += outcome.bytes_written;
            record.bytes_read += outcome.bytes_read;
            record.state =
                if outcome.evidence.is_cut_short { State::Partial } else { State::Complete };
            record.capacity = Some(stored(&outcome.evidence, method));
        }
        Err(error) => {
            recorder.note(&format!("The test has ended early: {}.", with_causes(&error)));
            record.state = State::Failed;
        }
    }
}

fn deed(progress: &Progress) -> String {
    let deed = match progress.stage {
        Stage::Writing => "writes",
        Stage::Reading => "reads back",
        Stage::Narrowing => "narrows down the real size",
    };
    match progress.left {
        Some(left) => format!("{deed}, {left} left"),
        None => deed.to_owned(),
    }
}

/// `evidence` as a record keeps it.
fn stored(evidence: &Evidence, method: CapacityMethod) -> CapacityTest {
    CapacityTest {
        method,
        announced_bytes: Bytes(evidence.announced_bytes),
        filler_bytes: Bytes(evidence.filler_bytes),
        grid_bytes: Bytes(evidence.grid_bytes),
        unshared_distances: evidence.unshared_distances.iter().copied().map(Bytes).collect(),
        guessed_modulus_bytes: evidence.guessed_modulus.map(Bytes),
        is_full: evidence.is_full,
        is_cut_short: evidence.is_cut_short,
        written: evidence
            .writes
            .stretches()
            .map(|(start, length, _)| [Bytes(start), Bytes(length)])
            .collect(),
        places: evidence.observations.iter().map(ToString::to_string).collect(),
        signs: Vec::new(),
        extra: Default::default(),
    }
}

/// What the capacity test in `record` means; `None` where there is none that wrote, or its places
/// cannot be read.
#[must_use]
pub fn capacity_finding(record: &Record) -> Option<Finding> {
    let test = record.capacity.as_ref().filter(|test| !test.places.is_empty())?;
    let places: Result<Vec<_>, _> = test.places.iter().map(|line| line.parse()).collect();
    let mut writes = Written::default();
    test.written.iter().for_each(|[start, length]| writes.note(start.get(), length.get()));
    Some(infer(&Evidence {
        announced_bytes: test.announced_bytes.get(),
        writes,
        observations: places.ok()?,
        filler_bytes: test.filler_bytes.get(),
        grid_bytes: test.grid_bytes.get(),
        unshared_distances: test.unshared_distances.iter().map(|bytes| bytes.get()).collect(),
        guessed_modulus: test.guessed_modulus_bytes.map(Bytes::get),
        is_full: test.is_full,
        is_cut_short: test.is_cut_short,
    }))
}
