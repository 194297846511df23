//! One area after the other, filled, discarded and read.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_evidence::integrity::Sector;
use cardproof_io::Fault;
use cardproof_units::{Bytes, Nanos};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::discard::{DiscardOutcome, DiscardPlan, DiscardWrong, PlaceKind, WRONG_MAX};
use super::far::FarBlocks;
use super::pieces::UNIT;
use super::queue::End;
use crate::drive::{Drive, DriveError};

/// Ranges are discarded that are at least so long, and at most, in units: their logarithms are even.
const RANGE_UNITS: (u64, u64) = (1, 256);

/// Live data between two ranges, in units.
const LIVE_UNITS: (u64, u64) = (1, 16);

/// The longest request, in bytes.
pub(super) const REQUEST: u64 = 256 << 10;

/// One discard in so many is followed by a flush at once.
const FLUSH_PART: u64 = 16;

/// What a unit of the area is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Live,
    /// The number of its range.
    Discarded(usize),
    WrittenAgain(usize),
}

/// A range that is discarded, in units of the area.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
}

/// The test as it runs.
pub(super) struct Trial<'a> {
    pub(super) drive: Drive<'a>,
    plan: DiscardPlan,
    salt: u64,
    /// The writing of the present round's live data; what is written again has the next.
    generation: u32,
    /// Where the area of this round begins.
    start: u64,
    units: Vec<Holds>,
    ranges: Vec<Range>,
    random: Xoshiro256PlusPlus,
    pub(super) far: FarBlocks,
    pub(super) last_fault: Fault,
    pub(super) out: DiscardOutcome,
}

impl<'a> Trial<'a> {
    pub(super) fn new(drive: Drive<'a>, plan: &DiscardPlan) -> Self {
        Self {
            drive,
            plan: *plan,
            salt: plan.seed().derive("salt of discards"),
            generation: 0,
            start: 0,
            units: Vec::new(),
            ranges: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(plan.seed().derive("order of discards")),
            far: FarBlocks::new(plan.span(), plan.seed()),
            last_fault: Fault::InputOutput,
            out: DiscardOutcome {
                discards: 0,
                discarded: Bytes::ZERO,
                live_checked: Bytes::ZERO,
                again_checked: Bytes::ZERO,
                wrong: Vec::new(),
                wrong_count: 0,
                reads: [Bytes::ZERO; 4],
                revived: Bytes::ZERO,
                faults: 0,
                is_unsupported: false,
                time: Nanos::ZERO,
                bytes_written: Bytes::ZERO,
                bytes_read: Bytes::ZERO,
                end: End::Done,
            },
        }
    }

    /// One area: filled, discarded, read twice.
    pub(super) fn round(&mut self) -> Result<(), DriveError> {
        self.place_area();
        self.generation += 2;
        self.write_units(0, self.units.len() as u64, self.generation)?;
        self.flush()?;
        self.discard_ranges()?;
        if self.out.is_unsupported {
            return Ok(());
        }
        self.flush()?;
        let first = self.read_back(None)?;
        self.flush()?;
        self.read_back(Some(&first))?;
        self.read_far()
    }

    /// Reads the blocks outside of the area.
    fn read_far(&mut self) -> Result<(), DriveError> {
        let (wrong, checked) = self.far.read(&mut self.drive)?;
        self.out.live_checked += Bytes(checked);
        for (address_bytes, found) in wrong {
            let end = self.start + self.plan.area();
            let distance_bytes = self
                .start
                .saturating_sub(address_bytes + UNIT)
                .max(address_bytes.saturating_sub(end));
            self.note_wrong(DiscardWrong {
                place: PlaceKind::Far,
                found,
                address_bytes,
                length_bytes: UNIT,
                distance_bytes,
            });
        }
        Ok(())
    }

    fn note_wrong(&mut self, wrong: DiscardWrong) {
        self.out.wrong_count += 1;
        if self.out.wrong.len() < WRONG_MAX as usize {
            self.out.wrong.push(wrong);
        }
    }

    /// Chooses the place of the area and of its ranges.
    fn place_area(&mut self) {
        let count = self.plan.area() / UNIT;
        let room = self.plan.span().get() / UNIT - count;
        self.start = if room == 0 { 0 } else { self.random.next_u64() % (room + 1) } * UNIT;
        self.far.give_up(self.start, self.start + count * UNIT);
        self.units = vec![Holds::Live; count as usize];
        self.ranges.clear();
        let mut unit = self.even_logarithm(LIVE_UNITS);
        while unit < count {
            let length = self.even_logarithm(RANGE_UNITS).min(count - unit);
            self.ranges.push(Range { start: unit, end: unit + length });
            unit += length + self.even_logarithm(LIVE_UNITS);
        }
    }

    /// A whole number whose logarithm is even between those of `low` and `high`.
    fn even_logarithm(&mut self, (low, high): (u64, u64)) -> u64 {
        let share = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = low as f64 * ((high + 1) as f64 / low as f64).powf(share);
        (drawn as u64).clamp(low, high)
    }

    fn discard_ranges(&mut self) -> Result<(), DriveError> {
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (self.random.next_u64() % (last as u64 + 1)) as usize);
        }
        for number in order {
            let range = self.ranges[number];
            let (offset, length) = (range.start * UNIT, (range.end - range.start) * UNIT);
            match self.drive.discard(self.start + offset, length)? {
                Ok(()) => {}
                Err(Fault::Unsupported) => {
                    self.out.is_unsupported = true;
                    return Ok(());
                }
                Err(fault) => {
                    self.note_fault(fault);
                    // Nobody knows what it did.
                    continue;
                }
            }
            self.out.discards += 1;
            self.out.discarded += Bytes(length);
            self.mark(range, Holds::Discarded(number));
            if self.random.next_u64().is_multiple_of(2) {
                self.write_again(number, range)?;
            }
            if self.random.next_u64().is_multiple_of(FLUSH_PART) {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes a part of a discarded range, or all of it.
    fn write_again(&mut self, number: usize, range: Range) -> Result<(), DriveError> {
        let length = range.end - range.start;
        let from = range.start + self.random.next_u64() % length;
        let part = match self.random.next_u64() % 3 {
            0 => range,
            1 => Range { start: range.start, end: from + 1 },
            _ => Range { start: from, end: range.end },
        };
        self.write_units(part.start, part.end, self.generation + 1)?;
        self.mark(part, Holds::WrittenAgain(number));
        Ok(())
    }

    fn mark(&mut self, range: Range, holds: Holds) {
        self.units[range.start as usize..range.end as usize].fill(holds);
    }

    fn write_units(&mut self, from: u64, to: u64, generation: u32) -> Result<(), DriveError> {
        let (mut at, end) = (self.start + from * UNIT, self.start + to * UNIT);
        while at < end {
            let length = (end - at).min(REQUEST);
            let stamp = Stamp { salt: self.salt, address_bytes: at, generation };
            if let Err(fault) = self.drive.write_stamped(at, length, stamp)? {
                self.note_fault(fault);
            }
            at += length;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriveError> {
        if let Err(fault) = self.drive.flush()? {
            self.note_fault(fault);
        }
        Ok(())
    }

    const fn note_fault(&mut self, fault: Fault) {
        self.out.faults += 1;
        self.last_fault = fault;
    }

    /// Reads the whole area. The first reading counts what is compared; the second, after `before`, finds what
    /// has changed. Returns for each unit what a discarded one read as.
    fn read_back(
        &mut self,
        before: Option<&[Option<Sector>]>,
    ) -> Result<Vec<Option<Sector>>, DriveError> {
        let count = self.units.len() as u64;
        let mut emptied = vec![None; self.units.len()];
        let mut streak = None;
        for from in (0..count).step_by((REQUEST / UNIT) as usize) {
            let to = (from + REQUEST / UNIT).min(count);
            let at = self.start + from * UNIT;
            let data = match self.drive.read(at, (to - from) * UNIT)? {
                Ok(data) => data.to_vec(),
                Err(fault) => {
                    self.note_fault(fault);
                    streak = None;
                    continue;
                }
            };
            for (unit, data) in (from..to).zip(data.chunks(UNIT as usize)) {
                let found = self.look(unit, data);
                match self.units[unit as usize] {
                    Holds::Discarded(_) => {
                        emptied[unit as usize] = Some(found);
                        let was = before.map(|before| before[unit as usize]);
                        self.note_discarded(found, was);
                        streak = None;
                    }
                    holds => self.note_kept(unit, holds, found, before.is_none(), &mut streak),
                }
            }
        }
        Ok(emptied)
    }

    /// What a unit is: its first sector that is not right, or right.
    fn look(&self, unit: u64, data: &[u8]) -> Sector {
        let generation = match self.units[unit as usize] {
            Holds::WrittenAgain(_) => self.generation + 1,
            Holds::Live | Holds::Discarded(_) => self.generation,
        };
        let address_bytes = self.start + unit * UNIT;
        let stamp = Stamp { salt: self.salt, address_bytes, generation };
        let (sectors, _) = data.as_chunks::<SECTOR>();
        let mut found = (0..).zip(sectors).map(|(at, it)| Sector::of(stamp.further(at), it));
        found.find(|sector| *sector != Sector::Right).unwrap_or(Sector::Right)
    }

    fn note_discarded(&mut self, found: Sector, was: Option<Option<Sector>>) {
        let Some(was) = was else {
            let place = match found {
                Sector::Zeros => 0,
                Sector::Ones => 1,
                Sector::Right => 2,
                Sector::OtherWriting(_) | Sector::Foreign(_) | Sector::Damaged => 3,
            };
            self.out.reads[place] += Bytes(UNIT);
            return;
        };
        let was_empty = matches!(was, Some(Sector::Zeros | Sector::Ones));
        if was_empty && matches!(found, Sector::Right | Sector::OtherWriting(_)) {
            self.out.revived += Bytes(UNIT);
        }
    }

    /// Notes a unit that was to keep its data; `streak` is the wrong place that it may continue.
    fn note_kept(
        &mut self,
        unit: u64,
        holds: Holds,
        found: Sector,
        is_first: bool,
        streak: &mut Option<(PlaceKind, u64)>,
    ) {
        let place = if holds == Holds::Live { PlaceKind::Live } else { PlaceKind::WrittenAgain };
        let checked = match holds {
            Holds::Live => &mut self.out.live_checked,
            Holds::Discarded(_) | Holds::WrittenAgain(_) => &mut self.out.again_checked,
        };
        if is_first {
            *checked += Bytes(UNIT);
        }
        if found == Sector::Right {
            *streak = None;
            return;
        }
        let continues = *streak == Some((place, unit));
        *streak = Some((place, unit + 1));
        if continues {
            if let Some(last) = self.out.wrong.last_mut() {
                last.length_bytes += UNIT;
            }
            return;
        }
        // What was wrong at the first reading is not counted again at the second.
        let address_bytes = self.start + unit * UNIT;
        if !is_first && self.out.wrong.iter().any(|it| it.covers(address_bytes)) {
            return;
        }
        let distance_bytes = self.distance(unit);
        let length_bytes = UNIT;
        self.note_wrong(DiscardWrong { place, found, address_bytes, length_bytes, distance_bytes });
    }

    /// How far a unit lies from the nearest range, in bytes; 0 within one and beside one.
    fn distance(&self, unit: u64) -> u64 {
        let of = |range: &Range| match unit {
            unit if unit < range.start => range.start - unit - 1,
            unit => (unit + 1).saturating_sub(range.end).saturating_sub(1),
        };
        self.ranges.iter().map(of).min().unwrap_or(0) * UNIT
    }
}
