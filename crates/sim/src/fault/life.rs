//! Flash that wears out: every block has a life of its own in cycles, spare blocks stand in for the
//! first that die, and the card as a whole comes to an end in one of the ways that cards do.
//!
//! The layer counts what is written, so it is below the clockwork, and it does not change how long
//! anything takes but for an end at which the card does not answer. Lives are drawn from a Weibull
//! distribution and kept in sixteenths of a cycle, so that the last digit of a logarithm on another
//! machine changes nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::damage::DamagedBlock;
use crate::contents::{Numbers, SECTOR_LEN, Store, StoreError};

/// How a card ends as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It does not: blocks go on dying one by one.
    Never,
    /// Writes fail; what was written stays readable.
    ReadOnly,
    /// Writes succeed and store something else.
    SilentlyWrong,
    /// Writes succeed and are forgotten.
    IgnoresWrites,
    /// Nothing answers in time.
    TimesOut,
    /// Addresses from a place on fail.
    Shrinks,
    /// The device is not there any more.
    Gone,
    /// Writes succeed, and reads fail.
    Unreadable,
}

impl End {
    /// Every end, in the order of documents.
    pub const ALL: [Self; 8] = [
        Self::Never,
        Self::ReadOnly,
        Self::SilentlyWrong,
        Self::IgnoresWrites,
        Self::TimesOut,
        Self::Shrinks,
        Self::Gone,
        Self::Unreadable,
    ];
}

/// How long flash lives, and what comes then.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Life {
    /// The cycles after which 63.2 % of the blocks have died; zero for flash that does not wear here.
    pub cycles: u32,
    /// The exponent of the Weibull distribution of the blocks' lives: larger for more equal lives.
    pub shape: f64,
    /// What dies as a whole; a multiple of 512.
    pub block: Bytes,
    /// Blocks in a million that stand in for dead ones.
    pub spares_ppm: u32,
    /// Blocks in a million that are weak: they live a quarter as long.
    pub weak_ppm: u32,
    /// Whether all writes wear all blocks alike; otherwise a block wears where it is written.
    pub levels: bool,
    /// What a dead block gives.
    pub gives: DamagedBlock,
    /// How the card ends.
    pub end: End,
    /// The dead blocks in a million, beyond the spares, with which the end comes.
    pub end_ppm: u32,
    /// Where the end of the addresses lies once the card has shrunk, in thousandths of its size.
    pub shrinks_to_permille: u32,
}

impl Life {
    /// Flash that does not wear in this layer.
    pub const ENDLESS: Self = Self {
        cycles: 0,
        shape: 8.0,
        block: Bytes::mib(4),
        spares_ppm: 20_000,
        weak_ppm: 0,
        levels: true,
        gives: DamagedBlock::Fails,
        end: End::ReadOnly,
        end_ppm: 0,
        shrinks_to_permille: 500,
    };

    /// Whether flash wears in this layer.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.cycles > 0
    }
}

/// How many sixteenths a cycle has.
const PARTS: f64 = 16.0;

/// How much of a life weak blocks have.
const WEAK: f64 = 0.25;

/// A [`Store`] that wears out.
#[derive(Debug)]
pub struct MortalStore {
    inner: Box<dyn Store>,
    life: Life,
    size: u64,
    block: u64,
    random: Xoshiro256PlusPlus,
    /// The life of each block in sixteenths of a cycle; the same counted from the start once a spare
    /// stands in.
    lives: Vec<u32>,
    is_dead: Vec<bool>,
    /// Bytes written into each block, where writes are not levelled.
    written: Vec<u64>,
    /// Bytes written in all.
    total: u64,
    /// The blocks by the end of their lives, where writes are levelled.
    next: BinaryHeap<Reverse<(u32, u32)>>,
    spares_left: u64,
    dead: u64,
    /// The dead blocks with which the end comes.
    dead_at_end: u64,
}

impl MortalStore {
    /// Lets `inner` of `size` wear out; `seed` decides every block's life.
    #[must_use]
    pub fn new(inner: Box<dyn Store>, size: Bytes, life: &Life, seed: Seed) -> Self {
        let block = life.block.get().max(SECTOR_LEN as u64);
        let blocks = size.get().div_ceil(block).max(1);
        let of_ppm = |ppm: u32| blocks * u64::from(ppm) / 1_000_000;
        let mut store = Self {
            inner,
            life: *life,
            size: size.get(),
            block,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("life")),
            lives: Vec::new(),
            is_dead: vec![false; blocks as usize],
            written: if life.levels { Vec::new() } else { vec![0; blocks as usize] },
            total: 0,
            next: BinaryHeap::new(),
            spares_left: of_ppm(life.spares_ppm),
            dead: 0,
            dead_at_end: of_ppm(life.end_ppm) + 1,
        };
        store.lives = (0..blocks).map(|_| store.draw_life()).collect();
        if life.levels {
            let ends = store.lives.iter().enumerate();
            store.next = ends.map(|(block, &life)| Reverse((life, block as u32))).collect();
        }
        store
    }

    /// How many blocks are dead and have no spare.
    #[must_use]
    pub const fn dead_blocks(&self) -> u64 {
        self.dead
    }

    /// Whether the card as a whole is at its end.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.life.end != End::Never && self.dead >= self.dead_at_end
    }

    fn draw_life(&mut self) -> u32 {
        let is_weak = self.random.next_u64() % 1_000_000 < u64::from(self.life.weak_ppm);
        let part = ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let cycles = f64::from(self.life.cycles) * (-part.ln()).powf(1.0 / self.life.shape);
        let cycles = if is_weak { cycles * WEAK } else { cycles };
        (cycles * PARTS).round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// The end in force.
    fn end(&self) -> End {
        if self.has_ended() { self.life.end } else { End::Never }
    }

    fn shrunk_size(&self) -> u64 {
        self.size / 1000 * u64::from(self.life.shrinks_to_permille)
    }

    /// What stops an operation on `length` bytes at `offset` from reaching the flash at all.
    fn refusal(&self, offset: u64, length: u64) -> Option<StoreError> {
        let kind = match self.end() {
            End::TimesOut => io::ErrorKind::TimedOut,
            End::Gone => io::ErrorKind::NotConnected,
            End::Shrinks if offset + length > self.shrunk_size() => io::ErrorKind::Other,
            _ => return None,
        };
        Some(StoreError::from(io::Error::new(kind, "the card is at its end")))
    }

    fn wear(&mut self, offset: u64, length: u64) {
        self.total += length;
        if self.life.levels {
            let blocks = self.lives.len() as u64;
            let used = self.total as f64 / (blocks * self.block) as f64 * PARTS;
            while let Some(&Reverse((life, block))) = self.next.peek()
                && f64::from(life) <= used
            {
                self.next.pop();
                if self.die(block as usize, used) {
                    self.next.push(Reverse((self.lives[block as usize], block)));
                }
            }
            return;
        }
        let end = offset + length;
        for block in offset / self.block..end.div_ceil(self.block) {
            let index = block as usize;
            let part = end.min((block + 1) * self.block) - offset.max(block * self.block);
            self.written[index] += part;
            let used = self.written[index] as f64 / self.block as f64 * PARTS;
            if !self.is_dead[index] && f64::from(self.lives[index]) <= used {
                self.die(index, used);
            }
        }
    }

    /// Lets a block die at `used`; whether a spare stands in.
    fn die(&mut self, block: usize, used: f64) -> bool {
        if self.spares_left == 0 {
            self.is_dead[block] = true;
            self.dead += 1;
            return false;
        }
        self.spares_left -= 1;
        let fresh = self.draw_life();
        self.lives[block] = (used as u32).saturating_add(fresh);
        true
    }

    fn has_dead(&self, offset: u64, length: u64) -> bool {
        let blocks = offset / self.block..(offset + length).div_ceil(self.block);
        self.dead > 0 && blocks.into_iter().any(|block| self.is_dead[block as usize])
    }

    /// Turns a bit over in each sector of what lies at `offset`; the same bit each time.
    fn turn_bits(offset: u64, bytes: &mut [u8]) {
        for (index, sector) in bytes.chunks_mut(SECTOR_LEN).enumerate() {
            let place = offset + (index * SECTOR_LEN) as u64;
            let at = (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
            let length = sector.len();
            sector[at % length] ^= 1 << (at % 8);
        }
    }
}

impl Store for MortalStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let failed = || StoreError::from(io::Error::other("a dead block"));
        let length = into.len() as u64;
        if let Some(refusal) = self.refusal(offset, length) {
            return Err(refusal);
        }
        if self.end() == End::Unreadable {
            return Err(failed());
        }
        self.inner.read(offset, into)?;
        if !self.has_dead(offset, length) {
            return Ok(());
        }
        let end = offset + length;
        for block in offset / self.block..end.div_ceil(self.block) {
            if !self.is_dead[block as usize] {
                continue;
            }
            let from = (block * self.block).max(offset);
            let to = ((block + 1) * self.block).min(end);
            let bytes = &mut into[(from - offset) as usize..(to - offset) as usize];
            match self.life.gives {
                DamagedBlock::Fails => return Err(failed()),
                DamagedBlock::ReadsZero => bytes.fill(0),
                DamagedBlock::FlipsBits => Self::turn_bits(from, bytes),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        if let Some(refusal) = self.refusal(offset, from.len() as u64) {
            return Err(refusal);
        }
        match self.end() {
            End::ReadOnly => return Err(StoreError::from(io::Error::other("worn out"))),
            End::IgnoresWrites => return Ok(()),
            End::SilentlyWrong => {
                let mut wrong = from.to_vec();
                Self::turn_bits(offset, &mut wrong);
                return self.inner.write(offset, &wrong);
            }
            _ => {}
        }
        self.wear(offset, from.len() as u64);
        self.inner.write(offset, from)
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        match self.refusal(offset, length) {
            Some(refusal) => Err(refusal),
            None => self.inner.discard(offset, length),
        }
    }

    fn takes_numbers(&self) -> bool {
        self.inner.takes_numbers()
    }

    fn write_numbers(
        &mut self,
        offset: u64,
        length: u64,
        numbers: Numbers,
    ) -> Result<bool, StoreError> {
        if !matches!(self.end(), End::Never | End::Unreadable) {
            return Ok(false);
        }
        if self.inner.write_numbers(offset, length, numbers)? {
            self.wear(offset, length);
            return Ok(true);
        }
        Ok(false)
    }

    fn read_numbers(&self, offset: u64, length: u64) -> Result<Option<Numbers>, StoreError> {
        if self.end() != End::Never || self.has_dead(offset, length) {
            return Ok(None);
        }
        self.inner.read_numbers(offset, length)
    }
}

#[cfg(test)]
#[path = "life_tests.rs"]
mod tests;
