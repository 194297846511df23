//! A map of pages: how cards of class A1 and later, and eMMC, write.
//!
//! Every page can go anywhere, so nothing is copied to make room for a write. What costs extra
//! is a write below a page or off its grid (read, change, write), one that continues no stream,
//! a piece of the map that is not at hand, a full SLC cache, and the tidying up.

use super::garbage::Garbage;
use super::map_cache::MapAtHand;
use super::noise::Scatter;
use super::pace::{LatencyTable, Pace, whole_pages};
use super::slc::SlcLevel;
use super::streams::Streams;
use super::wear::WearState;
use crate::model::PageMap;

/// Writes of this many bytes and more replace whole blocks of flash, which needs no tidying up;
/// assumed.
const LEAVES_NO_GARBAGE: u64 = 128 << 10;

/// The work of one write, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteWork {
    /// What the write takes beside its data; a cache that combines writes saves of this.
    pub(crate) latency: u64,
    /// Programming the data.
    pub(crate) data: u64,
    /// The part of that which a full SLC cache adds.
    pub(crate) beyond_cache: u64,
    /// Tidying up afterwards, during which the card does nothing else.
    pub(crate) pause: u64,
}

/// The state of a card with a page map.
#[derive(Debug)]
pub(crate) struct PageMapState {
    latencies: LatencyTable,
    pace: Pace,
    random: u64,
    slc: Option<SlcLevel>,
    garbage: Option<Garbage>,
    map: Option<MapAtHand>,
    streams: Streams,
    unit_size: u64,
    /// Bytes programmed since the last erase.
    programmed: u64,
}

impl PageMapState {
    /// An empty card with allocation units of `unit_size` bytes.
    pub(crate) fn new(page_map: &PageMap, unit_size: u64) -> Self {
        let pace = Pace::new(page_map.rate);
        Self {
            latencies: LatencyTable::new(&page_map.latencies),
            pace,
            random: page_map.random.get(),
            slc: page_map.slc.as_ref().map(|slc| SlcLevel::new(slc, pace)),
            garbage: page_map.garbage.as_ref().map(Garbage::new),
            map: page_map.map_cache.as_ref().map(MapAtHand::new),
            streams: Streams::new(),
            unit_size,
            programmed: 0,
        }
    }

    /// Writes `length` bytes at `offset`.
    pub(crate) fn write(
        &mut self,
        offset: u64,
        length: u64,
        scatter: &mut Scatter,
        wear: &mut WearState,
    ) -> WriteWork {
        let sequential = self.streams.follow(offset, offset + length);
        let pages = whole_pages(length);
        let mut latency = self.latencies.of(offset, length);
        let mut data = self.pace.nanos(length);
        let mut pause = 0;
        let was_free = self.garbage.as_mut().is_some_and(|garbage| garbage.fill(pages));
        if !sequential {
            latency += self.random + self.look_up(offset);
            if let Some(garbage) = &mut self.garbage
                && pages < LEAVES_NO_GARBAGE
                && !was_free
            {
                pause = garbage.leave(pages, scatter);
            }
        }
        let beyond_cache = self.slc.as_mut().map_or(0, |slc| slc.take(length));
        data += beyond_cache;
        self.wear_down(pages, wear);
        WriteWork { latency, data, beyond_cache, pause }
    }

    /// Notes that a discard has freed `bytes`.
    pub(crate) const fn free(&mut self, bytes: u64) {
        if let Some(garbage) = &mut self.garbage {
            garbage.free(bytes);
        }
    }

    /// The time to have the map for `offset` at hand.
    pub(crate) fn look_up(&mut self, offset: u64) -> u64 {
        self.map.as_mut().map_or(0, |map| map.look_up(offset))
    }

    /// Notes that the card was idle until `start`.
    pub(crate) fn idle_until(&mut self, start: impl FnOnce() -> u64) {
        if let Some(slc) = &mut self.slc {
            slc.fold_until(start());
        }
    }

    /// Notes that the card works until `end`.
    pub(crate) fn busy_until(&mut self, end: u64) {
        if let Some(slc) = &mut self.slc {
            slc.busy_until(end);
        }
    }

    fn wear_down(&mut self, bytes: u64, wear: &mut WearState) {
        self.programmed += bytes;
        while self.programmed >= self.unit_size {
            self.programmed -= self.unit_size;
            wear.erase_next();
        }
    }
}
