//! The memory of the latest writes that some fakes have.

use std::cell::RefCell;
use std::collections::VecDeque;

use cardproof_units::Bytes;

use crate::contents::{Numbers, SECTOR_LEN, Shorthand, Stretches};

const SECTOR: u64 = SECTOR_LEN as u64;

/// Which writes a hidden store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Keeps {
    /// Only those beyond the flash.
    Beyond,
    /// All.
    All,
}

/// What a hidden store forgets first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Forgets {
    /// What was written longest ago.
    OldestWrite,
    /// What was written or read longest ago.
    LeastUsed,
}

/// A memory of the latest writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HiddenStore {
    /// How many bytes it holds; zero for none.
    pub size: Bytes,
    /// How many write commands it holds at most, whatever their length; `None` for any number.
    pub writes_max: Option<u32>,
    /// Which writes it keeps.
    pub keeps: Keeps,
    /// What it forgets first.
    pub forgets: Forgets,
}

impl HiddenStore {
    /// No memory.
    pub const NONE: Self = Self::new(Bytes::ZERO);

    /// A memory of the latest `size` bytes written beyond the flash.
    #[must_use]
    pub const fn new(size: Bytes) -> Self {
        Self { size, writes_max: None, keeps: Keeps::Beyond, forgets: Forgets::OldestWrite }
    }
}

/// The contents of a [`HiddenStore`].
#[derive(Debug)]
pub(super) struct LatestWrites {
    sectors_max: u64,
    writes_max: usize,
    keeps: Keeps,
    forgets: Forgets,
    kept: RefCell<Kept>,
}

#[derive(Debug)]
struct Kept {
    stretches: Stretches,
    /// (first sector, number of sectors, time), the oldest first. A stretch that was written again
    /// is forgotten with its later entry, because its time differs.
    order: VecDeque<(u64, u64, u64)>,
    time: u64,
}

impl Kept {
    const fn next_time(&mut self) -> u64 {
        self.time += 1;
        self.time
    }
}

impl LatestWrites {
    pub(super) fn new(store: &HiddenStore, shorthand: Shorthand) -> Self {
        let kept = Kept { stretches: Stretches::new(shorthand), order: VecDeque::new(), time: 0 };
        Self {
            sectors_max: store.size.get() / SECTOR,
            writes_max: store.writes_max.map_or(usize::MAX, |most| most as usize),
            keeps: store.keeps,
            forgets: store.forgets,
            kept: RefCell::new(kept),
        }
    }

    /// Remembers `data`, written at `offset`, on a card that holds `real` bytes.
    pub(super) fn note(&self, offset: u64, data: &[u8], real: u64) {
        let skip = match self.keeps {
            Keeps::Beyond => real.saturating_sub(offset).min(data.len() as u64),
            Keeps::All => 0,
        };
        let data = &data[skip as usize..];
        if self.sectors_max > 0 && !data.is_empty() {
            self.keep((offset + skip) / SECTOR, data);
        }
    }

    /// As [`note`](Self::note), for `length` bytes that follow from `numbers`.
    pub(super) fn note_numbers(&self, offset: u64, length: u64, numbers: Numbers, real: u64) {
        let skip = match self.keeps {
            Keeps::Beyond => real.saturating_sub(offset).min(length),
            Keeps::All => 0,
        };
        if self.sectors_max > 0 && skip < length {
            let (address, sectors) = ((offset + skip) / SECTOR, (length - skip) / SECTOR);
            let mut kept = self.kept.borrow_mut();
            let time = kept.next_time();
            kept.stretches.write_further(address, sectors, (numbers, skip / SECTOR), time);
            self.forget(&mut kept, address, sectors, time);
        }
    }

    fn keep(&self, address: u64, data: &[u8]) {
        let mut kept = self.kept.borrow_mut();
        let time = kept.next_time();
        kept.stretches.write(address, data, time);
        self.forget(&mut kept, address, data.len() as u64 / SECTOR, time);
    }

    /// Forgets what there is no room for beside the sectors written last.
    fn forget(&self, kept: &mut Kept, address: u64, sectors: u64, time: u64) {
        kept.order.push_back((address, sectors, time));
        while kept.stretches.sectors() > self.sectors_max || kept.order.len() > self.writes_max {
            let over = kept.stretches.sectors().saturating_sub(self.sectors_max);
            let by_count = kept.order.len() > self.writes_max;
            let Some((start, sectors, time)) = kept.order.pop_front() else { return };
            let gone = if by_count { sectors } else { sectors.min(over) };
            kept.stretches.forget(start, start + gone, Some(time));
            if gone < sectors {
                kept.order.push_front((start + gone, sectors - gone, time));
            }
        }
    }

    /// Puts what is remembered of `offset` and behind into `data`; how many bytes that is.
    pub(super) fn recall(&self, offset: u64, data: &mut [u8]) -> u64 {
        if self.sectors_max == 0 {
            return 0;
        }
        let found = self.kept.borrow().stretches.read(offset / SECTOR, data);
        let recalled = found.iter().map(|(_, sectors)| sectors * SECTOR).sum();
        if self.forgets == Forgets::LeastUsed {
            for (start, sectors) in found {
                let from = (start - offset / SECTOR) * SECTOR;
                self.keep(start, &data[from as usize..(from + sectors * SECTOR) as usize]);
            }
        }
        recalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalls(latest: &LatestWrites, offset: u64, byte: u8) -> bool {
        let mut data = [0; SECTOR_LEN];
        latest.recall(offset, &mut data);
        data == [byte; SECTOR_LEN]
    }

    fn filled(store: HiddenStore) -> LatestWrites {
        let latest = LatestWrites::new(&store, Shorthand::NONE);
        latest.note(0, &[1; 512], 0);
        latest.note(512, &[2; 512], 0);
        latest
    }

    #[test]
    fn only_the_latest_writes_are_remembered() {
        let latest = filled(HiddenStore::new(Bytes(1024)));
        latest.note(0, &[3; 512], 0);
        latest.note(4096, &[4; 512], 0);
        assert!(recalls(&latest, 0, 3) && recalls(&latest, 4096, 4), "rewritten last");
        assert!(recalls(&latest, 512, 0), "forgotten");
    }

    #[test]
    fn a_long_write_pushes_out_exactly_its_length() {
        let latest = filled(HiddenStore::new(Bytes(4 * 512)));
        latest.note(8192, &[9; 3 * 512], 0);
        assert!(recalls(&latest, 0, 0) && recalls(&latest, 512, 2) && recalls(&latest, 8192, 9));
    }

    #[test]
    fn reading_renews_where_use_counts() {
        let store = HiddenStore { forgets: Forgets::LeastUsed, ..HiddenStore::new(Bytes(1024)) };
        let latest = filled(store);
        assert!(recalls(&latest, 0, 1));
        latest.note(4096, &[4; 512], 0);
        assert!(recalls(&latest, 0, 1), "used last");
        assert!(recalls(&latest, 512, 0), "forgotten");
    }

    #[test]
    fn a_store_may_count_writes_and_keep_all_of_them() {
        let by_count = HiddenStore { writes_max: Some(1), ..HiddenStore::new(Bytes::mib(1)) };
        let latest = filled(by_count);
        assert!(recalls(&latest, 0, 0) && recalls(&latest, 512, 2));
        let real = 8192;
        let beyond = LatestWrites::new(&HiddenStore::new(Bytes::mib(1)), Shorthand::NONE);
        beyond.note(real - 512, &[5; 1024], real);
        assert!(recalls(&beyond, real - 512, 0) && recalls(&beyond, real, 5));
        let all = HiddenStore { keeps: Keeps::All, ..HiddenStore::new(Bytes::mib(1)) };
        let all = LatestWrites::new(&all, Shorthand::NONE);
        all.note(real - 512, &[5; 1024], real);
        assert!(recalls(&all, real - 512, 5));
    }
}
