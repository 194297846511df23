//! What a list of records says.

use cardproof_rating::{DefectKind, Found};
use cardproof_record::{FindingKind, Transport};
use cardproof_testkit::records;
use cardproof_units::Bytes;

use super::*;

fn of_id(id: &str, label: Option<&str>) -> Entry {
    let label = label.map(str::to_owned);
    Entry { id: id.to_owned(), label, ..Entry::of(&records::typical_a1_card()) }
}

#[test]
fn an_id_is_never_so_short_that_it_means_nothing() {
    for (id, short) in [
        ("20261126T130904Z-9e84f69a", "9e84f69a"),
        ("20261126T130904Z-9e84f69a-2", "9e84f69a-2"),
        ("sim-fake-wrap-check-7551038317885631-9b7aca7c", "9b7aca7c"),
        ("mine-2", "mine-2"),
        ("x", "x"),
    ] {
        assert_eq!(of_id(id, None).short_id(), short);
    }
}

#[test]
fn ids_that_end_alike_are_shown_longer() {
    let mut entries =
        ["a-1-11111111-22222222", "a-1-33333333-22222222", "b-44444444"].map(|id| of_id(id, None));
    tell_ids_apart(&mut entries.iter_mut().collect::<Vec<_>>());
    let shown: Vec<&str> = entries.iter().map(Entry::short_id).collect();
    assert_eq!(shown, ["11111111-22222222", "33333333-22222222", "44444444"]);
}

#[test]
fn records_with_one_label_are_told_apart_by_their_ids() {
    let entries = [
        of_id("a-11111111", Some("red")),
        of_id("a-22222222", Some("red")),
        of_id("a-33333333", Some("grey")),
    ];
    assert_eq!(names(&entries), ["red (11111111)", "red (22222222)", "grey"]);
    let text = inventory_text(&entries, None, Some(80));
    let starts: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(starts, [["11111111", "red"], ["22222222", "red"], ["33333333", "grey"]]);
    for text in [inventory_table(&entries), inventory_markdown(&entries)] {
        assert!(text.contains("red (11111111)") && text.contains("red (22222222)"), "{text}");
    }
}

/// A fake that holds 8 GiB.
fn fake(announced_bytes: Option<Bytes>) -> Defect {
    let usable_bytes = Some(Bytes::gib(8));
    let what = Found::ByTool(FindingKind::Counterfeit { usable_bytes, announced_bytes });
    Defect { kind: DefectKind::Fake, what, is_of_another_record: false }
}

#[test]
fn a_list_fits_the_terminal_and_a_pipe_gets_whole_results() {
    let defect = fake(Some(Bytes::gib(64))).of_another_record();
    let words = defect.words();
    let card = Entry {
        card_in_short: "SanDisk Ultra 64 GB of another reader".to_owned(),
        defect: Some(defect),
        capacity: Some(words.clone()),
        ..of_id("a-11111111", Some("red"))
    };
    let entries = [card.clone(), Entry { id: "a-22222222".to_owned(), ..card }];
    let text = inventory_text(&entries, Some("a-22222222"), Some(80));
    for line in text.lines() {
        assert!(crate::columns::columns_of(line) <= 80, "{text}");
        assert!(line.contains("FAKE: holds 8 GiB of") && line.contains("SanDisk Ult"), "{text}");
    }
    assert!(text.lines().nth(1).unwrap().ends_with(" (latest)"), "{text}");
    assert!(inventory_text(&entries, None, None).contains(&words));
}

#[test]
fn a_long_label_takes_no_room_from_the_other_rows() {
    let long = "the one from the drawer, 8 GB";
    let card = |label: &str| Entry {
        card_in_short: "SanDisk Ultra 64 GB".to_owned(),
        ..of_id("a-11111111", Some(label))
    };
    let text = inventory_text(&[card("red"), card(long)], None, Some(80));
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].contains("SanDisk Ultra 64 GB"), "{text}");
    assert!(rows[1].contains(long), "no label is cut: {text}");
    let alone = inventory_text(&[card(long)], None, Some(80));
    assert!(alone.contains(long), "{alone}");
}

#[test]
fn an_interrupted_run_has_no_class_and_one_word() {
    let mut record = records::typical_a1_card();
    record.state = State::Partial;
    let entry = Entry { met: vec!["C10".to_owned()], ..Entry::of(&record) };
    assert_eq!(entry.result(), "standard, interrupted");
    let entries = [entry];
    for text in [
        inventory_text(&entries, None, Some(80)),
        inventory_table(&entries),
        inventory_markdown(&entries),
    ] {
        assert!(text.contains("standard, interrupted") && !text.contains("C10"), "{text}");
    }
}

#[test]
fn what_is_no_sd_card_has_no_class() {
    let mut record = records::typical_a1_card();
    let all = |record: &Record| {
        let entries = [Entry::of(record)];
        [
            inventory_text(&entries, None, Some(80)),
            inventory_table(&entries),
            inventory_markdown(&entries),
        ]
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    assert!(all(&record).iter().all(|text| text.contains("passed") && !text.contains("ask")));
    for transport in [Transport::Nvme, Transport::Sata, Transport::Mmc] {
        record.conditions.device.transport = Some(transport);
        let texts = all(&record);
        assert!(
            texts.iter().all(|it| it.contains("as fast as A1") && !it.contains("passed")),
            "{texts:#?}"
        );
        let short = crate::markdown_short(&record);
        assert!(short.contains("as fast as A1") && !short.contains("passed"), "{short}");
    }
}

#[test]
fn a_check_is_told_by_its_class_unless_its_capacity_is_bad() {
    let card = Entry::of(&records::typical_a1_card());
    let capacity = Some("capacity genuine".to_owned());
    let genuine = Entry { capacity, genuine: Some("genuine"), ..card };
    assert_eq!(genuine.result(), "A1 passed, genuine");
    let defect = fake(None);
    let words = defect.words();
    let fake = Entry { capacity: Some(words), defect: Some(defect), ..genuine.clone() };
    assert_eq!(fake.result(), "FAKE: holds 8 GiB");
    assert!(fake.verdicts().starts_with("FAKE: holds 8 GiB; passed"), "{}", fake.verdicts());
    let mut labelled = [Entry { label: Some("card".to_owned()), ..genuine.clone() }, fake];
    labelled[1].label = labelled[0].label.clone();
    let [first, second] = &mut labelled;
    share_defects(&mut [first, second]);
    let shared = "FAKE: holds 8 GiB (by another record with this label)";
    assert_eq!(labelled[0].result(), shared);
    let alone = Entry { met: Vec::new(), missed: Vec::new(), undecided: Vec::new(), ..genuine };
    assert_eq!(alone.result(), "capacity genuine");
    let open = Entry { capacity: None, genuine: None, undecided: vec!["A1".to_owned()], ..alone };
    assert_eq!(open.result(), "A1 undecided");
    let missed = Entry { missed: vec!["A2".to_owned()], ..open };
    assert_eq!(missed.result(), "A1 undecided", "A2 not passed would sound like A1 passed");
}
