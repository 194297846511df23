//! Cards that announce more than they hold, in every way in which such cards are made.
//!
//! Fake cards are ordinary cards with a controller that lies about the size. What happens to an
//! address beyond the flash differs; and some keep the latest writes in a memory, so that whoever
//! reads a file straight back finds it in order. The lie is told where the bytes are kept, below the
//! clockwork: a dropped write takes as long as another.

use std::cell::Cell;

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::hidden::{HiddenStore, LatestWrites};
use crate::contents::{Numbers, SECTOR_LEN, Shorthand, Store, StoreError};

/// What happens to addresses beyond the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Beyond {
    /// The address starts again from zero, so that writing beyond overwrites the front.
    WrapAround,
    /// The address starts again from zero at `round`, which is more than the flash: each round ends
    /// in a part whose writes are dropped.
    Chained {
        /// How many bytes a round has.
        round: Bytes,
        /// What every byte of the dead part reads as.
        reads_as: u8,
    },
    /// Writes are dropped; reads give this byte throughout.
    Drop {
        /// What every byte reads as.
        reads_as: u8,
    },
    /// Every address beyond is the last block of the flash.
    LastBlock,
    /// Writes are dropped; reads give something else each time.
    Limbo,
}

/// A lie about the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CapacityFake {
    /// How many bytes the card says it holds; the model holds the rest of the truth.
    pub announced: Bytes,
    /// What happens to the addresses it does not have.
    pub beyond: Beyond,
    /// The memory of the latest writes.
    pub remembers: HiddenStore,
}

/// A [`Store`] under a [`CapacityFake`].
#[derive(Debug)]
pub struct FakeStore {
    flash: Box<dyn Store>,
    real: u64,
    beyond: Beyond,
    latest: LatestWrites,
    shorthand: Shorthand,
    /// How many readings gave something made up.
    readings: Cell<u64>,
    seed: u64,
}

/// A part of a request that goes to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Its address as asked for.
    asked: u64,
    length: u64,
    /// Where it lies in the flash; `None` where there is none.
    flash: Option<u64>,
}

impl FakeStore {
    /// Lets `flash` of `real` bytes announce what `fake` says. `seed` decides what limbo reads as;
    /// `shorthand` keeps the hidden store small.
    #[must_use]
    pub fn new(
        flash: Box<dyn Store>,
        real: Bytes,
        fake: &CapacityFake,
        seed: Seed,
        shorthand: Shorthand,
    ) -> Self {
        Self {
            flash,
            real: real.get(),
            beyond: fake.beyond,
            latest: LatestWrites::new(&fake.remembers, shorthand),
            shorthand,
            readings: Cell::new(0),
            seed: seed.derive("limbo"),
        }
    }

    /// The parts of `length` bytes at `offset`, each within one place.
    fn parts(&self, offset: u64, length: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut done = 0;
        while done < length {
            let (asked, left) = (offset + done, length - done);
            let (flash, most) = self.place_of(asked);
            let length = left.min(most);
            parts.push(Part { asked, length, flash });
            done += length;
        }
        parts
    }

    /// Where `address` lies in the flash, and how many bytes follow there in one piece.
    fn place_of(&self, address: u64) -> (Option<u64>, u64) {
        let real = self.real;
        let in_round = |round: u64| {
            let position = address % round;
            if position < real {
                (Some(position), real.min(round) - position)
            } else {
                (None, round - position)
            }
        };
        match self.beyond {
            Beyond::WrapAround => in_round(real),
            Beyond::Chained { round, .. } => in_round(round.get().max(real)),
            _ if address < real => (Some(address), real - address),
            Beyond::LastBlock => (Some(real - SECTOR_LEN as u64), SECTOR_LEN as u64),
            Beyond::Drop { .. } | Beyond::Limbo => (None, u64::MAX),
        }
    }

    /// Fills `into` with what the card gives where there is no flash.
    fn make_up(&self, asked: u64, into: &mut [u8]) {
        match self.beyond {
            Beyond::Drop { reads_as } | Beyond::Chained { reads_as, .. } => into.fill(reads_as),
            _ => {
                let reading = self.readings.get();
                self.readings.set(reading + 1);
                let seed = self.seed ^ asked.rotate_left(20) ^ reading.rotate_left(40);
                Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(into);
            }
        }
    }
}

impl Store for FakeStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        for Part { asked, length, flash } in self.parts(offset, into.len() as u64) {
            let start = (asked - offset) as usize;
            let into = &mut into[start..start + length as usize];
            match flash {
                Some(place) => self.flash.read(place, into)?,
                None => self.make_up(asked, into),
            }
        }
        self.latest.recall(offset, into);
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        for Part { asked, length, flash } in self.parts(offset, from.len() as u64) {
            let start = (asked - offset) as usize;
            if let Some(place) = flash {
                self.flash.write(place, &from[start..start + length as usize])?;
            }
        }
        self.latest.note(offset, from, self.real);
        Ok(())
    }

    fn takes_numbers(&self) -> bool {
        self.flash.takes_numbers()
    }

    fn write_numbers(
        &mut self,
        offset: u64,
        length: u64,
        numbers: Numbers,
    ) -> Result<bool, StoreError> {
        if !self.flash.takes_numbers() {
            return Ok(false);
        }
        for Part { asked, length, flash } in self.parts(offset, length) {
            let further = (self.shorthand.further)(numbers, (asked - offset) / SECTOR_LEN as u64);
            if let Some(place) = flash {
                self.flash.write_numbers(place, length, further)?;
            }
        }
        self.latest.note_numbers(offset, length, numbers, self.real);
        Ok(true)
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        for part in self.parts(offset, length) {
            if let Some(place) = part.flash.filter(|_| part.asked < self.real) {
                self.flash.discard(place, part.length)?;
            }
        }
        Ok(())
    }
}
