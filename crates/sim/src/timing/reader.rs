//! What a read costs before its data flow.

use super::pace::{LatencyTable, Pace};
use super::streams::Streams;
use super::written::WrittenPages;
use crate::model::Reading;

/// The reading half of a card.
#[derive(Debug)]
pub(crate) struct Reader {
    latencies: LatencyTable,
    never_written: u64,
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
    /// A reader on a bus with a pace of `bus`.
    pub(crate) fn new(reading: &Reading, bus: Pace) -> Self {
        Self {
            latencies: LatencyTable::new(&reading.latencies),
            never_written: reading.never_written.get(),
            pace: Pace::of(reading.rate).max(bus),
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
            self.latencies.of(offset, length)
        } else {
            self.never_written
        };
        let ahead = if sequential { self.last_transfer } else { 0 };
        self.last_transfer = transfer;
        ReadWork { latency: latency.saturating_sub(ahead), transfer, sequential }
    }
}
