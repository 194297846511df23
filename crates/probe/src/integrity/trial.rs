//! One area after the other, filled, discarded and read.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_evidence::integrity::Sector;
use cardproof_io::Fault;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::discard::{DiscardOutcome, DiscardPlan, DiscardWrong, PlaceKind, WRONG_MAX};
use super::far::FarBlocks;
use super::patient::Patient;
use super::pieces::UNIT;
use crate::drive::DriveError;

/// Live data between two ranges, in units.
const LIVE_UNITS: (u64, u64) = (1, 16);

/// The longest request, in bytes.
pub(super) const REQUEST: u64 = 256 << 10;
const REQUEST_UNITS: u64 = REQUEST / UNIT;

/// One discard in so many is followed by a flush at once.
const FLUSH_PART: u64 = 16;

/// What a unit of the area is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Live,
    Discarded,
    WrittenAgain,
    /// A write or a discard of it failed, or a flush after its write: nobody knows what.
    Unknown,
}

/// Which of the readings of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Of what was discarded alone, before the flush that follows.
    BeforeFlush,
    /// The first of everything, which counts what is compared.
    First,
    /// The second, which finds what has changed.
    Second,
}

/// A range that is discarded, in units of the area.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
}

/// The test as it runs.
pub(super) struct Trial<'a> {
    pub(super) drive: Patient<'a>,
    plan: DiscardPlan,
    salt: u64,
    /// Whether nothing is discarded, and everything else is done.
    is_control: bool,
    /// The writing of the present round's live data; what is written again has the next.
    generation: u32,
    /// Where the area of this round begins.
    start: u64,
    units: Vec<Holds>,
    /// What each discarded unit read as the last time.
    seen: Vec<Option<Sector>>,
    ranges: Vec<Range>,
    /// Those that were discarded since the last flush.
    unflushed: Vec<Range>,
    /// The discards of this round that are checked, and how many bytes they cover.
    done: (u64, u64),
    /// How many wrong places were kept before this round.
    wrong_before: usize,
    random: Xoshiro256PlusPlus,
    pub(super) far: FarBlocks,
    pub(super) out: DiscardOutcome,
}

impl<'a> Trial<'a> {
    pub(super) fn new(drive: Patient<'a>, plan: &DiscardPlan) -> Self {
        Self {
            drive,
            plan: *plan,
            salt: plan.seed().derive("salt of discards"),
            is_control: false,
            generation: 0,
            start: 0,
            units: Vec::new(),
            seen: Vec::new(),
            ranges: Vec::new(),
            unflushed: Vec::new(),
            done: (0, 0),
            wrong_before: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(plan.seed().derive("order of discards")),
            far: FarBlocks::new(plan.span(), plan.seed()),
            out: DiscardOutcome::default(),
        }
    }

    /// The same experiment without discards, for its control. What it finds is counted from here on.
    pub(super) fn into_control(self) -> Self {
        Self { is_control: true, out: DiscardOutcome::default(), ..self }
    }

    /// Forgets what was found so far, and gives the whole span far blocks again, for the test gives up those that it
    /// finds wrong.
    pub(super) fn begin_anew(&mut self) -> Result<(), DriveError> {
        let seed = Seed::from_bits(self.plan.seed().derive("control"));
        self.far = FarBlocks::new(self.plan.span(), seed);
        self.out = DiscardOutcome::default();
        self.far.write(&mut self.drive)
    }

    /// One area: filled, discarded in ranges whose lengths lie in `range_units`, read twice. A flush that fails
    /// ends the round, since nothing is known of the area any more: its discards are not counted as checked.
    pub(super) fn round(&mut self, range_units: (u64, u64)) -> Result<(), DriveError> {
        self.place_area(range_units);
        self.generation += 2;
        let all = Range { start: 0, end: self.units.len() as u64 };
        self.write_units(all, self.generation, Holds::Live)?;
        if !self.flush()? || !self.discard_ranges()? || !self.flush()? {
            return Ok(());
        }
        self.read_units(all, Reading::First)?;
        if !self.flush()? {
            return Ok(());
        }
        self.read_units(all, Reading::Second)?;
        self.out.discards += self.done.0;
        self.out.discarded += Bytes(self.done.1);
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
    fn place_area(&mut self, range_units: (u64, u64)) {
        let count = self.plan.area() / UNIT;
        let room = self.plan.span().get() / UNIT - count;
        self.start = if room == 0 { 0 } else { self.random.next_u64() % (room + 1) } * UNIT;
        self.far.give_up(self.start, self.start + count * UNIT);
        self.units = vec![Holds::Unknown; count as usize];
        self.seen = vec![None; count as usize];
        self.done = (0, 0);
        self.wrong_before = self.out.wrong.len();
        self.unflushed.clear();
        self.ranges.clear();
        let mut unit = self.even_logarithm(LIVE_UNITS);
        while unit < count {
            let length = self.even_logarithm(range_units).min(count - unit);
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

    /// Whether the round can go on.
    fn discard_ranges(&mut self) -> Result<bool, DriveError> {
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (self.random.next_u64() % (last as u64 + 1)) as usize);
        }
        for number in order {
            let range = self.ranges[number];
            if !self.is_control && !self.discard(range)? {
                if self.out.is_unsupported {
                    return Ok(false);
                }
                continue;
            }
            if self.random.next_u64().is_multiple_of(2) {
                self.write_again(range)?;
            }
            if self.random.next_u64().is_multiple_of(FLUSH_PART) && !self.flush()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Discards `range`; whether the device did it.
    fn discard(&mut self, range: Range) -> Result<bool, DriveError> {
        let (offset, length) = (range.start * UNIT, (range.end - range.start) * UNIT);
        match self.drive.discard(self.start + offset, length)? {
            Ok(()) => {}
            Err(Fault::Unsupported) => {
                self.out.is_unsupported = true;
                return Ok(false);
            }
            // A discard that failed may have been done in part.
            Err(_) => {
                self.units_of(range).fill(Holds::Unknown);
                return Ok(false);
            }
        }
        self.done = (self.done.0 + 1, self.done.1 + length);
        self.unflushed.push(range);
        // What was unknown before stays so: it may read as anything that was there.
        let known = self.units_of(range).iter_mut().filter(|it| **it != Holds::Unknown);
        known.for_each(|it| *it = Holds::Discarded);
        Ok(true)
    }

    /// Writes a part of a discarded range, or all of it.
    fn write_again(&mut self, range: Range) -> Result<(), DriveError> {
        let length = range.end - range.start;
        let from = range.start + self.random.next_u64() % length;
        let part = match self.random.next_u64() % 3 {
            0 => range,
            1 => Range { start: range.start, end: from + 1 },
            _ => Range { start: from, end: range.end },
        };
        self.write_units(part, self.generation + 1, Holds::WrittenAgain)
    }

    fn units_of(&mut self, range: Range) -> &mut [Holds] {
        &mut self.units[range.start as usize..range.end as usize]
    }

    /// Writes `range`, which then holds `holds`, but for the requests that fail.
    fn write_units(
        &mut self,
        range: Range,
        generation: u32,
        holds: Holds,
    ) -> Result<(), DriveError> {
        for start in (range.start..range.end).step_by(REQUEST_UNITS as usize) {
            let part = Range { start, end: (start + REQUEST_UNITS).min(range.end) };
            let (at, length) = (self.start + start * UNIT, (part.end - start) * UNIT);
            let stamp = Stamp { salt: self.salt, address_bytes: at, generation };
            let is_done = self.drive.write_stamped(at, length, stamp)?.is_ok();
            self.units_of(part).fill(if is_done { holds } else { Holds::Unknown });
        }
        Ok(())
    }

    /// Reads what was discarded since the last flush, and flushes; whether that succeeded.
    fn flush(&mut self) -> Result<bool, DriveError> {
        for range in std::mem::take(&mut self.unflushed) {
            self.read_units(range, Reading::BeforeFlush)?;
        }
        Ok(self.drive.flush()?.is_ok())
    }

    fn read_units(&mut self, range: Range, reading: Reading) -> Result<(), DriveError> {
        for from in (range.start..range.end).step_by(REQUEST_UNITS as usize) {
            let to = (from + REQUEST_UNITS).min(range.end);
            let at = self.start + from * UNIT;
            let Some(data) = self.drive.read(at, (to - from) * UNIT)? else { continue };
            let data = data.to_vec();
            for (unit, data) in (from..to).zip(data.chunks(UNIT as usize)) {
                let wrong = match self.units[unit as usize] {
                    Holds::Unknown => None,
                    Holds::Discarded => self.note_discarded(unit, data, reading),
                    _ if reading == Reading::BeforeFlush => None,
                    holds => self.note_kept(unit, holds, data, reading),
                };
                if let Some((place, found)) = wrong {
                    self.note_unit(unit, place, found);
                }
            }
        }
        Ok(())
    }

    /// What the sectors of a unit are where the writing `generation` is expected.
    fn sectors<'b>(
        &self,
        unit: u64,
        data: &'b [u8],
        generation: u32,
    ) -> impl Iterator<Item = Sector> + use<'b> {
        let address_bytes = self.start + unit * UNIT;
        let stamp = Stamp { salt: self.salt, address_bytes, generation };
        let (sectors, _) = data.as_chunks::<SECTOR>();
        (0..).zip(sectors).map(move |(at, it)| Sector::of(stamp.further(at), it))
    }

    /// Notes what a discarded unit reads as; what is wrong with it, if it is the data of another address.
    fn note_discarded(
        &mut self,
        unit: u64,
        data: &[u8],
        reading: Reading,
    ) -> Option<(PlaceKind, Sector)> {
        let mut foreign = self.sectors(unit, data, self.generation);
        let foreign = foreign.find(|it| matches!(it, Sector::Foreign(_)));
        let mut sectors = self.sectors(unit, data, self.generation);
        let found = foreign.or_else(|| sectors.find(|it| *it != Sector::Right));
        let found = found.unwrap_or(Sector::Right);
        if reading == Reading::First {
            let place = match found {
                Sector::Zeros => 0,
                Sector::Ones => 1,
                Sector::Right => 2,
                Sector::OtherWriting(_) | Sector::Foreign(_) | Sector::Damaged => 3,
            };
            self.out.reads[place] += Bytes(UNIT);
        }
        let was = self.seen[unit as usize].replace(found);
        let was_empty = matches!(was, Some(Sector::Zeros | Sector::Ones));
        if was_empty && matches!(found, Sector::Right | Sector::OtherWriting(_)) {
            self.out.revived += Bytes(UNIT);
        }
        foreign.map(|found| (PlaceKind::Discarded, found))
    }

    /// Compares a unit that was to keep its data; what is wrong with it, if anything is.
    fn note_kept(
        &mut self,
        unit: u64,
        holds: Holds,
        data: &[u8],
        reading: Reading,
    ) -> Option<(PlaceKind, Sector)> {
        let (place, generation, checked) = if holds == Holds::Live {
            (PlaceKind::Live, self.generation, &mut self.out.live_checked)
        } else {
            (PlaceKind::WrittenAgain, self.generation + 1, &mut self.out.again_checked)
        };
        if reading == Reading::First {
            *checked += Bytes(UNIT);
        }
        let mut sectors = self.sectors(unit, data, generation);
        sectors.find(|it| *it != Sector::Right).map(|found| (place, found))
    }

    /// Notes a wrong unit, as a place of its own or as the next part of the latest one.
    fn note_unit(&mut self, unit: u64, place: PlaceKind, found: Sector) {
        let address_bytes = self.start + unit * UNIT;
        let of_round = &mut self.out.wrong[self.wrong_before..];
        // What was wrong at an earlier reading is not counted again.
        if of_round.iter().any(|it| it.covers(address_bytes)) {
            return;
        }
        if let Some(last) = of_round.last_mut()
            && (last.place, last.address_bytes + last.length_bytes) == (place, address_bytes)
        {
            last.length_bytes += UNIT;
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
