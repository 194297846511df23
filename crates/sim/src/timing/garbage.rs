//! Garbage collection: a pause after so many bytes written out of sequence.

use super::noise::Scatter;
use crate::model::GarbageCollection;

/// How much is to be tidied up, and when.
#[derive(Debug)]
pub(crate) struct Garbage {
    every: u64,
    pause: u64,
    /// Bytes that may still be written before the next pause.
    left: u64,
    /// Bytes that discards have freed and that are not written again yet.
    free: u64,
}

impl Garbage {
    pub(crate) fn new(garbage: &GarbageCollection) -> Self {
        let every = garbage.every.get().max(1);
        Self { every, pause: garbage.pause.get(), left: every, free: 0 }
    }

    /// Notes that a discard has freed `bytes`.
    pub(crate) const fn free(&mut self, bytes: u64) {
        self.free += bytes;
    }

    /// Notes that `bytes` were written, in any order, to room that may have been free.
    pub(crate) const fn fill(&mut self, bytes: u64) -> bool {
        let was_free = bytes <= self.free;
        self.free = self.free.saturating_sub(bytes);
        was_free
    }

    /// Notes `bytes` of pages written out of sequence; returns the pause due, in nanoseconds.
    pub(crate) fn leave(&mut self, bytes: u64, scatter: &mut Scatter) -> u64 {
        if bytes < self.left {
            self.left -= bytes;
            return 0;
        }
        let over = bytes - self.left;
        self.left = scatter.around(self.every).saturating_sub(over).max(1);
        scatter.around(self.pause)
    }
}
