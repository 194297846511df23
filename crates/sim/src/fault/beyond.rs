//! Parts of the layers: a memory of the latest writes, operations of several turns, and how
//! long an operation that never happened pretends to take.

use std::collections::{HashMap, VecDeque};

use cardproof_io::{Completion, Op, OpKind};
use cardproof_units::{Bytes, Nanos};

/// Blocks written lately, by address.
#[derive(Debug)]
pub(super) struct LatestWrites {
    block: usize,
    blocks_max: usize,
    blocks: HashMap<u64, Box<[u8]>>,
    /// Addresses, the one written longest ago first.
    order: VecDeque<u64>,
}

impl LatestWrites {
    /// Room for `size` in blocks of `block`.
    pub(super) fn new(size: Bytes, block: Bytes) -> Self {
        let blocks_max = size.as_len() / block.as_len().max(1);
        let block = block.as_len().max(1);
        Self { block, blocks_max, blocks: HashMap::new(), order: VecDeque::new() }
    }

    /// Remembers `data`, written at `offset`.
    pub(super) fn note(&mut self, offset: u64, data: &[u8]) {
        if self.blocks_max == 0 {
            return;
        }
        for (number, bytes) in data.chunks_exact(self.block).enumerate() {
            let address = offset + (number * self.block) as u64;
            if self.blocks.insert(address, bytes.into()).is_some() {
                self.order.retain(|&known| known != address);
            }
            self.order.push_back(address);
            if self.order.len() > self.blocks_max
                && let Some(oldest) = self.order.pop_front()
            {
                self.blocks.remove(&oldest);
            }
        }
    }

    /// Puts what is remembered of `offset` and behind into `data`.
    pub(super) fn recall(&self, offset: u64, data: &mut [u8]) {
        if self.blocks.is_empty() {
            return;
        }
        for (number, bytes) in data.chunks_exact_mut(self.block).enumerate() {
            if let Some(known) = self.blocks.get(&(offset + (number * self.block) as u64)) {
                bytes.copy_from_slice(known);
            }
        }
    }
}

/// How an operation that is not simply passed on goes on after a turn.
#[derive(Clone, Debug, Default)]
pub(super) enum Turns {
    /// One turn, nothing to put right.
    #[default]
    One,
    /// The buffer is rotated after each turn, so that each finds its part in front; after the
    /// last it is as it was.
    Rotate {
        /// Bytes of the turns before this one.
        done: usize,
        /// Bytes of this turn.
        turn: usize,
        /// The most bytes of any turn.
        lap: usize,
    },
    /// Some bytes of the buffer were exchanged.
    PutBack {
        /// Where they lie.
        place: usize,
        /// What was there.
        saved: Vec<u8>,
    },
}

impl Turns {
    /// Puts the buffer right after a turn; returns the next turn, if there is one.
    pub(super) fn after(
        self,
        asked: &Op,
        turn: &Completion,
        data: &mut [u8],
    ) -> Option<(Self, Op)> {
        match self {
            Self::One => None,
            Self::PutBack { place, saved } => {
                data[place..place + saved.len()].copy_from_slice(&saved);
                None
            }
            Self::Rotate { done, turn: length, lap } => {
                let whole = asked.length.as_len();
                if turn.outcome.is_err() {
                    data[..whole].rotate_right(done);
                    return None;
                }
                data[..whole].rotate_left(length);
                let done = done + length;
                let next = (whole - done).min(lap);
                (next > 0).then(|| {
                    let op = Op { offset: Bytes::ZERO, length: Bytes(next as u64), ..*asked };
                    (Self::Rotate { done, turn: next, lap }, op)
                })
            }
        }
    }
}

/// What the latest operation took for each byte: how long one that never happens is said to take.
#[derive(Debug)]
pub(super) struct TimePerByte {
    picoseconds: u64,
}

impl Default for TimePerByte {
    /// 10 MB/s, until something was seen.
    fn default() -> Self {
        Self { picoseconds: 100_000 }
    }
}

impl TimePerByte {
    /// Takes note of an operation that did happen.
    pub(super) fn learn(&mut self, turn: &Completion) {
        if let (OpKind::Read | OpKind::Write, Ok(bytes @ Bytes(1..))) = (turn.kind, turn.outcome) {
            self.picoseconds = turn.latency().get().saturating_mul(1000) / bytes.get();
        }
    }

    /// How long `op` would take.
    pub(super) const fn estimate(&self, op: &Op) -> Nanos {
        Nanos(op.length.get().saturating_mul(self.picoseconds) / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_writes_are_remembered() {
        let mut latest = LatestWrites::new(Bytes(1024), Bytes(512));
        latest.note(0, &[1; 512]);
        latest.note(512, &[2; 512]);
        latest.note(0, &[3; 512]);
        latest.note(4096, &[4; 512]);
        let mut data = [0; 1024];
        latest.recall(0, &mut data);
        assert!(data[..512].iter().all(|&byte| byte == 3), "rewritten last");
        assert!(data[512..].iter().all(|&byte| byte == 0), "forgotten");
    }
}
