//! Queues and discards that corrupt data, on simulated cards, and sound ones.

use cardproof_evidence::integrity::{Sector, WrongKind, is_to_blame};
use cardproof_probe::integrity::{
    DiscardOutcome, DiscardPlan, DiscardWrong, End, PlaceKind, QueueOutcome, QueuePlan, SpeedPlan,
    run_discards, run_queue, run_speed,
};
use cardproof_sim::fault::{
    Beyond, CapacityFake, DiscardFault, DiscardHarm, DiscardReads, HiddenStore, QueueFault,
    QueueHarm,
};
use cardproof_sim::{Card, Keeping, Model, find};
use cardproof_testkit::some_of;
use cardproof_units::{Bytes, Seed};

const SIZE: Bytes = Bytes::mib(128);

/// The share of writes that is to be found: 3,000 writes.
const SHARE: f64 = 0.001;

fn card(queue: Option<QueueFault>, discard: Option<DiscardFault>) -> Card {
    let base = find("v30-a2-queued").unwrap();
    Card { model: Model { capacity: SIZE, ..base.model }, queue, discard, ..*base }
}

fn queue_of(card: &Card, seed: u64) -> QueueOutcome {
    let seed = Seed::from_bits(seed);
    let mut target = card.open(seed, Keeping::Bytes).unwrap();
    let plan = QueuePlan::new(SIZE, 32, SHARE, true, seed).unwrap();
    run_queue(&mut target, &plan, &mut |_, _| true).unwrap()
}

fn discards_of(card: &Card, seed: u64) -> DiscardOutcome {
    let seed = Seed::from_bits(seed);
    let mut target = card.open(seed, Keeping::Bytes).unwrap();
    let plan = DiscardPlan::new(SIZE, 0.01, seed).unwrap();
    run_discards(&mut target, &plan, &mut |_, _| true).unwrap()
}

const fn fault(harm: QueueHarm, share_ppm: u32) -> Option<QueueFault> {
    Some(QueueFault { harm, depth_min: 4, share_ppm, after_flush: None })
}

#[test]
fn every_way_of_a_queue_to_corrupt_is_found_and_told_apart() {
    for (harm, kinds, is_stored) in [
        (QueueHarm::LostWrite, &[WrongKind::Older, WrongKind::Blank][..], Some(true)),
        (QueueHarm::TornWrite, &[WrongKind::Torn][..], Some(true)),
        (QueueHarm::SwappedWrites, &[WrongKind::Foreign][..], Some(true)),
        (QueueHarm::SwappedReads, &[WrongKind::Foreign][..], Some(false)),
        (QueueHarm::LateWrite, &[WrongKind::Older, WrongKind::Blank][..], None),
        (QueueHarm::StaleRead, &[WrongKind::Older, WrongKind::Blank][..], Some(false)),
        (QueueHarm::FlushForgets, &[WrongKind::Older, WrongKind::Blank][..], Some(true)),
    ] {
        let share = if harm == QueueHarm::FlushForgets { 100_000 } else { 5_000 };
        for seed in some_of(1..4, 3) {
            let outcome = queue_of(&card(fault(harm, share), None), seed);
            assert!(outcome.queued.wrong > 0, "{harm:?}, seed {seed}: nothing found");
            assert_eq!(outcome.control.wrong, 0, "{harm:?}: it happens at depth only");
            let (first, _) = outcome.wrong[0];
            assert!(kinds.contains(&first.kind), "{harm:?}, seed {seed}: {first:?}");
            let stored = outcome.wrong.iter().filter(|(piece, _)| piece.is_stored).count();
            match is_stored {
                Some(true) => assert!(stored * 2 > outcome.wrong.len(), "{harm:?}: {outcome:?}"),
                Some(false) => assert_eq!(stored, 0, "{harm:?}"),
                None => {}
            }
        }
    }
}

#[test]
fn a_fault_right_after_a_flush_alone_is_found() {
    let rare = QueueFault {
        harm: QueueHarm::LostWrite,
        depth_min: 8,
        share_ppm: 100_000,
        after_flush: Some(8),
    };
    let found = (1..6).filter(|&seed| queue_of(&card(Some(rare), None), seed).queued.wrong > 0);
    assert_eq!(found.count(), 5);
}

#[test]
fn a_sound_queue_is_never_blamed_and_all_that_was_promised_is_done() {
    for seed in 1..9 {
        let card =
            card(None, Some(DiscardFault { reads: DiscardReads::Old, ..DiscardFault::HONEST }));
        let outcome = queue_of(&card, seed);
        assert_eq!((outcome.queued.wrong, outcome.control.wrong, outcome.faults), (0, 0, 0));
        assert_eq!(outcome.end, End::Done);
        // ln(0.05) / ln(1 - 0.001)
        assert!(outcome.queued.writes >= 2995, "{outcome:?}");
        assert!(outcome.queued.reads >= outcome.queued.writes, "every write is read");
        assert!(outcome.queued.flushes >= 40, "{outcome:?}");
    }
}

#[test]
fn writes_that_change_places_near_each_other_are_found() {
    for seed in some_of(1..4, 3) {
        let outcome = queue_of(&card(fault(QueueHarm::SwappedNeighbours, 1_000_000), None), seed);
        assert!(outcome.queued.wrong > 0 && outcome.control.wrong == 0, "seed {seed}");
    }
}

#[test]
fn rare_harm_without_a_queue_is_found_there_before_the_queue_is_blamed() {
    for seed in 1..6 {
        // About 3 of the writes at depth, and none or one of the control as it is planned.
        let alone = QueueFault {
            harm: QueueHarm::LostWrite,
            depth_min: 1,
            share_ppm: 1_000,
            after_flush: None,
        };
        let outcome = queue_of(&card(Some(alone), None), seed);
        assert!(outcome.control.wrong > 0 || outcome.queued.wrong == 0, "seed {seed}: {outcome:?}");
        let queued = QueueFault { depth_min: 4, ..alone };
        let outcome = queue_of(&card(Some(queued), None), seed);
        assert_eq!(outcome.control.wrong, 0, "seed {seed}");
        let QueueOutcome { queued, control, .. } = &outcome;
        let is_blamed = is_to_blame(queued.wrong, queued.writes, control.writes);
        assert!(is_blamed || queued.wrong < 5, "seed {seed}: {outcome:?}");
    }
}

#[test]
fn a_fault_that_needs_a_queue_is_not_seen_where_the_host_has_none() {
    let fault = fault(QueueHarm::SwappedWrites, 100_000);
    let mut alone = card(fault, None);
    alone.host.queue_depth = 1;
    assert_eq!(queue_of(&alone, 1).queued.wrong, 0);
    assert!(queue_of(&card(fault, None), 1).queued.wrong > 0);
}

#[test]
fn a_card_that_is_broken_without_a_queue_is_told_from_a_queue() {
    let mut broken = card(None, None);
    broken.damage.share_ppm = 20_000;
    broken.damage.gives = cardproof_sim::fault::DamagedBlock::FlipsBits;
    let outcome = queue_of(&broken, 1);
    assert!(outcome.control.wrong > 0);
    assert_eq!(outcome.queued.reads, 0, "the queue is not blamed");
}

#[test]
fn every_way_of_a_discard_to_harm_is_found_at_its_place() {
    let reach = Bytes::mib(4);
    for (harm, reach, share, place) in [
        (DiscardHarm::Neighbours, Bytes::kib(4), 20_000, PlaceKind::Live),
        (DiscardHarm::Shifted, reach, 20_000, PlaceKind::Live),
        (DiscardHarm::Shifted, Bytes::mib(64), 200_000, PlaceKind::Far),
        (DiscardHarm::Late, Bytes::kib(4), 50_000, PlaceKind::WrittenAgain),
        (DiscardHarm::Revives, Bytes::kib(4), 50_000, PlaceKind::WrittenAgain),
    ] {
        for seed in some_of(1..4, 3) {
            let fault = DiscardFault { harm, reach, share_ppm: share, ..DiscardFault::HONEST };
            let outcome = discards_of(&card(None, Some(fault)), seed);
            assert!(outcome.wrong_count > 0, "{harm:?}, seed {seed}: nothing found");
            let places: Vec<PlaceKind> = outcome.wrong.iter().map(|wrong| wrong.place).collect();
            assert!(places.contains(&place), "{harm:?}, seed {seed}: {places:?}");
            if harm == DiscardHarm::Neighbours {
                assert!(outcome.wrong.iter().all(|it| it.distance_bytes == 0), "{outcome:?}");
            }
        }
    }
}

#[test]
fn old_data_that_come_back_with_the_first_flush_are_seen() {
    for seed in some_of(1..4, 3) {
        let fault = DiscardFault { share_ppm: 50_000, ..DiscardFault::HONEST };
        let fault = DiscardFault { harm: DiscardHarm::ComesBack, ..fault };
        let outcome = discards_of(&card(None, Some(fault)), seed);
        assert!(outcome.revived > Bytes::ZERO, "seed {seed}: {outcome:?}");
    }
}

#[test]
fn a_discarded_place_that_reads_as_another_is_wrong() {
    for seed in some_of(1..4, 3) {
        let fault = DiscardFault { reach: Bytes::mib(1), ..DiscardFault::HONEST };
        let fault = DiscardFault { harm: DiscardHarm::ReadsOthers, share_ppm: 50_000, ..fault };
        let outcome = discards_of(&card(None, Some(fault)), seed);
        assert!(outcome.wrong_count > 0, "seed {seed}");
        let is_discarded = |wrong: &DiscardWrong| {
            wrong.place == PlaceKind::Discarded && matches!(wrong.found, Sector::Foreign(_))
        };
        assert!(outcome.wrong.iter().all(is_discarded), "{outcome:?}");
    }
}

#[test]
fn large_discards_that_take_more_than_they_name_are_found() {
    for seed in some_of(1..4, 3) {
        let fault = DiscardFault { reach: Bytes::kib(64), ..DiscardFault::HONEST };
        let fault = DiscardFault { harm: DiscardHarm::LargeNeighbours, ..fault };
        let outcome = discards_of(&card(None, Some(fault)), seed);
        assert!(outcome.wrong.iter().any(|it| it.place == PlaceKind::Live), "{outcome:?}");
    }
}

#[test]
fn sound_discards_are_never_blamed_whatever_they_read_as() {
    for (reads, at) in [(DiscardReads::Zeros, 0), (DiscardReads::Ones, 1), (DiscardReads::Old, 2)] {
        for seed in some_of(1..4, 3) {
            let fault = DiscardFault { reads, ..DiscardFault::HONEST };
            let outcome = discards_of(&card(None, Some(fault)), seed);
            assert_eq!((outcome.wrong_count, outcome.revived), (0, Bytes::ZERO), "{outcome:?}");
            assert!(outcome.discards >= 299 && outcome.live_checked > Bytes::mib(1));
            let others: Vec<_> =
                (0..4).filter(|&kind| kind != at && outcome.reads[kind] > Bytes::ZERO).collect();
            assert!(outcome.reads[at] > Bytes::ZERO && others.is_empty(), "{reads:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_card_that_corrupts_without_discards_is_told_from_its_discards() {
    let loses = QueueFault {
        harm: QueueHarm::LostWrite,
        depth_min: 1,
        share_ppm: 10_000,
        after_flush: None,
    };
    let reads = QueueFault { harm: QueueHarm::StaleRead, ..loses };
    for fault in [loses, reads] {
        for seed in some_of(1..4, 3) {
            let outcome = discards_of(&card(Some(fault), None), seed);
            assert!(
                outcome.wrong_count > 0 && outcome.control_wrong > 0,
                "seed {seed}: {outcome:?}"
            );
        }
    }
    for seed in some_of(1..4, 3) {
        let mut fake = card(None, None);
        fake.model.capacity = Bytes::mib(48);
        fake.fake = Some(CapacityFake {
            announced: SIZE,
            beyond: Beyond::WrapAround,
            remembers: HiddenStore::NONE,
        });
        let outcome = discards_of(&fake, seed);
        assert!(outcome.wrong_count > 0 && outcome.control_wrong > 0, "seed {seed}: {outcome:?}");
    }
    let mut damaged = card(None, None);
    damaged.damage.share_ppm = 1_000;
    damaged.damage.gives = cardproof_sim::fault::DamagedBlock::FlipsBits;
    assert!(discards_of(&damaged, 1).control_wrong > 0);
}

#[test]
fn discards_are_blamed_by_a_control_that_would_have_shown_the_harm() {
    for harm in [DiscardHarm::Neighbours, DiscardHarm::Late, DiscardHarm::ComesBack] {
        for seed in some_of(1..4, 3) {
            let fault = DiscardFault {
                harm,
                reach: Bytes::kib(4),
                share_ppm: 20_000,
                ..DiscardFault::HONEST
            };
            let outcome = discards_of(&card(None, Some(fault)), seed);
            assert_eq!(outcome.control_wrong, 0, "{harm:?}, seed {seed}: {outcome:?}");
            let tested = outcome.live_checked + outcome.again_checked;
            let is_blamed = match outcome.wrong_count {
                0 => outcome.revived > Bytes::ZERO && outcome.control_checked >= tested,
                wrong => is_to_blame(wrong, tested.get(), outcome.control_checked.get()),
            };
            assert!(is_blamed, "{harm:?}, seed {seed}: {outcome:?}");
        }
    }
    let sound = discards_of(&card(None, None), 1);
    assert_eq!(sound.control_checked, Bytes::ZERO, "nothing was wrong, so there is no control");
}

#[test]
fn what_a_discard_gives_back_is_measured() {
    let rates = |discard| {
        let mut target = card(None, discard).open(Seed::from_bits(1), Keeping::Nothing).unwrap();
        let plan = SpeedPlan::new(SIZE, Seed::from_bits(1)).unwrap();
        let measured = run_speed(&mut target, &plan, &mut |_, _| true).unwrap();
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        mean(&measured.after) / mean(&measured.before)
    };
    let honest = rates(None);
    assert!(honest > 1.03, "room is free: {honest}");
    let ignored = rates(Some(DiscardFault { harm: DiscardHarm::Ignored, ..DiscardFault::HONEST }));
    assert!((0.95..1.05).contains(&ignored), "{ignored}");
}
