//! The run: cycle after cycle until the card ends, the wish is met, or somebody stops it.

use cardproof_io::Target;
use cardproof_units::{Bytes, Nanos};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::autopsy;
use super::bad::stretches;
use super::plan::Plan;
use super::resume::{Marks, found, mark};
use super::state::{Cycle, End, Pass, Position, State};
use crate::{Drive, DriveError};

/// How often the position is saved, on the target's clock: what a cut can make be done twice.
const SAVE_EVERY: Nanos = Nanos::from_secs(10);

/// So large a share of pages that turn bad in one cycle asks for a closer look.
const SUDDEN: f64 = 0.05;

/// After so long without a request another card may be in the place: a reader keeps its disk when cards are changed.
const GAP: Nanos = Nanos::from_secs(1);

/// The bad share with which a run ends.
const OVER: f64 = 0.5;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The current cycle, from 1.
    pub cycle: u64,
    /// Which half of it.
    pub pass: Pass,
    /// The share of the half that is done, 0 to 1.
    pub done: f64,
    /// The bad share, 0 to 1.
    pub bad_share: f64,
    /// All bytes written.
    pub written: Bytes,
    /// The time since this run began, on the target's clock.
    pub elapsed: Nanos,
    /// Whether it waits for a device that fails.
    pub is_waiting: bool,
}

/// Why a run has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The card is at its end.
    Ended,
    /// The wanted number of cycles or bytes is reached.
    WishMet,
    /// Somebody stopped it.
    Stopped,
    /// The device has vanished.
    Vanished,
    /// The device has vanished, and whoever waited for it found another one in its place.
    OtherCard,
    /// The device fails, and so do others beside it: the fault is the host's or the hub's.
    HostFails,
    /// The state could not be saved; the text says why.
    Unsaved(String),
}

/// Somebody who follows a run, keeps its state and knows what happens beside it.
pub trait Watch {
    /// Called before each piece; `false` stops the run in order.
    fn progress(&mut self, progress: &Progress) -> bool;

    /// Keeps a complete cycle, for good.
    ///
    /// # Errors
    /// It cannot be kept; the text says why. The run stops.
    fn keep_cycle(&mut self, cycle: &Cycle) -> Result<(), String>;

    /// Keeps the position; everything before it is on the card.
    ///
    /// # Errors
    /// As [`keep_cycle`](Self::keep_cycle).
    fn keep_position(&mut self, position: &Position) -> Result<(), String>;

    /// Whether positions need keeping: not where nothing can interrupt the run.
    fn wants_positions(&self) -> bool {
        true
    }

    /// Called before the timed part of a pass: nobody else uses the bus until
    /// [`timing_ended`](Self::timing_ended).
    fn timing_begins(&mut self) {}

    /// The timed part is over.
    fn timing_ended(&mut self) {}

    /// Notes whether this card fails at the moment, for those beside it.
    fn fails(&mut self, is_failing: bool) {
        let _ = is_failing;
    }

    /// Whether other cards on the same hub fail at the moment.
    fn others_fail(&mut self) -> bool {
        false
    }
}

/// Runs `plan` on `target` from where `state` stands.
///
/// # Errors
/// The engine failed. A device that fails or vanishes is no error.
pub fn run(
    target: &mut dyn Target,
    plan: &Plan,
    state: &mut State,
    watch: &mut dyn Watch,
) -> Result<Why, DriveError> {
    let mut runner = Runner::new(target, plan, state, watch)?;
    match runner.cycles() {
        Err(Stop::Why(why)) => Ok(why),
        Err(Stop::Failed(DriveError::Vanished)) => Ok(Why::Vanished),
        Err(Stop::Failed(error)) => Err(error),
        Ok(()) => Ok(Why::WishMet),
    }
}

/// What ends the work below [`run`].
pub(super) enum Stop {
    Why(Why),
    Failed(DriveError),
}

impl From<DriveError> for Stop {
    fn from(error: DriveError) -> Self {
        Self::Failed(error)
    }
}

pub(super) struct Runner<'a> {
    pub(super) drive: Drive<'a>,
    pub(super) plan: &'a Plan,
    pub(super) state: &'a mut State,
    pub(super) watch: &'a mut dyn Watch,
    pub(super) random: Xoshiro256PlusPlus,
    begun: Nanos,
    saved_at: Nanos,
    /// The time up to which the current cycle's duration is counted.
    counted_to: Nanos,
    /// The time of the last piece.
    pub(super) worked_at: Nanos,
    /// Whether the card carries the run's marks, by which it is told from others.
    pub(super) is_marked: bool,
    /// Pieces that failed in a row.
    pub(super) streak: u32,
    /// Whether a closer look has found nothing that ends the card in this pass.
    pub(super) was_looked_at: bool,
}

impl<'a> Runner<'a> {
    fn new(
        target: &'a mut dyn Target,
        plan: &'a Plan,
        state: &'a mut State,
        watch: &'a mut dyn Watch,
    ) -> Result<Self, DriveError> {
        let mut drive = Drive::new(target, Bytes(plan.piece_max()))?;
        let begun = drive.now();
        let seed = plan.seed.derive("endurance looks") ^ state.position.cycle;
        let is_marked = !is_fresh(&state.position);
        Ok(Self {
            drive,
            plan,
            state,
            watch,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            begun,
            saved_at: begun,
            counted_to: begun,
            worked_at: begun,
            is_marked,
            streak: 0,
            was_looked_at: false,
        })
    }

    fn cycles(&mut self) -> Result<(), Stop> {
        let is_fresh = is_fresh(&self.state.position);
        if is_fresh && self.state.end.is_none() && self.watch.wants_positions() {
            self.is_marked = mark(&mut self.drive, self.plan)?;
        }
        while self.state.end.is_none() {
            if is_met(self.plan, self.state) {
                return Ok(());
            }
            if self.state.position.pass == Pass::Write {
                self.pass(Pass::Write)?;
                self.flush()?;
                self.state.position.pass = Pass::Read;
                self.state.position.done = 0;
                self.save()?;
            }
            self.pass(Pass::Read)?;
            self.complete_cycle()?;
        }
        Err(Stop::Why(Why::Ended))
    }

    fn complete_cycle(&mut self) -> Result<(), Stop> {
        self.count_time();
        let position = &self.state.position;
        let cycle = Cycle {
            number: position.cycle,
            written_bytes: position.written_bytes,
            read_bytes: position.read_bytes,
            new_bad: stretches(&position.new_bad),
            bad_pages: self.state.bad.count(),
            tally: position.tally,
            write_rate: position.write_rate,
            read_rate: position.read_rate,
            duration_ns: position.duration_ns,
        };
        let newly = position.new_bad.len() as f64 / self.plan.pages().max(1) as f64;
        self.watch.keep_cycle(&cycle).map_err(|why| Stop::Why(Why::Unsaved(why)))?;
        self.state.take_cycle(cycle);
        self.saved_at = self.drive.now();
        let is_over = self.state.bad_share() >= OVER;
        if is_over || newly >= SUDDEN {
            let places = autopsy::places(self, is_over);
            let found = self.examine(&places)?;
            let end = if is_over { Some(found.most_frequent()) } else { found.of_whole_card() };
            if let Some(end) = end.filter(|end| is_over || *end == End::Shrinks) {
                // The card was at its end in the cycle that is over.
                self.state.position.cycle -= 1;
                self.state.finish(end);
                self.state.position.cycle += 1;
            }
        }
        Ok(())
    }

    /// Saves the position, if that is due.
    pub(super) fn save_if_due(&mut self) -> Result<(), Stop> {
        let is_due = self.drive.now().saturating_sub(self.saved_at) >= SAVE_EVERY;
        if is_due && self.watch.wants_positions() { self.save() } else { Ok(()) }
    }

    /// Saves the position, after all before it is on the card.
    pub(super) fn save(&mut self) -> Result<(), Stop> {
        if !self.watch.wants_positions() {
            return Ok(());
        }
        if self.state.position.pass == Pass::Write {
            self.flush()?;
        }
        self.count_time();
        self.watch
            .keep_position(&self.state.position)
            .map_err(|why| Stop::Why(Why::Unsaved(why)))?;
        self.saved_at = self.drive.now();
        Ok(())
    }

    /// A flush that fails shows when the data are read back.
    fn flush(&mut self) -> Result<(), DriveError> {
        self.drive.flush().map(|_| ())
    }

    fn count_time(&mut self) {
        let now = self.drive.now();
        self.state.position.duration_ns += now.saturating_sub(self.counted_to).get();
        self.counted_to = now;
    }

    /// Tells how far the run is; an error where it is to stop, with the position saved.
    pub(super) fn tell(&mut self, is_waiting: bool) -> Result<(), Stop> {
        let position = &self.state.position;
        let count = self.plan.count(position.pass).max(1);
        let progress = Progress {
            cycle: position.cycle,
            pass: position.pass,
            done: position.done as f64 / count as f64,
            bad_share: self.state.bad_share(),
            written: Bytes(position.written_bytes),
            elapsed: self.drive.now().saturating_sub(self.begun),
            is_waiting,
        };
        if self.watch.progress(&progress) {
            return Ok(());
        }
        self.save()?;
        Err(Stop::Why(Why::Stopped))
    }

    /// Looks after a pause whether the card is still that of the run, before anything is written to it. What carries
    /// other data is as good as gone: whoever waits for the card looks at what is there. Nobody changes a simulated card.
    pub(super) fn look_after_pause(&mut self) -> Result<(), Stop> {
        let pause = self.drive.now().saturating_sub(self.worked_at);
        if pause < GAP || !self.is_marked || !self.watch.wants_positions() {
            return Ok(());
        }
        match found(&mut self.drive, self.plan, self.state)? {
            Marks::Own | Marks::Unreadable => Ok(()),
            Marks::Foreign | Marks::NotExpected => Err(Stop::Why(Why::Vanished)),
        }
    }

    /// Ends the run with `end`.
    pub(super) fn finish<T>(&mut self, end: End) -> Result<T, Stop> {
        self.state.finish(end);
        Err(Stop::Why(Why::Ended))
    }
}

/// Whether `state` has all that `plan` asks for, so that [`run`] has nothing left to do. A cycle that has begun is
/// completed first.
#[must_use]
pub fn is_met(plan: &Plan, state: &State) -> bool {
    let (wish, position) = (&plan.wish, &state.position);
    let is_between = position.pass == Pass::Write && position.done == 0;
    wish.cycles_max.is_some_and(|most| state.cycles.len() as u64 >= most)
        || is_between && wish.bytes_max.is_some_and(|most| position.written_bytes >= most.get())
}

/// Whether nothing was written yet.
fn is_fresh(position: &Position) -> bool {
    position.cycle == 1 && position.pass == Pass::Write && position.done == 0
}
