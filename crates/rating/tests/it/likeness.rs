//! What may not stand in one order: figures of hosts that differ or are not known, and figures in
//! doubt.

use cardproof_rating::compare::{Comparison, Contender, Pairing, Use, compare};
use cardproof_rating::{find_reference, references};
use cardproof_record::{Estimate, HostInfo, OpName, Phase, Record, Warning, WarningCode};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// The published table whose cards also have the times of whole jobs.
const TABLE: &str = "sd-card-bench-2018";

fn table() -> Vec<Record> {
    let cards = references().iter().filter(|card| card.table == TABLE);
    cards.map(|card| card.record.clone()).collect()
}

fn compared(records: &[Record]) -> Comparison {
    let contender = |(number, record)| Contender {
        name: format!("card {number}"),
        runs: vec![record],
        price: None,
    };
    let cards: Vec<Contender<'_>> = records.iter().enumerate().map(contender).collect();
    compare(&cards, Pairing::Independent, 1)
}

/// How many cards each order by `by` has.
fn sizes(comparison: &Comparison, by: Use) -> Vec<usize> {
    let rankings = comparison.rankings.iter().filter(|ranking| ranking.by == by);
    rankings.map(|ranking| ranking.cards.len()).collect()
}

fn two_cards(change: impl Fn(&mut Record)) -> [Record; 2] {
    ["sandisk-extreme-a1", "sandisk-ultra-a1"].map(|name| {
        let mut record = find_reference(name).unwrap().record.clone();
        change(&mut record);
        record
    })
}

#[test]
fn cards_of_unknown_hosts_are_not_ranked_together() {
    assert_eq!(sizes(&compared(&two_cards(|_| ())), Use::System), [2]);
    let unknown = two_cards(|record| record.conditions.host = HostInfo::default());
    assert_eq!(sizes(&compared(&unknown), Use::System), [1, 1]);
}

#[test]
fn a_figure_in_doubt_is_not_ranked() {
    let mut cards = two_cards(|_| ());
    let message = "faster than its bus".to_owned();
    cards[1].warnings.push(Warning::stated(WarningCode::Memory, message));
    let comparison = compared(&cards);
    let first = comparison.rankings.iter().find(|ranking| ranking.by == Use::System).unwrap();
    assert_eq!(first.cards.len(), 1);
    assert_eq!(first.cards[0].name, "card 0");
}

/// Reads through the page cache are of memory; beside writes that bypassed it they are no basis
/// that others share.
#[test]
fn reads_by_another_way_than_others_are_another_basis() {
    let mut cards = two_cards(|_| ());
    for phase in cards[1].phases.iter_mut().filter(|phase| phase.op == OpName::Read) {
        let message = "through the page cache".to_owned();
        phase.warnings.push(Warning::stated(WarningCode::Buffered, message));
    }
    assert_eq!(sizes(&compared(&cards), Use::System), [1, 1]);
}

/// On a faster host every job takes less time, whatever the card: both hosts together would tell
/// of the hosts.
#[test]
fn jobs_on_another_host_do_not_count_in_a_correlation() {
    let of_one_host = compared(&table());
    let mut both = table();
    for record in table().into_iter().take(6) {
        let mut other = record;
        other.conditions.host.board = Some("Raspberry Pi 5".to_owned());
        other.jobs.iter_mut().for_each(|job| job.duration_ns = Nanos(job.duration_ns.get() / 20));
        both.push(other);
    }
    let of_both = compared(&both);
    let told = |comparison: &Comparison| -> Vec<(String, usize, i64)> {
        let all = comparison.correlations.iter();
        all.map(|it| {
            let shown = (it.rank_correlation * 1e6).round() as i64;
            (format!("{} {}", it.job, it.with), it.cards, shown)
        })
        .collect()
    };
    assert!(!of_one_host.correlations.is_empty());
    assert_eq!(told(&of_both), told(&of_one_host));
}

/// A smaller range gives higher rates, so a card with a smaller range wins only by more than the ranges can
/// explain.
#[test]
fn a_card_of_a_smaller_range_wins_only_by_more_than_that_explains() {
    let card = |iops: f64, span: Bytes| {
        let mut record = find_reference("sandisk-ultra-a1").unwrap().record.clone();
        for phase in &mut record.phases {
            phase.iops = Some(Estimate {
                estimate: Iops(iops),
                low: Iops(0.99 * iops),
                high: Iops(1.01 * iops),
                confidence: 0.99,
            });
            phase.stated = None;
            phase.span_bytes = span;
        }
        record
    };
    let (whole, small) = (Bytes::mib(256), Bytes::mib(64));
    for (spans, iops, winner) in [
        ([whole, whole], [1000.0, 100.0], Some("card 0")),
        ([whole, small], [1000.0, 100.0], Some("card 0")),
        ([small, whole], [1000.0, 150.0], None),
        ([small, whole], [1000.0, 75.0], Some("card 0")),
        ([small, whole], [100.0, 1000.0], Some("card 1")),
    ] {
        let cards = [card(iops[0], spans[0]), card(iops[1], spans[1])];
        let comparison = compared(&cards);
        let ranking = comparison.rankings.iter().find(|it| it.by == Use::System).unwrap();
        assert_eq!(ranking.cards.len(), 2, "one order, whatever the ranges");
        let choice = ranking.choice().unwrap();
        let best = (choice.best.len() == 1).then(|| choice.best[0].as_str());
        assert_eq!(best, winner, "{spans:?} {iops:?}");
    }
}

#[test]
fn several_runs_in_one_output_count_as_their_mean() {
    let [mut record, _] = two_cards(|_| ());
    let is_read = |phase: &Phase| phase.op == OpName::Read && phase.stated.is_some();
    let place = record.phases.iter().position(is_read).unwrap();
    let mut again = record.phases[place].clone();
    let rate = again.stated.unwrap().iops.unwrap().0;
    let stated = again.stated.as_mut().unwrap();
    stated.iops = Some(Iops(4.0 * rate));
    stated.throughput_bytes_per_s = stated.throughput_bytes_per_s.map(|it| Throughput(4.0 * it.0));
    record.phases.push(again);
    let row = compared(&[record])
        .rows
        .into_iter()
        .find(|row| row.what.to_string().contains("read"))
        .unwrap();
    let factor = row.cells[0].rate.unwrap() / rate;
    assert!(row.unit != "IOPS" || (factor - 2.0).abs() < 0.01, "{row:?}");
}
