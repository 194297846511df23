//! The volatile write cache: writes are answered when the cache has them and programmed later.

use std::collections::VecDeque;

use crate::model::VolatileCache;

/// What the cache holds, in the order in which it will be programmed.
#[derive(Debug)]
pub(crate) struct CacheState {
    size: u64,
    flush: u64,
    latency_percent: u64,
    /// For each write held: when it will be in the flash, and its bytes.
    held: VecDeque<(u64, u64)>,
    held_bytes: u64,
    /// When everything will be in the flash.
    drained_at: u64,
}

impl CacheState {
    pub(crate) fn new(cache: &VolatileCache) -> Self {
        let entries = usize::try_from(cache.size.get() / 512).unwrap_or(0).min(1 << 16);
        Self {
            size: cache.size.get(),
            flush: cache.flush.get(),
            latency_percent: u64::from(cache.latency_percent),
            held: VecDeque::with_capacity(entries + 1),
            held_bytes: 0,
            drained_at: 0,
        }
    }

    /// What is left of the `latency` of a write that is combined with others.
    pub(crate) const fn combined(&self, latency: u64) -> u64 {
        latency * self.latency_percent / 100
    }

    /// Takes a write of `bytes` that arrives at `arrival`, takes `program` from the cache to the
    /// flash and is followed by a `pause`; returns when the cache has it.
    pub(crate) fn take(&mut self, arrival: u64, bytes: u64, program: u64, pause: u64) -> u64 {
        let mut taken = arrival;
        while let Some(&(done, held)) = self.held.front() {
            if done > taken && self.held_bytes + bytes <= self.size {
                break;
            }
            taken = taken.max(done);
            self.held_bytes -= held;
            self.held.pop_front();
        }
        self.drained_at = self.drained_at.max(taken) + program + pause;
        self.held.push_back((self.drained_at, bytes));
        self.held_bytes += bytes;
        taken
    }

    /// When a flush that arrives at `arrival` is over.
    pub(crate) fn flush(&self, arrival: u64) -> u64 {
        self.drained_at.max(arrival) + self.flush
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::{Bytes, Nanos};

    #[test]
    fn a_full_cache_lets_writes_wait() {
        let mut cache = CacheState::new(&VolatileCache {
            size: Bytes(8192),
            flush: Nanos(7),
            latency_percent: 50,
        });
        assert_eq!(cache.combined(1000), 500);
        assert_eq!(cache.take(100, 4096, 500, 0), 100);
        assert_eq!(cache.take(110, 4096, 500, 0), 110);
        assert_eq!(cache.take(120, 4096, 500, 0), 600, "when the first is in the flash");
        assert_eq!(cache.flush(130), 1600 + 7, "three programs of 500, then the flush");
        assert_eq!(cache.take(5000, 8192, 500, 0), 5000, "all is empty by then");
    }
}
