//! What a sixth reader found wrong or misleading.

use std::fs;

use cardproof_record::Record;
use cardproof_testkit::records::typical_a1_card;
use cardproof_units::Bytes;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};
use crate::process::run;

const NO_RECORD: &str = "here is no record yet; check a card first: cardproof check DIRECTORY";

/// A check of the simulated `card` with a label, and what it has said beside the page.
fn checked(home: &Home, card: &str, label: &str, seed: &str) -> String {
    let target = format!("sim:{card}");
    let words = ["check", &target, "--label", label, "--seed", seed];
    run(home.cardproof(&words)).stderr
}

#[test]
fn without_a_record_one_sentence_says_what_to_do() {
    let home = Home::new();
    for (words, status) in [
        (vec!["list"], 0),
        (vec!["show", "latest"], 2),
        (vec!["compare"], 2),
        (vec!["compare", "latest", "latest"], 2),
    ] {
        let told = said(&home, &words, status).stderr;
        assert!(told.contains(NO_RECORD), "{words:?}: {told}");
    }
}

#[test]
fn a_label_stands_for_the_records_that_a_list_shows() {
    let home = Home::new();
    for seed in ["1", "2"] {
        checked(&home, "sandisk-ultra", "red", seed);
    }
    assert_eq!(home.records().len(), 4, "each check keeps its test of the capacity too");
    assert_eq!(said(&home, &["list"], 0).stdout.matches("red").count(), 2);
    let shown = said(&home, &["show", "red"], 0);
    assert!(shown.stderr.contains("the newest of 2 records"), "{}", shown.stderr);
    let hidden = home.records().into_iter().find(|path| word(path).contains("-verify-1-")).unwrap();
    let id = hidden.file_stem().unwrap().to_str().unwrap();
    said(&home, &["show", id], 0);
}

#[test]
fn a_label_of_two_cards_is_told_when_it_is_given_and_when_it_is_used() {
    let home = Home::new();
    let first = checked(&home, "sandisk-ultra", "red", "1");
    assert!(!first.contains("another card"), "{first}");
    let again = checked(&home, "sandisk-ultra", "red", "2");
    assert!(!again.contains("another card"), "{again}");
    let second = checked(&home, "sandisk-extreme-a1", "red", "1");
    assert!(second.contains("on a record of another card too: sim-sandisk-ultra-"), "{second}");
    for words in [vec!["show", "red"], vec!["compare", "red", "ref:sandisk-ultra"]] {
        let told = said(&home, &words, 2).stderr;
        assert!(told.contains("(sim:sandisk-extreme-a1, "), "{told}");
        assert_eq!(told.matches("(sim:sandisk-ultra, ").count(), 2, "{told}");
    }
}

#[test]
fn a_label_is_no_id_and_goes_before_a_part_of_one() {
    let home = Home::new();
    for label in ["20261104T181502Z-9e84f69a", "20261104T", "9e84f69a"] {
        let told = said(&home, &["run", "sim:usb-stick", "--label", label], 2).stderr;
        assert!(in_one_line(&told).contains("form of a record's id"), "{told}");
    }
    checked(&home, "sandisk-ultra", "red", "1");
    checked(&home, "sandisk-extreme-a1", "sim-sandisk", "1");
    let shown = said(&home, &["show", "sim-sandisk"], 0).stdout;
    assert!(shown.contains("sim-sandisk: SanDisk Extreme A1"), "{shown}");
}

#[test]
fn one_card_measured_twice_has_no_winner() {
    let home = Home::new();
    for seed in ["1", "2"] {
        checked(&home, "sandisk-ultra", "red", seed);
    }
    let [first, second] = ["sim-sandisk-ultra-check-1", "sim-sandisk-ultra-check-2"];
    let page = in_one_line(&said(&home, &["compare", first, second], 0).stdout);
    assert!(page.contains("The same card, measured twice."), "{page}");
    assert!(page.contains("4 KiB random read, depth 1: 1.0"), "{page}");
    for word in ["is the best", "best result", "cannot be told apart"] {
        assert!(!page.contains(word), "{page}");
    }
    let words = ["compare", first, second, "--json", "-"];
    let json: serde_json::Value = serde_json::from_str(&said(&home, &words, 0).stdout).unwrap();
    assert_eq!(json["same_card"], "certain");
    assert_eq!(json["answers"].as_array().map(Vec::len), Some(0));
    assert!(json["rows"][0]["cells"][1]["ratio"]["estimate"].is_number());
}

#[test]
fn cards_without_labels_that_nothing_tells_apart_may_be_one() {
    let home = Home::new();
    let files = ["a", "b"].map(|id| {
        let mut record = Record { id: id.to_owned(), ..typical_a1_card() };
        record.conditions.device.size_bytes = Some(Bytes::gib(32));
        let file = home.place().join(format!("{id}.json"));
        fs::write(&file, record.to_json().unwrap()).unwrap();
        file
    });
    let page = said(&home, &["compare", word(&files[0]), word(&files[1])], 0).stdout;
    assert!(in_one_line(&page).contains("These may be one card, measured twice"), "{page}");
}

#[test]
fn the_wear_of_one_record_is_not_compared_with_itself() {
    let home = Home::new();
    checked(&home, "sandisk-ultra", "red", "1");
    let told = said(&home, &["health", "--over", "latest", "red"], 2).stderr;
    assert!(told.contains("'latest' and 'red' are the same record"), "{told}");
}

#[test]
fn an_unknown_simulated_card_is_an_error_and_nothing_else() {
    let told = said(&Home::new(), &["check", "sim:nope"], 2).stderr;
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("error: there is no simulated card"), "{told}");
}

#[test]
fn a_word_that_is_neither_command_nor_file_is_called_so() {
    let home = Home::new();
    for (words, told) in [
        (vec!["frobnicate"], "no command and no file 'frobnicate'; `cardproof --help`"),
        (vec!["frobnicate", "--bogus"], "no command and no file 'frobnicate'"),
        (vec!["lsit"], "no command and no file 'lsit'; did you mean `cardproof list`?"),
        (vec!["sandisk-ultra"], "did you mean the simulated card sim:sandisk-ultra?"),
        (vec!["no/such"], "no/such does not exist; check its spelling"),
        (vec!["run", "frobnicate"], "frobnicate does not exist; check its spelling"),
    ] {
        let said = in_one_line(&said(&home, &words, 2).stderr);
        assert!(said.contains(told) && !said.contains("lsblk"), "{words:?}: {said}");
    }
    let device = said(&home, &["/dev/cardproof-none"], 2).stderr;
    assert!(device.contains("`lsblk` lists devices"), "{device}");
}

#[test]
fn the_usage_is_that_of_the_program() {
    let help = said(&Home::new(), &["--help"], 0).stdout;
    let usage =
        "Usage: cardproof [TARGET] [OPTIONS OF check]\n       cardproof COMMAND [OPTIONS]\n";
    assert!(help.contains(usage), "{help}");
}

/// What the kernel makes up lies on no storage, of which nothing can be said.
#[test]
fn no_storage_is_diagnosed_where_there_is_none() {
    let home = Home::new();
    let [told, checked] =
        ["diagnose", "check"].map(|command| said(&home, &[command, "/proc"], 2).stderr);
    assert!(told.contains("there is no storage to test"), "{told}");
    assert_eq!(told, checked);
}
