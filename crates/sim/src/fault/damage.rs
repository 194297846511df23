//! Damaged flash: a share of blocks that fail or hold wrong data, and readings that fail once.

use std::cell::Cell;

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::{Numbers, Store, StoreError};

/// What a damaged block gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum DamagedBlock {
    /// Reading it fails, each time.
    Fails,
    /// It reads with a few bits turned over, the same each time.
    FlipsBits,
    /// It reads as zeros.
    ReadsZero,
}

/// Damage to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Damage {
    /// Blocks in a million that are damaged, spread by the seed.
    pub share_ppm: u32,
    /// The size of a block that is damaged as a whole; a multiple of 512.
    pub block: Bytes,
    /// What a damaged block gives.
    pub gives: DamagedBlock,
    /// The reading request, counted from 1, that fails once and succeeds when it is repeated.
    pub transient_read: Option<u64>,
    /// Requests in a million, reading or writing, that fail once and succeed when they are repeated.
    pub transient_ppm: u32,
}

impl Damage {
    /// None.
    pub const NONE: Self = Self {
        share_ppm: 0,
        block: Bytes::kib(4),
        gives: DamagedBlock::Fails,
        transient_read: None,
        transient_ppm: 0,
    };
}

/// A [`Store`] with [`Damage`].
#[derive(Debug)]
pub struct DamagedStore {
    inner: Box<dyn Store>,
    damage: Damage,
    seed: u64,
    readings: Cell<u64>,
    requests: Cell<u64>,
}

impl DamagedStore {
    /// Damages `inner`; `seed` decides which blocks.
    #[must_use]
    pub fn new(inner: Box<dyn Store>, damage: Damage, seed: Seed) -> Self {
        let (readings, requests) = (Cell::new(0), Cell::new(0));
        Self { inner, damage, seed: seed.derive("damage"), readings, requests }
    }

    /// Whether the next request fails for once.
    fn fails_once(&self) -> bool {
        let number = self.requests.get();
        self.requests.set(number + 1);
        let seed = self.seed.rotate_left(32) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        random % 1_000_000 < u64::from(self.damage.transient_ppm)
    }

    /// The random numbers of a block, if it is damaged.
    fn of_block(&self, number: u64) -> Option<Xoshiro256PlusPlus> {
        let seed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (random.next_u64() % 1_000_000 < u64::from(self.damage.share_ppm)).then_some(random)
    }
}

impl Store for DamagedStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let failed = || StoreError::from(std::io::Error::other("a damaged block"));
        self.readings.set(self.readings.get() + 1);
        if self.damage.transient_read == Some(self.readings.get()) || self.fails_once() {
            return Err(failed());
        }
        self.inner.read(offset, into)?;
        let block = self.damage.block.get().max(512);
        let end = offset + into.len() as u64;
        for number in offset / block..end.div_ceil(block) {
            let Some(mut random) = self.of_block(number) else { continue };
            let from = (number * block).max(offset);
            let to = ((number + 1) * block).min(end);
            let bytes = &mut into[(from - offset) as usize..(to - offset) as usize];
            match self.damage.gives {
                DamagedBlock::Fails => return Err(failed()),
                DamagedBlock::ReadsZero => bytes.fill(0),
                DamagedBlock::FlipsBits => {
                    for sector in bytes.chunks_mut(512) {
                        let bit = random.next_u64() % (sector.len() as u64 * 8);
                        sector[(bit / 8) as usize] ^= 1 << (bit % 8);
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        if self.fails_once() {
            return Err(std::io::Error::other("a request that fails once").into());
        }
        self.inner.write(offset, from)
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
        self.inner.write_numbers(offset, length, numbers)
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        self.inner.discard(offset, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{ShortStore, Shorthand};

    fn damaged(damage: Damage) -> DamagedStore {
        let inner = Box::new(ShortStore::new(Shorthand::NONE));
        DamagedStore::new(inner, damage, Seed::from_bits(1))
    }

    #[test]
    fn the_share_of_failing_blocks_is_as_asked() {
        let store = damaged(Damage { share_ppm: 10_000, ..Damage::NONE });
        let mut data = [0; 4096];
        let failed = (0..100_000).filter(|n| store.read(n * 4096, &mut data).is_err()).count();
        assert!((850..1150).contains(&failed), "{failed} of 100000");
    }

    #[test]
    fn flipped_bits_stay_the_same() {
        let gives = DamagedBlock::FlipsBits;
        let mut store = damaged(Damage { share_ppm: 1_000_000, gives, ..Damage::NONE });
        store.write(0, &[7; 4096]).unwrap();
        let (mut first, mut second) = ([0; 4096], [0; 4096]);
        store.read(0, &mut first).unwrap();
        store.read(0, &mut second).unwrap();
        let wrong: u32 = first.iter().map(|byte| (byte ^ 7).count_ones()).sum();
        assert!(first == second && wrong == 8, "{wrong} bits");
    }

    #[test]
    fn a_transient_failure_is_gone_on_the_next_attempt() {
        let store = damaged(Damage { transient_read: Some(2), ..Damage::NONE });
        let mut data = [0; 512];
        let outcomes: Vec<bool> = (0..3).map(|_| store.read(0, &mut data).is_ok()).collect();
        assert_eq!(outcomes, [true, false, true]);
    }

    #[test]
    fn requests_fail_as_often_as_asked_and_not_again() {
        let mut store = damaged(Damage { transient_ppm: 10_000, ..Damage::NONE });
        let mut failed = 0;
        for number in 0..50_000_u64 {
            let mut data = [0; 512];
            failed += u32::from(store.read(number * 512, &mut data).is_err());
            failed += u32::from(store.write(number * 512, &data).is_err());
        }
        assert!((850..1150).contains(&failed), "{failed} of 100000");
    }
}
