//! Disturbed runs in an order of cards: a disturbance only slows, so what is slower in spite of none is slower, and
//! what may be slower for it is not.

use cardproof_rating::compare::{Behind, Comparison, Contender, Pairing, Use, compare};
use cardproof_record::{DisturbanceFigures, Estimate, Record};
use cardproof_testkit::records;
use cardproof_units::{Bytes, Iops};

/// A card that is `times` as fast as [`records::typical_a1_card`].
fn card(times: f64) -> Record {
    let mut record = records::typical_a1_card();
    for phase in &mut record.phases {
        let scaled = |it: &mut Estimate<Iops>| {
            for end in [&mut it.low, &mut it.estimate, &mut it.high] {
                *end = Iops(times * end.0);
            }
        };
        phase.iops.iter_mut().for_each(scaled);
        for rate in phase.throughput_bytes_per_s.iter_mut() {
            for end in [&mut rate.low, &mut rate.estimate, &mut rate.high] {
                end.0 *= times;
            }
        }
    }
    record
}

/// `record` with all phases disturbed by `figures`, without counts that bound what that cost.
fn disturbed(mut record: Record, figures: &DisturbanceFigures) -> Record {
    for phase in &mut record.phases {
        phase.disturbances.push(figures.clone().into());
        phase.warnings.push(phase.disturbances[0].clone().into());
    }
    record
}

fn by_programs(record: Record) -> Record {
    let (read_bytes, written_bytes) = (Bytes::mib(64), Bytes::mib(64));
    let device = "mmcblk0".to_owned();
    let used = DisturbanceFigures::Used { device, read_bytes, written_bytes, requests: None };
    disturbed(record, &used)
}

fn by_heat(record: Record) -> Record {
    disturbed(record, &DisturbanceFigures::Heat { celsius: Some(82.0) })
}

fn compared(cards: [&Record; 2]) -> Comparison {
    let [a, b] = cards.map(|record| vec![record]);
    compare(
        &[
            Contender { name: "a".to_owned(), runs: a, price: None },
            Contender { name: "b".to_owned(), runs: b, price: None },
        ],
        Pairing::Independent,
        1,
    )
}

/// The best for a system, and how far the first is ahead of the last.
fn best(cards: [&Record; 2]) -> (Vec<String>, Behind) {
    let comparison = compared(cards);
    let ranking = comparison.rankings.iter().find(|it| it.by == Use::System).unwrap();
    (ranking.choice().unwrap().best, ranking.cards.last().unwrap().behind_first.unwrap())
}

#[test]
fn a_storage_is_not_worse_than_itself_because_it_was_disturbed() {
    let (best, behind) = best([&card(1.0), &by_programs(card(0.2))]);
    assert_eq!(best, ["a", "b"]);
    assert!(behind.low < 1.0, "{behind:?}");
    let comparison = compared([&card(1.0), &by_programs(card(0.2))]);
    let is_told = |row: &cardproof_rating::compare::ComparedRow| {
        row.cells[1].ratio.is_some_and(|ratio| ratio.is_a_difference())
    };
    assert!(!comparison.rows.iter().any(is_told), "a ratio is no difference either");
}

#[test]
fn an_undisturbed_difference_is_one() {
    let (best, behind) = best([&card(1.0), &card(0.2)]);
    assert_eq!(best, ["a"]);
    assert!(behind.low > 1.0 && behind.high.is_some(), "{behind:?}");
}

#[test]
fn a_disturbed_card_that_is_faster_all_the_same_is_faster() {
    let (best, behind) = best([&by_programs(card(1.0)), &card(0.2)]);
    assert_eq!(best, ["a"]);
    assert!(behind.low > 1.0, "{behind:?}");
    assert_eq!(behind.high, None, "how much faster it would be alone is not known");
}

#[test]
fn a_difference_that_no_heat_explains_is_one() {
    assert_eq!(best([&card(1.0), &by_heat(card(0.2))]).0, ["a"]);
    assert_eq!(best([&card(1.0), &by_heat(card(0.6))]).0, ["a", "b"]);
}

#[test]
fn what_was_disturbed_is_told_with_its_cause() {
    let comparison = compared([&card(1.0), &by_heat(card(1.0))]);
    let of = |at: usize| comparison.figures[at].figures.iter().map(|it| it.disturbed_by.len());
    assert_eq!(of(0).sum::<usize>(), 0);
    assert!(of(1).all(|count| count == 1), "{:?}", comparison.figures[1]);
}
