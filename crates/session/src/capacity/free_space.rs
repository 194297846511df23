//! Is the capacity real? The test in the free space of a mounted file system, without root.
//!
//! It reserves the free space, writes and reads back test blocks over all of it, and gives it back. What
//! it shows holds for the addresses that it covers, which the record names.

use std::sync::atomic::Ordering;

use cardproof_device::{ReadWitness, Sysroot};
use cardproof_evidence::capacity::Verdict;
use cardproof_io::scratch::UsersDirectory;
use cardproof_io::{Extent, Target};
use cardproof_probe::capacity::{Outcome, Plan, Progress, Wish, run};
use cardproof_record::{
    CapacityCover, CapacityMethod, CapacityTest, ProfileInfo, Record, State, Trial,
};
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use super::{announcing, elsewhere, stored};
use crate::announcement::{Effect, Prepared};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::recorder::Recorder;
use crate::session::Bench;
use crate::target::{FreeSpace, Reserved, RoomLayer};

/// A test of the capacity in the free space of a directory's file system.
pub struct FreeSpaceCheck {
    wish: Wish,
    time_max: Option<Nanos>,
    directory: Option<UsersDirectory>,
    plan: Option<Plan>,
}

impl FreeSpaceCheck {
    /// A test that excludes what `wish` says, of the addresses that the free space covers.
    #[must_use]
    pub const fn new(wish: Wish) -> Self {
        Self { wish, time_max: None, directory: None, plan: None }
    }

    /// The same test in `directory`, whatever its path leads to by then.
    #[must_use]
    pub fn in_directory(self, directory: UsersDirectory) -> Self {
        Self { directory: Some(directory), ..self }
    }

    /// The same test, which stops writing after `time_max` and says less then.
    #[must_use]
    pub fn with_time_max(self, time_max: Nanos) -> Self {
        Self { time_max: Some(time_max), ..self }
    }
}

impl Experiment for FreeSpaceCheck {
    type Place = FreeSpace;

    fn needs(&mut self, _seed: Seed) -> Option<UsersDirectory> {
        self.directory.take()
    }

    fn prepare(
        &mut self,
        place: &mut FreeSpace,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("verify", 1);
        let abilities = place.target.abilities();
        let (size, block) = (abilities.size, abilities.logical_block);
        let plan = Plan::new(size, block, self.wish, draft.seed)
            .map_err(|error| Failure::usage(error.to_string()))?;
        // What an earlier test with the same seed has left is not this one's.
        let now = place.target.target().now();
        let own = Seed::from_bits(plan.salt() ^ now.get()).derive("test of free space");
        let plan = plan.salted(own);
        let (plan, filled) = match &place.target {
            Reserved::Placed(_) => (plan, Bytes::ZERO),
            Reserved::Sampled(target) => {
                let filled = plan.filling_bytes(target.unit());
                (plan.confined(), filled)
            }
        };
        let written = plan.bytes_to_write() + filled;
        let notes = vec![announcing::of_free_space(written, size, place.room.space.kept())];
        let effect = Effect { time_max: self.time_max, ..Effect::default() };
        self.plan = Some(plan);
        // The free space of a directory is never simulated.
        Ok(Prepared { name: "verify".to_owned(), decided_by: String::new(), effect, notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, FreeSpace>) {
        let Some(plan) = self.plan.take() else { return };
        let begun = bench.place.target.target().now();
        if !lay(bench, &plan) {
            return;
        }
        let cover = cover(&bench.place, &bench.record);
        let witness = ReadWitness::begin(&Sysroot::default(), &bench.place.lasting_path());
        let outcome = {
            let Bench { place, recorder, stop, .. } = bench;
            let time_max = self.time_max;
            let FreeSpace { target, room, .. } = place;
            let target = target.target();
            let mut watch = |progress: &Progress| {
                show(recorder, progress);
                let is_late = time_max.is_some_and(|most| progress.elapsed >= most);
                !is_late && !stop.load(Ordering::Relaxed) && !room.is_needed_by_others()
            };
            run(target, &plan, &mut watch)
        };
        let took = bench.place.target.target().now().saturating_sub(begun);
        if let Reserved::Sampled(target) = &bench.place.target {
            bench.record.bytes_written += target.filled();
        }
        match outcome {
            Ok(outcome) => {
                let is_short = self.time_max.is_some();
                let shown = Shown { outcome, cover, witness, took, is_short };
                tested(bench, &plan, shown);
            }
            Err(error) => {
                bench.recorder.note(&format!("The test has ended early: {}.", with_causes(&error)));
                bench.record.state = State::Failed;
            }
        }
        give_back(bench);
    }
}

/// What the test of the free space has shown.
struct Shown {
    outcome: Outcome,
    cover: CapacityCover,
    witness: ReadWitness,
    took: Nanos,
    /// Whether the test may take only so long.
    is_short: bool,
}

/// Puts into the record what the test has shown, and what reading places elsewhere shows after it.
fn tested(bench: &mut Bench<'_, FreeSpace>, plan: &Plan, shown: Shown) {
    let Shown { outcome, cover, mut witness, took, is_short } = shown;
    witness.note(outcome.bytes_read);
    let origin = Some(witness.end());
    bench.record.bytes_written += outcome.bytes_written;
    bench.record.bytes_read += outcome.bytes_read;
    if has_moved(bench) {
        return;
    }
    let is_whole = !outcome.evidence.is_cut_short;
    bench.record.state = if is_whole { State::Complete } else { State::Partial };
    let elsewhere = if outcome.finding.verdict == Verdict::Fake || bench.is_stopped() {
        None
    } else {
        elsewhere::look(bench, plan, &outcome, is_short)
    };
    // What lies elsewhere by now was not found elsewhere.
    if elsewhere.is_some() && has_moved(bench) {
        return;
    }
    bench.record.trial = Some(Trial::Capacity(CapacityTest {
        time_ns: took,
        cover: Some(cover),
        elsewhere,
        origin,
        ..stored::stored(&outcome, plan, CapacityMethod::FreeSpace)
    }));
}

/// Whether the file system has moved the test file; then the test says nothing, and the record tells it.
fn has_moved(bench: &mut Bench<'_, FreeSpace>) -> bool {
    let is_in_place = match &bench.place.target {
        Reserved::Placed(target) => target.is_in_place().unwrap_or(false),
        // These file systems move no files.
        Reserved::Sampled(_) => true,
    };
    if !is_in_place {
        bench
            .recorder
            .note("The file system moved the test file during the test, so the test says nothing.");
        bench.record.state = State::Failed;
    }
    !is_in_place
}

/// So much is given back at a time.
const GIVEN_BACK: Bytes = Bytes::mib(128);

/// Gives the free space back, and tells how far that is. Where the file system discards what it frees, it takes
/// seconds, and it happens in any case when the process ends.
fn give_back(bench: &mut Bench<'_, FreeSpace>) {
    let Bench { place, recorder, stop, .. } = bench;
    let begun = place.target.target().now();
    let mut tell = |done: f64, now: Nanos| {
        recorder.tell(Event::Step {
            name: "free",
            deed: if stop.load(Ordering::Relaxed) {
                "stopping, freeing the space"
            } else {
                "freeing the space"
            },
            done,
            elapsed: now.saturating_sub(begun),
        });
    };
    tell(0.0, begun);
    let Reserved::Placed(target) = &mut place.target else { return };
    let all = target.abilities().size.as_f64().max(1.0);
    while let Ok(left) = target.give_back(GIVEN_BACK)
        && left > Bytes::ZERO
    {
        tell((1.0 - left.as_f64() / all).max(0.0), target.now());
    }
}

fn show(recorder: &mut Recorder<'_>, progress: &Progress) {
    recorder.tell(Event::Step {
        name: "verify",
        deed: &announcing::deed(progress),
        done: progress.done.as_f64() / progress.total.as_f64().max(1.0),
        elapsed: progress.elapsed,
    });
}

/// Reserves the free space where that needs the plan; whether the test goes on.
fn lay(bench: &mut Bench<'_, FreeSpace>, plan: &Plan) -> bool {
    let Bench { place, recorder, stop, record, .. } = bench;
    let FreeSpace { target: Reserved::Sampled(target), room, .. } = place else { return true };
    let stretches = plan.stretches(target.unit());
    match target.lay(&stretches, &mut RoomLayer { room, stop }) {
        Ok(true) => return true,
        Ok(false) => record.state = State::Partial,
        Err(error) => {
            recorder.note(&format!("The test has not begun: {}.", with_causes(&error)));
            record.state = State::Failed;
        }
    }
    false
}

/// What of the device the free space covers.
fn cover(place: &FreeSpace, record: &Record) -> CapacityCover {
    let filesystem_bytes = place.room.space.size;
    let cover = CapacityCover {
        filesystem_bytes,
        device_bytes: record.conditions.device.size_bytes,
        free_bytes: Some(place.room.space.free),
        ..CapacityCover::default()
    };
    let pieces = match &place.target {
        Reserved::Placed(target) => target.pieces(),
        Reserved::Sampled(target) => {
            let pieces = target.stretches() as u64;
            let end_bytes = filesystem_bytes;
            return CapacityCover { end_bytes, pieces, is_by_allocation: true, ..cover };
        }
    };
    let end = |piece: &Extent| piece.device_offset + piece.length;
    CapacityCover {
        lowest_bytes: pieces.first().map_or(Bytes::ZERO, |piece| piece.device_offset),
        end_bytes: pieces.last().map_or(Bytes::ZERO, end),
        pieces: pieces.len() as u64,
        ..cover
    }
}
