//! The SLC cache: a level of bytes that writing raises and idle time lowers.

use super::pace::Pace;
use crate::model::SlcCache;

/// An SLC cache and how full it is.
#[derive(Debug)]
pub(crate) struct SlcLevel {
    size: u64,
    level: u64,
    /// What each byte costs more when the cache is full.
    extra_when_full: Pace,
    fold: Pace,
    /// Since when the card has been idle, in nanoseconds.
    idle_since: u64,
}

impl SlcLevel {
    /// An empty cache on a card that programs at `rate` while there is room.
    pub(crate) fn new(slc: &SlcCache, rate: Pace) -> Self {
        Self {
            size: slc.size.get(),
            level: 0,
            extra_when_full: Pace::new(slc.rate_when_full).beyond(rate),
            fold: Pace::new(slc.idle_fold_rate),
            idle_since: 0,
        }
    }

    /// Empties the cache by what the card managed between its last work and `start`.
    pub(crate) fn fold_until(&mut self, start: u64) {
        let idle = start.saturating_sub(self.idle_since);
        if idle > 0 && self.level > 0 {
            self.level = self.level.saturating_sub(self.fold.bytes_in(idle));
        }
        self.idle_since = self.idle_since.max(start);
    }

    /// Notes that the card works until `end`.
    pub(crate) fn busy_until(&mut self, end: u64) {
        self.idle_since = self.idle_since.max(end);
    }

    /// Takes `bytes` in; returns the extra time of those that found no room.
    pub(crate) fn take(&mut self, bytes: u64) -> u64 {
        let room = self.size - self.level;
        let fitting = bytes.min(room);
        self.level += fitting;
        self.extra_when_full.nanos(bytes - fitting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::{Bytes, Throughput};

    #[test]
    fn fast_until_full_and_again_after_a_rest() {
        let slc = SlcCache {
            size: Bytes(1_000_000),
            rate_when_full: Throughput::from_mb_per_s(10.0),
            idle_fold_rate: Throughput::from_mb_per_s(20.0),
        };
        let mut level = SlcLevel::new(&slc, Pace::new(Throughput::from_mb_per_s(50.0)));
        assert_eq!(level.take(1_000_000), 0);
        assert_eq!(level.take(100_000), 8_000_000, "10 ms instead of 2");
        level.busy_until(1_000);
        level.fold_until(1_000 + 25_000_000);
        assert_eq!(level.take(500_000), 0, "25 ms at 20 MB/s make room for 500 kB");
        assert_eq!(level.take(100_000), 8_000_000);
    }
}
