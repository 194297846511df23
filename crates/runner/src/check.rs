//! Whether the storage still holds what a run has written: a random sample, read back and compared.
//!
//! Storage that drops writes, or holds less than it announces, is fast at it, and no figure of it is
//! worth a verdict. So after each phase that wrote, places all over what it wrote are read back past
//! the page cache, and at the end of the run places of all phases: late enough that a small memory of
//! the latest writes has moved on, and that addresses which stand for others have been overwritten.
//!
//! No time of it is a phase's time, and the run's deadline moves on by it. What share of lost data a
//! sample would have found is not said here: the record holds the counts.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{
    Arrangement, Completion, Op, OpKind, Slot, Submission, Target, TargetError, Wait,
};
use cardproof_record::DataCheck;
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{DataPattern, Generation, SECTOR};

use crate::history::{CheckedBlock, Written, draw, held};

/// The unit of comparison where the target's own is not larger.
const PLACE: Bytes = Bytes::kib(4);

/// Read at a time: more would only help storage that is fast anyway.
const DEPTH: u16 = 8;

/// Not ended for time before so many places.
const PLACES_MIN: u64 = 32;

/// How much a sample may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// How many places are drawn.
    pub(crate) places: u64,
    /// After this it ends, once it has read a few.
    pub(crate) time: Nanos,
}

/// After each phase that wrote: a phase that lost 7 % or more is found out for 99 %.
pub(crate) const AFTER_PHASE: Budget = Budget { places: 64, time: Nanos::from_millis(250) };

/// At the end of a run: a loss of 0.5 % or more is found out for 99 %.
pub(crate) const AT_END: Budget = Budget { places: 1000, time: Nanos::from_millis(1500) };

/// Which places are read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    /// The first entry of what was written from which places are drawn.
    pub(crate) from: usize,
    /// Places beside those.
    pub(crate) asked: &'a [Bytes],
    pub(crate) budget: Budget,
}

/// Random numbers from a seed and a label, for samples.
pub(crate) struct Dice {
    seed: Seed,
    drawn: u64,
}

impl Dice {
    pub(crate) fn new(seed: Seed, label: &str) -> Self {
        Self { seed: Seed::from_bits(seed.derive(label)), drawn: 0 }
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.seed.derive(&self.drawn.to_string())
    }

    /// A number below `bound`, by multiplication.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The unit in which data of `target` is compared.
pub(crate) fn unit_of(target: &dyn Target) -> Bytes {
    PLACE.max(target.abilities().logical_block)
}

/// Reads a `sample` of what was `written` back from `target`. `None` where nothing can be compared, or where
/// the target refuses; a fault of the storage is counted.
pub(crate) fn check(
    target: &mut dyn Target,
    data: DataPattern,
    written: &[Written],
    sample: Sample<'_>,
    dice: &mut Dice,
    stop: &AtomicBool,
) -> Option<DataCheck> {
    if !target.abilities().keeps_data || written.is_empty() {
        return None;
    }
    let start = target.now();
    let unit = unit_of(target);
    let recent = written.get(sample.from..).unwrap_or_default();
    let mut offsets = draw(recent, sample.budget.places, unit, || dice.bits());
    offsets.extend(sample.asked);
    offsets.sort_unstable();
    offsets.dedup();
    let size = target.abilities().size;
    offsets.retain(|offset| *offset + unit <= size);
    let mut places = held(written, &offsets, unit);
    places.retain(CheckedBlock::is_known);
    dice.shuffle(&mut places);
    let directness = target.arrange(Arrangement::default()).ok()?;
    let mut reading = Reading {
        depth: DEPTH.min(target.abilities().queue_depth_max).max(1),
        target,
        data,
        unit,
        until: start.saturating_add(sample.budget.time),
        stop,
        found: DataCheck {
            place_bytes: unit,
            direct: directness.is_direct(),
            ..DataCheck::default()
        },
    };
    reading.all(&places).ok()?;
    let Reading { target, mut found, .. } = reading;
    found.duration_ns = target.now().saturating_sub(start);
    (found.places > 0).then_some(found)
}

struct Reading<'a> {
    target: &'a mut dyn Target,
    data: DataPattern,
    unit: Bytes,
    depth: u16,
    until: Nanos,
    stop: &'a AtomicBool,
    found: DataCheck,
}

impl Reading<'_> {
    fn all(&mut self, places: &[CheckedBlock]) -> Result<(), TargetError> {
        self.target.prepare(self.depth, self.unit)?;
        let mut completions = Vec::with_capacity(usize::from(self.depth));
        for group in places.chunks(usize::from(self.depth)) {
            let is_late = self.found.places >= PLACES_MIN && self.target.now() >= self.until;
            if is_late || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let mut in_flight = 0;
            for (slot, place) in (0..).map(Slot).zip(group) {
                let op = Op { slot, kind: OpKind::Read, offset: place.offset, length: self.unit };
                match self.target.submit(op) {
                    Ok(Submission::Done(completion)) => self.compare(group, &completion),
                    Ok(Submission::Queued) => in_flight += 1,
                    // One place less; no mistake of the storage.
                    Ok(Submission::Busy) | Err(_) => {}
                }
            }
            while in_flight > 0 {
                self.target.complete(Wait::One, &mut completions)?;
                for completion in completions.drain(..) {
                    in_flight -= 1;
                    self.compare(group, &completion);
                }
            }
        }
        Ok(())
    }

    fn compare(&mut self, group: &[CheckedBlock], completion: &Completion) {
        let Some(place) = group.get(completion.slot.index()) else { return };
        let found = &mut self.found;
        found.from_bytes =
            if found.places == 0 { place.offset } else { found.from_bytes.min(place.offset) };
        found.to_bytes = found.to_bytes.max(place.offset + self.unit);
        found.places += 1;
        let Ok(moved) = completion.outcome else {
            found.unreadable_places += 1;
            return;
        };
        let buffer = self.target.buffer(completion.slot);
        let buffer = buffer.get(..moved.as_len()).unwrap_or_default();
        if !is_right(&self.data, place, buffer) {
            found.wrong_places += 1;
            let first = found.first_wrong_bytes.unwrap_or(place.offset);
            found.first_wrong_bytes = Some(first.min(place.offset));
        }
    }
}

/// Whether every sector of `place` that is known holds one of the generations that it may.
fn is_right(data: &DataPattern, place: &CheckedBlock, buffer: &[u8]) -> bool {
    place.known().all(|(number, mut generations)| {
        let start = number * SECTOR.as_len();
        let sector = buffer.get(start..start + SECTOR.as_len()).unwrap_or_default();
        let offset = place.offset + SECTOR * number as u64;
        generations.any(|generation: Generation| {
            !sector.is_empty() && data.wrong_bytes(sector, offset, Some(generation)) == Bytes::ZERO
        })
    })
}
