//! Reading back: what each place gives, how often it was tried, and how long it took.

use cardproof_evidence::capacity::{Examined, Found, Observation, Spread, examine, stamp::Stamp};
use cardproof_units::Bytes;
use rand_core::Rng;

use super::experiment::{ATTEMPTS, Experiment, Stage, Written};
use super::plan::{CHUNK, PLACE};
use crate::DriveError;

/// Number of wrong places that are read one by one; more add no evidence.
const WRONG_MAX: usize = 4096;

impl Experiment<'_> {
    /// Reads all that no look has read.
    pub(super) fn read_all(&mut self) -> Result<(), DriveError> {
        self.stage = Stage::Reading;
        // A device that cannot flush is read all the same; what is missing then is seen.
        let _ = self.drive.flush()?;
        self.is_reconnected = self.drive.reconnect()?;
        self.read_rest()?;
        if self.plan.is_full { self.read_filler() } else { self.sample_filler() }
    }

    /// Reads a place of each piece of the filler, chosen at random, and the two ends of the end.
    fn sample_filler(&mut self) -> Result<(), DriveError> {
        let (start, end) = (self.plan.filler_start, self.plan.size / PLACE * PLACE);
        let mut places = vec![start, end - PLACE];
        places.retain(|&place| self.is_filler(place));
        let chunks = (start..end).step_by(CHUNK as usize);
        let parts = chunks.map(|chunk| (chunk, CHUNK.min(end - chunk)));
        let pieces = self.plan.pieces.iter().map(|&piece| (piece, self.plan.piece_length));
        for (start, length) in parts.chain(pieces) {
            places.extend(self.place_in(start, length));
        }
        places.sort_unstable();
        places.dedup();
        let places: Vec<Written> = places.into_iter().map(|p| self.of_filler(p, PLACE)).collect();
        self.read_places(&places)?;
        if !self.is_stopped {
            let pieces = self.plan.pieces.len() as u64;
            self.evidence.spread = Spread { pieces, bytes: self.spread_written };
        }
        Ok(())
    }

    /// A place of the filler between `start` and `start + length`, chosen at random.
    fn place_in(&mut self, start: u64, length: u64) -> Option<u64> {
        const ATTEMPTS: u64 = 16;
        for _ in 0..ATTEMPTS {
            let place = start + self.random.next_u64() % (length / PLACE).max(1) * PLACE;
            if self.is_filler(place) {
                return Some(place);
            }
        }
        None
    }

    /// Whether all of the place at `start` belongs to the filler.
    fn is_filler(&self, start: u64) -> bool {
        self.plan.gaps(start, start + PLACE) == [(start, start + PLACE)]
    }

    /// Reads the whole filler; a chunk that is not right as a whole is read place by place.
    fn read_filler(&mut self) -> Result<(), DriveError> {
        let mut next = self.plan.filler_start;
        while next < self.plan.size && self.goes_on() && self.wrong < WRONG_MAX {
            let length = CHUNK.min(self.plan.size - next);
            for (from, to) in self.plan.gaps(next, next + length) {
                let whole = self.of_filler(from, to - from);
                if self.reads_right(&whole)? {
                    self.note_right(&whole);
                    continue;
                }
                let parts = (from..to).step_by(PLACE as usize);
                let parts: Vec<Written> =
                    parts.map(|p| self.of_filler(p, PLACE.min(to - p))).collect();
                self.read_places(&parts)?;
            }
            next += length;
        }
        self.evidence.is_full = next >= self.plan.size;
        Ok(())
    }

    /// The filler at `offset` as a place: written when the filler had come so far.
    fn of_filler(&self, offset: u64, length: u64) -> Written {
        Written {
            stamp: Stamp { address_bytes: offset, ..self.filler_stamp },
            length,
            at: self.evidence.writes.last_at(offset + length - 1).unwrap_or_default(),
            is_random: false,
            has_failed: self.has_failed(offset, offset + length),
        }
    }

    fn reads_right(&mut self, place: &Written) -> Result<bool, DriveError> {
        let begun = self.drive.now();
        let stamp = place.stamp;
        let is_right = match self.drive.read(stamp.address_bytes, place.length)? {
            Ok(data) => examine(stamp, data, None).found == Found::Right,
            Err(_) => false,
        };
        let took = self.drive.now().saturating_sub(begun);
        self.readings.push((Bytes(stamp.address_bytes), Bytes(place.length), took));
        self.pace.note_piece(place.length, took);
        Ok(is_right)
    }

    /// Joins a right stretch of filler to the one before it, so that a full test stays small.
    fn note_right(&mut self, place: &Written) {
        const JOINED_MAX: u64 = 4096;
        let joined_max = (self.plan.size / JOINED_MAX).max(CHUNK);
        let next = self.observation(place, whole(place.length), 0);
        if let Some(last) = self.evidence.observations.last_mut()
            && last.is_right()
            && last.end_bytes() == next.offset_bytes
            && last.length_bytes < joined_max
        {
            last.length_bytes += next.length_bytes;
            last.right_prefix_bytes = last.length_bytes;
            last.live_prefix_bytes = last.length_bytes;
            last.written_at_bytes = next.written_at_bytes;
            return;
        }
        self.evidence.observations.push(next);
    }

    fn observation(
        &self,
        place: &Written,
        Examined { found, right_prefix_bytes, live_prefix_bytes }: Examined,
        transient_errors: u32,
    ) -> Observation {
        Observation {
            offset_bytes: place.stamp.address_bytes,
            length_bytes: place.length,
            written_at_bytes: place.at,
            read_at_bytes: self.evidence.writes.total_bytes(),
            found,
            right_prefix_bytes,
            live_prefix_bytes,
            transient_errors,
            is_random: place.is_random,
        }
    }

    /// Reads `places` in their order. What is not right is read again at once and, when all others
    /// were read, once more.
    pub(super) fn read_places(&mut self, places: &[Written]) -> Result<(), DriveError> {
        let mut wrong = Vec::new();
        for place in places {
            if !self.goes_on() {
                return Ok(());
            }
            if self.watch.is_untouched(place.stamp.address_bytes, place.length) {
                continue;
            }
            let observation = self.read_place(place)?;
            if observation.is_right() {
                self.evidence.observations.push(observation);
            } else {
                wrong.push((*place, observation));
            }
        }
        for (place, first) in wrong {
            let again = if place.has_failed { first } else { self.read_place(&place)? };
            let transient_errors = if again.is_right() { 1 + ATTEMPTS } else { 0 };
            let kept = if again.is_right() { again } else { first };
            self.wrong += usize::from(!kept.is_right());
            let observation = Observation {
                transient_errors: kept.transient_errors.max(transient_errors),
                ..kept
            };
            self.evidence.observations.push(observation);
        }
        Ok(())
    }

    fn read_place(&mut self, place: &Written) -> Result<Observation, DriveError> {
        if place.has_failed {
            return Ok(self.observation(place, nothing(Found::WriteFailed), 0));
        }
        let (stamp, length) = (place.stamp, place.length);
        let mut earlier: Option<Vec<u8>> = None;
        let mut last = nothing(Found::ReadFailed);
        for failed in 0..=ATTEMPTS {
            let begun = self.drive.now();
            let (result, data) = match self.drive.read(stamp.address_bytes, length)? {
                Ok(data) => {
                    let result = examine(stamp, data, earlier.as_deref());
                    (result, (result.found != Found::Right).then(|| data.to_vec()))
                }
                Err(_) => (nothing(Found::ReadFailed), None),
            };
            let took = self.drive.now().saturating_sub(begun);
            self.readings.push((Bytes(stamp.address_bytes), Bytes(length), took));
            self.pace.note_place(took);
            if result.found == Found::Right {
                return Ok(self.observation(place, result, failed));
            }
            // An error on one attempt does not hide what another attempt gave back.
            if result.found != Found::ReadFailed || last.found == Found::ReadFailed {
                last = result;
            }
            earlier = data.or(earlier);
        }
        Ok(self.observation(place, last, 0))
    }
}

/// A place of which nothing came back.
const fn nothing(found: Found) -> Examined {
    Examined { found, right_prefix_bytes: 0, live_prefix_bytes: 0 }
}

/// A place of `length` bytes that came back right.
const fn whole(length: u64) -> Examined {
    Examined { found: Found::Right, right_prefix_bytes: length, live_prefix_bytes: length }
}
