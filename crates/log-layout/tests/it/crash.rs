//! A log after power cuts: with barriers nothing that was flushed is lost, with delayed writes the
//! state is that after some write. The card leaves of unflushed writes any sectors.

use std::collections::BTreeMap;

use cardproof_io::{Op, OpKind, Slot, Submission, Target};
use cardproof_log_layout::{Counts, LogLayout, Mode, Options};
use cardproof_sim::fault::Power;
use cardproof_sim::{Card, Keeping, Model, find};
use cardproof_units::{Bytes, Nanos, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCKS: u64 = 1200;
const BLOCK: u64 = 4096;

/// A log on a card, and all that was ever written to it.
struct Trial {
    log: Option<LogLayout<Box<dyn Target + Send>>>,
    options: Options,
    random: Xoshiro256PlusPlus,
    /// What each block held after the write with this number, and how many of the writes count.
    writes: Vec<u64>,
    /// All writes up to this one were flushed.
    flushed: usize,
    moved: Counts,
}

impl Trial {
    fn new(mode: Mode, seed: u64) -> Self {
        let base = find("sandisk-ultra").unwrap();
        let model = Model { capacity: Bytes::mib(8), ..base.model };
        let power = Some(Power { volatile: Bytes::mib(2), ..Power::HONEST });
        let card = Card { model, power, ..*base };
        let target = card.open(Seed::from_bits(seed), Keeping::Bytes).unwrap();
        let options = Options {
            size: Some(Bytes(BLOCKS * BLOCK)),
            segment: Bytes::kib(256),
            delay: Nanos::from_millis(40),
            ..Options::new(mode, seed)
        };
        let mut log = LogLayout::format(target, options).unwrap();
        log.prepare(1, Bytes::kib(64)).unwrap();
        Self {
            log: Some(log),
            options,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            writes: Vec::new(),
            flushed: 0,
            moved: Counts::default(),
        }
    }

    fn run(&mut self, op: Op) {
        let Submission::Done(done) = self.log.as_mut().unwrap().submit(op).unwrap() else {
            panic!()
        };
        done.outcome.unwrap();
    }

    /// Writes the number of the write into a whole block.
    fn write(&mut self, block: u64) {
        self.writes.push(block);
        let number = self.writes.len() as u64;
        let buffer = self.log.as_mut().unwrap().buffer(Slot(0));
        buffer[..BLOCK as usize].as_chunks_mut::<8>().0.fill((number << 16 | block).to_le_bytes());
        let (offset, length) = (Bytes(block * BLOCK), Bytes(BLOCK));
        self.run(Op { slot: Slot(0), kind: OpKind::Write, offset, length });
    }

    fn flush(&mut self) {
        self.run(Op::flush(Slot(0)));
        self.flushed = self.writes.len();
    }

    /// The number of the write that `block` holds; 0 for zeros.
    fn read(&mut self, block: u64) -> u64 {
        let (offset, length) = (Bytes(block * BLOCK), Bytes(BLOCK));
        self.run(Op { slot: Slot(0), kind: OpKind::Read, offset, length });
        let data = &self.log.as_mut().unwrap().buffer(Slot(0))[..BLOCK as usize];
        let word = u64::from_le_bytes(*data.first_chunk().unwrap());
        assert!(data.as_chunks::<8>().0.iter().all(|w| *w == word.to_le_bytes()), "a mixture");
        assert!(word == 0 || word & 0xffff == block, "block {block} holds another's data");
        word >> 16
    }

    /// Cuts the power, finds the log again, and forgets the writes that did not survive.
    fn cut(&mut self) {
        let counts = self.log.as_ref().unwrap().counts();
        self.moved.cleaned_segments += counts.cleaned_segments;
        let mut target = self.log.take().unwrap().abandon();
        target.power().unwrap().cut();
        target.power().unwrap().restore();
        let mut completions = Vec::new();
        target.complete(cardproof_io::Wait::No, &mut completions).unwrap();
        let mut log = LogLayout::recover(target, self.options).unwrap();
        log.prepare(1, Bytes::kib(64)).unwrap();
        self.log = Some(log);
        self.check();
    }

    /// The blocks hold the state after some write, and with barriers at least the flushed ones.
    fn check(&mut self) {
        let held: Vec<u64> = (0..BLOCKS).map(|block| self.read(block)).collect();
        let last = held.iter().copied().max().unwrap() as usize;
        let mut expected = BTreeMap::new();
        for (block, number) in self.writes[..last].iter().zip(1..) {
            expected.insert(*block, number);
        }
        for (block, number) in held.iter().enumerate() {
            let wanted = expected.get(&(block as u64)).copied().unwrap_or(0);
            assert_eq!(*number, wanted, "block {block} after write {last}");
        }
        if self.options.mode == Mode::Barriers {
            assert!(last >= self.flushed, "{last} of {} flushed writes", self.flushed);
        }
        self.writes.truncate(last);
        self.flushed = last;
    }
}

/// `cuts` cuts on each of `seeds` cards, before each up to `writes_max` writes.
fn trials(mode: Mode, seeds: u64, cuts: u64, writes_max: u64) {
    let mut cleaned = 0;
    for seed in 0..seeds {
        let mut trial = Trial::new(mode, seed);
        for _ in 0..cuts {
            for _ in 0..1 + trial.random.next_u64() % writes_max {
                let block = match trial.random.next_u64() % 4 {
                    0 => trial.random.next_u64() % (BLOCKS / 8),
                    _ => trial.random.next_u64() % BLOCKS,
                };
                trial.write(block);
                if trial.random.next_u64().is_multiple_of(12) {
                    trial.flush();
                }
            }
            trial.cut();
        }
        cleaned += trial.moved.cleaned_segments;
    }
    assert!(cleaned > seeds, "{cleaned} segments were cleaned");
}

#[test]
fn with_barriers_nothing_flushed_is_lost_in_a_hundred_cuts() {
    trials(Mode::Barriers, 1, 100, 300);
}

#[test]
#[ignore = "a thousand cuts; nightly"]
fn with_barriers_nothing_flushed_is_lost_in_a_thousand_cuts() {
    trials(Mode::Barriers, 10, 100, 300);
}

// A cut loses the writes that wait, so the log needs more writes before it is full.
#[test]
fn delayed_writes_leave_a_prefix_in_a_hundred_cuts() {
    trials(Mode::Delayed, 1, 100, 1500);
}

#[test]
#[ignore = "a thousand cuts; nightly"]
fn delayed_writes_leave_a_prefix_in_a_thousand_cuts() {
    trials(Mode::Delayed, 10, 100, 1500);
}
