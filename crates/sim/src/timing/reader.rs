//! What a read costs before its data flow.

use super::grid::Grid;
use super::pace::{LatencyTable, Pace};
use super::streams::Streams;
use super::written::WrittenPages;
use crate::model::{Boundaries, Reading};

/// The reading half of a card.
#[derive(Debug)]
pub(crate) struct Reader {
    latencies: LatencyTable,
    never_written: u64,
    boundaries: Boundaries,
    pages: Grid,
    units: Grid,
    pace: Pace,
    streams: Streams,
    /// How long the data of the previous read took over the bus: the time in which the card
    /// can fetch ahead.
    last_transfer: u64,
}

/// The work of one read, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadWork {
    /// Until the first byte.
    pub(crate) latency: u64,
    /// The data's way over the bus.
    pub(crate) transfer: u64,
    /// Whether the read continues an earlier one.
    pub(crate) sequential: bool,
}

impl Reader {
    /// A reader of a card with allocation units of `unit_size` bytes, on a bus with a pace of `bus`.
    pub(crate) fn new(reading: &Reading, unit_size: u64, bus: Pace) -> Self {
        Self {
            latencies: LatencyTable::new(&reading.latencies),
            never_written: reading.never_written.get(),
            boundaries: reading.boundaries,
            pages: Grid::new(reading.boundaries.page.get()),
            units: Grid::new(unit_size),
            pace: Pace::new(reading.rate).max(bus),
            streams: Streams::new(),
            last_transfer: 0,
        }
    }

    /// Reads `length` bytes at `offset`. A read that continues an earlier one finds what the
    /// card could fetch while the earlier one's data were on the bus.
    pub(crate) fn read(
        &mut self,
        offset: u64,
        length: u64,
        written: &mut WrittenPages,
    ) -> ReadWork {
        let sequential = self.streams.follow(offset, offset + length);
        let transfer = self.pace.nanos(length);
        let latency = if written.any(offset, length) {
            self.latencies.of(offset, length) + self.crossing(offset, length)
        } else {
            self.never_written
        };
        let ahead = if sequential { self.last_transfer } else { 0 };
        self.last_transfer = transfer;
        ReadWork { latency: latency.saturating_sub(ahead), transfer, sequential }
    }

    /// The extra time of a read over a boundary.
    const fn crossing(&self, offset: u64, length: u64) -> u64 {
        let Boundaries { page, page_crossing, unit_crossing } = self.boundaries;
        let last = offset + length - 1;
        if self.units.index(offset) != self.units.index(last) {
            return unit_crossing.get();
        }
        let fits_a_page = length <= page.get();
        if fits_a_page && self.pages.index(offset) != self.pages.index(last) {
            page_crossing.get()
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Latencies;
    use cardproof_units::{Bytes, Nanos, Throughput};

    #[test]
    fn a_read_over_a_boundary_costs_extra_by_the_kind_of_boundary() {
        let even = Nanos(1000);
        let reading = Reading {
            latencies: Latencies { below_page: even, page: even, stripe: even },
            rate: Throughput(f64::INFINITY),
            never_written: Nanos(10),
            boundaries: Boundaries {
                page: Bytes::kib(16),
                page_crossing: Nanos(200),
                unit_crossing: Nanos(500),
            },
        };
        let mut reader = Reader::new(&reading, 3 << 20, Pace::new(Throughput(f64::INFINITY)));
        let mut written = WrittenPages::new(16 << 20);
        written.mark(0, 8 << 20);
        let cases = [
            ("inside a page", 1024, 1024, 1000),
            ("over two pages", (16 << 10) - 512, 1024, 1200),
            ("over a unit that is no power of two", (3 << 20) - 512, 1024, 1500),
            ("over a power of two that is no unit", (4 << 20) - 512, 1024, 1200),
            ("longer than a page", (32 << 10) - 512, 17 << 10, 1000),
            ("never written", (9 << 20) - 512, 1024, 10),
        ];
        for (what, offset, length, nanos) in cases {
            assert_eq!(reader.read(offset, length, &mut written).latency, nanos, "{what}");
        }
    }
}
