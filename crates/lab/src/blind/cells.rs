//! What cells hold: runs of sectors with the same origin, none for what was never written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cardproof_testkit::Noise;

use super::SECTOR;

/// The numbers of the data so many sectors later.
pub(crate) type Further = fn([u64; 3], u64) -> [u64; 3];

/// Fills whole sectors with the data that follow from the numbers of the first.
pub(crate) type Expand = fn([u64; 3], &mut [u8]);

/// The numbers from which the bytes of a sector follow, where it is one of those.
pub(crate) type Shorten = fn(&[u8; SECTOR as usize]) -> Option<[u64; 3]>;

/// How data given as numbers go on from sector to sector, become bytes, and are known again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    pub(crate) further: Further,
    pub(crate) expand: Expand,
    pub(crate) shorten: Shorten,
}

impl Numbering {
    /// Whole sectors of bytes as runs: as numbers wherever that can be.
    pub(super) fn runs(&self, bytes: &[u8]) -> Vec<(u64, Data)> {
        let (sectors, _) = bytes.as_chunks::<{ SECTOR as usize }>();
        let mut runs: Vec<(u64, Data)> = Vec::new();
        let mut as_bytes = 0..0;
        for (index, sector) in sectors.iter().enumerate() {
            let Some(numbers) = (self.shorten)(sector) else {
                as_bytes.end = index + 1;
                continue;
            };
            flush(&mut runs, sectors, &as_bytes);
            as_bytes = index + 1..index + 1;
            match runs.last_mut() {
                Some((length, Data::Numbers(first)))
                    if (self.further)(*first, *length) == numbers =>
                {
                    *length += 1;
                }
                _ => runs.push((1, Data::Numbers(numbers))),
            }
        }
        flush(&mut runs, sectors, &as_bytes);
        runs
    }
}

/// Adds the sectors of `range` as bytes, if there are any.
fn flush(runs: &mut Vec<(u64, Data)>, sectors: &[[u8; SECTOR as usize]], range: &Range<usize>) {
    if !range.is_empty() {
        runs.push((range.len() as u64, Data::from_bytes(sectors[range.clone()].as_flattened())));
    }
}

/// The data of a run of sectors.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Every byte the same.
    Same(u8),
    /// Noise that follows from a number; the next sector's is one higher.
    Noise(u64),
    /// Data that follow from numbers, those of the first sector.
    Numbers([u64; 3]),
    /// Bytes, from this sector of them on.
    Bytes(Arc<[u8]>, u64),
}

impl Data {
    /// The bytes of a write; what is the same in every byte takes no memory.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        match bytes.first() {
            Some(&first) if bytes.iter().all(|&byte| byte == first) => Self::Same(first),
            _ => Self::Bytes(bytes.into(), 0),
        }
    }

    /// The same run without its first `sectors`.
    pub(super) fn after(&self, sectors: u64, numbering: Numbering) -> Self {
        match self {
            Self::Same(byte) => Self::Same(*byte),
            Self::Noise(number) => Self::Noise(number.wrapping_add(sectors)),
            Self::Numbers(numbers) => Self::Numbers((numbering.further)(*numbers, sectors)),
            Self::Bytes(bytes, first) => Self::Bytes(Arc::clone(bytes), first + sectors),
        }
    }

    /// Writes the run into whole sectors.
    pub(super) fn fill(&self, into: &mut [u8], numbering: Numbering) {
        match self {
            Self::Same(byte) => into.fill(*byte),
            Self::Noise(number) => {
                for (index, sector) in into.chunks_mut(SECTOR as usize).enumerate() {
                    let own = number.wrapping_add(index as u64);
                    Noise::new(own.wrapping_mul(0x9e37_79b9_7f4a_7c15)).fill(sector);
                }
            }
            Self::Numbers(numbers) => (numbering.expand)(*numbers, into),
            Self::Bytes(bytes, first) => {
                let start = (first * SECTOR) as usize;
                into.copy_from_slice(&bytes[start..start + into.len()]);
            }
        }
    }
}

/// A run of sectors.
#[derive(Clone, Debug)]
struct Run {
    sectors: u64,
    data: Data,
}

/// Sectors by number, as runs.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    runs: BTreeMap<u64, Run>,
    numbering: Numbering,
}

impl Cells {
    pub(super) const fn new(numbering: Numbering) -> Self {
        Self { runs: BTreeMap::new(), numbering }
    }

    /// Replaces what `sectors` from `first` on hold.
    pub(super) fn put(&mut self, first: u64, sectors: u64, data: Data) {
        self.forget(first, sectors);
        self.runs.insert(first, Run { sectors, data });
    }

    /// Makes `sectors` from `first` on as if never written.
    pub(super) fn forget(&mut self, first: u64, sectors: u64) {
        let end = first + sectors;
        self.split(first);
        self.split(end);
        let gone: Vec<u64> = self.runs.range(first..end).map(|(&start, _)| start).collect();
        for start in gone {
            self.runs.remove(&start);
        }
    }

    /// Makes a run begin at `at` where one lies across it.
    fn split(&mut self, at: u64) {
        let Some((&start, run)) = self.runs.range_mut(..at).next_back() else { return };
        let head = at - start;
        if run.sectors > head {
            let tail =
                Run { sectors: run.sectors - head, data: run.data.after(head, self.numbering) };
            run.sectors = head;
            self.runs.insert(at, tail);
        }
    }

    /// What `sectors` from `first` on hold, in order; `None` for what was never written.
    pub(super) fn look(&self, first: u64, sectors: u64) -> Vec<(u64, Option<Data>)> {
        let end = first + sectors;
        let mut found = Vec::new();
        let mut at = first;
        let before = self.runs.range(..first).next_back();
        for (&start, run) in before.into_iter().chain(self.runs.range(first..end)) {
            let run_end = start + run.sectors;
            if run_end <= at {
                continue;
            }
            if start > at {
                found.push((start - at, None));
                at = start;
            }
            let length = run_end.min(end) - at;
            found.push((length, Some(run.data.after(at - start, self.numbering))));
            at += length;
        }
        if at < end {
            found.push((end - at, None));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERING: Numbering = Numbering {
        further: |numbers, sectors| [numbers[0] + sectors, 0, 0],
        expand: |numbers, into| {
            for (index, sector) in into.chunks_mut(512).enumerate() {
                sector.fill(numbers[0] as u8 + index as u8);
            }
        },
        shorten: |sector| {
            (sector[0] >= 100 && sector.iter().all(|&byte| byte == sector[0])).then_some([
                u64::from(sector[0]),
                0,
                0,
            ])
        },
    };

    #[test]
    fn bytes_become_numbers_where_they_follow_from_some() {
        let firsts = [100, 101, 102, 7, 8, 8, 200, 102, 103];
        let bytes: Vec<u8> = firsts.into_iter().flat_map(|first| [first; 512]).collect();
        let runs = NUMBERING.runs(&bytes);
        assert_eq!(runs.iter().map(|(length, _)| *length).collect::<Vec<_>>(), [3, 3, 1, 2]);
        let mut back = vec![0; bytes.len()];
        let mut at = 0;
        for (length, data) in runs {
            let end = at + (length * SECTOR) as usize;
            data.fill(&mut back[at..end], NUMBERING);
            at = end;
        }
        assert!(back == bytes);
    }

    /// The first byte of each of 16 sectors; 0 for what was never written.
    fn bytes(cells: &Cells) -> Vec<u8> {
        let mut all = Vec::new();
        for (sectors, data) in cells.look(0, 16) {
            let mut part = vec![0; (sectors * SECTOR) as usize];
            if let Some(data) = data {
                data.fill(&mut part, NUMBERING);
            }
            all.extend(part.chunks(512).map(|sector| sector[0]));
        }
        all
    }

    #[test]
    fn runs_overlap_and_the_last_write_counts() {
        let mut cells = Cells::new(NUMBERING);
        cells.put(2, 8, Data::Numbers([100, 0, 0]));
        cells.put(4, 2, Data::Same(7));
        cells.put(9, 4, Data::from_bytes(&[9; 4 * 512]));
        assert_eq!(bytes(&cells), [0, 0, 100, 101, 7, 7, 104, 105, 106, 9, 9, 9, 9, 0, 0, 0]);
        cells.forget(3, 4);
        assert_eq!(bytes(&cells), [0, 0, 100, 0, 0, 0, 0, 105, 106, 9, 9, 9, 9, 0, 0, 0]);
    }

    #[test]
    fn any_order_of_writes_gives_what_an_array_gives() {
        let mut noise = Noise::new(5);
        let mut cells = Cells::new(NUMBERING);
        let mut array = [0_u8; 16];
        for round in 1..200_u64 {
            let first = noise.below(16);
            let sectors = 1 + noise.below(16 - first);
            let value = (round % 200) as u8 + 1;
            if noise.below(4) == 0 {
                cells.forget(first, sectors);
                array[first as usize..(first + sectors) as usize].fill(0);
            } else {
                cells.put(first, sectors, Data::Same(value));
                array[first as usize..(first + sectors) as usize].fill(value);
            }
            assert_eq!(bytes(&cells), array, "round {round}");
        }
    }
}
