//! A map of allocation units with a log for small writes: how cards before A1 write.
//!
//! A few units are open, each with a pointer to where its next byte goes. A write at a pointer
//! appends. Any other write of some size closes the unit (what lies behind the pointer is copied)
//! and opens it again where the write is (what lies before is copied). Small writes go to a log;
//! when that is full, the unit that has waited longest is merged with its part of the log, which
//! copies the unit. So a random write costs the more, the more units the writes are spread over.

use std::collections::VecDeque;

use super::grid::Grid;
use super::pace::Pace;
use super::streams::Streams;
use super::wear::WearState;
use crate::model::Hybrid;

/// What the card knows of one allocation unit.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    /// Where its data end: nothing behind needs copying.
    data_end: u64,
    /// How many log slots hold data of it.
    log_slots: u32,
    /// Whether it waits in the queue of units to be merged.
    queued: bool,
}

/// An open unit.
#[derive(Clone, Copy, Debug)]
struct Open {
    unit: usize,
    /// Where its next byte goes.
    pointer: u64,
}

/// The state of a card with a hybrid map.
#[derive(Debug)]
pub(crate) struct HybridMap {
    latency: u64,
    log_latency: u64,
    erase: u64,
    pace: Pace,
    copy: Pace,
    log_below: u64,
    log_slot: u64,
    log_slots: u64,
    log_used: u64,
    log_units: usize,
    /// How many units have data in the log.
    units_in_log: usize,
    fat_zone: u64,
    unit_size: u64,
    grid: Grid,
    open_max: usize,
    /// Open units, the one used last first.
    open: Vec<Open>,
    units: Vec<Unit>,
    /// Units with data in the log, the one that has waited longest first.
    to_merge: VecDeque<usize>,
    streams: Streams,
}

impl HybridMap {
    /// An empty card of `units` units of `unit_size` bytes.
    pub(crate) fn new(hybrid: &Hybrid, unit_size: u64, units: usize) -> Self {
        let open_max = usize::from(hybrid.open_units.max(1));
        Self {
            latency: hybrid.latency.get(),
            log_latency: hybrid.log_latency.get(),
            erase: hybrid.erase.get(),
            pace: Pace::new(hybrid.rate),
            copy: Pace::new(hybrid.copy_rate),
            log_below: hybrid.log_below.get(),
            log_slot: hybrid.log_slot.get().max(1),
            log_slots: u64::from(hybrid.log_slots),
            log_used: 0,
            log_units: hybrid.log_units.map_or(usize::MAX, usize::from),
            units_in_log: 0,
            fat_zone: hybrid.fat_zone.get(),
            unit_size,
            grid: Grid::new(unit_size),
            open_max,
            open: Vec::with_capacity(open_max + 1),
            units: vec![Unit::default(); units],
            to_merge: VecDeque::with_capacity(units),
            streams: Streams::new(),
        }
    }

    /// Writes `length` bytes at `offset`; returns the time it takes in nanoseconds.
    pub(crate) fn write(&mut self, offset: u64, length: u64, wear: &mut WearState) -> u64 {
        let end = offset + length;
        let sequential = self.streams.follow(offset, end);
        let mut nanos = self.latency + self.pace.nanos(length);
        if end <= self.fat_zone {
            return nanos + self.log_latency;
        }
        let to_log = !sequential && length < self.log_below;
        let mut unit = self.grid.index(offset) as usize;
        let mut start = self.grid.within(offset);
        let mut left = length;
        while left > 0 {
            let part = left.min(self.unit_size - start);
            nanos += self.write_in_unit(unit, start, part, to_log, wear);
            left -= part;
            unit += 1;
            start = 0;
        }
        nanos
    }

    /// Forgets what lies wholly inside the range, unit by unit.
    pub(crate) fn discard(&mut self, offset: u64, length: u64) {
        let first = offset.div_ceil(self.unit_size);
        let end = (offset + length) / self.unit_size;
        for unit in first..end {
            let unit = unit as usize;
            self.release_log(unit);
            self.open.retain(|open| open.unit != unit);
            if let Some(state) = self.units.get_mut(unit) {
                state.data_end = 0;
            }
        }
    }

    fn write_in_unit(
        &mut self,
        unit: usize,
        start: u64,
        length: u64,
        to_log: bool,
        wear: &mut WearState,
    ) -> u64 {
        let place = self.open.iter().position(|open| open.unit == unit);
        let mut nanos = 0;
        match place {
            Some(place) if self.open[place].pointer == start => {
                self.open[..=place].rotate_right(1);
            }
            _ if to_log => return self.write_to_log(unit, start, length, wear),
            Some(place) => {
                let open = self.open.remove(place);
                nanos += self.close(open, wear);
                nanos += self.open_at(unit, start, wear);
            }
            None => nanos += self.open_at(unit, start, wear),
        }
        nanos + self.append(length, wear)
    }

    /// Appends to the unit used last; closes it when it is full.
    fn append(&mut self, length: u64, wear: &mut WearState) -> u64 {
        let Some(open) = self.open.first_mut() else { return 0 };
        open.pointer += length;
        let open = *open;
        let state = &mut self.units[open.unit];
        state.data_end = state.data_end.max(open.pointer);
        if open.pointer < self.unit_size {
            return 0;
        }
        self.open.remove(0);
        self.close(open, wear)
    }

    /// Opens `unit` with its pointer at `start`; returns the time of closing another one for it
    /// and of copying what lies before.
    fn open_at(&mut self, unit: usize, start: u64, wear: &mut WearState) -> u64 {
        let mut nanos = 0;
        if self.open.len() >= self.open_max
            && let Some(oldest) = self.open.pop()
        {
            nanos += self.close(oldest, wear);
        }
        self.open.insert(0, Open { unit, pointer: start });
        nanos + self.copy.nanos(start.min(self.units[unit].data_end))
    }

    /// Closes a unit that is no longer open; returns the time of copying what lies behind its
    /// pointer and of the erase.
    fn close(&mut self, open: Open, wear: &mut WearState) -> u64 {
        let behind = self.units[open.unit].data_end.saturating_sub(open.pointer);
        self.release_log(open.unit);
        wear.erase(open.unit);
        self.copy.nanos(behind) + self.erase
    }

    fn write_to_log(&mut self, unit: usize, start: u64, length: u64, wear: &mut WearState) -> u64 {
        let slots = length.div_ceil(self.log_slot);
        let mut nanos = self.log_latency;
        let is_new = self.units[unit].log_slots == 0;
        while self.log_used + slots > self.log_slots
            || (is_new && self.units_in_log >= self.log_units)
        {
            match self.merge_one(wear) {
                Some(merge) => nanos += merge,
                None => break,
            }
        }
        let state = &mut self.units[unit];
        state.data_end = state.data_end.max(start + length);
        if state.log_slots == 0 {
            self.units_in_log += 1;
        }
        state.log_slots += slots as u32;
        self.log_used += slots;
        if !state.queued {
            state.queued = true;
            self.to_merge.push_back(unit);
        }
        nanos
    }

    /// Merges the unit that has waited longest with its part of the log; returns the time, or
    /// `None` where the log is empty.
    fn merge_one(&mut self, wear: &mut WearState) -> Option<u64> {
        loop {
            let unit = self.to_merge.pop_front()?;
            self.units[unit].queued = false;
            if self.units[unit].log_slots == 0 {
                continue;
            }
            self.open.retain(|open| open.unit != unit);
            self.release_log(unit);
            wear.erase(unit);
            return Some(self.copy.nanos(self.units[unit].data_end) + self.erase);
        }
    }

    /// The log's data of `unit` are no longer needed.
    fn release_log(&mut self, unit: usize) {
        if let Some(state) = self.units.get_mut(unit) {
            self.log_used -= u64::from(state.log_slots);
            if state.log_slots > 0 {
                self.units_in_log -= 1;
            }
            state.log_slots = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Endurance;
    use cardproof_units::{Bytes, Nanos, Throughput};

    /// A card on which host data and a command cost nothing, so that only copying is seen: a
    /// unit of 1 MB copied in 1 s, an erase in 1 us.
    fn card(open_units: u16) -> (HybridMap, WearState) {
        let hybrid = Hybrid {
            latency: Nanos::ZERO,
            rate: Throughput(f64::INFINITY),
            copy_rate: Throughput::from_mb_per_s(1.0),
            erase: Nanos(1000),
            open_units,
            log_below: Bytes(16_384),
            log_slots: 8,
            log_slot: Bytes(1024),
            log_units: None,
            log_latency: Nanos::ZERO,
            fat_zone: Bytes::ZERO,
        };
        let endurance = Endurance { cycles: 1000, spare_units: 0 };
        (HybridMap::new(&hybrid, 1 << 20, 16), WearState::new(&endurance, 16))
    }

    const MB_COPIED: u64 = (1 << 20) * 1000;

    #[test]
    fn writing_from_front_to_back_copies_nothing() {
        let (mut map, mut wear) = card(1);
        let mut pass = || (0..64).map(|n| map.write(n << 16, 1 << 16, &mut wear)).sum::<u64>();
        assert_eq!(pass(), 4 * 1000, "four units, four erases");
        assert_eq!(pass(), 4 * 1000, "rewriting costs the same");
    }

    #[test]
    fn a_large_write_in_the_middle_copies_the_unit() {
        let (mut map, mut wear) = card(1);
        map.write(0, 2 << 20, &mut wear);
        let opening = map.write(1 << 19, 1 << 16, &mut wear);
        assert_eq!(opening, MB_COPIED / 2, "what lies before");
        let closing = map.write(1 << 20, 1 << 16, &mut wear);
        assert_eq!(closing, MB_COPIED / 2 - (1 << 16) * 1000 + 1000, "what lies behind");
    }

    #[test]
    fn one_unit_too_many_collapses() {
        let cost = |writers: u64| {
            let (mut map, mut wear) = card(3);
            map.write(0, 8 << 20, &mut wear);
            let mut nanos = 0;
            for step in 0..8 {
                for unit in 0..writers {
                    nanos += map.write((unit << 20) + (step << 16), 1 << 16, &mut wear);
                }
            }
            nanos / writers / 8
        };
        assert!(cost(3) < 1_000, "{}", cost(3));
        assert!(cost(4) > 500_000_000, "{}", cost(4));
    }

    #[test]
    fn the_log_is_merged_a_unit_at_a_time() {
        let (mut map, mut wear) = card(1);
        map.write(0, 4 << 20, &mut wear);
        let small = |map: &mut HybridMap, wear: &mut WearState, unit: u64, n: u64| {
            map.write((unit << 20) + 4096 + n * 8192, 4096, wear)
        };
        assert_eq!(small(&mut map, &mut wear, 0, 0), 0);
        assert_eq!(small(&mut map, &mut wear, 1, 0), 0, "eight slots of 1 KiB are full");
        assert_eq!(small(&mut map, &mut wear, 1, 1), MB_COPIED + 1000, "unit 0 is merged");
        assert_eq!(small(&mut map, &mut wear, 1, 2), MB_COPIED + 1000, "unit 1 is merged");
        assert_eq!(small(&mut map, &mut wear, 1, 3), 0, "which freed two writes' worth");
    }

    #[test]
    fn one_unit_more_than_the_log_takes_is_merged_at_every_write() {
        let (map, mut wear) = card(1);
        let mut map = HybridMap { log_units: 2, ..map };
        map.write(0, 4 << 20, &mut wear);
        let mut small =
            |unit: u64, n: u64| map.write((unit << 20) + 4096 + n * 8192, 1024, &mut wear);
        assert_eq!((small(0, 0), small(1, 0), small(0, 1), small(1, 1)), (0, 0, 0, 0));
        assert_eq!(small(2, 0), MB_COPIED + 1000, "unit 0 makes room");
        assert_eq!(small(0, 2), MB_COPIED + 1000, "unit 1 makes room");
        assert_eq!(small(2, 1), 0, "which has its place");
    }

    #[test]
    fn what_was_never_written_is_not_copied() {
        let (mut map, mut wear) = card(1);
        assert_eq!(map.write(1 << 19, 1 << 16, &mut wear), 0);
        assert_eq!(map.write(3 << 20, 1 << 16, &mut wear), 1000, "only the erase");
        map.write(0, 4 << 20, &mut wear);
        map.discard(0, 4 << 20);
        assert_eq!(map.write(1 << 19, 1 << 16, &mut wear), 0, "nor what was discarded");
    }

    #[test]
    fn units_need_not_be_powers_of_two() {
        let (map, mut wear) = card(2);
        let mut map = HybridMap { unit_size: 3 << 19, grid: Grid::new(3 << 19), ..map };
        let nanos: u64 = (0..48).map(|n| map.write(n << 16, 1 << 16, &mut wear)).sum();
        assert_eq!(nanos, 2 * 1000, "two units of 1.5 MiB");
    }
}
