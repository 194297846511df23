//! Compared setups: which file system, with which options, and which way of keeping a database is
//! fastest on the user's own storage.
//!
//! In a directory all happens in an image of ours; on a device only with leave to destroy. What
//! needs root, a tool or a file system that is not here is listed as not tried, with what helps,
//! and the rest is compared.

mod bench;
mod catalogue;
mod choice;
mod contest;
mod loop_device;
mod modes;
mod place;
mod programs;
mod results;
mod setup_storage;
mod systems;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::files::written_for_storage;
use cardproof_rating::doubts_of_place;
use cardproof_record::{
    ComparedSetups, ProfileInfo, Record, SetupGround, SetupNotTried, State, Trial, Warning,
    WarningCode,
};
use cardproof_units::{Bytes, Seed};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::session::Bench;
use crate::sqlite::written_since;

pub use choice::Choice;
pub use contest::Task;
pub use place::{SetupsNeeds, SetupsPlace};

use contest::Contest;
use place::Where;
use setup_storage::SetupStorage;

/// What the record calls it.
const NAME: &str = "compare-setups";

/// The size of each file system, unless another is asked for: room for XFS, and little to write.
const SIZE: Bytes = Bytes::mib(320);

/// What the job that needs no image takes.
const LITTLE: Bytes = Bytes::mib(20);

/// Setups that take turns.
#[derive(Clone, Debug)]
pub struct Setups {
    /// What takes part.
    pub choice: Choice,
    /// How often each takes its turn.
    pub rounds: u32,
}

/// What all parts of a comparison share.
struct Common<'a> {
    choice: Choice,
    rounds: u32,
    /// What the user named.
    target: PathBuf,
    /// What makes figures from the target doubtful, whatever is done there.
    place_doubts: Vec<Warning>,
    seed: Seed,
    stop: &'a AtomicBool,
    frontend: &'a mut dyn Frontend,
}

/// What comes of comparing.
#[derive(Default)]
struct Found {
    contests: Vec<Contest>,
    not_tried: Vec<SetupNotTried>,
    /// On what file systems were made.
    ground: Option<SetupGround>,
}

impl Experiment for Setups {
    type Place = SetupsPlace;

    fn needs(&mut self, _seed: Seed) -> SetupsNeeds {
        SetupsNeeds { file_systems: !self.choice.setups.is_empty(), size: SIZE, little: LITTLE }
    }

    fn prepare(
        &mut self,
        place: &mut SetupsPlace,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed(NAME, 1);
        let makes_systems = place.makes_file_systems();
        let mut missing = Vec::new();
        if makes_systems {
            missing = self.choice.not_possible(place.size);
            self.choice.refuse_named(&missing)?;
        }
        let systems = if makes_systems {
            systems::written(&self.choice, missing.len(), self.rounds)
        } else {
            LITTLE
        };
        let image = match place.kind {
            Where::Directory if makes_systems => place.size,
            _ => Bytes::ZERO,
        };
        let written = image + systems + modes::written(&self.choice, self.rounds);
        let file_systems = match self.choice.setups.len() {
            all if makes_systems => all - missing.len(),
            // Only the file system that is there.
            all => all.min(1),
        };
        let mut notes = vec![format!(
            "Compares {} setups in {} rounds.",
            file_systems + self.choice.modes.len(),
            self.rounds
        )];
        if !makes_systems && !self.choice.setups.is_empty() {
            notes.push(
                "Making file systems needs root: run it again with sudo to compare them."
                    .to_owned(),
            );
        }
        for (setup, reason) in &missing {
            notes.push(format!("Without {setup}: {reason}."));
        }
        if let Where::Device { .. } = place.kind {
            notes.push("The device is left without a file system.".to_owned());
        }
        Ok(Prepared {
            decided_by: String::new(),
            name: NAME.to_owned(),
            effect: Effect {
                writes: Writes::About(written),
                span: place.size,
                ..Effect::default()
            },
            notes,
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, SetupsPlace>) {
        let conditions = &bench.record.conditions;
        let mut common = Common {
            choice: self.choice.clone(),
            rounds: self.rounds,
            target: bench.place.path.clone(),
            place_doubts: doubts_of_place(&conditions.device, conditions.filesystem.as_ref()),
            seed: bench.seed,
            stop: bench.stop,
            frontend: &mut *bench.recorder.frontend,
        };
        let mut found = Found::default();
        let written_before = written_for_storage();
        let done = match bench.place.kind {
            Where::Directory => in_directory(&mut common, &mut bench.place, &mut found),
            Where::Device { .. } => on_device(&mut common, &mut bench.place, &mut found),
        };
        if let Err(failure) = done {
            common.frontend.note(&failure.message);
            found.not_tried.push(not_tried("the rest", failure.kind.in_record()));
        }
        bench.record.bytes_written = written_since(written_before);
        bench.record.state = match found.contests.iter().any(Contest::has_figures) {
            _ if bench.is_stopped() => State::Partial,
            true => State::Complete,
            false => State::Failed,
        };
        bench.record.trial = Some(Trial::Setups(in_record(found, self.rounds)));
    }
}

fn in_record(found: Found, rounds: u32) -> ComparedSetups {
    let Found { contests, not_tried, ground } = found;
    let comparisons = contests.iter().map(results::comparison).collect();
    ComparedSetups { rounds, ground, comparisons, not_tried }
}

fn not_tried(setup: &str, reason: &str) -> SetupNotTried {
    SetupNotTried { setup: setup.to_owned(), reason: reason.to_owned() }
}

/// Compares in an image in the user's directory, and journal modes on the file system there.
fn in_directory(
    common: &mut Common<'_>,
    place: &mut SetupsPlace,
    found: &mut Found,
) -> Result<(), Failure> {
    if place.makes_file_systems() {
        systems::in_image(common, place, found)?;
    } else if !common.choice.setups.is_empty() {
        let reason = "loop devices and mounts need root; run it again with sudo";
        found.not_tried.push(not_tried("file systems", reason));
        found.contests.extend(systems::as_it_is(common));
    }
    place.clear(common.frontend);
    if !common.choice.modes.is_empty() && !common.is_stopped() {
        let scratch = place.fresh(modes::room(), common.frontend)?;
        found.contests.push(modes::compare(common, scratch, "the file system there")?);
    }
    Ok(())
}

/// Compares on a device whose data may be destroyed.
fn on_device(
    common: &mut Common<'_>,
    place: &mut SetupsPlace,
    found: &mut Found,
) -> Result<(), Failure> {
    let (Where::Device { file, .. }, Some(scratch)) = (&mut place.kind, &place.scratch) else {
        return Ok(());
    };
    let Some(file) = file.take() else { return Ok(()) };
    let ground = SetupStorage::prepare(file, place.size, scratch)?;
    found.ground = Some(SetupGround { kind: "device".to_owned(), size_bytes: place.size });
    if !common.choice.setups.is_empty() {
        systems::compare(common, &ground, found);
    }
    if !common.choice.modes.is_empty() && !common.is_stopped() {
        systems::modes_on_baseline(common, &ground, found);
    }
    ground.clear_signatures().map_err(Failure::because("cannot clear the device"))
}

impl Common<'_> {
    /// What makes figures of the target's own file system doubtful: that it is in memory, for what
    /// else it does is what the user lives with.
    fn own_doubts(&self) -> impl Iterator<Item = Warning> {
        let doubts = self.place_doubts.iter();
        doubts.filter(|doubt| doubt.code == WarningCode::Memory).cloned()
    }

    /// Whether the user would have it end.
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
