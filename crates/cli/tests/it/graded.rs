//! Grades, classes and next steps of a card, with what decides them.

use std::fs;

use serde_json::Value;

use crate::home::{Home, word};
use crate::process::run;
use crate::said::{in_one_line, said};

#[test]
fn a_test_without_verdicts_has_its_result_in_short_markdown() {
    let home = Home::new();
    for (words, expected) in [
        (vec!["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], "Align partitions to"),
        (vec!["powercut", "sim:sandisk-ultra", "--cuts", "5", "--seed", "1", "-q"], "power cuts"),
        (
            vec!["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "2", "-q"],
            "NO FAILURE in 2 cycles",
        ),
    ] {
        said(&home, &words, 0);
        let text = said(&home, &["show", "latest", "--markdown", "short"], 0).stdout;
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("none"), "{text}");
    }
}

#[test]
fn what_is_shared_names_the_whole_card() {
    let home = Home::new();
    let card = "sim:fake-cached";
    said(&home, &["verify", card, "--exclude-store", "8M", "--seed", "1", "-q"], 4);
    let shared = in_one_line(&said(&home, &["submit", "latest", "--dry-run"], 0).stdout);
    assert!(shared.contains("the latest 1 MiB reads back right)"), "{shared}");
}

#[test]
fn a_fast_fake_is_sent_to_the_test_that_finds_it() {
    let home = Home::new();
    let text = said(&home, &["run", "sim:fake-wrap", "--seed", "1"], 0).stdout;
    assert!(in_one_line(&text).contains("`cardproof verify` does"), "{text}");
    assert!(!text.contains("narrower intervals"), "{text}");
    assert!(text.contains("Speed classes: "), "{text}");
}

#[test]
fn classes_are_passed_or_not() {
    let home = Home::new();
    let good =
        in_one_line(&said(&home, &["check", "sim:sandisk-extreme-a1", "--seed", "1"], 0).stdout);
    assert!(good.contains("A1 passed") && good.contains("A2 not passed"), "{good}");
    let slow = said(&home, &["check", "sim:intenso-class-4", "--seed", "1"], 4).stdout;
    assert!(slow.contains("slower than at least "), "{slow}");
}

#[test]
fn the_details_of_a_check_fit_and_name_the_cards_next_to_it() {
    let home = Home::new();
    let words = ["check", "sim:intenso-class-4", "--seed", "3", "--details"];
    let text = said(&home, &words, 4).stdout;
    for line in text.lines() {
        assert!(cardproof_report::columns_of(line) <= 80, "{line}");
    }
    let (_, among) = text.split_once("Among 91 published results").unwrap();
    assert!(among.contains("this storage") && among.lines().count() <= 12, "{among}");
    for riddle in ["probability of", "failed", "less than 0.", "99 % confidence: "] {
        assert!(!text.contains(riddle), "{riddle}: {text}");
    }
    let text = in_one_line(&text);
    assert!(text.contains("4 KiB random write: 23 IOPS, below the limit of 500 IOPS"), "{text}");
    assert!(text.contains("blocks were read back correctly"), "{text}");
    assert!(text.contains("slower than at least 77 of 91 published results"), "{text}");
}

#[test]
fn what_helps_a_hopeless_card_comes_before_another_test() {
    let home = Home::new();
    let text = in_one_line(&said(&home, &["run", "sim:intenso-class-4", "--seed", "1"], 0).stdout);
    assert!(text.contains("Next: 1. For a system, use a card that passes A1"), "{text}");
    assert!(!text.contains("again with a longer"), "{text}");
}

#[test]
fn a_check_says_why_a_class_is_not_passed_on_one_screen() {
    let home = Home::new();
    let text = said(&home, &["check", "sim:intenso-class-4", "--seed", "3"], 4).stdout;
    assert!(text.contains("A1 not passed (writes 23 IOPS, needs 500 IOPS)"), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.lines().all(|line| cardproof_report::columns_of(line) <= 80), "{text}");
    let details = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(
        details.contains(
            "Verdicts (test range: the first 195 MiB of 3.7 GiB, at least 128 MiB in each test)"
        ),
        "{details}"
    );
    assert!(details.contains("In one test the storage stood still for"), "{details}");
    assert!(
        details.contains("lacks the last 50 % of its capacity, with a store of up to"),
        "{details}"
    );
}

/// A step that follows a grade says the same as the grade.
#[test]
fn a_fair_storage_is_not_called_slow_below() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra", "--time-budget", "15s", "--seed", "1", "-q"];
    said(&home, &words, 0);
    let text = in_one_line(&said(&home, &["show", "latest"], 0).stdout);
    assert!(text.contains("FAIR FOR A SYSTEM"), "{text}");
    assert!(text.contains("is only fair for an operating system"), "{text}");
    assert!(!text.contains("slow for an operating system"), "{text}");
    let long = said(&home, &["show", "latest", "--markdown", "-"], 0).stdout;
    assert!(long.contains("**FAIR FOR A SYSTEM**"), "{long}");
}

#[test]
fn the_honesty_profile_says_what_it_cannot_see() {
    let home = Home::new();
    let words = ["run", "--profile", "honesty", "sim:ignores-flushes", "--seed", "1"];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    assert!(
        text.contains("A card that ignores flushes and takes its usual time looks honest here")
    );
    assert!(!text.contains("measure again when the system feels slower"), "{text}");
}

/// The fit is of another method, and gives another rate.
#[test]
fn a_simulated_card_has_no_place_that_its_original_has_not() {
    let home = Home::new();
    let text = said(&home, &["check", "sim:sandisk-ultra", "--seed", "3"], 0).stdout;
    assert!(!text.contains("published results"), "{text}");
    let list = in_one_line(&said(&home, &["sim", "list"], 0).stdout);
    assert!(list.contains("A fit holds for the tests that were published"), "{list}");
}

#[test]
fn what_makes_a_card_too_slow_stands_beside_its_limit() {
    let home = Home::new();
    let text = said(&home, &["check", "sim:usb-stick", "--only", "fast", "--seed", "1"], 4).stdout;
    let text = in_one_line(&text);
    assert!(text.contains("starting programs slow (reads 8"), "{text}");
    assert!(text.contains(" IOPS, needs 1500 IOPS)"), "{text}");
}

#[test]
fn a_good_card_whose_capacity_was_not_tested_has_a_reserve_below_its_headline() {
    let home = Home::new();
    let run =
        ["run", "sim:sandisk-extreme-a1", "--seed", "5", "--time-budget", "30s", "--size", "64M"];
    let text = in_one_line(&said(&home, &run, 0).stdout);
    let reserve = "It was not tested whether it is genuine (cardproof verify DIRECTORY tests that)";
    assert!(text.contains("GOOD FOR A SYSTEM") && text.contains(reserve), "{text}");
    let check = ["check", "sim:sandisk-extreme-a1", "--seed", "5"];
    let text = in_one_line(&said(&home, &check, 0).stdout);
    assert!(!text.contains("was not tested whether"), "{text}");
}

/// Nobody sold it, so it is no fake.
#[test]
fn a_virtual_disk_whose_capacity_was_not_tested_has_no_reserve() {
    let home = Home::new();
    let file = home.place().join("run.json");
    let run = ["run", "sim:sandisk-extreme-a1", "--seed", "5", "--size", "64M", "-q", "--json"];
    said(&home, &[&run[..], &[word(&file)]].concat(), 0);
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (transport, has_reserve) in [("usb", true), ("virtio", false)] {
        record["conditions"]["device"]["transport"] = transport.into();
        fs::write(&file, record.to_string()).unwrap();
        let text = in_one_line(&said(&home, &["show", word(&file)], 0).stdout);
        assert!(text.contains("GOOD FOR A SYSTEM"), "{text}");
        assert_eq!(text.contains("was not tested whether"), has_reserve, "{text}");
    }
}

#[test]
fn the_data_check_of_a_fake_speaks_of_its_range_alone() {
    let home = Home::new();
    let check = ["check", "sim:fake-wrap", "--seed", "1", "--details"];
    let text = in_one_line(&said(&home, &check, 4).stdout);
    assert!(
        text.contains("were read back correctly there; this says nothing of the rest"),
        "{text}"
    );
    assert!(text.contains("because both are stored at one place"), "{text}");
}

/// Where the file system does not tell, as on a FAT, the doubt stays.
#[test]
fn a_file_that_was_written_throughout_raises_no_doubt_about_places_never_written() {
    const DOUBT: &str = "nothing tells whether all of these places were ever written";
    let home = Home::new();
    let file = home.place().join("whole.img");
    fs::write(&file, vec![7; 32 << 20]).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let json = home.place().join("run.json");
    let words = ["run", word(&file), "--time-budget", "4s", "--json", word(&json)];
    let ended = run(home.cardproof(&words));
    let record = fs::read_to_string(&json).unwrap_or_default();
    let is_told = record.contains("\"written_before\": true");
    assert_eq!(!is_told, record.contains(DOUBT), "{} {record}", ended.stderr);
}
