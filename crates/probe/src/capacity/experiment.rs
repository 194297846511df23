//! The experiment: places, filler with looks, reading back, and a closer look where something fails.

use cardproof_evidence::capacity::{Evidence, Finding, Observation, examine, infer, stamp::Stamp};
use cardproof_io::Target;
use cardproof_units::{Bytes, Nanos};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::pace::{Estimate, Pace, Work};
use super::plan::{CHUNK, PLACE, PLACES_TO_TIME, Plan};
use crate::{Drive, DriveError};

/// How often a failed reading is repeated at once, and later again.
pub(super) const ATTEMPTS: u32 = 2;

/// Places of the filler that are tried one by one; more that fail add no evidence.
const FAILED_MAX: usize = 2048;

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Places and filler are written.
    Writing,
    /// Places are read back.
    Reading,
    /// The real size is narrowed down.
    Narrowing,
}

/// How far the experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The part.
    pub stage: Stage,
    /// Bytes of the plan that are done, written and read together.
    pub done: Bytes,
    /// Bytes of the plan in all.
    pub total: Bytes,
    /// The time since the beginning, on the target's clock.
    pub elapsed: Nanos,
    /// The time that is left, if the rest goes as fast; `None` while nothing is known.
    pub left: Option<Nanos>,
    /// How long the whole test takes; `None` while nothing is known.
    pub estimate: Option<Estimate>,
}

/// Somebody who follows the experiment and may end it.
pub trait Watch {
    /// Called often; `false` ends the experiment in order.
    fn progress(&mut self, progress: &Progress) -> bool;

    /// Whether any of `length_bytes` at `offset_bytes` was left as it was although it was to be written,
    /// as where it could not be saved. Such a place is not read, and is evidence of nothing.
    fn is_untouched(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let _ = (offset_bytes, length_bytes);
        false
    }
}

impl<F: FnMut(&Progress) -> bool> Watch for F {
    fn progress(&mut self, progress: &Progress) -> bool {
        self(progress)
    }
}

/// What the experiment saw and what it means.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was seen.
    pub evidence: Evidence,
    /// What it means.
    pub finding: Finding,
    /// All bytes written.
    pub bytes_written: Bytes,
    /// All bytes read.
    pub bytes_read: Bytes,
    /// How long it took, on the target's clock.
    pub duration: Nanos,
    /// How long it was to take, see [`Progress::estimate`]; `None` where it ended before that was
    /// known.
    pub estimate: Option<Estimate>,
    /// Whether the device was disconnected and connected again between writing and reading.
    pub is_reconnected: bool,
    /// The mean rate of the places and chunks over the addresses, for a map: (address, bytes,
    /// duration of the reading).
    pub readings: Vec<(Bytes, Bytes, Nanos)>,
}

/// A place that was written and not yet read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) stamp: Stamp,
    pub(super) length: u64,
    pub(super) at: u64,
    pub(super) is_random: bool,
    pub(super) has_failed: bool,
}

pub(super) struct Experiment<'a> {
    pub(super) drive: Drive<'a>,
    pub(super) plan: &'a Plan,
    pub(super) watch: &'a mut dyn Watch,
    pub(super) evidence: Evidence,
    pub(super) random: Xoshiro256PlusPlus,
    salt: u64,
    generation: u32,
    begun: Nanos,
    /// Bytes of filler that are written at the end and in pieces, with the places in them.
    end_written: u64,
    pieces_written: u64,
    /// The parts of the filler that could not be written.
    failed: Vec<(u64, u64)>,
    /// How many parts of the filler are written.
    chunks: u64,
    /// Bytes of its pieces that are written, without the places in them.
    pub(super) spread_written: u64,
    /// How many looks were made.
    looked: usize,
    /// A period of good and lost parts was looked for.
    pub(super) is_period_sought: bool,
    pub(super) stage: Stage,
    pub(super) is_stopped: bool,
    pub(super) is_reconnected: bool,
    /// The first round of a wrap-around was tested as a whole.
    pub(super) is_round_tested: bool,
    /// How many places were not right.
    pub(super) wrong: usize,
    pub(super) readings: Vec<(Bytes, Bytes, Nanos)>,
    pub(super) pace: Pace,
    /// The places of the plan in the order of writing.
    pub(super) places: Vec<Written>,
    pub(super) filler_stamp: Stamp,
}

impl<'a> Experiment<'a> {
    pub(super) fn new(
        target: &'a mut dyn Target,
        plan: &'a Plan,
        watch: &'a mut dyn Watch,
    ) -> Result<Self, DriveError> {
        let mut drive = Drive::new(target, Bytes(CHUNK))?;
        let begun = drive.now();
        let evidence = Evidence {
            announced_bytes: plan.size,
            grid_bytes: plan.grid,
            is_unordered: plan.is_confined,
            ..Evidence::default()
        };
        let salt = plan.salt();
        Ok(Self {
            drive,
            plan,
            watch,
            evidence,
            random: Xoshiro256PlusPlus::seed_from_u64(plan.seed.derive("capacity order")),
            salt,
            generation: 0,
            begun,
            end_written: 0,
            pieces_written: 0,
            failed: Vec::new(),
            chunks: 0,
            spread_written: 0,
            looked: 0,
            is_period_sought: false,
            stage: Stage::Writing,
            is_stopped: false,
            is_reconnected: false,
            is_round_tested: false,
            wrong: 0,
            readings: Vec::new(),
            pace: Pace::default(),
            places: Vec::new(),
            filler_stamp: Stamp { salt, address_bytes: 0, generation: 0 },
        })
    }

    /// A stamp for `offset` that no earlier writing has used.
    pub(super) fn stamp(&mut self, offset: u64) -> Stamp {
        self.generation += 1;
        Stamp { salt: self.salt, address_bytes: offset, generation: self.generation }
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        self.stage = stage;
    }

    /// Reports progress; `false` once somebody has ended the experiment.
    pub(super) fn goes_on(&mut self) -> bool {
        let total = self.plan.bytes_to_write().0 + self.plan.bytes_to_read().0;
        let done = (self.drive.written().0 + self.drive.read_so_far().0).min(total);
        let elapsed = self.drive.now().saturating_sub(self.begun);
        let is_planned = self.stage != Stage::Narrowing;
        let left = self.pace.left(self.work()).filter(|_| is_planned);
        let estimate = self.pace.estimate;
        let stage = self.stage;
        let progress =
            Progress { stage, done: Bytes(done), total: Bytes(total), elapsed, left, estimate };
        if !self.watch.progress(&progress) {
            self.is_stopped = true;
            self.evidence.is_cut_short = true;
        }
        !self.is_stopped
    }

    /// What is left of the plan.
    fn work(&self) -> Work {
        let pieces = if self.plan.is_full { self.plan.size } else { 0 };
        let samples = if self.plan.is_full { 0 } else { self.plan.samples_count() };
        let read = self.evidence.observations.len() as u64;
        Work {
            filler_bytes: self.plan.end_bytes().saturating_sub(self.end_written),
            spread_bytes: self.plan.pieces_bytes().saturating_sub(self.pieces_written),
            places_to_read: (self.plan.places_count() + samples).saturating_sub(read),
            pieces_bytes: pieces.saturating_sub(self.drive.read_so_far().get()),
        }
    }

    /// Estimates once how long the test takes.
    fn estimate(&mut self) -> Result<(), DriveError> {
        if !self.pace.is_ready(self.plan.end_bytes(), self.plan.pieces_bytes()) {
            return Ok(());
        }
        let begun = self.drive.now();
        // A device that cannot flush is as fast as it seems.
        let _ = self.drive.flush()?;
        let flushed = self.drive.now();
        self.pace.note_filler(0, flushed.saturating_sub(begun));
        if self.plan.is_full {
            self.time_pieces()?;
        }
        if self.looked == 0 {
            self.time_places()?;
        }
        let elapsed = self.drive.now().saturating_sub(self.begun);
        self.pace.make_estimate(elapsed, self.work());
        Ok(())
    }

    /// Reads a few places for the time that it takes, where no look has read any.
    fn time_places(&mut self) -> Result<(), DriveError> {
        for place in self.places.iter().take(PLACES_TO_TIME) {
            let begun = self.drive.now();
            let _ = self.drive.read(place.stamp.address_bytes, place.length)?;
            let took = self.drive.now().saturating_sub(begun);
            self.pace.note_place(took);
        }
        Ok(())
    }

    /// Reads the start of the filler for the time that it takes.
    fn time_pieces(&mut self) -> Result<(), DriveError> {
        let start = self.plan.filler_start;
        for piece in 0..self.plan.pieces_to_time().min(self.end_written / CHUNK) {
            let begun = self.drive.now();
            if let Ok(data) = self.drive.read(start + piece * CHUNK, CHUNK)? {
                // Comparing takes its time too.
                let _ = examine(self.filler_stamp, data, None);
            }
            let took = self.drive.now().saturating_sub(begun);
            self.pace.note_piece(CHUNK, took);
        }
        Ok(())
    }

    /// Writes a place; a write that fails is tried again twice.
    pub(super) fn write_place(
        &mut self,
        offset: u64,
        length: u64,
        is_random: bool,
    ) -> Result<Written, DriveError> {
        let stamp = self.stamp(offset);
        let has_failed = self.write_stamped(stamp, offset, length)?;
        let at = self.evidence.writes.total_bytes();
        Ok(Written { stamp, length, at, is_random, has_failed })
    }

    /// Writes `length` bytes of `stamp` at `offset`; whether the storage failed each time.
    pub(super) fn write_stamped(
        &mut self,
        stamp: Stamp,
        offset: u64,
        length: u64,
    ) -> Result<bool, DriveError> {
        self.evidence.writes.note(offset, length);
        for _ in 0..=ATTEMPTS {
            if self.drive.write_stamped(offset, length, stamp)?.is_ok() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn write_places(&mut self) -> Result<(), DriveError> {
        for place in self.plan.places() {
            if !self.goes_on() {
                return Ok(());
            }
            let written = self.write_place(place.start, place.length, place.is_random)?;
            self.places.push(written);
        }
        self.filler_stamp = self.stamp(0);
        Ok(())
    }

    /// Writes the filler with the looks; `false` once it is clear that the device is a fake or
    /// somebody has ended the experiment.
    pub(super) fn write_filler_with_looks(&mut self) -> Result<bool, DriveError> {
        while self.write_chunk()? {
            let looked = self.looked;
            let filler = self.end_written + self.pieces_written;
            if looked < self.plan.looks.len() && filler >= Plan::look_after(looked) {
                self.looked += 1;
                if self.look(looked)? {
                    return Ok(false);
                }
            }
            self.estimate()?;
        }
        Ok(!self.is_stopped)
    }

    /// Writes the next chunk of filler; `false` where there is none or somebody has ended the
    /// experiment.
    fn write_chunk(&mut self) -> Result<bool, DriveError> {
        let Some((start, length)) = self.plan.chunk(self.chunks) else { return Ok(false) };
        if !self.goes_on() {
            return Ok(false);
        }
        let begun = self.drive.now();
        let before = self.evidence.writes.total_bytes();
        self.write_filler(start, length)?;
        self.chunks += 1;
        let took = self.drive.now().saturating_sub(begun);
        if start < self.plan.filler_start {
            self.spread_written += self.evidence.writes.total_bytes() - before;
            self.pieces_written += length;
            self.pace.note_spread(length, took);
            return Ok(true);
        }
        self.end_written += length;
        self.pace.note_filler(length, took);
        if self.end_written >= self.plan.end_bytes() {
            self.evidence.filler_bytes = self.plan.end_bytes();
        }
        Ok(true)
    }

    /// Writes the rest of the filler at the end without a look, and reads all places again.
    pub(super) fn finish_filler(&mut self) -> Result<(), DriveError> {
        while self.evidence.filler_bytes == 0 && self.write_chunk()? {}
        let is_there = |place: &&Written| self.is_latest(place);
        let places: Vec<Written> = self.places.iter().filter(is_there).copied().collect();
        self.read_places(&places)
    }

    /// Does the rest of the plan, where a look has ended it and all places together say something else;
    /// whether there was something to do.
    pub(super) fn finish_plan(&mut self) -> Result<bool, DriveError> {
        if self.plan.chunk(self.chunks).is_none() {
            return Ok(false);
        }
        self.set_stage(Stage::Writing);
        while self.write_chunk()? {}
        self.looked = 0;
        self.read_all()?;
        Ok(true)
    }

    /// Whether nothing was written to the addresses of `place` later.
    fn is_latest(&self, place: &Written) -> bool {
        let start = place.stamp.address_bytes;
        let writes = &self.evidence.writes;
        writes.last_at(start) == Some(place.at - place.length + 1)
            && writes.last_at(start + place.length - 1) == Some(place.at)
    }

    /// Reads the places that no look has read.
    pub(super) fn read_rest(&mut self) -> Result<(), DriveError> {
        let is_looked_at =
            |index: &usize| (0..self.looked).any(|number| self.plan.look(number).contains(index));
        let rest = self.places.iter().enumerate().filter(|(index, _)| !is_looked_at(index));
        let places: Vec<Written> = rest.map(|(_, place)| *place).collect();
        self.read_places(&places)
    }

    /// Writes the filler between `start` and `start + length`, around the places.
    fn write_filler(&mut self, start: u64, length: u64) -> Result<(), DriveError> {
        for (from, to) in self.plan.gaps(start, start + length) {
            let stamp = Stamp { address_bytes: from, ..self.filler_stamp };
            if self.write_stamped(stamp, from, to - from)? {
                self.write_in_places(from, to)?;
            }
        }
        Ok(())
    }

    /// Writes the filler between two addresses place by place, because it fails as a whole: else all of
    /// it would seem to have been lost in silence.
    fn write_in_places(&mut self, start: u64, end: u64) -> Result<(), DriveError> {
        let mut from = start;
        while from < end {
            if self.failed.len() >= FAILED_MAX {
                self.failed.push((from, end));
                return Ok(());
            }
            let to = end.min((from / PLACE + 1) * PLACE);
            let stamp = Stamp { address_bytes: from, ..self.filler_stamp };
            let mut is_written = false;
            for _ in 0..=ATTEMPTS {
                is_written |= self.drive.write_stamped(from, to - from, stamp)?.is_ok();
                if is_written {
                    break;
                }
            }
            if !is_written {
                self.failed.push((from, to));
            }
            from = to;
        }
        Ok(())
    }

    /// Whether no place that was read is right.
    pub(super) fn keeps_nothing(&self) -> bool {
        !self.evidence.observations.iter().any(Observation::is_right)
    }

    /// Whether a part of the filler between `start` and `end` could not be written.
    pub(super) fn has_failed(&self, start: u64, end: u64) -> bool {
        self.failed.iter().any(|&(from, to)| from < end && start < to)
    }

    /// Reads the places of a look; whether they show that the device is a fake.
    fn look(&mut self, number: usize) -> Result<bool, DriveError> {
        let places = self.places[self.plan.look(number)].to_vec();
        self.read_places(&places)?;
        if self.evidence.observations.iter().all(Observation::is_right) {
            return Ok(false);
        }
        let finding = infer(&self.evidence);
        let is_told = is_clearly_fake(&finding) && finding.kind.holds_front();
        Ok(is_told && finding.is_clean(&self.evidence))
    }

    pub(super) fn finish(mut self) -> Result<Outcome, DriveError> {
        let duration = self.drive.now().saturating_sub(self.begun);
        let finding = infer(&self.evidence);
        Ok(Outcome {
            estimate: self.pace.estimate,
            finding,
            evidence: self.evidence,
            bytes_written: self.drive.written(),
            bytes_read: self.drive.read_so_far(),
            duration,
            is_reconnected: self.is_reconnected,
            readings: self.readings,
        })
    }
}

/// Whether it is so clear that the device is a fake that the rest of the plan need not be done.
pub(super) fn is_clearly_fake(finding: &Finding) -> bool {
    let shown = |(kind, chance): &(cardproof_evidence::capacity::Kind, f64)| {
        let is_shown = kind.is_fake() && *kind != cardproof_evidence::capacity::Kind::HiddenStore;
        if is_shown { *chance } else { 0.0 }
    };
    finding.hypotheses.iter().map(shown).sum::<f64>() > 0.999
}
