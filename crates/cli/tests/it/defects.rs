//! A card with a defect is recommended by nothing, and one label stands for all records of a card.

use std::fs;

use cardproof_record::Record;

use crate::home::{Home, word};
use crate::process::run;
use crate::records::read;

const FAKE: &str = "cheap 64GB";
const OLD: &str = "old Intenso";

/// A fake and a sound card, both measured with `command`.
fn two_cards(command: &str) -> Home {
    let home = Home::new();
    for (card, label, status) in [("sim:fake-wrap", FAKE, 4), ("sim:intenso-class-4", OLD, 4)] {
        let words = [command, card, "--label", label, "--seed", "1", "--quiet"];
        let small = ["--size", "32M", "--time-budget", "15s"];
        let small = if command == "run" { &small[..] } else { &[] };
        let ended = run(home.cardproof(&[&words[..], small].concat()));
        assert!([0, status].contains(&ended.code()), "{}", ended.stderr);
    }
    home
}

/// What all forms of the comparison of the two say.
fn compared(home: &Home) -> Vec<String> {
    let page = home.place().join("page.html");
    let words = ["compare", FAKE, OLD, "--use", "server", "--price", "cheap 64GB=5"];
    let words = [&words[..], &["--price", "old Intenso=6"]].concat();
    let with = |more: &[&str]| run(home.cardproof(&[&words, more].concat())).expect(0).stdout;
    let forms = vec![
        with(&["--html", word(&page)]),
        with(&["--details"]),
        with(&["--markdown", "-"]),
        with(&["--json", "-"]),
        with(&["--csv", "-"]),
    ];
    forms.into_iter().chain([fs::read_to_string(&page).unwrap()]).collect()
}

fn assert_fake_is_told(home: &Home) {
    let forms = compared(home);
    for text in &forms {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("FAKE: holds"), "{text}");
        assert!(!flat.contains("cheap 64GB is the best"), "{text}");
        assert!(!flat.contains("Best value for money: cheap"), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&forms[3]).unwrap();
    assert_eq!(json["figures"][0]["defect"]["kind"], "fake");
    for ranking in json["rankings"].as_array().unwrap() {
        let cards = ranking["cards"].as_array().unwrap();
        assert!(cards.iter().all(|card| card["name"] == OLD), "{ranking}");
    }
}

#[test]
fn a_fake_is_never_recommended() {
    let home = two_cards("check");
    assert_fake_is_told(&home);
    let list = run(home.cardproof(&["list"])).expect(0).stdout;
    assert_eq!(list.matches("FAKE").count(), 1, "{list}");
}

#[test]
fn another_record_with_the_label_tells_of_the_fake() {
    let home = two_cards("run");
    let words = ["verify", "sim:fake-wrap", "--label", FAKE, "--seed", "1", "--quiet"];
    run(home.cardproof(&words)).expect(4);
    assert_fake_is_told(&home);
    let list = run(home.cardproof(&["list"])).expect(0).stdout;
    let lines: Vec<&str> = list.lines().filter(|line| line.contains(FAKE)).collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains("FAKE")), "{list}");
}

/// `check` makes two records, which belong together; a command takes the one that it can use.
#[test]
fn the_label_of_a_check_names_one_answer() {
    let home = two_cards("check");
    let shown = run(home.cardproof(&["show", FAKE])).expect(0).stdout;
    assert!(shown.contains("FAKE"), "{shown}");
    let id_of = |label: &str| {
        let records = home.records().into_iter().map(|path| read(&path));
        let is_test = |record: &Record| {
            record.profile.name == "verify" && record.label.as_deref() == Some(label)
        };
        records.into_iter().find(is_test).unwrap().id
    };
    let words = ["compare", &id_of(FAKE), &id_of(OLD), "--json", "-"];
    let json = run(home.cardproof(&words)).expect(0).stdout;
    assert!(json.contains("\"rate\""), "{json}");
    run(home.cardproof(&["compare", "latest", FAKE])).expect(0);
}
