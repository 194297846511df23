//! A test of addresses that exist only where the plan writes, in an order that is not the card's: what FAT and
//! exFAT give. It never leaves its stretches, and finds the fakes all the same.

use cardproof_evidence::capacity::{Finding, Kind, MissingPart, Verdict};
use cardproof_io::{
    Abilities, Completion, Op, Slot, Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_probe::capacity::{Plan, Progress, Wish, run, shorthand};
use cardproof_sim::fault::{Beyond, CapacityFake, Damage, DamagedBlock, HiddenStore, Keeps};
use cardproof_sim::{Card, Keeping, Model, Shorthand, find};
use cardproof_testkit::some_of;
use cardproof_units::{Bytes, Nanos, Seed};

const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

const SIZE: u64 = 32 << 30;
const UNIT: u64 = 128 << 10;
const WISH: Wish =
    Wish { store: Some(Bytes::mib(256)), bad_share: None, is_full: false, full_below: None };

/// A card whose addresses begin at `first` and go on from its start, and are there in `stretches` alone.
struct Rotated {
    card: Box<dyn Target>,
    first: u64,
    stretches: Vec<(u64, u64)>,
}

impl Target for Rotated {
    fn abilities(&self) -> &Abilities {
        self.card.abilities()
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
        let (mut at, end) = (op.offset.get(), op.offset.get() + op.length.get());
        while at < end {
            let index = self.stretches.partition_point(|&(start, _)| start <= at);
            let (start, length) = self.stretches[index - 1];
            assert!(at < start + length, "{op:?} lies outside");
            at = start + length;
        }
        let offset = Bytes((op.offset.get() + self.first) % SIZE);
        self.card.submit(Op { offset, ..op })
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.card.complete(wait, completions)
    }
}

/// What is found of a card whose addresses are given out from `first` on.
fn verify(
    real: u64,
    fake: Option<(Beyond, HiddenStore)>,
    damage: Damage,
    first: u64,
    seed: u64,
) -> Finding {
    let base = find("sandisk-extreme-a1").unwrap();
    let fake =
        fake.map(|(beyond, remembers)| CapacityFake { announced: Bytes(SIZE), beyond, remembers });
    let card = Card { model: Model { capacity: Bytes(real), ..base.model }, fake, damage, ..*base };
    let seed = Seed::from_bits(seed);
    let card = card.open(seed, Keeping::Short(SHORTHAND)).unwrap();
    let plan = Plan::new(Bytes(SIZE), Bytes(4096), WISH, seed).unwrap().confined();
    let stretches = plan.stretches(UNIT);
    let mut target = Rotated { card, first, stretches };
    run(&mut target, &plan, &mut |_: &Progress| true).unwrap().finding
}

const FIRST: [u64; 3] = [0, 11 << 30, 29 << 30];

#[test]
fn a_genuine_card_is_genuine_and_nothing_is_said_of_its_last_addresses() {
    for (seed, first) in FIRST.into_iter().enumerate() {
        let finding = verify(SIZE, None, Damage::NONE, first, seed as u64);
        assert_eq!(finding.verdict, Verdict::Genuine, "{first}: {finding:#?}");
        assert!(finding.exclusions.iter().all(|it| it.part == MissingPart::Anywhere));
        assert!(!finding.exclusions.is_empty());
    }
}

#[test]
fn a_damaged_card_is_not_called_a_fake() {
    let damage = Damage { share_ppm: 10_000, gives: DamagedBlock::FlipsBits, ..Damage::NONE };
    for (seed, first) in FIRST.into_iter().enumerate() {
        let finding = verify(SIZE, None, damage, first, seed as u64);
        assert_eq!(finding.verdict, Verdict::Damaged, "{first}: {finding:#?}");
    }
}

#[test]
fn fakes_are_found_wherever_the_addresses_begin() {
    const REAL: u64 = 7_777_777 * 512;
    let round = Bytes(REAL + 1_234_567 * 512);
    let kinds = [
        Beyond::WrapAround,
        Beyond::Drop { reads_as: 0 },
        Beyond::Limbo,
        Beyond::LastBlock,
        Beyond::Chained { round, reads_as: 0 },
    ];
    let with_store = HiddenStore::new(Bytes::mib(8));
    let all = HiddenStore { keeps: Keeps::All, ..with_store };
    let stores = [HiddenStore::new(Bytes::ZERO), with_store, all];
    let cases = kinds.iter().flat_map(|beyond| stores.map(|store| (*beyond, store)));
    for (number, (beyond, remembers)) in some_of(cases.enumerate(), 2) {
        let first = FIRST[number % FIRST.len()];
        let seed = number + 1;
        let fake = Some((beyond, remembers));
        let finding = verify(REAL, fake, Damage::NONE, first, seed as u64);
        let case = format!("{beyond:?} {remembers:?} from {first}");
        assert_eq!(finding.verdict, Verdict::Fake, "{case}\n{finding:#?}");
        let is_measured = !matches!(beyond, Beyond::WrapAround | Beyond::Chained { .. });
        let size = finding.size;
        let holds = (size.low..=size.high).contains(&REAL);
        assert!(!is_measured || holds, "{case}: {REAL}\n{finding:#?}");
    }
}

/// The order of the addresses hides the real size, but not that they begin again.
#[test]
fn a_wrapped_fake_of_sound_flash_is_not_called_damaged() {
    const GIB: u64 = 1 << 30;
    let mut seed = 100;
    for real in [4 * GIB, 5_000_000_000, 7_777_777 * 512, 15_931_539 * 512, 25 * GIB + 512] {
        for first in FIRST {
            seed += 1;
            let fake = Some((Beyond::WrapAround, HiddenStore::NONE));
            let finding = verify(real, fake, Damage::NONE, first, seed);
            let case = format!("{real} from {first}\n{finding:#?}");
            assert_eq!(finding.verdict, Verdict::Fake, "{case}");
            // Over the place where the card's addresses end, another distance shares places too.
            assert!(matches!(finding.kind, Kind::Wrap | Kind::Shared), "{case}");
            assert!(!finding.is_fake_and_damaged(), "{case}");
            assert!(finding.size.low <= real && finding.size.high < SIZE, "{case}");
        }
    }
}
