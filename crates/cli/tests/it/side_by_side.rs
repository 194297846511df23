//! Comparisons in words: what is compared, and what decides.

use std::fs;

use cardproof_record::Record;
use cardproof_testkit::records::typical_a1_card;
use cardproof_units::Bytes;

use crate::home::{Home, word};
use crate::said::{checked, ids, in_one_line, measured, measured_with_seed, refuses, said};

const SHORT: [&str; 5] = ["--size", "16M", "--time-budget", "2s", "-q"];

#[test]
fn amounts_side_by_side_have_one_format() {
    let home = Home::new();
    // It reads a little less than 7 MiB, which alone is printed as `7.0 MiB`.
    let words = ["verify", "sim:usb-stick", "--exclude-store", "64M", "--seed", "1"];
    let ended = said(&home, &words, 0);
    let line = ended.stdout.lines().find(|line| line.starts_with("Written")).unwrap();
    assert!(line.contains("read 7 MiB") && !line.contains(".0 "), "{line}");
}

#[test]
fn one_card_is_not_compared() {
    let home = Home::new();
    said(&home, &["run", "sim:v30-a2", "--size", "16M", "--time-budget", "2s", "-q"], 0);
    refuses(&home, &["compare", "latest"], "name at least two cards");
}

#[test]
fn simulated_cards_are_called_so_when_they_are_compared() {
    let home = Home::new();
    for (card, name) in [("sim:v30-a2", "one"), ("sim:intenso-class-4", "other")] {
        said(&home, &[&["run", card, "--label", name, "--seed", "1"][..], &SHORT].concat(), 0);
    }
    let text = said(&home, &["compare", "one", "other"], 0).stdout;
    assert!(text.contains("All of these cards are simulated."), "{text}");
}

#[test]
fn a_comparison_names_commands_that_there_are_and_the_price_that_is_missing() {
    let home = Home::new();
    measured(&home, "v30-a2", "first");
    let check = ["check", "sim:sandisk-ultra-a1", "--seed", "1", "--label", "the other", "-q"];
    said(&home, &check, 0);
    let words = ["compare", "first", "the other", "--price", "first=9.90"];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    assert!(text.contains("`cardproof run TARGET --size 256M --time-budget 10m`"), "{text}");
    assert!(text.contains("No price is given for the other."), "{text}");
    assert!(text.contains("add --price 'the other=AMOUNT'"), "{text}");
}

#[test]
fn a_comma_joins_no_two_cards() {
    let home = Home::new();
    measured_with_seed(&home, "sandisk-ultra-a1", "red", "5");
    measured_with_seed(&home, "high-endurance", "grey", "5");
    measured_with_seed(&home, "v30-a2", "blue", "5");
    measured_with_seed(&home, "v30-a2", "green", "6");
    for (joined, other, expected) in [
        (
            "red,grey",
            "blue",
            "red and grey are labels of different cards; separate them by a space",
        ),
        ("blue,green", "red", "blue and green are labels of different cards"),
    ] {
        let message = in_one_line(&said(&home, &["compare", joined, other], 2).stderr);
        assert!(message.contains(expected), "{message}");
    }
    let [red, grey, blue, green] = ids(&home).try_into().unwrap();
    let joined = format!("{red},{grey}");
    let message = in_one_line(&said(&home, &["compare", &joined, "blue"], 2).stderr);
    assert!(message.contains("joins records of different cards"), "{message}");
    said(&home, &["compare", &format!("{blue},{green}"), "red"], 0);
}

#[test]
fn a_tie_says_which_records_to_compare() {
    let home = Home::new();
    measured_with_seed(&home, "v30-a2", "one", "5");
    measured_with_seed(&home, "v30-a2", "two", "6");
    let text = in_one_line(&said(&home, &["compare", "one", "two"], 0).stdout);
    assert!(
        text.contains("for the same work. Their figures are too uncertain for an order."),
        "{text}"
    );
    assert!(text.contains("Measure each card again with the --label of its first run"), "{text}");
    let details = said(&home, &["compare", "one", "two", "--details"], 0).stdout;
    let details = in_one_line(&details);
    assert!(details.contains("does not show how much another run may differ"), "{details}");
    assert!(details.contains("with 99 % confidence for all of them together"), "{details}");
}

#[test]
fn a_usb_stick_is_slower_than_a_class_asks_and_fails_none() {
    let home = Home::new();
    let page = said(&home, &["check", "sim:usb-stick", "--seed", "1"], 4).stdout;
    let list = said(&home, &["list"], 0).stdout;
    for text in [page, list] {
        assert!(text.contains("slower than A1 asks") && !text.contains("not passed"), "{text}");
    }
}

#[test]
fn a_comparison_profile_is_not_told_to_test_another_range() {
    let home = Home::new();
    let words = ["run", "--profile", "sd-card-bench", "sim:sandisk-ultra", "--seed", "1"];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    assert!(!text.contains("--size 256M"), "{text}");
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
