//! The capacity of simulated cards, honest, fake and damaged, is found out.

use cardproof_evidence::capacity::{Kind, Verdict, stamp};
use cardproof_probe::capacity::{Outcome, Plan, Progress, Wish, run, shorthand};
use cardproof_sim::fault::{Beyond, CapacityFake, Damage, DamagedBlock, HiddenStore, Keeps};
use cardproof_sim::{Card, Keeping, Model, Shorthand, find};
use cardproof_testkit::some_of;
use cardproof_units::{Bytes, Seed};

const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten,
    expand: shorthand::expand,
    further: shorthand::further,
};

/// A card of the catalogue with another size, lie and damage.
fn card(real: u64, fake: Option<(u64, Beyond, HiddenStore)>, damage: Damage) -> Card {
    let base = find("sandisk-extreme-a1").unwrap();
    let fake = fake.map(|(announced, beyond, remembers)| CapacityFake {
        announced: Bytes(announced),
        beyond,
        remembers,
    });
    Card { model: Model { capacity: Bytes(real), ..base.model }, fake, damage, ..*base }
}

fn verify(card: &Card, wish: Wish, seed: u64) -> Outcome {
    let seed = Seed::from_bits(seed);
    let mut target = card.open(seed, Keeping::Short(SHORTHAND)).unwrap();
    let plan =
        Plan::new(target.abilities().size, target.abilities().logical_block, wish, seed).unwrap();
    run(&mut *target, &plan, &mut |_: &Progress| true).unwrap()
}

const STORE_256M: Wish =
    Wish { store: Some(Bytes::mib(256)), bad_share: None, is_full: false, full_below: None };

const GB: u64 = 1_000_000_000;

const DAMAGED: Damage =
    Damage { share_ppm: 10_000, gives: DamagedBlock::FlipsBits, ..Damage::NONE };

#[test]
fn an_honest_card_is_genuine() {
    for (size, wish) in [(64 * GB, STORE_256M), (64 << 20, Wish::default())] {
        let outcome = verify(&card(size, None, Damage::NONE), wish, 1);
        let finding = &outcome.finding;
        assert_eq!(finding.verdict, Verdict::Genuine, "{size}: {finding:#?}");
        assert_eq!(finding.kind, Kind::Sound);
        assert!(finding.probability > 0.9 && finding.excluded_bad_share < 0.01, "{finding:#?}");
        let plan = Plan::new(Bytes(size), Bytes(512), wish, Seed::from_bits(1)).unwrap();
        assert_eq!(outcome.bytes_written, plan.bytes_to_write(), "as announced");
    }
}

/// What is planned is what a user waits for.
#[test]
fn as_much_is_read_as_was_announced() {
    let full = Wish { is_full: true, ..Wish::default() };
    for (size, wish) in [
        (8 << 20, full),
        (20 << 20, full),
        (64 << 20, full),
        (64 << 20, Wish::default()),
        (100 << 20, full),
        (500 << 20, full),
        (64 * GB, STORE_256M),
        (64 * GB, Wish::default()),
    ] {
        let read = verify(&card(size, None, Damage::NONE), wish, 1).bytes_read;
        let plan = Plan::new(Bytes(size), Bytes(512), wish, Seed::from_bits(1)).unwrap();
        // A place that is drawn at both ends of a sample is read once.
        let most = plan.bytes_to_read();
        assert!(read <= most && most - read <= Bytes::kib(8), "{size} {wish:?}: {read} {most}");
    }
}

/// Where the fakes of these tests end.
const REAL: u64 = 7_777_777 * 512;

/// Fakes of one kind, with stores of all sizes and with damage.
fn a_kind_is_named_and_measured(beyond: Beyond, kind: Kind, seed: u64) {
    for store in [Bytes::ZERO, Bytes::kib(8), Bytes::mib(31)] {
        for keeps in [Keeps::Beyond, Keeps::All] {
            for damage in [Damage::NONE, DAMAGED] {
                let remembers = HiddenStore { keeps, ..HiddenStore::new(store) };
                let card = card(REAL, Some((64 * GB, beyond, remembers)), damage);
                let outcome = verify(&card, STORE_256M, seed);
                let finding = &outcome.finding;
                let case = format!("{beyond:?} {remembers:?} {damage:?}");
                assert_eq!(finding.verdict, Verdict::Fake, "{case}\n{finding:#?}");
                assert_eq!(finding.kind, kind, "{case}\n{finding:#?}");
                let size = finding.size;
                assert!(size.low <= REAL && REAL <= size.high, "{case} {REAL}\n{finding:#?}");
                assert!(size.high - size.low <= 64 << 10, "{case}\n{finding:#?}");
            }
        }
    }
}

#[test]
fn a_wrap_around_is_named_and_measured() {
    a_kind_is_named_and_measured(Beyond::WrapAround, Kind::Wrap, 0);
}

#[test]
fn a_chained_fake_is_named_and_measured() {
    let round = Bytes(REAL + 1_234_567 * 512);
    a_kind_is_named_and_measured(Beyond::Chained { round, reads_as: 0 }, Kind::Chained, 1);
}

/// The dead parts of many short rounds look like damage, and a modulus that is wrong by a little fits the
/// first rounds only.
#[test]
fn a_chained_fake_of_many_rounds_is_not_called_damaged() {
    for (seed, announced, real, round) in [
        (1, 1000 * GB, 17_179_869_184, 23_915_380_736),
        (2, 512 * GB, 4_294_967_296, 4_742_652_928),
        (3, 64 * GB, 1_073_741_824, 1_567_299_584),
        (4, 128 * GB, 4_561_655_296, 6_809_211_904),
    ] {
        let beyond = Beyond::Chained { round: Bytes(round), reads_as: 0 };
        let remembers = HiddenStore::new(Bytes::mib(1));
        let finding = verify(
            &card(real, Some((announced, beyond, remembers)), Damage::NONE),
            STORE_256M,
            seed,
        )
        .finding;
        assert_eq!(finding.verdict, Verdict::Fake, "{round}\n{finding:#?}");
        assert_eq!(finding.kind, Kind::Chained, "{round}\n{finding:#?}");
        assert!(finding.size.low <= real && real <= finding.size.high, "{real}\n{finding:#?}");
    }
}

/// Two addresses that share a place may be two rounds apart. Under that distance the dead parts of each round look
/// like holes.
#[test]
fn a_chained_fake_of_two_rounds_is_not_taken_for_one_with_holes() {
    const STORE_160M: Wish = Wish { store: Some(Bytes::mib(160)), ..STORE_256M };
    for (announced, real, round) in [
        (512 * GB, 201_364_709_888, 218_872_536_064),
        (1000 * GB, 265_292_806_144, 395_229_132_800),
    ] {
        for seed in some_of([2833, 111_889, 3], 3) {
            let beyond = Beyond::Chained { round: Bytes(round), reads_as: 0 };
            let fake = Some((announced, beyond, HiddenStore::new(Bytes::kib(8))));
            let finding = verify(&card(real, fake, Damage::NONE), STORE_160M, seed).finding;
            assert_eq!(finding.verdict, Verdict::Fake, "{round} {seed}\n{finding:#?}");
            assert_eq!(finding.kind, Kind::Chained, "{round} {seed}\n{finding:#?}");
            let size = finding.size;
            assert!(size.low <= real && real <= size.high, "{real} {seed}\n{finding:#?}");
        }
    }
}

#[test]
fn dropped_writes_are_named_and_measured() {
    a_kind_is_named_and_measured(Beyond::Drop { reads_as: 0 }, Kind::Drop, 2);
}

#[test]
fn a_repeated_last_block_is_named_and_measured() {
    a_kind_is_named_and_measured(Beyond::LastBlock, Kind::LastBlock, 3);
}

#[test]
fn limbo_is_named_and_measured() {
    a_kind_is_named_and_measured(Beyond::Limbo, Kind::Limbo, 4);
}

#[test]
fn damage_is_not_called_a_fake_and_a_transient_error_is_no_damage() {
    for gives in [DamagedBlock::Fails, DamagedBlock::FlipsBits, DamagedBlock::ReadsZero] {
        let damage = Damage { share_ppm: 10_000, gives, ..Damage::NONE };
        let finding = verify(&card(32 * GB, None, damage), STORE_256M, 3).finding;
        assert_eq!(finding.verdict, Verdict::Damaged, "{finding:#?}");
        assert!((0.003..0.03).contains(&finding.damaged_share), "{finding:#?}");
    }
    for transient_read in [1, 40, 700] {
        let damage = Damage { transient_read: Some(transient_read), ..Damage::NONE };
        let finding = verify(&card(32 * GB, None, damage), STORE_256M, 3).finding;
        assert_eq!(finding.verdict, Verdict::Genuine, "{finding:#?}");
        assert_eq!(finding.transient_errors, 1, "{finding:#?}");
    }
}

#[test]
fn a_dying_card_is_damaged_and_no_fake() {
    for share_ppm in some_of([200_000, 300_000, 500_000, 900_000], 3) {
        for gives in [DamagedBlock::Fails, DamagedBlock::FlipsBits, DamagedBlock::ReadsZero] {
            for block in [Bytes::kib(4), Bytes::mib(4)] {
                let damage = Damage { share_ppm, gives, block, ..Damage::NONE };
                let finding = verify(&card(64 * GB, None, damage), STORE_256M, 6).finding;
                assert_eq!(finding.verdict, Verdict::Damaged, "{damage:?}\n{finding:#?}");
            }
        }
    }
}

#[test]
fn a_store_larger_than_the_filler_is_above_the_excluded_one() {
    let remembers = HiddenStore::new(Bytes::gib(1));
    let card = card(8 * GB, Some((64 * GB, Beyond::Drop { reads_as: 0 }, remembers)), Damage::NONE);
    let fooled = verify(&card, STORE_256M, 1).finding;
    assert!(fooled.excluded_store_bytes < 1 << 30, "{fooled:#?}");
    let wish = Wish { store: Some(Bytes::gib(2)), ..Wish::default() };
    assert_eq!(verify(&card, wish, 1).finding.verdict, Verdict::Fake);
}

#[test]
fn stamps_survive_the_shorthand() {
    let mut sector = [0; 512];
    let first = stamp::Stamp { salt: 1, address_bytes: 1 << 33, generation: 5 };
    first.fill(&mut sector);
    let numbers = shorthand::shorten(&sector).unwrap();
    let mut again = [0; 512];
    shorthand::expand(shorthand::further(numbers, 3), &mut again);
    assert_eq!(stamp::Stamp::of_whole(&again), Some(first.further(3)));
}
