//! Fakes of sound flash whose addresses begin again at their real size. None of them is called damaged, wherever
//! the real size ends and wherever on the card the tested addresses begin.

use cardproof_evidence::capacity::{Finding, Kind, Verdict};
use cardproof_io::{
    Abilities, Completion, Op, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_probe::capacity::{Plan, Progress, Wish, run, shorthand};
use cardproof_sim::fault::{Beyond, CapacityFake, HiddenStore};
use cardproof_sim::{Card, Keeping, Model, Shorthand, find};
use cardproof_testkit::some_of;
use cardproof_units::{Bytes, Nanos, Seed};

const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten_head,
    expand: shorthand::expand,
    further: shorthand::further,
};

const STORE: Wish =
    Wish { store: Some(Bytes::mib(160)), bad_share: None, is_full: false, full_below: None };

const SECTOR: u64 = 512;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const GB: u64 = 1_000_000_000;

/// The addresses of a card from `first` on, as those of a partition.
struct From {
    card: Box<dyn Target + Send>,
    first: Bytes,
    abilities: Abilities,
}

impl Target for From {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.card.now()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.card.prepare(slots, buffer_size)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.card.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.abilities.check(&op, Bytes::mib(1))?;
        self.card.submit(Op { offset: op.offset + self.first, ..op })
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.card.complete(wait, completions)
    }
}

/// What a card announces, holds, and where on it the test begins, in bytes; and the block of its reader.
#[derive(Clone, Copy, Debug)]
struct Wrapped {
    announced: u64,
    real: u64,
    first: u64,
    block: u64,
}

const fn wrapped(announced: u64, real: u64, first: u64) -> Wrapped {
    Wrapped { announced, real, first, block: SECTOR }
}

fn found(fake: Wrapped, seed: u64) -> Finding {
    let base = find("sandisk-extreme-a1").unwrap();
    let card = Card {
        model: Model { capacity: Bytes(fake.real), ..base.model },
        fake: Some(CapacityFake {
            announced: Bytes(fake.announced),
            beyond: Beyond::WrapAround,
            remembers: HiddenStore::NONE,
        }),
        ..*base
    };
    let seed = Seed::from_bits(seed);
    let card = card.open(seed, Keeping::Short(SHORTHAND)).unwrap();
    let size = Bytes(fake.announced - fake.first);
    let abilities =
        Abilities { size, logical_block: Bytes(fake.block), ..card.abilities().clone() };
    let plan = Plan::new(size, Bytes(fake.block), STORE, seed).unwrap();
    let mut target = From { card, first: Bytes(fake.first), abilities };
    run(&mut target, &plan, &mut |_: &Progress| true).unwrap().finding
}

/// Each is called a fake that begins again, and its real size is told to the byte.
fn all_are_told(fakes: &[Wrapped]) {
    for (number, &fake) in some_of(fakes.iter().enumerate(), 3) {
        for seed in [number as u64, 1000 + number as u64] {
            let finding = found(fake, seed);
            let case = format!("{fake:?}, seed {seed}\n{finding:#?}");
            assert_eq!((finding.verdict, finding.kind), (Verdict::Fake, Kind::Wrap), "{case}");
            assert!(!finding.is_fake_and_damaged(), "{case}");
            assert!(finding.size.low <= fake.real, "{case}");
            assert_eq!(finding.size.high, fake.real, "{case}");
        }
    }
}

#[test]
fn of_whole_and_of_broken_pages_over_all_sizes() {
    all_are_told(&[
        wrapped(256 * MIB, 100 * MIB, 0),
        wrapped(256 * MIB, 100 * MIB + 3 * SECTOR, 0),
        wrapped(2 * GB, GB - 5 * SECTOR, 0),
        wrapped(8 * GIB, 7 * GIB + SECTOR, 0),
        wrapped(16 * GB, 4 * GIB - SECTOR, 0),
        wrapped(32 * GB, 15_931_539 * SECTOR, 0),
        wrapped(128 * GB, 64 * GB, 0),
        wrapped(256 * GB, 31_116_287 * SECTOR, 0),
        wrapped(512 * GB, 61_067_263 * SECTOR, 0),
        wrapped(1000 * GB, 8 * GB + 7 * SECTOR, 0),
        wrapped(2000 * GB, 123_456_789 * SECTOR, 0),
    ]);
}

#[test]
fn where_the_test_begins_inside_the_card() {
    all_are_told(&[
        wrapped(64 * GB, 16 * GIB, 4 * MIB),
        wrapped(64 * GB, 7_777_777 * SECTOR, 8192 * SECTOR),
        wrapped(64 * GB, 7_777_777 * SECTOR, 63 * SECTOR),
        wrapped(128 * GB, 15_931_539 * SECTOR, 4 * GIB),
        // Beyond the real size, and by a page of it.
        wrapped(128 * GB, 15_931_539 * SECTOR, 40 * GB),
        wrapped(64 * GB, 31_116_287 * SECTOR, 31_116_280 * SECTOR),
        wrapped(32 * GB, 12_345_677 * SECTOR, 20 * GB + SECTOR),
        wrapped(GIB, 300 * MIB + SECTOR, 200 * MIB + 5 * SECTOR),
        wrapped(1000 * GB, 61_067_263 * SECTOR, 500 * GB),
    ]);
}

#[test]
fn in_blocks_of_a_page() {
    let pages = |fake| Wrapped { block: 4096, ..fake };
    all_are_told(&[
        pages(wrapped(64 * GB, 16 * GIB, 4 * MIB)),
        pages(wrapped(64 * GB, 7_777_777 * SECTOR, 4 * MIB)),
        pages(wrapped(128 * GB, 15_931_539 * SECTOR, 40 * GIB)),
        pages(wrapped(256 * GB, 31_116_287 * SECTOR, 0)),
        pages(wrapped(512 * MIB, 100 * MIB + SECTOR, 64 * MIB)),
    ]);
}
