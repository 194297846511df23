//! Faults of a command queue: what goes wrong only while several requests are under way.
//!
//! A store knows addresses and no requests, so these faults sit where a card moves the data of a request
//! and knows which others are under way. A new kind is a variant of [`QueueHarm`] and its arm in
//! `QueueFaults::write`, `read` or `flush`.

use std::collections::{HashMap, VecDeque};

use cardproof_io::{Op, OpKind, Slot};
use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::contents::{Store, StoreError};
use crate::slots::Slots;

/// After so many requests a late write has reached its place.
const LATE_REQUESTS: u64 = 48;

/// After so many requests a delayed loss takes its write back.
const DELAYED_REQUESTS: u64 = 4000;

/// What one flash page of most cards holds: the unit of faults that move or tear less than a write.
const BLOCK_LEN: usize = 4096;

const SECTOR_LEN: usize = 512;

/// How far apart neighbours are at most.
const NEIGHBOURS_MAX: u64 = 64 << 10;

/// So many writes are remembered for a flush to take one back.
const REMEMBERED_MAX: usize = 256;

/// What a queue breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
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
    /// Of two writes under way, the nearest to each other, the first 4 KiB lie at each other's address.
    SwappedBlocks,
    /// Two writes under way lie at each other's address, where these are at most 64 KiB apart.
    SwappedNeighbours,
    /// A read returns what is in the buffer of another request under way, whether it reads or writes.
    OtherTag,
    /// A write keeps all but the last 2 KiB.
    TornBlock,
    /// The first read of what was written since the last flush returns the older data; the next is right.
    StaleWhileCached,
    /// A write stores the data that its tag sent the time before.
    ResentStale,
    /// A write is stored with one bit turned over.
    FlippedBit,
    /// A write lies one sector further on.
    ShiftedWrite,
    /// A read is right, and its first sector holds zeros from then on.
    ReadSpoils,
    /// A write is taken back 4,000 requests later, if nothing was written there since.
    DelayedLoss,
    /// A flush takes back the newest write since the flush before it, while a read is under way.
    FlushDropsNewest,
    /// A flush takes back a write from before the flush before it, if nothing was written there since.
    FlushForgetsEarlier,
    /// A discard empties the place of a write under way too.
    DiscardHitsWrite,
}

impl QueueHarm {
    /// Whether it brings back what a write replaced.
    const fn needs_older_data(self) -> bool {
        matches!(
            self,
            Self::FlushForgets
                | Self::StaleRead
                | Self::StaleWhileCached
                | Self::FlushDropsNewest
                | Self::FlushForgetsEarlier
        )
    }
}

/// A queue that breaks data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
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
    /// What was replaced before the last flush.
    earlier: Vec<Replaced>,
    /// What each tag sent last.
    sent: HashMap<u16, Vec<u8>>,
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
            earlier: Vec::new(),
            sent: HashMap::new(),
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
        let is_flushed = op.kind == OpKind::Flush && self.fault.harm == QueueHarm::LateWrite;
        self.store_late(store, is_flushed)?;
        let done = match op.kind {
            OpKind::Write => self.write(op, slots, store),
            OpKind::Read => self.read(op, slots, store),
            OpKind::Flush => self.flush(store),
            OpKind::Discard => self.discard(op, store),
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
        let before = self.sent_before(op, &slots.bytes(op.slot)[..length]);
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
            Some(QueueHarm::SwappedBlocks | QueueHarm::SwappedNeighbours) => {
                store.write(offset, &slots.bytes(op.slot)[..length])?;
                let is_near = self.fault.harm == QueueHarm::SwappedNeighbours;
                let (apart_max, shared_max) =
                    if is_near { (NEIGHBOURS_MAX, length) } else { (u64::MAX, BLOCK_LEN) };
                let Some(other) = self.nearest(op, apart_max) else { return Ok(()) };
                let shared = length.min(other.length.as_len()).min(shared_max);
                store.write(other.offset.get(), &slots.bytes(op.slot)[..shared])?;
                store.write(offset, &slots.bytes(other.slot)[..shared])
            }
            Some(QueueHarm::TornBlock) => {
                let kept = length.saturating_sub(BLOCK_LEN / 2);
                store.write(offset, &slots.bytes(op.slot)[..kept])
            }
            Some(QueueHarm::ResentStale) => {
                let mut data = slots.bytes(op.slot)[..length].to_vec();
                let shared = length.min(before.len());
                data[..shared].copy_from_slice(&before[..shared]);
                store.write(offset, &data)
            }
            Some(QueueHarm::FlippedBit) => {
                let mut data = slots.bytes(op.slot)[..length].to_vec();
                let bit = self.random.next_u64() % (length as u64 * 8);
                data[(bit / 8) as usize] ^= 1 << (bit % 8);
                store.write(offset, &data)
            }
            Some(QueueHarm::ShiftedWrite) => {
                store.write(offset + SECTOR_LEN as u64, &slots.bytes(op.slot)[..length])
            }
            Some(QueueHarm::DelayedLoss) => {
                let mut data = vec![0; length];
                store.read(offset, &mut data)?;
                self.late.push_back(Late { due: self.requests + DELAYED_REQUESTS, offset, data });
                store.write(offset, &slots.bytes(op.slot)[..length])
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
            Some(QueueHarm::StaleWhileCached) => {
                let older = self.replaced.iter().position(|it| it.offset == offset);
                if let Some(older) = older.and_then(|place| self.replaced.remove(place)) {
                    let shared = length.min(older.before.len());
                    slots.bytes(op.slot)[..shared].copy_from_slice(&older.before[..shared]);
                }
            }
            Some(QueueHarm::OtherTag) => {
                if let Some(other) = self.any_other(op) {
                    let shared = length.min(other.length.as_len());
                    let of_other = slots.bytes(other.slot)[..shared].to_vec();
                    slots.bytes(op.slot)[..shared].copy_from_slice(&of_other);
                }
            }
            Some(QueueHarm::ReadSpoils) => store.write(offset, &[0; SECTOR_LEN])?,
            _ => {}
        }
        Ok(())
    }

    fn discard(&mut self, op: &Op, store: &mut dyn Store) -> Result<(), StoreError> {
        store.discard(op.offset.get(), op.length.get())?;
        if self.fault.harm == QueueHarm::DiscardHitsWrite
            && let Some(other) = self.under_way.iter().rfind(|it| it.kind == OpKind::Write).copied()
            && self.strikes()
        {
            store.discard(other.offset.get(), other.length.get())?;
        }
        Ok(())
    }

    fn flush(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.flush()?;
        let is_reading = self.under_way.iter().any(|op| op.kind == OpKind::Read);
        let harm = self.fault.harm;
        let taken_back = match harm {
            QueueHarm::FlushForgets if self.strikes() => {
                self.random.next_u64().checked_rem(self.replaced.len() as u64).map(|at| {
                    let one = &self.replaced[at as usize];
                    (one.offset, one.before.clone())
                })
            }
            QueueHarm::FlushDropsNewest if is_reading && self.strikes() => {
                self.replaced.back().map(|one| (one.offset, one.before.clone()))
            }
            QueueHarm::FlushForgetsEarlier if self.strikes() => {
                self.random.next_u64().checked_rem(self.earlier.len() as u64).map(|at| {
                    let one = &self.earlier[at as usize];
                    (one.offset, one.before.clone())
                })
            }
            _ => None,
        };
        if let Some((offset, before)) = taken_back {
            store.write(offset, &before)?;
        }
        if self.fault.harm != QueueHarm::StaleRead {
            self.earlier = std::mem::take(&mut self.replaced).into();
        }
        Ok(())
    }

    /// Keeps what a write replaces, where the fault may need it.
    fn remember(
        &mut self,
        offset: u64,
        length: usize,
        store: &dyn Store,
    ) -> Result<(), StoreError> {
        if self.fault.harm == QueueHarm::DelayedLoss {
            self.late.retain(|one| one.offset != offset);
        }
        if !self.fault.harm.needs_older_data() {
            return Ok(());
        }
        self.earlier.retain(|one| one.offset != offset);
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

    /// What the tag of `op` sent the time before, where the fault needs it; `data` is what it sends.
    fn sent_before(&mut self, op: &Op, data: &[u8]) -> Vec<u8> {
        if self.fault.harm != QueueHarm::ResentStale {
            return Vec::new();
        }
        self.sent.insert(op.slot.0, data.to_vec()).unwrap_or_default()
    }

    /// The request of the same kind under way whose address is nearest, and at most `apart_max` away.
    fn nearest(&self, op: &Op, apart_max: u64) -> Option<Op> {
        let of_kind = |other: &&Op| other.kind == op.kind && other.slot != op.slot;
        let distance = |other: &Op| other.offset.get().abs_diff(op.offset.get());
        let nearest = self.under_way.iter().filter(of_kind).min_by_key(|other| distance(other))?;
        (distance(nearest) <= apart_max).then_some(*nearest)
    }

    /// Another request with data that is under way in the card.
    fn any_other(&mut self, op: &Op) -> Option<Op> {
        let moves = |other: &&Op| {
            matches!(other.kind, OpKind::Read | OpKind::Write) && other.slot != op.slot
        };
        let others: Vec<Op> = self.under_way.iter().filter(moves).copied().collect();
        let chosen = self.random.next_u64().checked_rem(others.len() as u64)?;
        others.get(chosen as usize).copied()
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

    /// The first byte at address 0 after each of `steps`, which is also what a read on the way gives; a write
    /// stores its number.
    fn bytes_after(harm: QueueHarm, steps: &[(OpKind, u8)]) -> Vec<u8> {
        let fault = QueueFault { harm, depth_min: 1, share_ppm: 1_000_000, after_flush: None };
        let mut slots = Slots::new(64, Bytes(LENGTH as u64)).unwrap();
        let mut store = Contents::new(1 << 20);
        let mut faults = QueueFaults::new(fault, 32, Seed::from_bits(1));
        steps
            .iter()
            .zip(0..)
            .map(|(&(kind, byte), slot)| {
                slots.bytes(Slot(slot)).fill(byte);
                let length = Bytes(if kind == OpKind::Flush { 0 } else { LENGTH as u64 });
                let op = Op { slot: Slot(slot), kind, offset: Bytes::ZERO, length };
                faults.move_data(&op, &mut slots, &mut store).unwrap();
                let mut stored = [0];
                store.read(0, &mut stored).unwrap();
                if kind == OpKind::Read { slots.bytes(Slot(slot))[0] } else { stored[0] }
            })
            .collect()
    }

    #[test]
    fn older_data_come_back_as_each_kind_says() {
        const W: OpKind = OpKind::Write;
        const R: OpKind = OpKind::Read;
        const F: OpKind = OpKind::Flush;
        let steps = [(W, 1), (F, 0), (W, 2), (R, 0), (R, 0), (F, 0), (R, 0), (F, 0), (R, 0)];
        for (harm, expected) in [
            (QueueHarm::StaleWhileCached, [1, 1, 2, 1, 2, 2, 2, 2, 2]),
            (QueueHarm::FlushDropsNewest, [1, 1, 2, 2, 2, 1, 1, 1, 1]),
            (QueueHarm::FlushForgetsEarlier, [1, 1, 2, 2, 2, 2, 2, 1, 1]),
            (QueueHarm::ShiftedWrite, [0; 9]),
            (QueueHarm::ReadSpoils, [1, 1, 2, 2, 0, 0, 0, 0, 0]),
            (QueueHarm::TornBlock, [1, 1, 2, 2, 2, 2, 2, 2, 2]),
        ] {
            assert_eq!(bytes_after(harm, &steps), expected, "{harm:?}");
        }
    }

    #[test]
    fn a_fault_of_the_queue_needs_requests_in_the_queue() {
        let fault =
            |harm| QueueFault { harm, depth_min: 2, share_ppm: 1_000_000, after_flush: None };
        assert_eq!(after_two_writes(fault(QueueHarm::SwappedWrites), 32), [2, 1]);
        assert_eq!(after_two_writes(fault(QueueHarm::LostWrite), 32), [1, 0]);
        assert_eq!(after_two_writes(fault(QueueHarm::LateWrite), 32), [1, 0]);
        assert_eq!(after_two_writes(fault(QueueHarm::SwappedBlocks), 32), [2, 1]);
        assert_eq!(after_two_writes(fault(QueueHarm::SwappedNeighbours), 32), [2, 1]);
        assert_eq!(after_two_writes(fault(QueueHarm::ReadSpoils), 32), [1, 2]);
        for harm in [QueueHarm::SwappedWrites, QueueHarm::LostWrite] {
            assert_eq!(after_two_writes(fault(harm), 1), [1, 2], "the host has no queue");
        }
    }
}
