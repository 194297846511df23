//! Texts that were wrong once: each case is a command with what it must say, or must not say.

use std::fs;

use cardproof_testkit::{Mount, lab_or_skip};

use crate::home::{Home, word};
use crate::said::{in_one_line, said};

#[test]
fn who_leaves_out_the_value_of_restore_is_told_the_exact_option() {
    let home = Home::new();
    let path = home.place().join("card.img");
    let data = vec![7; 4 << 20];
    fs::write(&path, &data).unwrap();
    let refused = said(&home, &["verify", word(&path), "--restore"], 3);
    let message = in_one_line(&refused.stderr);
    assert!(message.contains("add this option: --restore=card.img:4194304"), "{message}");
    assert!(!message.contains("--destroy"), "{message}");
    assert_eq!(refused.stdout, "");
    assert!(fs::read(&path).unwrap() == data, "nothing was written");
}

#[test]
fn a_card_that_looks_slower_but_shares_the_rank_is_to_be_measured_again() {
    let home = Home::new();
    let cards = ["sandisk-ultra", "intenso-class-4"];
    for card in cards {
        let target = format!("sim:{card}");
        let words = ["run", &target, "--seed", "1", "--size", "16M", "--time-budget", "5s"];
        said(&home, &[&words[..], &["--label", card, "--quiet"]].concat(), 0);
    }
    let text = in_one_line(&said(&home, &["compare", cards[0], cards[1]], 0).stdout);
    // Both have the first rank, though one takes more than twice as long.
    assert!(cards.iter().all(|card| text.contains(&format!("1. {card}"))), "{text}");
    let expected = "The figures of intenso-class-4 are too uncertain to rank it; measure it again";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("The figures of sandisk-ultra"), "{text}");
}

#[test]
fn that_a_directory_is_in_memory_is_told_before_its_first_figure() {
    let memory = lab_or_skip!(Mount::tmpfs("size=100M"));
    let home = Home::new();
    let words = ["run", word(memory.path()), "--profile", "a1", "--size", "16M"];
    let ended = said(&home, &[&words[..], &["--time-budget", "1s", "--seed", "1"]].concat(), 0);
    let line = |begin: &str| ended.stderr.lines().position(|line| line.starts_with(begin));
    let told = line("This directory is in memory").expect(&ended.stderr);
    assert!(told < line(" 1/3").expect(&ended.stderr), "{}", ended.stderr);
}

#[test]
fn who_applies_a_plan_that_is_done_by_hand_is_told_first_that_nothing_was_changed() {
    let home = Home::new();
    let path = home.place().join("card.img");
    let data = vec![0; 16 << 20];
    fs::write(&path, &data).unwrap();
    let text = said(&home, &["tune", word(&path), "--apply"], 0).stdout;
    assert!(text.starts_with("Nothing was changed"), "{text}");
    assert!(fs::read(&path).unwrap() == data, "the file is as it was");
}

#[test]
fn a_range_too_small_to_show_the_card_has_no_grade() {
    let home = Home::new();
    let shown = |size: &str| {
        let words = ["run", "sim:sandisk-ultra", "--seed", "1", "--time-budget", "60s"];
        said(&home, &[&words[..], &["--size", size]].concat(), 0).stdout
    };
    let (small, enough) = (shown("4M"), shown("16M"));
    for grade in ["Starting programs", "Installing programs", "Databases", "FOR A SYSTEM"] {
        assert!(!small.contains(grade), "{grade}: {small}");
        assert!(enough.contains(grade), "{grade}: {enough}");
    }
}

/// The card is good for a system, which is green, and has not passed class A2.
#[test]
fn a_class_that_was_not_passed_is_not_green_in_a_picture() {
    const GREEN: &str = "fill=\"#1a6e3c\"";
    let home = Home::new();
    let picture = home.place().join("result.svg");
    let words = ["check", "sim:sandisk-extreme-a1", "--seed", "1", "--quiet", "--picture"];
    said(&home, &[&words[..], &[word(&picture)]].concat(), 0);
    let picture = fs::read_to_string(picture).unwrap();
    let texts = |words: &str| -> Vec<&str> {
        let before = picture.split("</text>").filter(|before| before.contains(words));
        before.filter_map(|before| before.rsplit("<text").next()).collect()
    };
    assert!(texts("GOOD FOR A SYSTEM")[0].contains(GREEN), "{picture}");
    let of_class = texts("not passed");
    assert_eq!(of_class.len(), 1, "{picture}");
    assert!(!of_class[0].contains(GREEN), "{}", of_class[0]);
}
