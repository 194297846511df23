//! Fakes without one edge, damage that looks like them, and devices in larger blocks.

use cardproof_evidence::capacity::{Finding, Kind, Verdict};
use cardproof_io::{
    Abilities, Completion, Fault, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError,
    Wait,
};
use cardproof_probe::capacity::{Plan, Progress, Wish, run, shorthand};
use cardproof_sim::fault::{
    ArrangedStore, Arrangement, Beyond, CapacityFake, Effect, FaultRule, FaultyCard, Forgets,
    Gives, HiddenStore, Keeps, Missing, When,
};
use cardproof_sim::{Card, Keeping, Model, Shorthand, SimulatedTarget, find};
use cardproof_units::{Bytes, Nanos, Seed};

const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten_head,
    expand: shorthand::expand,
    further: shorthand::further,
};

const GB: u64 = 1_000_000_000;
const SIZE: u64 = 64 * GB;

fn verify(target: &mut dyn Target, store: Bytes, seed: Seed) -> Finding {
    let abilities = target.abilities();
    let wish = Wish { store: Some(store), ..Wish::default() };
    let plan = Plan::new(abilities.size, abilities.logical_block, wish, seed).unwrap();
    run(target, &plan, &mut |_: &Progress| true).unwrap().finding
}

fn arranged(arrangement: Arrangement, seed: u64) -> Finding {
    of_wish(arrangement, Bytes::mib(160), seed)
}

fn of_wish(arrangement: Arrangement, store: Bytes, seed: u64) -> Finding {
    let base = find("sandisk-extreme-a1").unwrap();
    let seed = Seed::from_bits(seed);
    let model = Model { capacity: Bytes(SIZE), ..base.model };
    let flash = Box::new(ArrangedStore::new(arrangement, seed, SHORTHAND));
    let mut target = SimulatedTarget::with_store(&model, &base.host, seed, flash).unwrap();
    verify(&mut target, store, seed)
}

const fn hole(from_gb: u64, to_gb: u64) -> Missing {
    Missing::Hole { from: Bytes(from_gb * GB), to: Bytes(to_gb * GB) }
}

const LEAST_USED: HiddenStore =
    HiddenStore { forgets: Forgets::LeastUsed, ..HiddenStore::new(Bytes::mib(8)) };
const OF_ALL: HiddenStore = HiddenStore { keeps: Keeps::All, ..HiddenStore::new(Bytes::mib(12)) };

/// What missing addresses give, and what is remembered.
const MANNERS: [(Gives, HiddenStore); 3] =
    [(Gives::Byte(0), HiddenStore::NONE), (Gives::Garbage, LEAST_USED), (Gives::Changing, OF_ALL)];

/// Fakes with these missing addresses are called fakes, and `real` is within the bounds.
fn is_found(missing: Missing, real: u64, kind: Kind, manners: &[(Gives, HiddenStore)]) {
    for (number, &(gives, remembers)) in manners.iter().enumerate() {
        let finding = arranged(Arrangement { missing, gives, remembers }, number as u64);
        let case = format!("{missing:?} {gives:?} {remembers:?}\n{finding:#?}");
        assert_eq!(finding.verdict, Verdict::Fake, "{case}");
        // A store blurs where the parts end, but not how much is missing.
        if remembers == HiddenStore::NONE {
            assert_eq!(finding.kind, kind, "{case}");
        }
        assert!(finding.size.low <= real && real <= finding.size.high, "{real} {case}");
        assert!(finding.size.high < SIZE, "{case}");
    }
}

#[test]
fn a_fake_whose_last_part_is_real_is_found() {
    is_found(hole(0, 48), 16 * GB, Kind::Holes, &MANNERS);
}

#[test]
fn a_fake_with_both_ends_real_is_found() {
    is_found(hole(8, 56), 16 * GB, Kind::Holes, &MANNERS);
}

#[test]
fn a_fake_that_lacks_a_tenth_in_the_middle_is_found() {
    is_found(hole(30, 37), 57 * GB, Kind::Holes, &MANNERS);
}

#[test]
fn stripes_are_found() {
    for (period, live) in [(Bytes::gib(4), Bytes::gib(1)), (Bytes::mib(8), Bytes::mib(4))] {
        let real = (SIZE as f64 * live.as_f64() / period.as_f64()) as u64;
        let missing = Missing::Stripes { period, live };
        for (number, (gives, remembers)) in MANNERS.into_iter().enumerate() {
            let finding = arranged(Arrangement { missing, gives, remembers }, number as u64);
            let case = format!("{missing:?} {gives:?} {remembers:?}\n{finding:#?}");
            assert_eq!(finding.verdict, Verdict::Fake, "{case}");
            assert!(finding.size.low <= real && real <= finding.size.high, "{real} {case}");
        }
    }
}

#[test]
fn scattered_addresses_are_found_by_what_they_remember() {
    let missing = Missing::Scattered { block: Bytes::mib(4), share_ppm: 750_000 };
    is_found(missing, 16 * GB, Kind::Scattered, &MANNERS[1..]);
    // Without a store nothing tells such a fake from a card that has died in places.
    let (gives, remembers) = MANNERS[0];
    let finding = arranged(Arrangement { missing, gives, remembers }, 1);
    assert_eq!(finding.verdict, Verdict::Damaged, "{finding:#?}");
    assert!(finding.size.low < 17 * GB && finding.size.high == SIZE, "{finding:#?}");
    let says = finding.reasons.join("\n");
    assert!(says.contains("looks the same") && !says.contains("is real"), "{says}");
}

#[test]
fn addresses_that_share_places_without_a_rule_are_found() {
    let gives = Gives::Shared { block: Bytes::mib(4), real: Bytes(8 * GB) };
    is_found(Missing::All, 8 * GB, Kind::Shared, &[(gives, HiddenStore::NONE)]);
    is_found(hole(8, 56), 16 * GB, Kind::Shared, &[(gives, HiddenStore::NONE)]);
}

#[test]
fn a_fake_that_takes_any_address_until_it_is_full_is_found() {
    let real = 100 << 20;
    let missing = Missing::AfterTheFirst { real: Bytes(real) };
    is_found(missing, real, Kind::FillsUp, &[(Gives::Byte(0), HiddenStore::NONE)]);
}

/// The first look finds nothing of its places, so the test seems to be done; all places together say more.
#[test]
fn a_fake_that_is_full_before_the_first_look_is_found() {
    for real in [Bytes::kib(300), Bytes::mib(3)] {
        let missing = Missing::AfterTheFirst { real };
        let arrangement =
            Arrangement { missing, gives: Gives::Byte(0xff), remembers: HiddenStore::NONE };
        let finding = arranged(arrangement, 9);
        assert_eq!((finding.verdict, finding.kind), (Verdict::Fake, Kind::FillsUp), "{finding:#?}");
    }
}

/// A card that ignores writes from some moment on looks the same, but for what it holds: that it cannot
/// write again.
#[test]
fn a_card_that_turns_deaf_is_damaged() {
    for operation in [420, 1100, 1400] {
        let base = find("sandisk-extreme-a1").unwrap();
        let seed = Seed::from_bits(13);
        let inner = base.open(seed, Keeping::Short(SHORTHAND)).unwrap();
        let deaf = FaultRule {
            effect: Effect::Lose,
            when: When { kind: Some(OpKind::Write), ..When::from(operation) },
        };
        let mut target = FaultyCard::new(inner, vec![deaf], seed);
        let finding = verify(&mut target, Bytes::mib(160), seed);
        assert_eq!(finding.verdict, Verdict::Damaged, "{operation}\n{finding:#?}");
    }
}

/// Without flash of its own such an address gives what another one holds.
#[test]
fn missing_addresses_that_give_other_addresses_data_are_found() {
    let gives = Gives::Shared { block: Bytes::mib(1), real: Bytes(SIZE) };
    let arrangement = Arrangement { missing: hole(8, 40), gives, remembers: HiddenStore::NONE };
    let finding = arranged(arrangement, 3);
    assert_eq!(finding.verdict, Verdict::Fake, "{finding:#?}");
}

/// Less than a tenth earns a maker nothing, and a genuine card may lose as much in one piece.
#[test]
fn a_card_that_lost_a_small_part_in_one_piece_is_damaged() {
    for (from, to) in [(0, 2), (30, 33)] {
        let missing = hole(from, to);
        let arrangement =
            Arrangement { missing, gives: Gives::Byte(0), remembers: HiddenStore::NONE };
        let finding = arranged(arrangement, 3);
        assert_eq!(finding.verdict, Verdict::Damaged, "{missing:?}\n{finding:#?}");
    }
}

#[test]
fn a_card_that_keeps_the_latest_writes_alone_is_no_genuine_one() {
    for store in [Bytes::mib(1), Bytes::mib(128)] {
        let remembers = HiddenStore::new(store);
        let arrangement = Arrangement { missing: Missing::All, gives: Gives::Byte(0), remembers };
        // All that was written is lost when it is read, and right when it is read at once.
        let finding = arranged(arrangement, 5);
        assert_eq!(finding.verdict, Verdict::Fake, "{store} {finding:#?}");
    }
}

#[test]
fn a_card_whose_end_fails_is_damaged_and_nothing_is_said_of_its_capacity() {
    for gives in [Gives::ReadError, Gives::Error] {
        for missing in [hole(32, 64), hole(20, 40)] {
            let finding = arranged(Arrangement { missing, gives, remembers: HiddenStore::NONE }, 7);
            assert_eq!(finding.verdict, Verdict::Damaged, "{finding:#?}");
            assert!(finding.size.low < 45 * GB && finding.size.high == SIZE, "{finding:#?}");
            let says = finding.reasons.join("\n");
            assert!(says.contains("looks the same") && !says.contains("is real"), "{says}");
        }
    }
}

/// The sentence of a test that found nothing says what a fake had to be to be found: one that is so is.
#[test]
fn what_is_excluded_is_found() {
    let genuine = arranged(
        Arrangement { missing: hole(64, 64), gives: Gives::Byte(0), remembers: HiddenStore::NONE },
        1,
    );
    assert_eq!(genuine.verdict, Verdict::Genuine, "{genuine:#?}");
    for exclusion in &genuine.exclusions {
        let missing = (exclusion.missing_share * 64.0).ceil() as u64;
        for from in [0, 32 - missing / 2, 64 - missing] {
            let remembers = HiddenStore::new(Bytes(exclusion.store_bytes));
            let missing = hole(from, from + missing);
            let is_other = exclusion.part == cardproof_evidence::capacity::MissingPart::End
                && !matches!(missing, Missing::Hole { to, .. } if to.get() == SIZE);
            if is_other {
                continue;
            }
            let arrangement = Arrangement { missing, gives: Gives::Byte(0xff), remembers };
            let finding = arranged(arrangement, from);
            let case = format!("{exclusion:?} {missing:?}\n{finding:#?}");
            assert_ne!(finding.verdict, Verdict::Genuine, "{case}");
        }
    }
}

/// Where a part of a long write cannot be written, the rest of it was not lost in silence.
#[test]
fn a_card_of_which_a_spot_cannot_be_written_is_damaged() {
    for (size, wish) in [(GB, Bytes::gib(1)), (SIZE, Bytes::mib(160))] {
        let base = find("sandisk-extreme-a1").unwrap();
        let seed = Seed::from_bits(11);
        let from = size / 4 * 3;
        let missing = Missing::Hole { from: Bytes(from), to: Bytes(from + size / 300) };
        let spot = Arrangement { missing, gives: Gives::Error, remembers: HiddenStore::NONE };
        let model = Model { capacity: Bytes(size), ..base.model };
        let flash = Box::new(ArrangedStore::new(spot, seed, SHORTHAND));
        let mut target = SimulatedTarget::with_store(&model, &base.host, seed, flash).unwrap();
        let finding = verify(&mut target, wish, seed);
        assert_eq!(finding.verdict, Verdict::Damaged, "{finding:#?}");
    }
}

/// A card that refuses writes from some moment on has died, and told so.
#[test]
fn a_card_that_turns_read_only_is_no_fake() {
    for operation in [10, 1100, 1400] {
        let base = find("sandisk-extreme-a1").unwrap();
        let seed = Seed::from_bits(12);
        let inner = base.open(seed, Keeping::Short(SHORTHAND)).unwrap();
        let rule = FaultRule {
            effect: Effect::Fail(Fault::InputOutput),
            when: When { kind: Some(OpKind::Write), ..When::from(operation) },
        };
        let mut target = FaultyCard::new(inner, vec![rule], seed);
        let finding = verify(&mut target, Bytes::mib(160), seed);
        assert_ne!(finding.verdict, Verdict::Fake, "{finding:#?}");
        assert_ne!(finding.verdict, Verdict::Genuine, "{finding:#?}");
    }
}

fn wrapping(announced: u64, real: u64) -> Card {
    let base = find("sandisk-extreme-a1").unwrap();
    let fake = CapacityFake {
        announced: Bytes(announced),
        beyond: Beyond::WrapAround,
        remembers: HiddenStore::NONE,
    };
    Card { model: Model { capacity: Bytes(real), ..base.model }, fake: Some(fake), ..*base }
}

#[test]
fn a_wrapped_fake_of_sound_flash_is_not_called_damaged() {
    for (seed, real) in [(1, 7_777_777 * 512), (2, 4 * GB), (3, 12_345_677 * 512)] {
        let seed = Seed::from_bits(seed);
        let mut target = wrapping(SIZE, real).open(seed, Keeping::Short(SHORTHAND)).unwrap();
        let finding = verify(&mut *target, Bytes::mib(160), seed);
        assert_eq!((finding.verdict, finding.kind), (Verdict::Fake, Kind::Wrap), "{finding:#?}");
        assert_eq!(finding.size.high, real, "{finding:#?}");
        assert!(!finding.is_fake_and_damaged(), "{finding:#?}");
    }
}

/// A target that takes whole blocks of 4 KiB alone.
struct InLargeBlocks(Box<dyn Target + Send>, Abilities);

impl Target for InLargeBlocks {
    fn abilities(&self) -> &Abilities {
        &self.1
    }

    fn now(&mut self) -> Nanos {
        self.0.now()
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.0.prepare(slots, buffer_size)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.0.buffer(slot)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.1.check(&op, Bytes::mib(1))?;
        self.0.submit(op)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.0.complete(wait, completions)
    }
}

#[test]
fn a_wrap_around_of_no_whole_blocks_is_measured() {
    for real in [7_777_777 * 512, 5 * GB] {
        let seed = Seed::from_bits(4);
        let inner = wrapping(SIZE, real).open(seed, Keeping::Short(SHORTHAND)).unwrap();
        let abilities = Abilities { logical_block: Bytes(4096), ..inner.abilities().clone() };
        let finding = verify(&mut InLargeBlocks(inner, abilities), Bytes::mib(160), seed);
        assert_eq!((finding.verdict, finding.kind), (Verdict::Fake, Kind::Wrap), "{finding:#?}");
        assert_eq!(finding.size.high, real, "{finding:#?}");
    }
}

#[test]
fn a_small_fake_is_found() {
    for real in [130, 150, 170, 200] {
        for reads_as in [0, 0xff] {
            let base = find("sandisk-extreme-a1").unwrap();
            let fake = CapacityFake {
                announced: Bytes::mib(256),
                beyond: Beyond::Drop { reads_as },
                remembers: HiddenStore::NONE,
            };
            let model = Model { capacity: Bytes::mib(real), ..base.model };
            let card = Card { model, fake: Some(fake), ..*base };
            let seed = Seed::from_bits(real);
            let mut target = card.open(seed, Keeping::Short(SHORTHAND)).unwrap();
            let finding = verify(&mut *target, Bytes::gib(1), seed);
            assert_eq!(finding.verdict, Verdict::Fake, "{real}\n{finding:#?}");
            let real = real << 20;
            assert!(finding.size.low <= real && real <= finding.size.high, "{finding:#?}");
        }
    }
}
