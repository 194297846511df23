//! Every model against a plain map: what is read is what was last written, and after a power
//! cut what was flushed, or something that came after the flush.
//!
//! Over a million operations, several in flight, with crashes in between.

use std::collections::{HashMap, HashSet};

use crate::support::block_bytes;
use cardproof_io::{Completion, Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_sim::fault::{AtRisk, PowerCutTarget, PowerLoss};
use cardproof_sim::{Keeping, SimulatedTarget, find};
use cardproof_testkit::few_or_all;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK: u64 = 512;
const BLOCKS: u64 = 2048;
const DEPTH: u16 = 6;
const LENGTH_MAX: u64 = 6;

/// How many blocks are looked at together after a crash.
const LOOK: u64 = 128;

/// What one block may hold.
#[derive(Clone, Debug, Default)]
struct Block {
    /// The version last written, 0 for never.
    latest: u64,
    /// Versions that a power cut may leave, beside the latest.
    possible: Vec<u64>,
    /// Discarded and not written since: anything.
    unknown: bool,
    /// The version that was due when it was last discarded: until a later one is flushed, a
    /// power cut may leave anything.
    discarded_at: Option<u64>,
}

/// A card and the map it is held against.
struct Trial {
    target: PowerCutTarget<SimulatedTarget>,
    blocks: Vec<Block>,
    in_flight: HashMap<Slot, Op>,
    free: Vec<Slot>,
    random: Xoshiro256PlusPlus,
    version: u64,
    done: u64,
    crashes: u64,
    /// By slot of a flush: the versions it will settle.
    covered: HashMap<Slot, Vec<(u64, u64)>>,
    /// Writes completed and not yet flushed.
    unflushed: HashSet<(u64, u64)>,
}

impl Trial {
    fn new(name: &str, at_risk: AtRisk, seed: u64) -> Self {
        let seed = Seed::from_bits(seed);
        let card = find(name).unwrap().build(seed, Keeping::Bytes).unwrap();
        let loss = PowerLoss {
            at_operation: None,
            at_risk,
            honours_flush: true,
            volatile_max: Bytes::gib(1),
        };
        let mut target = PowerCutTarget::new(card, loss, seed);
        target.prepare(DEPTH, Bytes(BLOCK * LOOK)).unwrap();
        Self {
            target,
            blocks: vec![Block::default(); BLOCKS as usize],
            in_flight: HashMap::new(),
            free: (0..DEPTH).map(Slot).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
            version: 0,
            done: 0,
            crashes: 0,
            covered: HashMap::new(),
            unflushed: HashSet::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    fn run(&mut self, operations: u64) {
        while self.done < operations {
            if self.below(2000) == 0 {
                self.crash();
            } else if self.free.is_empty() || self.below(3) == 0 {
                self.wait();
            } else {
                self.submit_one();
            }
        }
        self.crash();
    }

    /// Submits an operation that overlaps none in flight.
    fn submit_one(&mut self) {
        let (first, count) = (self.below(BLOCKS - LENGTH_MAX), 1 + self.below(LENGTH_MAX));
        let (offset, length) = (Bytes(first * BLOCK), Bytes(count * BLOCK));
        let overlaps = self
            .in_flight
            .values()
            .any(|op| op.offset < offset + length && offset < op.offset + op.length);
        if overlaps {
            return self.wait();
        }
        let slot = self.free.pop().unwrap();
        let can_discard = self.target.abilities().discard;
        let op = match self.below(40) {
            0 => Op::flush(slot),
            1 if can_discard => Op { slot, kind: OpKind::Discard, offset, length },
            2..=20 => Op { slot, kind: OpKind::Write, offset, length },
            _ => Op { slot, kind: OpKind::Read, offset, length },
        };
        match op.kind {
            OpKind::Write => self.fill(&op),
            OpKind::Discard => {
                let version = self.version;
                self.each_block(&op, |block| {
                    block.unknown = true;
                    block.discarded_at = Some(version);
                });
            }
            OpKind::Flush => {
                self.covered.insert(slot, self.unflushed.iter().copied().collect());
            }
            OpKind::Read => self.target.buffer(slot)[..length.as_len()].fill(0xa5),
        }
        assert_eq!(self.target.submit(op).unwrap(), Submission::Queued);
        self.in_flight.insert(slot, op);
    }

    /// Puts the next version into the buffer of a write and notes that it may be found.
    fn fill(&mut self, op: &Op) {
        self.version += 1;
        let version = self.version;
        let first = op.offset.get() / BLOCK;
        let buffer = &mut self.target.buffer(op.slot)[..op.length.as_len()];
        for (number, bytes) in (first..).zip(buffer.chunks_exact_mut(512)) {
            bytes.copy_from_slice(&block_bytes(number, version));
        }
        self.each_block(op, |block| {
            block.possible.push(block.latest);
            block.latest = version;
        });
    }

    fn each_block(&mut self, op: &Op, act: impl Fn(&mut Block)) {
        let first = (op.offset.get() / BLOCK) as usize;
        let count = (op.length.get() / BLOCK) as usize;
        self.blocks[first..first + count].iter_mut().for_each(act);
    }

    fn wait(&mut self) {
        let mut completions = Vec::new();
        self.target.complete(Wait::One, &mut completions).unwrap();
        for completion in completions {
            self.end(completion);
        }
    }

    fn end(&mut self, completion: Completion) {
        let op = self.in_flight.remove(&completion.slot).unwrap();
        self.free.push(completion.slot);
        self.done += 1;
        assert_eq!(completion.outcome, Ok(op.length));
        let blocks = op.offset.get() / BLOCK..(op.offset + op.length).get() / BLOCK;
        match op.kind {
            OpKind::Read => self.check_read(&op),
            OpKind::Write => {
                self.each_block(&op, |block| block.unknown = false);
                for number in blocks {
                    self.unflushed.insert((number, self.blocks[number as usize].latest));
                }
            }
            OpKind::Discard => {}
            OpKind::Flush => {
                for (number, version) in self.covered.remove(&completion.slot).unwrap() {
                    self.unflushed.remove(&(number, version));
                    let block = &mut self.blocks[number as usize];
                    block.possible.retain(|&known| known >= version);
                    block.discarded_at = block.discarded_at.filter(|&at| at >= version);
                }
            }
        }
    }

    fn check_read(&mut self, op: &Op) {
        let first = op.offset.get() / BLOCK;
        let count = (op.length.get() / BLOCK) as usize;
        let bytes = &self.target.buffer(op.slot)[..op.length.as_len()];
        for (index, found) in bytes.chunks_exact(512).enumerate() {
            let number = first + index as u64;
            let block = &self.blocks[number as usize];
            assert!(
                block.unknown || found == expected(number, block.latest),
                "block {number} of {count} from {first} is not version {}",
                block.latest,
            );
        }
    }

    /// Cuts the power, turns it on again and looks at every block.
    fn crash(&mut self) {
        self.target.cut_power();
        let mut completions = Vec::new();
        while !self.in_flight.is_empty() {
            self.target.complete(Wait::One, &mut completions).unwrap();
            for completion in completions.drain(..) {
                assert_eq!(completion.outcome, Err(Fault::Vanished));
                let op = self.in_flight.remove(&completion.slot).unwrap();
                self.free.push(completion.slot);
                if op.kind == OpKind::Write {
                    self.each_block(&op, |block| block.unknown = false);
                }
            }
        }
        self.target.restore_power();
        self.crashes += 1;
        self.covered.clear();
        self.unflushed.clear();
        for first in (0..BLOCKS).step_by(LOOK as usize) {
            self.look_after_crash(first);
        }
    }

    fn look_after_crash(&mut self, first: u64) {
        let read = Op {
            slot: Slot(0),
            kind: OpKind::Read,
            offset: Bytes(first * BLOCK),
            length: Bytes(LOOK * BLOCK),
        };
        assert_eq!(crate::support::run(&mut self.target, read).outcome, Ok(read.length));
        let bytes = &self.target.buffer(Slot(0))[..read.length.as_len()];
        for (number, found) in (first..).zip(bytes.chunks_exact(512)) {
            self.blocks[number as usize].survive(number, found);
        }
    }
}

impl Block {
    /// What is `found` after a crash must be something that may be, and is what is there.
    fn survive(&mut self, number: u64, found: &[u8]) {
        let version = u64::from_le_bytes(found[8..16].try_into().unwrap());
        let known = (version == self.latest || self.possible.contains(&version))
            && found == expected(number, version);
        assert!(
            self.discarded_at.is_some() || known,
            "after the crash, block {number} holds {version}, not {self:?}"
        );
        let unknown = self.unknown || !known;
        let discarded_at = self.discarded_at.filter(|_| unknown);
        *self = Self { latest: version, possible: Vec::new(), unknown, discarded_at };
    }
}

/// What version `version` of a block looks like; zeros where it was never written.
fn expected(number: u64, version: u64) -> [u8; 512] {
    if version == 0 { [0; 512] } else { block_bytes(number, version) }
}

fn hold_against_a_map(name: &str, at_risk: AtRisk) {
    hold_against_a_map_for(few_or_all(40_000, 120_000), name, at_risk);
}

fn hold_against_a_map_for(operations: u64, name: &str, at_risk: AtRisk) {
    let mut trial = Trial::new(name, at_risk, 20_240);
    trial.run(operations);
    assert!(trial.crashes > operations / 3500, "{} crashes", trial.crashes);
}

#[test]
#[ignore = "takes minutes; nightly"]
fn every_kind_of_card_keeps_its_promise_for_long() {
    let kinds = [
        ("intenso-class-4", AtRisk::AnySurvive),
        ("sandisk-ultra-a1", AtRisk::Torn),
        ("v30-a2-queued", AtRisk::Torn),
        ("v30-a2-queued", AtRisk::Lost),
    ];
    for (name, at_risk) in kinds {
        hold_against_a_map_for(1_000_000, name, at_risk);
    }
}

#[test]
fn a_hybrid_card_keeps_what_was_written_and_all_that_was_flushed() {
    hold_against_a_map("intenso-class-4", AtRisk::AnySurvive);
}

#[test]
fn a_page_mapped_card_keeps_what_was_written_and_all_that_was_flushed() {
    hold_against_a_map("sandisk-ultra-a1", AtRisk::Torn);
}

#[test]
fn a_card_with_queue_and_cache_keeps_what_was_written_and_all_that_was_flushed() {
    hold_against_a_map("v30-a2-queued", AtRisk::Torn);
    hold_against_a_map("v30-a2-queued", AtRisk::Lost);
}
