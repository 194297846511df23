//! Faults of a command queue: what goes wrong only while several requests are under way.
//!
//! A store knows addresses and no requests, so these faults sit where a card moves the data of a request
//! and knows which others are under way. A new kind is a variant of [`QueueHarm`] and its arm in
//! `QueueFaults::write`, `read` or `flush`.

use std::collections::VecDeque;

use cardproof_io::{Op, OpKind, Slot};
use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contents::{Store, StoreError};
use crate::slots::Slots;

/// After so many requests a late write has reached its place.
const LATE_REQUESTS: u64 = 48;

/// So many writes are remembered for a flush to take one back.
const REMEMBERED_MAX: usize = 256;

/// What a queue breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueHarm {
    /// A write is answered and never stored.
    LostWrite,
    /// A write keeps its first half.
    TornWrite,
    /// Two writes under way lie at each other's address.
    SwappedWrites,
    /// Two reads under way return each other's data.
    SwappedReads,
    /// A write is stored 48 requests after its answer, or with the next flush; reads before give the older
    /// data.
    LateWrite,
    /// A read returns what its address held before the latest write.
    StaleRead,
    /// A flush takes back one of the writes that were answered since the flush before it.
    FlushForgets,
}

/// A queue that breaks data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFault {
    /// What it breaks.
    pub harm: QueueHarm,
    /// Only while at least so many requests are in the card's queue, this one included.
    pub depth_min: u16,
    /// Of a million requests that could be hit so many are.
    pub share_ppm: u32,
    /// Only the first so many requests after a flush; `None` for all.
    pub after_flush: Option<u32>,
}

/// What a write replaced.
#[derive(Debug)]
struct Replaced {
    offset: u64,
    before: Vec<u8>,
}

/// A write that was answered and is not stored yet.
#[derive(Debug)]
struct Late {
    due: u64,
    offset: u64,
    data: Vec<u8>,
}

/// A [`QueueFault`] at work.
#[derive(Debug)]
pub(crate) struct QueueFaults {
    fault: QueueFault,
    /// The most requests that are in the card at a time; the host keeps the others.
    depth_max: usize,
    under_way: Vec<Op>,
    requests: u64,
    last_flush: u64,
    late: VecDeque<Late>,
    replaced: VecDeque<Replaced>,
    random: Xoshiro256PlusPlus,
}

impl QueueFaults {
    /// `fault` in a card that takes `queue_depth` requests at a time.
    pub(crate) fn new(fault: QueueFault, queue_depth: u16, seed: Seed) -> Self {
        Self {
            fault,
            depth_max: usize::from(queue_depth),
            under_way: Vec::new(),
            requests: 0,
            last_flush: 0,
            late: VecDeque::new(),
            replaced: VecDeque::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.derive("queue faults")),
        }
    }

    /// Notes that the request on `slot` is over.
    pub(crate) fn landed(&mut self, slot: Slot) {
        self.under_way.retain(|op| op.slot != slot);
    }

    /// Moves the data of `op`, which is under way from here on.
    pub(crate) fn move_data(
        &mut self,
        op: &Op,
        slots: &mut Slots,
        store: &mut dyn Store,
    ) -> Result<(), StoreError> {
        self.requests += 1;
        self.under_way.push(*op);
        self.store_late(store, op.kind == OpKind::Flush)?;
        let done = match op.kind {
            OpKind::Write => self.write(op, slots, store),
            OpKind::Read => self.read(op, slots, store),
            OpKind::Flush => self.flush(store),
            OpKind::Discard => store.discard(op.offset.get(), op.length.get()),
        };
        if op.kind == OpKind::Flush {
            self.last_flush = self.requests;
        }
        done
    }

    fn write(
        &mut self,
        op: &Op,
        slots: &mut Slots,
        store: &mut dyn Store,
    ) -> Result<(), StoreError> {
        let (offset, length) = (op.offset.get(), op.length.as_len());
        self.remember(offset, length, store)?;
        let harm = self.strikes().then_some(self.fault.harm);
        match harm {
            Some(QueueHarm::LostWrite) => Ok(()),
            Some(QueueHarm::TornWrite) => {
                let kept = (op.length.get() / 1024 * 512) as usize;
                store.write(offset, &slots.bytes(op.slot)[..kept])
            }
            Some(QueueHarm::LateWrite) => {
                let data = slots.bytes(op.slot)[..length].to_vec();
                self.late.push_back(Late { due: self.requests + LATE_REQUESTS, offset, data });
                Ok(())
            }
            Some(QueueHarm::SwappedWrites) => {
                store.write(offset, &slots.bytes(op.slot)[..length])?;
                let Some(other) = self.other(op) else { return Ok(()) };
                let shared = length.min(other.length.as_len());
                store.write(other.offset.get(), &slots.bytes(op.slot)[..shared])?;
                store.write(offset, &slots.bytes(other.slot)[..shared])
            }
            _ => store.write(offset, &slots.bytes(op.slot)[..length]),
        }
    }

    fn read(
        &mut self,
        op: &Op,
        slots: &mut Slots,
        store: &mut dyn Store,
    ) -> Result<(), StoreError> {
        let (offset, length) = (op.offset.get(), op.length.as_len());
        store.read(offset, &mut slots.bytes(op.slot)[..length])?;
        let harm = self.strikes().then_some(self.fault.harm);
        match harm {
            Some(QueueHarm::StaleRead) => {
                let older = self.replaced.iter().rev().find(|it| it.offset == offset);
                if let Some(older) = older {
                    let shared = length.min(older.before.len());
                    slots.bytes(op.slot)[..shared].copy_from_slice(&older.before[..shared]);
                }
            }
            Some(QueueHarm::SwappedReads) => {
                if let Some(other) = self.other(op) {
                    let shared = length.min(other.length.as_len());
                    let of_other = slots.bytes(other.slot)[..shared].to_vec();
                    let own = slots.bytes(op.slot)[..shared].to_vec();
                    slots.bytes(op.slot)[..shared].copy_from_slice(&of_other);
                    slots.bytes(other.slot)[..shared].copy_from_slice(&own);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn flush(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.flush()?;
        if self.fault.harm != QueueHarm::FlushForgets {
            return Ok(());
        }
        let strikes = self.strikes();
        if strikes && !self.replaced.is_empty() {
            let chosen = (self.random.next_u64() % self.replaced.len() as u64) as usize;
            let one = &self.replaced[chosen];
            store.write(one.offset, &one.before)?;
        }
        self.replaced.clear();
        Ok(())
    }

    /// Keeps what a write replaces, where the fault may need it.
    fn remember(
        &mut self,
        offset: u64,
        length: usize,
        store: &dyn Store,
    ) -> Result<(), StoreError> {
        if !matches!(self.fault.harm, QueueHarm::FlushForgets | QueueHarm::StaleRead) {
            return Ok(());
        }
        let mut before = vec![0; length];
        store.read(offset, &mut before)?;
        self.replaced.retain(|one| one.offset != offset);
        self.replaced.push_back(Replaced { offset, before });
        if self.replaced.len() > REMEMBERED_MAX {
            self.replaced.pop_front();
        }
        Ok(())
    }

    /// Stores the late writes that are due, or all of them.
    fn store_late(&mut self, store: &mut dyn Store, all: bool) -> Result<(), StoreError> {
        while self.late.front().is_some_and(|late| all || late.due <= self.requests) {
            let Some(late) = self.late.pop_front() else { return Ok(()) };
            store.write(late.offset, &late.data)?;
        }
        Ok(())
    }

    /// Another request of the same kind that is under way in the card.
    fn other(&mut self, op: &Op) -> Option<Op> {
        let of_kind = |other: &&Op| other.kind == op.kind && other.slot != op.slot;
        let others: Vec<Op> = self.under_way.iter().filter(of_kind).copied().collect();
        let chosen = self.random.next_u64().checked_rem(others.len() as u64)?;
        others.get(chosen as usize).copied()
    }

    /// Whether the fault hits the present request.
    fn strikes(&mut self) -> bool {
        let depth = self.under_way.len().min(self.depth_max);
        let after = self.requests - self.last_flush;
        depth >= usize::from(self.fault.depth_min)
            && self.fault.after_flush.is_none_or(|first| after <= u64::from(first))
            && self.random.next_u64() % 1_000_000 < u64::from(self.fault.share_ppm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Contents;
    use cardproof_units::Bytes;

    const LENGTH: usize = 4096;

    /// What two writes of 1s and 2s to an address each, under way together, leave there.
    fn after_two_writes(fault: QueueFault, queue_depth: u16) -> [u8; 2] {
        let mut slots = Slots::new(4, Bytes(LENGTH as u64)).unwrap();
        let mut store = Contents::new(1 << 20);
        let mut faults = QueueFaults::new(fault, queue_depth, Seed::from_bits(1));
        for number in 0..2_u16 {
            slots.bytes(Slot(number)).fill(number as u8 + 1);
            let offset = Bytes(u64::from(number) * LENGTH as u64);
            let length = Bytes(LENGTH as u64);
            let op = Op { slot: Slot(number), kind: OpKind::Write, offset, length };
            faults.move_data(&op, &mut slots, &mut store).unwrap();
        }
        [0, 1].map(|place| {
            let mut byte = [0];
            store.read(place * LENGTH as u64, &mut byte).unwrap();
            byte[0]
        })
    }

    #[test]
    fn a_fault_of_the_queue_needs_requests_in_the_queue() {
        let fault =
            |harm| QueueFault { harm, depth_min: 2, share_ppm: 1_000_000, after_flush: None };
        assert_eq!(after_two_writes(fault(QueueHarm::SwappedWrites), 32), [2, 1]);
        assert_eq!(after_two_writes(fault(QueueHarm::LostWrite), 32), [1, 0]);
        assert_eq!(after_two_writes(fault(QueueHarm::LateWrite), 32), [1, 0]);
        for harm in [QueueHarm::SwappedWrites, QueueHarm::LostWrite] {
            assert_eq!(after_two_writes(fault(harm), 1), [1, 2], "the host has no queue");
        }
    }
}
