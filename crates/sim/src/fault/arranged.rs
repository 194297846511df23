//! Fakes whose missing addresses lie anywhere: in a hole, in stripes, scattered, or wherever was not
//! written first.
//!
//! [`FakeStore`](super::FakeStore) is for fakes with one edge; here the addresses without flash of
//! their own are any set. They may fall on others' flash, and a hidden store may keep the latest writes.

use std::cell::Cell;
use std::collections::HashSet;

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::hidden::{HiddenStore, Keeps, LatestWrites};
use crate::contents::{Numbers, SECTOR_LEN, ShortStore, Shorthand, Store, StoreError};

const SECTOR: u64 = SECTOR_LEN as u64;

/// Which addresses have no flash of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Those from one to before another: none at one end if the hole reaches it.
    Hole {
        /// The first.
        from: Bytes,
        /// The first behind it.
        to: Bytes,
    },
    /// The end of each period.
    Stripes {
        /// The length of a period.
        period: Bytes,
        /// How much of its start has flash.
        live: Bytes,
    },
    /// Blocks that the seed decides.
    Scattered {
        /// The length of a block.
        block: Bytes,
        /// How many of a million are missing.
        share_ppm: u32,
    },
    /// Every address that is written once so many bytes of others were.
    AfterTheFirst {
        /// How much the card holds.
        real: Bytes,
    },
    /// All: the card holds nothing but its store.
    All,
}

/// What a missing address gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// This byte throughout.
    Byte(u8),
    /// Other data, the same each time.
    Garbage,
    /// Other data each time.
    Changing,
    /// An error of reading; writing is accepted.
    ReadError,
    /// An error of reading and of writing.
    Error,
    /// The data of another address: blocks of this length fall on flash that the seed decides.
    Shared {
        /// The length of a block.
        block: Bytes,
        /// How much flash they share, from the start of the addresses.
        real: Bytes,
    },
}

/// A fake with missing addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// Which addresses are missing.
    pub missing: Missing,
    /// What they give.
    pub gives: Gives,
    /// The memory of the latest writes.
    pub remembers: HiddenStore,
}

/// A [`Store`] of a fake with an [`Arrangement`].
#[derive(Debug)]
pub struct ArrangedStore {
    flash: ShortStore,
    arrangement: Arrangement,
    latest: LatestWrites,
    shorthand: Shorthand,
    /// The sectors that were written while there was room.
    first: HashSet<u64>,
    readings: Cell<u64>,
    seed: u64,
}

impl ArrangedStore {
    /// An empty card; `seed` decides what is left open.
    #[must_use]
    pub fn new(arrangement: Arrangement, seed: Seed, shorthand: Shorthand) -> Self {
        Self {
            flash: ShortStore::new(shorthand),
            arrangement,
            latest: LatestWrites::new(&arrangement.remembers, shorthand),
            shorthand,
            first: HashSet::new(),
            readings: Cell::new(0),
            seed: seed.derive("arranged"),
        }
    }

    /// A number that depends on the seed and `number` alone.
    fn drawn(&self, number: u64) -> u64 {
        let seed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Xoshiro256PlusPlus::seed_from_u64(seed).next_u64()
    }

    /// Whether the address is missing, and how many bytes follow of which the same holds.
    fn is_missing(&self, address: u64) -> (bool, u64) {
        match self.arrangement.missing {
            Missing::All => (true, u64::MAX),
            Missing::Hole { from, to } => match (from.get(), to.get()) {
                (from, _) if address < from => (false, from - address),
                (_, to) if address < to => (true, to - address),
                _ => (false, u64::MAX),
            },
            Missing::Stripes { period, live } => {
                let phase = address % period.get();
                if phase < live.get() {
                    (false, live.get() - phase)
                } else {
                    (true, period.get() - phase)
                }
            }
            Missing::Scattered { block, share_ppm } => {
                let block = block.get();
                let drawn = self.drawn(address / block) % 1_000_000;
                (drawn < u64::from(share_ppm), block - address % block)
            }
            Missing::AfterTheFirst { .. } => {
                let sector = address / SECTOR;
                (!self.first.contains(&sector), SECTOR - address % SECTOR)
            }
        }
    }

    /// The parts of `length` bytes at `offset`: address, length, and whether it is missing.
    fn parts(&self, offset: u64, length: u64) -> Vec<(u64, u64, bool)> {
        let mut parts: Vec<(u64, u64, bool)> = Vec::new();
        let mut at = offset;
        while at < offset + length {
            let (is_missing, most) = self.is_missing(at);
            let of_block = match self.arrangement.gives {
                Gives::Shared { block, .. } => block.get() - at % block.get(),
                _ => u64::MAX,
            };
            let part = most.min(of_block).min(offset + length - at);
            parts.push((at, part, is_missing));
            at += part;
        }
        parts
    }

    /// Where a shared address lies.
    fn shared_with(&self, address: u64, block: u64, real: u64) -> u64 {
        let blocks = (real / block).max(1);
        self.drawn(address / block) % blocks * block + address % block
    }

    /// Where in the flash an address is written; `None` where the write is dropped.
    fn place_of(&self, address: u64, is_missing: bool) -> Result<Option<u64>, StoreError> {
        match (is_missing, self.arrangement.gives) {
            (false, _) => Ok(Some(address)),
            (true, Gives::Shared { block, real }) => {
                Ok(Some(self.shared_with(address, block.get(), real.get())))
            }
            (true, Gives::Error) if self.arrangement.remembers.size == Bytes::ZERO => Err(failed()),
            (true, _) => Ok(None),
        }
    }

    fn make_up(&self, address: u64, into: &mut [u8]) -> Result<(), StoreError> {
        match self.arrangement.gives {
            Gives::Byte(byte) => into.fill(byte),
            Gives::Garbage => {
                for (number, sector) in into.chunks_mut(SECTOR_LEN).enumerate() {
                    let seed = self.drawn(address / SECTOR + number as u64);
                    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(sector);
                }
            }
            Gives::Changing => {
                self.readings.set(self.readings.get() + 1);
                let seed = self.drawn(address) ^ self.readings.get().rotate_left(40);
                Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(into);
            }
            Gives::ReadError | Gives::Error => return Err(failed()),
            Gives::Shared { block, real } => {
                self.flash.read(self.shared_with(address, block.get(), real.get()), into)?;
            }
        }
        Ok(())
    }

    /// Notes which sectors are among the first, as long as there is room.
    fn take_first(&mut self, offset: u64, length: u64) {
        let Missing::AfterTheFirst { real } = self.arrangement.missing else { return };
        for sector in offset / SECTOR..(offset + length) / SECTOR {
            if (self.first.len() as u64) < real.get() / SECTOR {
                self.first.insert(sector);
            }
        }
    }
}

fn failed() -> StoreError {
    StoreError::from(std::io::Error::other("an address without flash"))
}

impl Store for ArrangedStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let mut is_failing = false;
        for (at, length, is_missing) in self.parts(offset, into.len() as u64) {
            let start = (at - offset) as usize;
            let part = &mut into[start..start + length as usize];
            if is_missing {
                is_failing |= self.make_up(at, part).is_err();
            } else {
                self.flash.read(at, part)?;
            }
        }
        let recalled = self.latest.recall(offset, into);
        if is_failing && recalled < into.len() as u64 { Err(failed()) } else { Ok(()) }
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        self.take_first(offset, from.len() as u64);
        for (at, length, is_missing) in self.parts(offset, from.len() as u64) {
            let start = (at - offset) as usize;
            let part = &from[start..start + length as usize];
            if let Some(place) = self.place_of(at, is_missing)? {
                self.flash.write(place, part)?;
            }
            if is_missing || self.arrangement.remembers.keeps == Keeps::All {
                self.latest.note(at, part, 0);
            }
        }
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
        self.take_first(offset, length);
        for (at, length, is_missing) in self.parts(offset, length) {
            let further = (self.shorthand.further)(numbers, (at - offset) / SECTOR);
            if let Some(place) = self.place_of(at, is_missing)? {
                self.flash.write_numbers(place, length, further)?;
            }
            if is_missing || self.arrangement.remembers.keeps == Keeps::All {
                self.latest.note_numbers(at, length, further, 0);
            }
        }
        Ok(true)
    }

    fn discard(&mut self, _offset: u64, _length: u64) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn card(missing: Missing, gives: Gives, store: u64) -> ArrangedStore {
        let arrangement = Arrangement { missing, gives, remembers: HiddenStore::new(Bytes(store)) };
        ArrangedStore::new(arrangement, Seed::from_bits(3), Shorthand::NONE)
    }

    fn holds(card: &ArrangedStore, at: u64, byte: u8) -> bool {
        let mut data = [0xaa; 4096];
        card.read(at, &mut data).is_ok() && data == [byte; 4096]
    }

    /// What of the first 64 KiB comes back, in places of 4 KiB, once all were written.
    fn kept(mut card: ArrangedStore) -> Vec<bool> {
        for place in 0..16_u8 {
            // A fake may refuse to write.
            let _ = card.write(u64::from(place) * 4096, &[place + 1; 4096]);
        }
        (0..16_u8).map(|place| holds(&card, u64::from(place) * 4096, place + 1)).collect()
    }

    #[test]
    fn each_arrangement_loses_what_it_says() {
        let hole = Missing::Hole { from: Bytes(8 * KIB), to: Bytes(32 * KIB) };
        let stripes = Missing::Stripes { period: Bytes(16 * KIB), live: Bytes(8 * KIB) };
        let first = Missing::AfterTheFirst { real: Bytes(20 * KIB) };
        for gives in
            [Gives::Byte(0xff), Gives::Garbage, Gives::Changing, Gives::ReadError, Gives::Error]
        {
            let of = |wanted: fn(usize) -> bool| (0..16).map(wanted).collect::<Vec<_>>();
            assert_eq!(
                kept(card(hole, gives, 0)),
                of(|place| !(2..8).contains(&place)),
                "{gives:?}"
            );
            assert_eq!(kept(card(stripes, gives, 0)), of(|place| place % 4 < 2), "{gives:?}");
            assert_eq!(kept(card(first, gives, 0)), of(|place| place < 5), "{gives:?}");
            let latest = card(Missing::All, gives, 12 * KIB);
            assert_eq!(kept(latest), of(|place| place >= 13), "{gives:?}");
        }
        let block = Bytes(4096);
        let scattered = Missing::Scattered { block, share_ppm: 500_000 };
        let lost = kept(card(scattered, Gives::Byte(0), 0)).iter().filter(|kept| !**kept).count();
        assert!((3..14).contains(&lost), "{lost}");
        let shared = Gives::Shared { block, real: Bytes(16 * KIB) };
        assert!(kept(card(Missing::All, shared, 0)).iter().filter(|kept| **kept).count() <= 4);
    }
}
