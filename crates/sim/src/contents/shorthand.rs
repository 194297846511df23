//! Data that follow from a few numbers are kept as these numbers.
//!
//! A test of the capacity writes GiBs of sectors, each made from its address and a few numbers. Kept
//! in this way, a 2 TB card with a hidden store of 4 GiB takes a few KiB. Who makes such sectors
//! brings the [`Shorthand`] that recognises them; all other data are kept as bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Store, StoreError};

/// The unit in which data are recognised, in bytes.
pub const SECTOR_LEN: usize = 512;

const SECTOR_BYTES: u64 = SECTOR_LEN as u64;

/// The numbers from which a sector follows.
pub type Numbers = [u64; 3];

/// How to tell that a sector follows from numbers, and to make it again.
#[derive(Clone, Copy, Debug)]
pub struct Shorthand {
    /// The numbers, if every bit of the sector follows from them.
    pub shorten: fn(&[u8; SECTOR_LEN]) -> Option<Numbers>,
    /// The sector that follows from numbers that [`shorten`](Self::shorten) returned.
    pub expand: fn(Numbers, &mut [u8; SECTOR_LEN]),
    /// The numbers of the sector that would follow so many sectors later.
    pub further: fn(Numbers, u64) -> Numbers,
}

impl Shorthand {
    /// Recognises nothing.
    pub const NONE: Self =
        Self { shorten: |_| None, expand: |_, _| (), further: |numbers, _| numbers };
}

/// What a stretch of sectors holds.
#[derive(Clone, Debug)]
enum Data {
    Numbers(Numbers),
    /// Bytes from an offset on.
    Bytes(Arc<[u8]>, usize),
}

/// A stretch of sectors.
#[derive(Clone, Debug)]
struct Stretch {
    sectors: u64,
    data: Data,
    /// When it was written; neighbours of different times are kept apart where that matters.
    time: u64,
}

impl Stretch {
    fn cut(&self, skip: u64, sectors: u64, shorthand: &Shorthand) -> Self {
        let data = match &self.data {
            Data::Numbers(numbers) => Data::Numbers((shorthand.further)(*numbers, skip)),
            Data::Bytes(bytes, from) => {
                Data::Bytes(Arc::clone(bytes), from + skip as usize * SECTOR_LEN)
            }
        };
        Self { sectors, data, time: self.time }
    }
}

/// Sectors by address, those that follow from numbers as numbers.
#[derive(Debug)]
pub(crate) struct Stretches {
    shorthand: Shorthand,
    map: BTreeMap<u64, Stretch>,
    sectors: u64,
}

impl Stretches {
    pub(crate) const fn new(shorthand: Shorthand) -> Self {
        Self { shorthand, map: BTreeMap::new(), sectors: 0 }
    }

    /// How many sectors are held.
    pub(crate) const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Forgets the sectors from `start` to `end`, of any time or of `time` alone.
    pub(crate) fn forget(&mut self, start: u64, end: u64, time: Option<u64>) {
        let first = self.map.range(..=start).next_back().map_or(start, |(&address, _)| address);
        let touched: Vec<u64> = self
            .map
            .range(first..end)
            .filter(|(address, stretch)| {
                **address + stretch.sectors > start && time.is_none_or(|time| time == stretch.time)
            })
            .map(|(&address, _)| address)
            .collect();
        for address in touched {
            let Some(stretch) = self.map.remove(&address) else { continue };
            self.sectors -= stretch.sectors;
            let stop = address + stretch.sectors;
            if address < start {
                self.put(address, stretch.cut(0, start - address, &self.shorthand));
            }
            if stop > end {
                self.put(end, stretch.cut(end - address, stop - end, &self.shorthand));
            }
        }
    }

    fn put(&mut self, address: u64, stretch: Stretch) {
        self.sectors += stretch.sectors;
        self.map.insert(address, stretch);
    }

    /// Stores whole sectors at `address` (in sectors), written at `time`.
    pub(crate) fn write(&mut self, address: u64, data: &[u8], time: u64) {
        let (sectors, _) = data.as_chunks::<SECTOR_LEN>();
        self.forget(address, address + sectors.len() as u64, None);
        let mut done = 0;
        while done < sectors.len() {
            let start = done;
            let numbers = (self.shorthand.shorten)(&sectors[start]);
            let follows = |index: usize| {
                let next = (self.shorthand.shorten)(&sectors[index]);
                match numbers {
                    None => next.is_none(),
                    Some(numbers) => {
                        next == Some((self.shorthand.further)(numbers, (index - start) as u64))
                    }
                }
            };
            done += 1;
            while done < sectors.len() && follows(done) {
                done += 1;
            }
            let data = match numbers {
                Some(numbers) => Data::Numbers(numbers),
                None => Data::Bytes(sectors[start..done].as_flattened().into(), 0),
            };
            let stretch = Stretch { sectors: (done - start) as u64, data, time };
            self.join_or_put(address + start as u64, stretch);
        }
    }

    /// Stores `sectors` that follow from numbers, so many sectors after the first of them, at `address`,
    /// written at `time`.
    pub(crate) fn write_further(
        &mut self,
        address: u64,
        sectors: u64,
        (numbers, skipped): (Numbers, u64),
        time: u64,
    ) {
        let numbers = (self.shorthand.further)(numbers, skipped);
        self.write_numbers(address, sectors, numbers, time);
    }

    /// Stores `sectors` that follow from `numbers` at `address`, written at `time`.
    fn write_numbers(&mut self, address: u64, sectors: u64, numbers: Numbers, time: u64) {
        self.forget(address, address + sectors, None);
        self.join_or_put(address, Stretch { sectors, data: Data::Numbers(numbers), time });
    }

    /// The numbers that determine `sectors` at `address`, if they are one stretch.
    fn numbers(&self, address: u64, sectors: u64) -> Option<Numbers> {
        let (&start, stretch) = self.map.range(..=address).next_back()?;
        match stretch.data {
            Data::Numbers(numbers) if start + stretch.sectors >= address + sectors => {
                Some((self.shorthand.further)(numbers, address - start))
            }
            _ => None,
        }
    }

    /// Joins a stretch to the one before it, where it goes on with the same numbers and time.
    fn join_or_put(&mut self, address: u64, stretch: Stretch) {
        if let (Data::Numbers(numbers), Some((&start, before))) =
            (&stretch.data, self.map.range_mut(..address).next_back())
            && start + before.sectors == address
            && before.time == stretch.time
            && let Data::Numbers(first) = before.data
            && (self.shorthand.further)(first, before.sectors) == *numbers
        {
            before.sectors += stretch.sectors;
            self.sectors += stretch.sectors;
            return;
        }
        self.put(address, stretch);
    }

    /// Puts what is held of the sectors from `address` on into `into`, and leaves the rest of it
    /// alone. Returns the stretches found, as (first sector, number of sectors).
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Vec<(u64, u64)> {
        let (sectors, _) = into.as_chunks_mut::<SECTOR_LEN>();
        let end = address + sectors.len() as u64;
        let first = self.map.range(..=address).next_back().map_or(address, |(&start, _)| start);
        let mut found = Vec::new();
        for (&start, stretch) in self.map.range(first..end) {
            let from = start.max(address);
            let to = (start + stretch.sectors).min(end);
            if from >= to {
                continue;
            }
            found.push((from, to - from));
            for sector in from..to {
                let place = &mut sectors[(sector - address) as usize];
                match &stretch.data {
                    Data::Numbers(numbers) => {
                        let numbers = (self.shorthand.further)(*numbers, sector - start);
                        (self.shorthand.expand)(numbers, place);
                    }
                    Data::Bytes(bytes, offset) => {
                        let at = offset + (sector - start) as usize * SECTOR_LEN;
                        place.copy_from_slice(&bytes[at..at + SECTOR_LEN]);
                    }
                }
            }
        }
        found
    }
}

/// The bytes of a card in memory, with what follows from numbers kept as numbers. It takes whole
/// sectors only, which is all that a card is ever given.
#[derive(Debug)]
pub struct ShortStore {
    stretches: Stretches,
}

impl ShortStore {
    /// An empty card of any size.
    #[must_use]
    pub const fn new(shorthand: Shorthand) -> Self {
        Self { stretches: Stretches::new(shorthand) }
    }
}

impl Store for ShortStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        into.fill(0);
        self.stretches.read(offset / SECTOR_BYTES, into);
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        self.stretches.write(offset / SECTOR_BYTES, from, 0);
        Ok(())
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        let end = (offset + length) / SECTOR_BYTES;
        self.stretches.forget(offset.div_ceil(SECTOR_BYTES), end, None);
        Ok(())
    }

    fn takes_numbers(&self) -> bool {
        true
    }

    fn write_numbers(
        &mut self,
        offset: u64,
        length: u64,
        numbers: Numbers,
    ) -> Result<bool, StoreError> {
        self.stretches.write_numbers(offset / SECTOR_BYTES, length / SECTOR_BYTES, numbers, 0);
        Ok(true)
    }

    fn read_numbers(&self, offset: u64, length: u64) -> Result<Option<Numbers>, StoreError> {
        Ok(self.stretches.numbers(offset / SECTOR_BYTES, length / SECTOR_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors of one number, as long as they are below 1000.
    const COUNTING: Shorthand = Shorthand {
        shorten: |sector| {
            let number = u64::from_le_bytes(*sector.first_chunk()?);
            let mut whole = [0; SECTOR_LEN];
            counting(number, &mut whole);
            (number < 1000 && whole == *sector).then_some([number, 0, 0])
        },
        expand: |numbers, sector| counting(numbers[0], sector),
        further: |numbers, sectors| [numbers[0] + sectors, 0, 0],
    };

    fn counting(number: u64, sector: &mut [u8; SECTOR_LEN]) {
        sector.fill(number as u8);
        sector[..8].copy_from_slice(&number.to_le_bytes());
    }

    fn data(numbers: std::ops::Range<u64>) -> Vec<u8> {
        let mut data = vec![0; SECTOR_LEN * (numbers.end - numbers.start) as usize];
        for (sector, number) in data.as_chunks_mut().0.iter_mut().zip(numbers) {
            counting(number, sector);
        }
        data
    }

    #[test]
    fn random_writes_read_back_as_on_a_plain_store() {
        let mut short = ShortStore::new(COUNTING);
        let mut plain = vec![0; 400 * SECTOR_LEN];
        let mut state = 7_u64;
        for round in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let address = (state >> 33) % 380;
            let sectors = (state >> 20) % 20;
            let from = if round % 3 == 0 { 990 } else { state % 500 };
            let written = data(from..from + sectors);
            let bytes = address as usize * SECTOR_LEN..(address + sectors) as usize * SECTOR_LEN;
            if round % 7 == 0 {
                short.discard(bytes.start as u64, bytes.len() as u64).unwrap();
                plain[bytes].fill(0);
            } else {
                short.write(bytes.start as u64, &written).unwrap();
                plain[bytes].copy_from_slice(&written);
            }
        }
        let mut back = vec![1; plain.len()];
        short.read(0, &mut back).unwrap();
        assert!(back == plain, "contents differ");
    }

    #[test]
    fn a_long_stretch_takes_one_entry() {
        let mut short = ShortStore::new(COUNTING);
        for start in (0..900).step_by(100) {
            short.write(start * SECTOR_BYTES, &data(start..start + 100)).unwrap();
        }
        assert_eq!(short.stretches.map.len(), 1);
        assert_eq!(short.stretches.sectors(), 900);
    }
}
