//! Which places are written, how much filler, and what that costs: known before the first write.

use cardproof_evidence::capacity::{places_for_share, stamp::SECTOR};
use cardproof_units::{Bytes, Seed};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::layout::{Taken, edges, grid, looks, shuffle};

/// How long a chosen test place is: the unit in which flash translation layers work. A place chosen
/// at random is one block of the device, at a random position of such a unit: it costs an eighth and
/// shows the same.
pub(super) const PLACE: u64 = 4096;

/// How much is written or read at once where it is in one piece.
pub(super) const CHUNK: u64 = 1 << 20;

/// The hidden store that is excluded without another wish, where the second half of the addresses is
/// missing. Eight times the largest that was ever found in a fake.
const STORE: u64 = 1 << 30;

/// So many pieces of filler lie over the addresses before the end: enough that any set of addresses
/// gets its share of them, within a few hundredths.
const PIECES: u64 = 1024;

/// So many MiB at the end are written before the first pieces, and so many pieces before the rest.
const EARLY: u64 = 8;

/// A piece is no shorter than this: shorter ones cost more time than they show.
const PIECE_MIN: u64 = 16 << 10;

/// The share of bad places that is excluded without another wish.
const BAD_SHARE: f64 = 0.004_5;

/// A device of at most so many bytes is written in full without another wish: the test would write half of
/// it anyway.
const FULL_BELOW: Bytes = Bytes::gib(2);

/// The smallest device that can be tested, in bytes.
const SIZE_MIN: u64 = 8 << 20;

/// The number of places that are read to time them, where no look has read any.
pub(super) const PLACES_TO_TIME: usize = 8;

/// The first look comes after so many bytes of filler, each further one after twice as many.
const FIRST_LOOK: u64 = 8 << 20;

/// What the user wants of the test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// The largest hidden store to be excluded where the second half of the addresses is missing. Of
    /// fakes that lack less, or at other addresses, a smaller one is excluded.
    pub store: Option<Bytes>,
    /// The share of bad places to be excluded, 0 to 1.
    pub bad_share: Option<f64>,
    /// Write every byte.
    pub is_full: bool,
    /// Write every byte of a device of at most this size; of 2 GiB without another wish.
    pub full_below: Option<Bytes>,
}

/// Why nothing can be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The device is too small.
    #[error(
        "the target holds {size}; the capacity of less than {} cannot be tested",
        Bytes(SIZE_MIN)
    )]
    TooSmall {
        /// Its size.
        size: Bytes,
    },
}

/// A stretch of addresses that is written and read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) start: u64,
    pub(super) length: u64,
    /// Chosen at random, by itself.
    pub(super) is_random: bool,
}

impl Spot {
    pub(super) const fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// What is written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) seed: Seed,
    /// The number by which the sectors of this plan are known.
    salt: u64,
    pub(super) size: u64,
    /// The length of the places chosen at random: a logical block, or a place where that is longer.
    pub(super) random_length: u64,
    /// For each look its places, in the order of writing.
    pub(super) looks: Vec<Vec<u64>>,
    /// The places chosen at random, each by itself.
    pub(super) random: Vec<u64>,
    /// The places that are where they are for a reason, in a random order.
    pub(super) chosen: Vec<u64>,
    /// The filler without gaps goes from here to the end, around the places.
    pub(super) filler_start: u64,
    /// The pieces of filler before that, in the order of writing, around the places.
    pub(super) pieces: Vec<u64>,
    /// How long each of them is.
    pub(super) piece_length: u64,
    /// The places by address.
    by_address: Vec<Spot>,
    /// How many bytes all places have.
    places_bytes: u64,
    /// How many bytes an honest device is written.
    to_write: u64,
    /// The distance of the places of the grid; zero where there is none.
    pub(super) grid: u64,
    pub(super) is_full: bool,
    /// Nothing is written at other addresses than these.
    pub(super) is_confined: bool,
}

impl Plan {
    /// A plan for a device of `size` in logical blocks of `block`; `seed` decides all places.
    ///
    /// # Errors
    /// The device is too small.
    pub fn new(size: Bytes, block: Bytes, wish: Wish, seed: Seed) -> Result<Self, PlanError> {
        if size.get() < SIZE_MIN {
            return Err(PlanError::TooSmall { size });
        }
        let size = size.get();
        let is_full = wish.is_full || size <= wish.full_below.unwrap_or(FULL_BELOW).get();
        let store = wish.store.map_or(STORE, Bytes::get).clamp(CHUNK, size / 2) / PLACE * PLACE;
        let filler = if is_full { size } else { store / 2 / PLACE * PLACE };
        let filler_start = size / PLACE * PLACE - filler / PLACE * PLACE;
        let mut taken = Taken::new(size, seed);
        let count = places_for_share(wish.bad_share.unwrap_or(BAD_SHARE)).min(size / PLACE / 8);
        let random_length = block.get().clamp(SECTOR as u64, PLACE);
        let random = (0..count).filter_map(|_| taken.block_at_random(random_length)).collect();
        let looks = looks(&mut taken, if is_full { size } else { filler + store });
        let (grid, mut chosen) = grid(&mut taken, filler);
        chosen.extend(edges(size, filler_start).into_iter().filter_map(|place| taken.take(place)));
        shuffle(&mut chosen, &mut taken.random);
        let salt = seed.derive("capacity stamps");
        let mut plan = Self {
            seed,
            salt,
            size,
            random_length,
            looks,
            random,
            chosen,
            filler_start,
            pieces: Vec::new(),
            piece_length: 0,
            by_address: Vec::new(),
            places_bytes: 0,
            to_write: 0,
            grid,
            is_full,
            is_confined: false,
        };
        plan.by_address = plan.places().collect();
        plan.by_address.sort_by_key(|place| place.start);
        plan.places_bytes = plan.by_address.iter().map(|place| place.length).sum();
        if !is_full {
            while plan.filler_after_random() < filler {
                plan.filler_start -= PLACE;
            }
            plan.lay_pieces(store, &mut taken.random);
        }
        plan.to_write = plan.all_to_write();
        Ok(plan)
    }

    /// Lays pieces of filler over the addresses before [`filler_start`](Self::filler_start), one at
    /// random in each of as many equal parts, which make up `store` together with the places.
    fn lay_pieces(&mut self, store: u64, random: &mut Xoshiro256PlusPlus) {
        let all = store.saturating_sub(self.places_bytes).max(store / 2);
        let count = PIECES.min(all / PIECE_MIN).max(1);
        let part = self.filler_start / count;
        self.piece_length = (all / count).min(part) / PLACE * PLACE;
        self.pieces = (0..count)
            .map(|number| {
                let room = (part - self.piece_length) / PLACE + 1;
                (number * part).next_multiple_of(PLACE) + random.next_u64() % room * PLACE
            })
            .filter(|start| start + self.piece_length <= self.filler_start)
            .collect();
        shuffle(&mut self.pieces, random);
    }

    /// The part of the filler with this number in the order of writing, as start and length: the end
    /// of the addresses, then the pieces. A few of the pieces come early, for the time that they take.
    pub(super) fn chunk(&self, number: u64) -> Option<(u64, u64)> {
        let at_end = self.end_bytes().div_ceil(CHUNK);
        let before = EARLY.min(at_end);
        let early = self.chunks_of_piece() * EARLY.min(self.pieces.len() as u64);
        if number < before {
            self.end_chunk(number)
        } else if number < before + early {
            self.piece_chunk(number - before)
        } else if number < at_end + early {
            self.end_chunk(number - early)
        } else {
            self.piece_chunk(number - at_end)
        }
    }

    /// The part with this number of the filler at the end.
    pub(super) fn end_chunk(&self, number: u64) -> Option<(u64, u64)> {
        let start = self.filler_start + number * CHUNK;
        (start < self.size).then(|| (start, CHUNK.min(self.size - start)))
    }

    /// The part with this number of the pieces, in the order of writing.
    pub(super) fn piece_chunk(&self, number: u64) -> Option<(u64, u64)> {
        let in_piece = self.chunks_of_piece();
        let piece = *self.pieces.get((number / in_piece) as usize)?;
        let skipped = number % in_piece * CHUNK;
        Some((piece + skipped, CHUNK.min(self.piece_length - skipped)))
    }

    fn chunks_of_piece(&self) -> u64 {
        self.piece_length.div_ceil(CHUNK).max(1)
    }

    /// How many bytes of filler are at the end, with the places in it.
    pub(super) const fn end_bytes(&self) -> u64 {
        self.size - self.filler_start
    }

    /// How many bytes the pieces have, with the places in them.
    pub(super) const fn pieces_bytes(&self) -> u64 {
        self.pieces.len() as u64 * self.piece_length
    }

    /// The parts between `start` and `end` that hold no place.
    pub(super) fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let first = self.by_address.partition_point(|place| place.end() <= start);
        let mut gaps = Vec::new();
        let mut from = start;
        for place in self.by_address[first..].iter().take_while(|place| place.start < end) {
            if from < place.start {
                gaps.push((from, place.start));
            }
            from = from.max(place.end());
        }
        if from < end {
            gaps.push((from, end));
        }
        gaps
    }

    /// Every place in the order of writing: the random ones first, so that the most is written after
    /// each.
    pub(super) fn places(&self) -> impl Iterator<Item = Spot> {
        let length = self.random_length;
        let random = self.random.iter().map(move |&start| Spot { start, length, is_random: true });
        let others = self.looks.iter().flatten().chain(&self.chosen);
        random.chain(others.map(|&start| Spot { start, length: PLACE, is_random: false }))
    }

    /// Where the places of each look are among all.
    pub(super) fn look(&self, number: usize) -> std::ops::Range<usize> {
        let before: usize = self.looks[..number].iter().map(Vec::len).sum();
        let start = self.random.len() + before;
        start..start + self.looks[number].len()
    }

    /// How many bytes of the filler's addresses are written after the last random place: all but the
    /// random places among them.
    fn filler_after_random(&self) -> u64 {
        let among = self.random.iter().filter(|&&start| start >= self.filler_start).count() as u64;
        self.size - self.filler_start - among * self.random_length
    }

    /// How many bytes an honest device is written.
    #[must_use]
    pub const fn bytes_to_write(&self) -> Bytes {
        Bytes(self.to_write)
    }

    /// The places and the filler around them, in bytes.
    fn all_to_write(&self) -> u64 {
        let gaps = self.fillers().flat_map(|(start, end)| self.gaps(start, end));
        self.places_bytes + gaps.map(|(from, to)| to - from).sum::<u64>()
    }

    /// The pieces of filler and the filler at the end, as (start, end), with the places in them.
    pub(super) fn fillers(&self) -> impl Iterator<Item = (u64, u64)> {
        let pieces = self.pieces.iter().map(|&start| (start, start + self.piece_length));
        pieces.chain([(self.filler_start, self.size)])
    }

    /// The places, by address.
    pub(super) fn places_by_address(&self) -> impl Iterator<Item = &Spot> {
        self.by_address.iter()
    }

    /// How many bytes are read from an honest device.
    #[must_use]
    pub fn bytes_to_read(&self) -> Bytes {
        if self.is_full {
            return Bytes(self.size + self.pieces_to_time() * CHUNK + self.places_to_time());
        }
        Bytes(self.places_bytes + self.samples_count() * PLACE)
    }

    /// How many pieces of the filler at the end are read once more for the time that it takes.
    pub(super) fn pieces_to_time(&self) -> u64 {
        EARLY.min((self.end_bytes() / EARLY).div_ceil(CHUNK))
    }

    /// How many bytes of places are read once more for the time that it takes, where that is known before a look.
    fn places_to_time(&self) -> u64 {
        let is_looked_before = self.pieces_to_time() * CHUNK >= FIRST_LOOK;
        if is_looked_before { 0 } else { PLACES_TO_TIME as u64 * self.random_length }
    }

    /// How many places of the filler are read back: one of each piece and of each MiB at the end.
    pub(super) fn samples_count(&self) -> u64 {
        self.pieces.len() as u64 + (self.size - self.filler_start).div_ceil(CHUNK)
    }

    /// The number by which the sectors of this plan are known.
    #[must_use]
    pub const fn salt(&self) -> u64 {
        self.salt
    }

    /// The same plan, whose sectors are known by `salt`: those of two tests with one seed then differ.
    #[must_use]
    pub fn salted(self, salt: u64) -> Self {
        Self { salt, ..self }
    }

    /// The same plan for addresses that exist only where it writes, in an order that need not be the
    /// device's: a fake is not looked at more closely, and what needs the order is not said.
    #[must_use]
    pub fn confined(self) -> Self {
        Self { is_confined: true, ..self }
    }

    /// How many places are written and read one by one.
    #[must_use]
    pub fn places_count(&self) -> u64 {
        self.by_address.len() as u64
    }

    /// Whether every byte is written and read.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.is_full
    }

    /// After how many bytes of filler the look `number` comes.
    pub(super) fn look_after(number: usize) -> u64 {
        FIRST_LOOK << number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Bytes = Bytes(512);

    fn plan(size: Bytes) -> Plan {
        Plan::new(size, BLOCK, Wish::default(), Seed::from_bits(1)).unwrap()
    }

    #[test]
    fn every_modulus_puts_a_place_under_the_filler() {
        let plan = plan(Bytes(64_000_000_000));
        let grid: Vec<u64> = plan.chosen.clone();
        let filler = plan.filler_start..plan.size;
        for step in 1..2000_u64 {
            let modulus = (plan.size - plan.grid) / 2000 * step / 512 * 512;
            let is_under = |place: &u64| {
                let rounds = (filler.start.saturating_sub(*place)).div_ceil(modulus).max(1);
                place + rounds * modulus < filler.end
            };
            assert!(grid.iter().any(is_under), "modulus {modulus}");
        }
    }

    #[test]
    fn places_are_distinct_and_inside() {
        for size in [Bytes::mib(8), Bytes::mib(64), Bytes(8_000_000_512), Bytes(2_000_000_000_000)]
        {
            let plan = plan(size);
            let mut places: Vec<Spot> = plan.places().collect();
            places.sort_by_key(|place| place.start);
            let is_before = |pair: &[Spot]| pair[0].end() <= pair[1].start;
            assert!(places.windows(2).all(is_before), "{size}");
            assert!(places.iter().all(|place| place.end() <= size.get()), "{size}");
        }
    }

    #[test]
    fn the_cost_is_the_store_to_be_excluded_and_the_places() {
        for size in [8_000_000_000, 64_000_000_000, 256_000_000_000, 2_000_000_000_000] {
            let plan = plan(Bytes(size));
            let written = plan.bytes_to_write().get();
            // With the end alone as filler it was 1 GiB, the random places and a grid half as dense.
            let end_alone = (1 << 30) + (512 << 10) + (size / 2 / (1 << 30)) * PLACE;
            assert!(written * 2 <= end_alone * 3, "{size}: {written}");
            assert!(written * 100 >= end_alone * 148, "{size}: {written}");
            assert!(plan.random.len() >= 1023);
            assert!(plan.bytes_to_read().get() < 20 << 20);
        }
    }

    #[test]
    fn no_more_is_written_than_is_wished_of_a_small_device() {
        let full_below = Some(Bytes::mib(384));
        let wish = Wish { store: Some(Bytes::mib(256)), full_below, ..Wish::default() };
        for size in [100, 384, 385, 500, 700, 2_000, 30_000].map(Bytes::mib) {
            let plan = Plan::new(size, BLOCK, wish, Seed::from_bits(1)).unwrap();
            assert!(plan.bytes_to_write() <= Bytes::mib(392), "{size}: {}", plan.bytes_to_write());
            assert_eq!(plan.is_full(), size <= Bytes::mib(384), "{size}");
        }
    }

    #[test]
    fn any_tenth_of_the_addresses_gets_its_share_of_the_filler() {
        let plan = plan(Bytes(64_000_000_000));
        assert_eq!(plan.pieces.len() as u64, PIECES);
        let tenth = plan.size / 10;
        for part in 0..10 {
            let inside = |start: &&u64| (part * tenth..(part + 1) * tenth).contains(*start);
            let pieces = plan.pieces.iter().filter(inside).count() as u64;
            assert!(pieces * 100 >= PIECES * 9, "{part}: {pieces}");
        }
        let mut pieces = plan.pieces.clone();
        pieces.sort_unstable();
        assert!(pieces.windows(2).all(|pair| pair[0] + plan.piece_length <= pair[1]));
        assert!(pieces.last().unwrap() + plan.piece_length <= plan.filler_start);
    }

    #[test]
    fn the_parts_of_the_filler_are_all_of_it() {
        for (size, store) in [(Bytes::mib(64), None), (Bytes::gib(8), Some(Bytes::gib(3)))] {
            let wish = Wish { store, ..Wish::default() };
            let plan = Plan::new(size, BLOCK, wish, Seed::from_bits(1)).unwrap();
            let mut chunks: Vec<_> = (0..).map_while(|number| plan.chunk(number)).collect();
            let all: u64 = chunks.iter().map(|(_, length)| length).sum();
            assert_eq!(all, plan.end_bytes() + plan.pieces_bytes(), "{size}");
            chunks.sort_unstable();
            assert!(chunks.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{size}");
        }
    }

    #[test]
    fn a_device_in_larger_blocks_has_larger_random_places() {
        let size = Bytes(64_000_000_000);
        let wish = Wish::default();
        let plan = Plan::new(size, Bytes(4096), wish, Seed::from_bits(1)).unwrap();
        assert!(plan.places().all(|place| place.length == PLACE));
        assert!(plan.places().all(|place| place.start.is_multiple_of(PLACE)));
    }

    #[test]
    fn a_device_too_small_is_an_error() {
        let error =
            Plan::new(Bytes::mib(1), BLOCK, Wish::default(), Seed::from_bits(1)).unwrap_err();
        assert!(error.to_string().contains("1 MiB"), "{error}");
    }
}
