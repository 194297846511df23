//! A volatile write cache over the place of a card's bytes, and what a power cut does to it.
//!
//! A write stays in the cache until a flush, or until later writes need the room. A cut leaves of
//! the writes in the cache any sectors and loses the others, as the contract of a block device
//! allows. A [`Harm`] goes beyond that: it breaks what a flush had promised.

use std::collections::{BTreeMap, VecDeque};

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contents::{SECTOR_LEN, Store, StoreError};

/// How many writes that were made durable are remembered for each flush, to break them later.
const REMEMBERED_MAX: usize = 512;

/// How far from a write its neighbours are that a cut can reach, in sectors: 8 to 64 KiB.
const REACH: (u64, u64) = (16, 128);

const SECTOR_BYTES: u64 = SECTOR_LEN as u64;

/// What a power cut breaks of what was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// Nothing.
    Nothing,
    /// The writes that the last flush made durable are lost, and all after them.
    Lost,
    /// A write that the last flush made durable keeps some of its sectors.
    Torn,
    /// A durable write is lost, and a write of a later flush is kept.
    Reordered,
    /// A sector 8 to 64 KiB away from the last writes is overwritten with random bytes.
    Collateral,
    /// A durable write lies 8 to 64 KiB away from its place.
    Misdirected,
    /// The card never works again.
    Gone,
}

/// What a power cut does to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Power {
    /// How many bytes of the latest writes are volatile at most.
    pub volatile: Bytes,
    /// Flushes are answered and not done.
    pub ignores_flush: bool,
    /// What a cut breaks.
    pub harm: Harm,
    /// Of a million cuts so many do the harm; the others are honest.
    pub share_ppm: u32,
}

impl Power {
    /// A cache of 8 MiB that keeps every promise.
    pub const HONEST: Self = Self {
        volatile: Bytes::mib(8),
        ignores_flush: false,
        harm: Harm::Nothing,
        share_ppm: 1_000_000,
    };
}

/// A write that is durable, and what it replaced.
#[derive(Debug)]
struct Done {
    offset: u64,
    data: Vec<u8>,
    before: Vec<u8>,
}

/// A write in the cache.
#[derive(Debug)]
struct Pending {
    sequence: u64,
    offset: u64,
    data: Vec<u8>,
}

/// A [`Store`] behind a volatile cache. Dropping it writes the cache out, as switching off in order
/// does; [`cut_power`](Store::cut_power) and the end of the process do not.
#[derive(Debug)]
pub struct VolatileStore {
    inner: Box<dyn Store>,
    capacity: u64,
    power: Power,
    pending: VecDeque<Pending>,
    pending_bytes: u64,
    /// By sector: the latest write in the cache that covers it, and where in its data.
    latest: BTreeMap<u64, u64>,
    sequence: u64,
    /// What the last flush made durable, and the one before it.
    last: Vec<Done>,
    before_last: Vec<Done>,
    is_gone: bool,
    random: Xoshiro256PlusPlus,
}

impl VolatileStore {
    /// Puts a cache over `inner`, which holds `capacity`; `seed` decides what a cut leaves.
    #[must_use]
    pub fn new(inner: Box<dyn Store>, capacity: Bytes, power: Power, seed: Seed) -> Self {
        Self {
            inner,
            capacity: capacity.get(),
            power,
            pending: VecDeque::new(),
            pending_bytes: 0,
            latest: BTreeMap::new(),
            sequence: 0,
            last: Vec::new(),
            before_last: Vec::new(),
            is_gone: false,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("volatile cache")),
        }
    }

    /// Makes the oldest write of the cache durable.
    fn settle_oldest(&mut self) -> Result<(), StoreError> {
        let Some(Pending { sequence, offset, data }) = self.pending.pop_front() else {
            return Ok(());
        };
        self.pending_bytes -= data.len() as u64;
        for sector in sectors(offset, data.len()) {
            if self.latest.get(&sector) == Some(&sequence) {
                self.latest.remove(&sector);
            }
        }
        self.settle(offset, data)
    }

    fn settle(&mut self, offset: u64, data: Vec<u8>) -> Result<(), StoreError> {
        if self.power.harm == Harm::Nothing {
            return self.inner.write(offset, &data);
        }
        let mut before = vec![0; data.len()];
        self.inner.read(offset, &mut before)?;
        self.inner.write(offset, &data)?;
        if self.last.len() == REMEMBERED_MAX {
            self.last.remove(0);
        }
        self.last.push(Done { offset, data, before });
        Ok(())
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }

    /// A distance within [`REACH`], in bytes.
    fn distance(&mut self) -> u64 {
        (REACH.0 + self.below(REACH.1 - REACH.0)) * SECTOR_BYTES
    }

    /// An address at a distance from `offset` at which `length` bytes fit.
    fn neighbour(&mut self, offset: u64, length: u64) -> u64 {
        let distance = self.distance() + length.next_multiple_of(SECTOR_BYTES);
        let is_back = self.random.next_u64().is_multiple_of(2);
        if (is_back && offset >= distance) || offset + distance + length > self.capacity {
            offset.saturating_sub(distance)
        } else {
            offset + distance
        }
    }

    /// Whether a write in the cache touches these bytes.
    fn is_pending(&self, offset: u64, length: usize) -> bool {
        let touched = sectors(offset, length);
        self.latest.range(touched).next().is_some()
    }

    /// Whether the sector at `offset` is of the writes in the cache, or, where there are none, of
    /// those of the last flush.
    fn is_of_last_writes(&self, offset: u64) -> bool {
        let covers =
            |done: &Done| sectors(done.offset, done.data.len()).contains(&(offset / SECTOR_BYTES));
        self.is_pending(offset, SECTOR_LEN)
            || self.pending.is_empty() && self.last.iter().any(covers)
    }

    /// A durable write of the last flush that nothing in the cache touches.
    fn choose_last(&mut self, length_min: usize) -> Option<usize> {
        let fits = |done: &Done| {
            done.data.len() >= length_min && !self.is_pending(done.offset, done.data.len())
        };
        let choice: Vec<usize> =
            (0..self.last.len()).filter(|&index| fits(&self.last[index])).collect();
        let turn = self.below(choice.len() as u64) as usize;
        choice.get(turn).copied()
    }

    /// Leaves of the writes in the cache any sectors.
    fn leave_any(&mut self) -> Result<(), StoreError> {
        for Pending { offset, data, .. } in std::mem::take(&mut self.pending) {
            for (number, sector) in data.chunks(SECTOR_LEN).enumerate() {
                if self.random.next_u64().is_multiple_of(2) {
                    self.inner.write(offset + number as u64 * SECTOR_BYTES, sector)?;
                }
            }
        }
        Ok(())
    }

    fn break_promise(&mut self) -> Result<(), StoreError> {
        match self.power.harm {
            Harm::Nothing => {}
            Harm::Gone => self.is_gone = true,
            Harm::Lost => {
                self.pending.clear();
                for Done { offset, before, .. } in std::mem::take(&mut self.last).iter().rev() {
                    self.inner.write(*offset, before)?;
                }
            }
            Harm::Torn => self.tear()?,
            Harm::Reordered => self.reorder()?,
            Harm::Collateral => self.hit_neighbour()?,
            Harm::Misdirected => self.misdirect()?,
        }
        Ok(())
    }

    /// Takes some sectors of a durable write back, and leaves at least one.
    fn tear(&mut self) -> Result<(), StoreError> {
        let Some(index) = self.choose_last(2 * SECTOR_LEN) else { return Ok(()) };
        let Done { offset, before, .. } = self.last.swap_remove(index);
        let count = (before.len() / SECTOR_LEN) as u64;
        let kept = 1 + self.below(count - 1);
        let back = before[kept as usize * SECTOR_LEN..].to_vec();
        self.inner.write(offset + kept * SECTOR_BYTES, &back)
    }

    /// Takes a durable write back and keeps a later one.
    fn reorder(&mut self) -> Result<(), StoreError> {
        if let (Some(index), false) = (self.choose_last(0), self.pending.is_empty()) {
            let Done { offset, before, .. } = self.last.swap_remove(index);
            self.inner.write(offset, &before)?;
            let turn = self.below(self.pending.len() as u64) as usize;
            if let Some(Pending { offset, data, .. }) = self.pending.remove(turn) {
                self.inner.write(offset, &data)?;
            }
            return Ok(());
        }
        // Nothing is in the cache: the last flush is the later one.
        let touched = |done: &Done| {
            let end = done.offset + done.data.len() as u64;
            self.is_pending(done.offset, done.data.len())
                || self.last.iter().any(|later| {
                    later.offset < end && done.offset < later.offset + later.data.len() as u64
                })
        };
        if let Some(index) = self.before_last.iter().position(|done| !touched(done)) {
            let Done { offset, before, .. } = self.before_last.swap_remove(index);
            self.inner.write(offset, &before)?;
        }
        Ok(())
    }

    /// Overwrites a sector near the last writes that none of them touches. With nothing in the cache
    /// these are the writes of the last flush, whose answer may still be under way.
    fn hit_neighbour(&mut self) -> Result<(), StoreError> {
        let near = match (self.pending.back(), self.last.last()) {
            (Some(pending), _) => pending.offset,
            (None, Some(done)) => done.offset,
            (None, None) => return Ok(()),
        };
        for _ in 0..64 {
            let place = self.neighbour(near, SECTOR_BYTES);
            if !self.is_of_last_writes(place) {
                let mut garbage = [0; SECTOR_LEN];
                self.random.fill_bytes(&mut garbage);
                return self.inner.write(place, &garbage);
            }
        }
        Ok(())
    }

    /// Puts a durable write elsewhere.
    fn misdirect(&mut self) -> Result<(), StoreError> {
        let Some(index) = self.choose_last(0) else { return Ok(()) };
        let Done { offset, data, before } = self.last.swap_remove(index);
        self.inner.write(offset, &before)?;
        for _ in 0..64 {
            let place = self.neighbour(offset, data.len() as u64);
            if !self.is_pending(place, data.len()) {
                return self.inner.write(place, &data);
            }
        }
        Ok(())
    }
}

/// The numbers of the sectors that `length` bytes at `offset` touch.
const fn sectors(offset: u64, length: usize) -> std::ops::Range<u64> {
    offset / SECTOR_BYTES..(offset + length as u64).div_ceil(SECTOR_BYTES)
}

impl Store for VolatileStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.inner.read(offset, into)?;
        for (&sector, &sequence) in self.latest.range(sectors(offset, into.len())) {
            let first = self.pending.front().map_or(0, |pending| pending.sequence);
            let Some(pending) = self.pending.get((sequence - first) as usize) else { continue };
            let from = (sector * SECTOR_BYTES - pending.offset) as usize;
            let to = (sector * SECTOR_BYTES - offset) as usize;
            into[to..to + SECTOR_LEN].copy_from_slice(&pending.data[from..from + SECTOR_LEN]);
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        self.sequence += 1;
        let sequence = self.sequence;
        for sector in sectors(offset, from.len()) {
            self.latest.insert(sector, sequence);
        }
        self.pending_bytes += from.len() as u64;
        self.pending.push_back(Pending { sequence, offset, data: from.to_vec() });
        while self.pending_bytes > self.power.volatile.get() {
            self.settle_oldest()?;
        }
        Ok(())
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        while !self.pending.is_empty() {
            self.settle_oldest()?;
        }
        self.inner.discard(offset, length)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() && self.last.is_empty() {
            return Ok(());
        }
        if !self.pending.is_empty() {
            self.before_last = std::mem::take(&mut self.last);
        }
        while !self.pending.is_empty() {
            self.settle_oldest()?;
        }
        self.inner.flush()
    }

    fn cut_power(&mut self) {
        let is_harmful = self.below(1_000_000) < u64::from(self.power.share_ppm);
        // A place that fails while the power goes has no one left to tell.
        if is_harmful {
            let _ = self.break_promise();
        }
        let _ = self.leave_any();
        self.pending_bytes = 0;
        self.latest.clear();
        self.last.clear();
        self.before_last.clear();
    }

    fn survives(&self) -> bool {
        !self.is_gone
    }
}

impl Drop for VolatileStore {
    fn drop(&mut self) {
        while !self.pending.is_empty() {
            if self.settle_oldest().is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::{ShortStore, Shorthand};

    fn store(power: Power) -> VolatileStore {
        let inner = Box::new(ShortStore::new(Shorthand::NONE));
        VolatileStore::new(inner, Bytes::mib(64), power, Seed::from_bits(1))
    }

    fn holds(store: &VolatileStore, offset: u64) -> u8 {
        let mut data = [0xee; 4096];
        store.read(offset, &mut data).unwrap();
        assert!(data.iter().all(|&byte| byte == data[0]), "a mixture");
        data[0]
    }

    /// Writes 1 and flushes, writes 2 over it and flushes, writes 3 beside it.
    fn written(power: Power) -> VolatileStore {
        let mut store = store(power);
        for value in [1, 2] {
            for place in 0..16 {
                store.write((1 << 20) + place * 4096, &[value; 4096]).unwrap();
            }
            store.flush().unwrap();
        }
        store.write(2 << 20, &[3; 4096]).unwrap();
        store
    }

    #[test]
    fn what_was_flushed_survives_an_honest_card() {
        let mut store = written(Power::HONEST);
        assert_eq!(holds(&store, 2 << 20), 3);
        store.cut_power();
        (0..16).for_each(|place| assert_eq!(holds(&store, (1 << 20) + place * 4096), 2));
        let mut left = [0; 4096];
        store.read(2 << 20, &mut left).unwrap();
        let kept = left.chunks(512).filter(|sector| sector[0] == 3).count();
        assert!((1..8).contains(&kept), "any sectors: {kept}");
    }

    #[test]
    fn each_harm_does_what_it_is_called() {
        let harm = |harm| {
            let mut store = written(Power { harm, ..Power::HONEST });
            store.cut_power();
            let mut area = vec![0; 1 << 20];
            store.read((1 << 20) - (256 << 10), &mut area).unwrap();
            let count = |value| area.chunks(512).filter(|s| **s == [value; 512]).count();
            (count(1), count(2), store.survives())
        };
        assert_eq!(harm(Harm::Nothing), (0, 128, true));
        assert_eq!(harm(Harm::Lost), (128, 0, true));
        assert_eq!(harm(Harm::Reordered), (8, 120, true));
        assert_eq!(harm(Harm::Gone), (0, 128, false));
        let (old, new, _) = harm(Harm::Torn);
        assert!((1..8).contains(&old) && old + new == 128, "{old} {new}");
        assert_eq!(harm(Harm::Misdirected).0, 8);
    }

    #[test]
    fn a_full_cache_makes_the_oldest_durable() {
        let power = Power { volatile: Bytes::kib(8), ignores_flush: true, ..Power::HONEST };
        let mut store = store(power);
        (0..16).for_each(|place| store.write(place * 4096, &[5; 4096]).unwrap());
        store.pending.clear();
        store.latest.clear();
        let kept = (0..16).filter(|place| holds(&store, place * 4096) == 5).count();
        assert_eq!(kept, 14);
    }

    #[test]
    fn switching_off_in_order_loses_nothing() {
        #[derive(Debug)]
        struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
        impl Store for Shared {
            fn read(&self, _offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
                into.fill(0);
                Ok(())
            }
            fn write(&mut self, _offset: u64, from: &[u8]) -> Result<(), StoreError> {
                self.0.lock().unwrap().extend_from_slice(from);
                Ok(())
            }
            fn discard(&mut self, _offset: u64, _length: u64) -> Result<(), StoreError> {
                Ok(())
            }
        }
        let seen = std::sync::Arc::default();
        let inner = Box::new(Shared(std::sync::Arc::clone(&seen)));
        let mut store = VolatileStore::new(inner, Bytes::mib(1), Power::HONEST, Seed::from_bits(1));
        store.write(512, &[4; 1024]).unwrap();
        assert!(seen.lock().unwrap().is_empty());
        drop(store);
        assert_eq!(seen.lock().unwrap().len(), 1024);
    }
}
