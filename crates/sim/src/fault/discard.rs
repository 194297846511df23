//! Faults of discarding, over the place of a card's bytes: data that a discard harms, and discards that do
//! nothing.
//!
//! A new kind is a variant of [`DiscardHarm`] and its arm in `DiscardStore::discard`.

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contents::{Store, StoreError};

/// A late discard is done after so many writes, or with the next flush.
const LATE_WRITES: u32 = 16;

/// A large discard, such as fstrim makes them.
const LARGE: u64 = 4 << 20;

/// How many bytes are filled at a time.
const FILL_LEN: usize = 64 << 10;

/// What a discard breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscardHarm {
    /// Nothing.
    None,
    /// It takes [`DiscardFault::reach`] more bytes on either side.
    Neighbours,
    /// It takes a range that lies [`DiscardFault::reach`] further on, in place of its own.
    Shifted,
    /// It is done after the next 16 writes or with the next flush, and takes what was written meanwhile.
    Late,
    /// The first data that are written to a discarded place are lost with the next flush, and the data from
    /// before the discard are back.
    Revives,
    /// It is answered, and nothing happens: the data stay, and the card has no more free room than before.
    Ignored,
    /// It takes whole units of [`DiscardFault::reach`], also those of which it names a part.
    RoundsOut,
    /// If it names 4 MiB or more, it takes [`DiscardFault::reach`] more bytes on either side.
    LargeNeighbours,
    /// It takes only the whole units of [`DiscardFault::reach`] that it names; the rest reads as before. This
    /// is allowed.
    RoundsIn,
    /// What lay there is back with the next flush, if nothing was written there since.
    ComesBack,
    /// What lay there is back with the fourth flush, if nothing was written there since.
    ComesBackLater,
    /// Where it lies over a boundary of [`DiscardFault::reach`], the next write anywhere is lost.
    KillsNextWrite,
    /// What it takes reads as the data that lie [`DiscardFault::reach`] further on.
    ReadsOthers,
    /// The latest write before it is lost, unless a flush followed that write.
    LosesLatest,
    /// The first write to what it took keeps its first half.
    HalvesNextWrite,
    /// The first write to what it took loses its last 512 bytes.
    FraysRewrite,
}

/// The old data come back with the flush of this number, for the kind that comes back later.
const LATER_FLUSHES: u32 = 4;

/// What a discarded place reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscardReads {
    /// Zeros.
    Zeros,
    /// Bytes of 255.
    Ones,
    /// What was there, which the SD standard allows after a discard.
    Old,
    /// Any of these; each discard decides anew.
    Mixed,
}

/// How a card discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DiscardFault {
    /// What it breaks.
    pub harm: DiscardHarm,
    /// How far it reaches, for the kinds that reach.
    pub reach: Bytes,
    /// Of a million discards so many do the harm; the others are honest.
    pub share_ppm: u32,
    /// What a discarded place reads as.
    pub reads: DiscardReads,
}

impl DiscardFault {
    /// A card that does what a discard asks.
    pub const HONEST: Self = Self {
        harm: DiscardHarm::None,
        reach: Bytes::kib(4),
        share_ppm: 1_000_000,
        reads: DiscardReads::Zeros,
    };
}

/// A range of bytes, and what lay there.
#[derive(Debug)]
struct Kept {
    offset: u64,
    length: u64,
    /// Empty where they do not come back.
    data: Vec<u8>,
    /// A write has touched it since.
    is_touched: bool,
    /// The flushes since the discard.
    flushes: u32,
}

/// A [`Store`] whose discards go wrong.
#[derive(Debug)]
pub(crate) struct DiscardStore {
    inner: Box<dyn Store>,
    capacity: u64,
    fault: DiscardFault,
    /// Late discards: the writes until each is done, its offset and its length.
    late: Vec<(u32, u64, u64)>,
    /// What discarded places held, for those that come back.
    kept: Vec<Kept>,
    /// The latest write since the last flush: its address, and what it replaced.
    latest: Option<(u64, Vec<u8>)>,
    /// The next write is lost.
    kills_next: bool,
    random: Xoshiro256PlusPlus,
}

impl DiscardStore {
    /// Lets the discards on `inner`, which holds `capacity`, go wrong as `fault` says.
    pub(crate) fn new(
        inner: Box<dyn Store>,
        capacity: Bytes,
        fault: DiscardFault,
        seed: Seed,
    ) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("discard faults"));
        let capacity = capacity.get();
        Self {
            inner,
            capacity,
            fault,
            late: Vec::new(),
            kept: Vec::new(),
            latest: None,
            kills_next: false,
            random,
        }
    }

    /// Makes a range read as a discarded one.
    fn empty(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        let end = offset.saturating_add(length).min(self.capacity);
        let reads = match self.fault.reads {
            DiscardReads::Mixed => {
                let all = [DiscardReads::Old, DiscardReads::Zeros, DiscardReads::Ones];
                all[(self.random.next_u64() % all.len() as u64) as usize]
            }
            other => other,
        };
        match reads {
            DiscardReads::Old | DiscardReads::Mixed => Ok(()),
            DiscardReads::Zeros => self.inner.discard(offset, end.saturating_sub(offset)),
            DiscardReads::Ones => self.fill(offset, end),
        }
    }

    fn fill(&mut self, offset: u64, end: u64) -> Result<(), StoreError> {
        let ones = vec![0xff; FILL_LEN];
        let mut at = offset;
        while at < end {
            let part = (end - at).min(FILL_LEN as u64);
            self.inner.write(at, &ones[..part as usize])?;
            at += part;
        }
        Ok(())
    }

    /// Empties a range that is not the one that was asked for, whatever a discarded one reads as.
    fn harm(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        let end = offset.saturating_add(length).min(self.capacity);
        self.inner.discard(offset, end.saturating_sub(offset))
    }

    /// Notes a discarded range, and what lay there.
    fn keep(&mut self, offset: u64, length: u64, data: Vec<u8>) {
        self.kept.push(Kept { offset, length, data, is_touched: false, flushes: 0 });
    }

    fn strikes(&mut self) -> bool {
        self.random.next_u64() % 1_000_000 < u64::from(self.fault.share_ppm)
    }

    /// Does the late discards that are due, or all of them.
    fn do_late(&mut self, all: bool) -> Result<(), StoreError> {
        for (left, ..) in &mut self.late {
            *left = left.saturating_sub(1);
        }
        let (due, waiting) = self.late.drain(..).partition(|(left, ..)| all || *left == 0);
        self.late = waiting;
        let due: Vec<(u32, u64, u64)> = due;
        due.into_iter().try_for_each(|(_, offset, length)| self.harm(offset, length))
    }
}

impl Store for DiscardStore {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.inner.read(offset, into)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> Result<(), StoreError> {
        if std::mem::take(&mut self.kills_next) {
            return Ok(());
        }
        if self.fault.harm == DiscardHarm::LosesLatest {
            let mut before = vec![0; from.len()];
            self.inner.read(offset, &mut before)?;
            self.latest = Some((offset, before));
        }
        let end = offset + from.len() as u64;
        let mut is_first = false;
        for kept in &mut self.kept {
            let hits = offset < kept.offset + kept.length && kept.offset < end;
            is_first |= hits && !kept.is_touched;
            kept.is_touched |= hits;
        }
        let length = match self.fault.harm {
            DiscardHarm::HalvesNextWrite if is_first => from.len() / 1024 * 512,
            DiscardHarm::FraysRewrite if is_first => from.len().saturating_sub(512),
            _ => from.len(),
        };
        self.inner.write(offset, &from[..length])?;
        self.do_late(false)
    }

    fn discard(&mut self, offset: u64, length: u64) -> Result<(), StoreError> {
        if self.fault.harm == DiscardHarm::Ignored {
            return Ok(());
        }
        if !self.strikes() {
            return self.empty(offset, length);
        }
        let reach = self.fault.reach.get();
        match self.fault.harm {
            DiscardHarm::None => self.empty(offset, length),
            DiscardHarm::LargeNeighbours if length < LARGE => self.empty(offset, length),
            DiscardHarm::Neighbours | DiscardHarm::LargeNeighbours => {
                self.empty(offset, length)?;
                let before = offset.saturating_sub(reach);
                self.harm(before, offset - before)?;
                self.harm(offset + length, reach)
            }
            DiscardHarm::Shifted => self.harm((offset + reach) % self.capacity, length),
            DiscardHarm::Late => {
                self.late.push((LATE_WRITES, offset, length));
                Ok(())
            }
            DiscardHarm::Revives | DiscardHarm::ComesBack | DiscardHarm::ComesBackLater => {
                let mut data = vec![0; usize::try_from(length).unwrap_or(0)];
                self.inner.read(offset, &mut data)?;
                self.keep(offset, length, data);
                self.empty(offset, length)
            }
            DiscardHarm::HalvesNextWrite | DiscardHarm::FraysRewrite => {
                self.keep(offset, length, Vec::new());
                self.empty(offset, length)
            }
            DiscardHarm::Ignored => Ok(()),
            DiscardHarm::RoundsOut => {
                let from = offset / reach * reach;
                self.empty(from, (offset + length).next_multiple_of(reach) - from)
            }
            DiscardHarm::RoundsIn => {
                let from = offset.next_multiple_of(reach);
                self.empty(from, ((offset + length) / reach * reach).saturating_sub(from))
            }
            DiscardHarm::KillsNextWrite => {
                self.kills_next = offset / reach != (offset + length) / reach;
                self.empty(offset, length)
            }
            DiscardHarm::ReadsOthers => {
                let mut data = vec![0; usize::try_from(length).unwrap_or(0)];
                let room = self.capacity.saturating_sub(length);
                self.inner.read((offset + reach).min(room), &mut data)?;
                self.inner.write(offset, &data)
            }
            DiscardHarm::LosesLatest => {
                if let Some((offset, before)) = self.latest.take() {
                    self.inner.write(offset, &before)?;
                }
                self.empty(offset, length)
            }
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.do_late(true)?;
        self.latest = None;
        for mut kept in std::mem::take(&mut self.kept) {
            kept.flushes += 1;
            let is_back = match self.fault.harm {
                DiscardHarm::Revives => kept.is_touched,
                DiscardHarm::ComesBack => !kept.is_touched,
                DiscardHarm::ComesBackLater if kept.flushes < LATER_FLUSHES => {
                    self.kept.push(kept);
                    continue;
                }
                DiscardHarm::ComesBackLater => !kept.is_touched,
                _ => false,
            };
            if is_back {
                self.inner.write(kept.offset, &kept.data)?;
            }
        }
        self.inner.flush()
    }

    fn cut_power(&mut self) {
        self.inner.cut_power();
    }

    fn survives(&self) -> bool {
        self.inner.survives()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Contents;

    /// Blocks of 4 KiB of bytes 1 to 8; the fourth and fifth are discarded, the fourth is written with 9s,
    /// and a flush follows.
    fn after_a_discard(harm: DiscardHarm, reads: DiscardReads) -> [u8; 8] {
        const BLOCK: u64 = 4096;
        let reach = match harm {
            DiscardHarm::RoundsOut => Bytes(2 * BLOCK),
            DiscardHarm::RoundsIn => Bytes(4 * BLOCK),
            DiscardHarm::ReadsOthers => Bytes(2 * BLOCK),
            _ => DiscardFault::HONEST.reach,
        };
        let fault = DiscardFault { harm, reads, reach, ..DiscardFault::HONEST };
        let contents = Box::new(Contents::new(8 * BLOCK));
        let mut store = DiscardStore::new(contents, Bytes(8 * BLOCK), fault, Seed::from_bits(1));
        for block in 0..8 {
            store.write(block * BLOCK, &[block as u8 + 1; BLOCK as usize]).unwrap();
        }
        store.discard(3 * BLOCK, 2 * BLOCK).unwrap();
        store.write(3 * BLOCK, &[9; BLOCK as usize]).unwrap();
        store.flush().unwrap();
        [0, 1, 2, 3, 4, 5, 6, 7].map(|block| {
            let mut byte = [0];
            store.read(block * BLOCK, &mut byte).unwrap();
            byte[0]
        })
    }

    #[test]
    fn what_lay_there_comes_back_only_where_nothing_was_written_since() {
        const BLOCK: u64 = 4096;
        for (harm, flushes) in [(DiscardHarm::ComesBack, 1), (DiscardHarm::ComesBackLater, 4)] {
            let fault = DiscardFault { harm, ..DiscardFault::HONEST };
            let contents = Box::new(Contents::new(4 * BLOCK));
            let mut store =
                DiscardStore::new(contents, Bytes(4 * BLOCK), fault, Seed::from_bits(1));
            let byte = |store: &DiscardStore, block: u64| {
                let mut byte = [0];
                store.read(block * BLOCK, &mut byte).unwrap();
                byte[0]
            };
            store.write(0, &[1; 4096]).unwrap();
            store.write(BLOCK, &[2; 4096]).unwrap();
            store.discard(0, BLOCK).unwrap();
            store.discard(BLOCK, BLOCK).unwrap();
            store.write(BLOCK, &[3; 4096]).unwrap();
            for _ in 0..flushes {
                assert_eq!((byte(&store, 0), byte(&store, 1)), (0, 3), "{harm:?}");
                store.flush().unwrap();
            }
            assert_eq!((byte(&store, 0), byte(&store, 1)), (1, 3), "{harm:?}");
        }
    }

    #[test]
    fn every_harm_is_as_it_is_described() {
        use DiscardReads::{Old, Ones, Zeros};
        for (harm, reads, expected) in [
            (DiscardHarm::None, Zeros, [1, 2, 3, 9, 0, 6, 7, 8]),
            (DiscardHarm::None, Ones, [1, 2, 3, 9, 255, 6, 7, 8]),
            (DiscardHarm::None, Old, [1, 2, 3, 9, 5, 6, 7, 8]),
            (DiscardHarm::Neighbours, Zeros, [1, 2, 0, 9, 0, 0, 7, 8]),
            (DiscardHarm::Shifted, Zeros, [1, 2, 3, 9, 0, 0, 7, 8]),
            (DiscardHarm::Late, Zeros, [1, 2, 3, 0, 0, 6, 7, 8]),
            (DiscardHarm::Revives, Zeros, [1, 2, 3, 4, 5, 6, 7, 8]),
            (DiscardHarm::Ignored, Zeros, [1, 2, 3, 9, 5, 6, 7, 8]),
            (DiscardHarm::RoundsOut, Zeros, [1, 2, 0, 9, 0, 0, 7, 8]),
            (DiscardHarm::RoundsOut, Ones, [1, 2, 255, 9, 255, 255, 7, 8]),
            (DiscardHarm::RoundsIn, Zeros, [1, 2, 3, 9, 5, 6, 7, 8]),
            (DiscardHarm::LargeNeighbours, Zeros, [1, 2, 3, 9, 0, 6, 7, 8]),
            (DiscardHarm::ComesBackLater, Zeros, [1, 2, 3, 9, 0, 6, 7, 8]),
            (DiscardHarm::ReadsOthers, Zeros, [1, 2, 3, 9, 7, 6, 7, 8]),
            (DiscardHarm::KillsNextWrite, Zeros, [1, 2, 3, 0, 0, 6, 7, 8]),
            (DiscardHarm::LosesLatest, Zeros, [1, 2, 3, 9, 0, 6, 7, 0]),
        ] {
            assert_eq!(after_a_discard(harm, reads), expected, "{harm:?} {reads:?}");
        }
    }
}
