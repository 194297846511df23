//! Service times by how a command arrives: in sequence or at random, alone or in a queue.

use super::pace::LatencyTable;
use super::streams::Streams;
use crate::model::{ByPattern, ByQueue, ServiceTimes};

/// The times of one command beside its data, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// Until its data flow, where nothing else is in the card.
    pub(crate) alone: u64,
    /// How long it delays the next one.
    pub(crate) queued: u64,
}

/// The tables of one pattern.
#[derive(Debug)]
struct Tables {
    alone: LatencyTable,
    queued: LatencyTable,
}

/// One direction: its tables, and what was asked for last.
#[derive(Debug)]
struct Direction {
    sequential: Tables,
    random: Tables,
    streams: Streams,
}

/// The service times of a card.
#[derive(Debug)]
pub(crate) struct Service {
    read: Direction,
    write: Direction,
}

impl Service {
    pub(crate) fn new(times: &ServiceTimes) -> Self {
        let tables = |times: &ByQueue, stripe| Tables {
            alone: LatencyTable::with_stripe(&times.alone, stripe),
            queued: LatencyTable::with_stripe(&times.queued, stripe),
        };
        let stripe = times.stripe.get();
        let direction = |pattern: &ByPattern| Direction {
            sequential: tables(&pattern.sequential, stripe),
            random: tables(&pattern.random, stripe),
            streams: Streams::new(),
        };
        Self { read: direction(&times.read), write: direction(&times.write) }
    }

    /// The times of a command of `length` bytes at `offset`.
    pub(crate) fn of(&mut self, is_write: bool, offset: u64, length: u64) -> Times {
        let direction = if is_write { &mut self.write } else { &mut self.read };
        let is_sequential = direction.streams.follow(offset, offset + length);
        let tables = if is_sequential { &direction.sequential } else { &direction.random };
        Times { alone: tables.alone.of(offset, length), queued: tables.queued.of(offset, length) }
    }
}
