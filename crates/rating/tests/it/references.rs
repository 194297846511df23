//! The published measurements that ship with the program, and whether comparing them leads to what
//! their sources concluded.

use std::collections::HashSet;
use std::fmt::Write;

use cardproof_rating::compare::{Comparison, Contender, Pairing, Use, compare};
use cardproof_rating::{PUBLISHED_CARDS, ReferenceCard, find_reference, indications, references};
use cardproof_record::{Likelihood, OpName, Outcome, Record};

fn contender(name: &str) -> Contender<'static> {
    let card = find_reference(name).unwrap_or_else(|| panic!("there is no card '{name}'"));
    Contender { name: name.to_owned(), runs: vec![&card.record], price: None }
}

fn of_table(table: &str) -> Vec<Contender<'static>> {
    let cards = references().iter().filter(|card| card.table == table);
    cards.map(|card| contender(&card.name)).collect()
}

fn compared(names: &[&str]) -> Comparison {
    let cards: Vec<Contender<'_>> = names.iter().map(|name| contender(name)).collect();
    compare(&cards, Pairing::Independent, 1)
}

/// How many times as fast as the first the second card is in the row called `what`.
fn ratio(comparison: &Comparison, what: &str) -> f64 {
    let row = comparison.rows.iter().find(|row| row.what.to_string() == what);
    let row = row.unwrap_or_else(|| panic!("no row '{what}'"));
    assert!(row.cells[1].not_alike.is_empty(), "{what}: {:?}", row.cells[1].not_alike);
    row.cells[1].ratio.unwrap().estimate
}

fn order(comparison: &Comparison, by: Use) -> Vec<&str> {
    let ranking = comparison.rankings.iter().find(|ranking| ranking.by == by).unwrap();
    ranking.cards.iter().map(|card| card.name.as_str()).collect()
}

#[test]
fn every_row_of_every_table_is_a_record_with_its_source() {
    let count = |table: &str| references().iter().filter(|card| card.table == table).count();
    assert_eq!(count("sd-card-bench-2018"), 8);
    assert_eq!(count("iozone-rpi3-2018"), 12);
    assert_eq!(count("fio-mixed-rpi3-2018"), 7);
    assert_eq!(count("microsd-benchmarks-pi"), 52);
    assert_eq!(count("fsync-by-filesystem"), 7);
    assert_eq!(count("fio-pi5-2024"), 20);
    assert_eq!(count("iozone-pi-ssd"), 8);
    let names: HashSet<&str> = references().iter().map(|card| card.name.as_str()).collect();
    assert_eq!(names.len(), references().len(), "every name is one card's");
    for ReferenceCard { name, record, source, .. } in references() {
        assert!(source.contains("Source"), "{name}: {source}");
        assert!(!record.phases.is_empty(), "{name} has no figure");
        assert!(record.is_imported(), "{name} is no measurement of ours");
        assert_eq!(&Record::from_json(&record.to_json().unwrap()).unwrap(), record);
        for phase in &record.phases {
            assert!(phase.iops.is_none() && phase.point_throughput().is_some(), "{name}");
        }
    }
}

/// The two cards of one maker that gain by the command queue, and one that does not.
#[test]
fn the_command_queue_more_than_doubles_deep_writes_of_some_a2_cards() {
    for (card, range) in [
        ("sandisk-extreme-64gb", 2.0..3.0),
        ("sandisk-extreme-pro-128gb", 2.0..3.0),
        ("samsung-pro-plus-128gb", 0.9..1.1),
    ] {
        let [off, on] = ["off", "on"].map(|queue| format!("pi5-{card}-queue-{queue}"));
        let comparison = compared(&[&off, &on]);
        let gain = ratio(&comparison, "4 KiB random write, depth 64");
        assert!(range.contains(&gain), "{card}: {gain}");
    }
}

/// A USB SSD and a card on one Raspberry Pi 4 are in one order with the older table of that board.
#[test]
fn a_published_a2_card_is_indicated_by_its_command_queue() {
    for (name, expected, reason) in [
        (
            "pi5-sandisk-extreme-pro-128gb-queue-on",
            Likelihood::LikelyMeets,
            "well above the limit of",
        ),
        (
            "pi5-samsung-pro-plus-128gb-queue-on",
            Likelihood::LikelyMisses,
            "well below the limit of",
        ),
        ("pi5-samsung-pro-plus-128gb-queue-off", Likelihood::Unclear, "did not use"),
    ] {
        let record = &find_reference(name).unwrap().record;
        let found = indications(record);
        let a2 = found.iter().find(|indication| indication.rule == "A2").unwrap();
        assert_eq!(a2.outcome, expected, "{name}: {:?}", a2.basis);
        assert!(a2.basis.join(" ").contains(reason), "{name}: {:?}", a2.basis);
        assert_eq!(
            record.conditions.device.card.as_ref().unwrap().claims.application_class,
            Some(2)
        );
    }
}

#[test]
fn ssds_and_cards_of_one_board_and_method_are_ranked_together() {
    let names = ["pi4-usb-kingston-ssd-uasp", "pi4-sd-samsung-evo-plus-32gb"];
    let all = compared(&[names[1], "pi4-samsung-evo-plus-32gb", names[0]]);
    assert_eq!(order(&all, Use::System), [names[0], "pi4-samsung-evo-plus-32gb", names[1]]);
}

#[test]
fn no_published_figure_carries_a_verdict() {
    for ReferenceCard { name, record, .. } in references() {
        for verdict in cardproof_rating::judge(record) {
            let is_open = matches!(verdict.outcome, Outcome::NotTestable | Outcome::Undecided);
            assert!(is_open, "{name}: {verdict:?}");
        }
    }
}

#[test]
fn the_published_devices_of_the_summary_are_those_of_the_table() {
    let table: Vec<&ReferenceCard> =
        references().iter().filter(|card| card.table == "sd-card-bench-2018").collect();
    for (card, reference) in PUBLISHED_CARDS.iter().zip(table) {
        let model = reference.record.conditions.device.model.as_deref().unwrap();
        assert!(model.starts_with(card.name), "{model} is not {}", card.name);
        let iops = |op: OpName| {
            let mut phases = reference.record.phases.iter();
            let of_4k = phases.find(|phase| phase.op == op && phase.block_size_bytes.get() == 4096);
            of_4k.unwrap().point_iops().unwrap()
        };
        assert_eq!(
            (iops(OpName::Read), iops(OpName::Write)),
            (card.random_read, card.random_write)
        );
        let job = |name: &str| {
            let jobs = &reference.record.jobs;
            jobs.iter().find(|job| job.name == name).unwrap().duration_ns
        };
        assert_eq!((job("boot"), job("desktop-install")), (card.boot, card.desktop_install));
    }
}

#[test]
fn the_a1_card_beats_the_a2_card_of_the_same_maker_on_that_host() {
    let comparison = compared(&["sandisk-extreme-pro-a2", "sandisk-extreme-a1"]);
    assert!(ratio(&comparison, "4 KiB random write, depth 1") > 2.0);
    assert!(ratio(&comparison, "4 KiB random read, depth 1") > 1.8);
    for what in ["1 KiB random read, depth 1", "16 KiB random write, depth 1"] {
        assert!(ratio(&comparison, what) > 1.0, "{what}");
    }
    let of_system = order(&comparison, Use::System);
    assert_eq!(of_system, ["sandisk-extreme-a1", "sandisk-extreme-pro-a2"]);
    let all = compare(&of_table("sd-card-bench-2018"), Pairing::Independent, 1);
    let order = order(&all, Use::System);
    let place = |name: &str| order.iter().position(|card| *card == name).unwrap();
    assert!(place("sandisk-ultra-a1") < place("sandisk-extreme-pro-a2"), "{order:?}");
    assert!(place("sandisk-extreme-a1") < place("sandisk-extreme-pro-a2"), "{order:?}");
}

#[test]
fn install_time_follows_random_write_and_not_sequential_write() {
    let comparison = compare(&of_table("sd-card-bench-2018"), Pairing::Independent, 1);
    let of = |job: &str, with: &str| {
        let mut found = comparison.correlations.iter();
        let found = found.find(|it| it.job == job && it.with.to_string() == with).unwrap();
        assert_eq!(found.cards, 8);
        found.rank_correlation
    };
    let (random, sequential) = ("4 KiB random write, depth 1", "16 MiB sequential write, depth 1");
    for job in ["desktop-install", "desktop-removal", "desktop-install-again"] {
        assert!(of(job, random) <= -0.8, "{job}");
        assert!(of(job, random) < of(job, sequential) - 0.1, "{job}");
    }
    let mut text = String::new();
    for found in &comparison.correlations {
        let coefficient = found.rank_correlation;
        let with = found.with.to_string();
        writeln!(text, "{:<22} {with:<36} {coefficient:+.2}", found.job).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_two_evo_plus_models_of_one_name_are_told_apart() {
    for (names, mixed) in [
        (["pi3-samsung-evo-plus-mb-mc32ga", "pi3-samsung-evo-plus-mb-mc32da"], false),
        (["pi3-fio-samsung-evo-plus-mb-mc32ga", "pi3-fio-samsung-evo-plus-mb-mc32da"], true),
    ] {
        let comparison = compared(&names);
        let models: Vec<&str> = names
            .iter()
            .map(|name| find_reference(name).unwrap())
            .map(|card| card.record.conditions.device.model.as_deref().unwrap())
            .collect();
        assert_eq!(models, ["Samsung Evo+ MB-MC32GA/AM", "Samsung Evo+ MB-MC32DA/AM"]);
        if mixed {
            let found = ratio(&comparison, "4 KiB random mix, 75 % reads, depth 64");
            assert!((3.5..4.5).contains(&found), "{found}");
        } else {
            let write = ratio(&comparison, "4 KiB random write, depth 1");
            let read = ratio(&comparison, "4 KiB random read, depth 1");
            assert!((4.0..5.0).contains(&write), "{write}");
            assert!((1.8..2.0).contains(&read), "{read}");
        }
    }
    // Two owners measured the slower model; they agree with each other and not with the faster.
    let slow =
        compared(&["pi3-samsung-evo-plus-mb-mc32ga-lechner", "pi3-samsung-evo-plus-mb-mc32ga"]);
    assert!((0.8..1.25).contains(&ratio(&slow, "4 KiB random write, depth 1")));
}

#[test]
fn only_figures_of_the_same_method_are_compared() {
    let comparison = compared(&["sandisk-extreme-a1", "pi4-sandisk-extreme-pro-a1-32gb"]);
    let row = comparison
        .rows
        .iter()
        .find(|row| row.what.to_string() == "4 KiB random write, depth 1")
        .unwrap();
    assert!(row.cells[1].rate.is_some() && row.cells[1].ratio.is_none());
    insta::assert_snapshot!(
        row.cells[1].not_alike.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        @"the host differs: NanoPi M4 and Raspberry Pi 4"
    );
    assert!(comparison.rankings.iter().all(|ranking| ranking.cards.len() == 1));
    // The same card in the same host by two methods that both run iozone over the same range.
    let alike = compared(&[
        "pi3-samsung-evo-plus-mb-mc32ga",
        "pi3-sandisk-ultra-sdsquar-016g-gn6ma-16gb-reader",
    ]);
    assert!(ratio(&alike, "4 KiB random read, depth 1") < 1.0);
}

#[test]
fn a_price_gives_value_for_money() {
    let mut cards = vec![contender("sandisk-extreme-a1"), contender("sandisk-ultra-a1")];
    cards[0].price = Some(12.0);
    cards[1].price = Some(4.0);
    let comparison = compare(&cards, Pairing::Independent, 1);
    let ranking = comparison.rankings.iter().find(|ranking| ranking.by == Use::System).unwrap();
    let value = |name: &str| {
        let card = ranking.cards.iter().find(|card| card.name == name).unwrap();
        card.value_for_price.unwrap()
    };
    assert_eq!(value("sandisk-ultra-a1"), 1.0);
    assert!((0.5..0.7).contains(&value("sandisk-extreme-a1")));
}
