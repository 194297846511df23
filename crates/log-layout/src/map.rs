//! Where each block lies, and what each segment still holds.

use std::collections::VecDeque;

/// A segment's number; 0 holds the superblock.
pub(crate) type Segment = u32;

/// The map of a log and the account of its segments. Blocks are numbered from 0; a place of 0 stands
/// for none, since the superblock lies there.
#[derive(Debug)]
pub(crate) struct Map {
    segment_blocks: u32,
    /// By block: its place.
    places: Vec<u32>,
    /// By place: 1 + the block that lies there, or 0.
    owners: Vec<u32>,
    /// By segment: how many blocks lie there.
    live: Vec<u32>,
    /// By segment: the last batch in it; 0 where there is none to be kept.
    last: Vec<u64>,
    free: VecDeque<Segment>,
    /// The segment that is being filled, and its next block.
    open: Segment,
    next: u32,
}

impl Map {
    /// An empty map: every segment but that of the superblock is free.
    pub(crate) fn new(segments: u32, segment_blocks: u32, logical_blocks: u32) -> Self {
        let mut map = Self {
            segment_blocks,
            places: vec![0; logical_blocks as usize],
            owners: vec![0; segments as usize * segment_blocks as usize],
            live: vec![0; segments as usize],
            last: vec![0; segments as usize],
            free: (1..segments).collect(),
            open: 0,
            next: segment_blocks,
        };
        map.open_next();
        map
    }

    /// Where `block` lies.
    pub(crate) fn place(&self, block: u32) -> Option<u32> {
        self.places.get(block as usize).copied().filter(|place| *place != 0)
    }

    /// Notes that `block` lies at `place` now.
    pub(crate) fn put(&mut self, block: u32, place: u32) {
        self.forget(block);
        self.places[block as usize] = place;
        self.owners[place as usize] = block + 1;
        self.live[(place / self.segment_blocks) as usize] += 1;
    }

    /// Notes that `block` lies nowhere.
    pub(crate) fn forget(&mut self, block: u32) {
        let before = std::mem::take(&mut self.places[block as usize]);
        if before != 0 {
            self.owners[before as usize] = 0;
            self.live[(before / self.segment_blocks) as usize] -= 1;
        }
    }

    /// The blocks that lie in `segment`, with their places, in the order of these.
    pub(crate) fn held(&self, segment: Segment) -> Vec<(u32, u32)> {
        let first = segment * self.segment_blocks;
        (first..first + self.segment_blocks)
            .filter_map(|place| Some((self.owners[place as usize].checked_sub(1)?, place)))
            .collect()
    }

    /// How many blocks the open segment has left.
    pub(crate) const fn room(&self) -> u32 {
        self.segment_blocks - self.next
    }

    /// Takes `blocks` of the open segment for batch `sequence`; the place of the first.
    pub(crate) fn take(&mut self, blocks: u32, sequence: u64) -> u32 {
        let place = self.open * self.segment_blocks + self.next;
        self.next += blocks;
        self.last[self.open as usize] = sequence;
        place
    }

    /// Opens a free segment; whether there was one.
    pub(crate) fn open_next(&mut self) -> bool {
        let Some(segment) = self.free.pop_front() else { return false };
        (self.open, self.next) = (segment, 0);
        self.last[segment as usize] = 0;
        true
    }

    /// How many segments are free.
    pub(crate) fn free_segments(&self) -> usize {
        self.free.len()
    }

    /// The segment with the fewest blocks among those whose batches are all known to be durable:
    /// numbered up to `recorded`.
    pub(crate) fn emptiest(&self, recorded: u64) -> Option<Segment> {
        (1..self.live.len() as Segment)
            .filter(|segment| {
                let last = self.last[*segment as usize];
                *segment != self.open && last != 0 && last <= recorded
            })
            .min_by_key(|segment| self.live[*segment as usize])
    }

    /// How many blocks lie in `segment`.
    pub(crate) fn live(&self, segment: Segment) -> u32 {
        self.live[segment as usize]
    }

    /// Frees `segment`, in which no block lies any more.
    pub(crate) fn release(&mut self, segment: Segment) {
        self.last[segment as usize] = 0;
        self.free.push_back(segment);
    }

    /// After a recovery: notes the last batch found in `segment`.
    pub(crate) fn found(&mut self, segment: Segment, sequence: u64) {
        let last = &mut self.last[segment as usize];
        *last = (*last).max(sequence);
    }

    /// After a recovery: which segments are free, and opens one of them. Whether there was one.
    pub(crate) fn reopen(&mut self, recorded: u64) -> bool {
        self.free.clear();
        for segment in 1..self.live.len() as Segment {
            let index = segment as usize;
            if self.live[index] == 0 && self.last[index] <= recorded {
                self.release(segment);
            }
        }
        self.open_next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_lies_in_one_place() {
        let mut map = Map::new(4, 8, 10);
        let first = map.take(3, 1);
        map.put(5, first + 1);
        map.put(6, first + 2);
        assert_eq!((map.place(5), map.place(7)), (Some(first + 1), None));
        let second = map.take(2, 2);
        map.put(5, second + 1);
        assert_eq!(map.held(1), [(6, first + 2), (5, second + 1)]);
        map.forget(6);
        assert_eq!((map.live(1), map.room()), (1, 3));
    }

    #[test]
    fn only_segments_known_to_be_durable_are_cleaned() {
        let mut map = Map::new(4, 8, 10);
        map.take(8, 3);
        assert!(map.open_next());
        map.take(8, 5);
        assert!(map.open_next() && !map.open_next());
        assert_eq!(map.emptiest(2), None);
        assert_eq!(map.emptiest(3), Some(1));
        map.put(1, 9);
        assert_eq!(map.emptiest(5), Some(2), "the first holds a block");
        map.release(2);
        assert_eq!(map.free_segments(), 1);
    }
}
