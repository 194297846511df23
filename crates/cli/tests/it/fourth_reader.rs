//! What a fourth reader found wrong or misleading.

use std::fs;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};

/// The first number of `text` behind `before`.
fn number_after(text: &str, before: &str) -> u64 {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{before}: {text}"))
}

#[test]
fn a_test_of_the_queue_writes_as_often_as_it_announces() {
    let home = Home::new();
    let ended = said(&home, &["verify", "sim:sandisk-ultra", "--queue", "--seed", "1"], 1);
    let (plan, result) = (in_one_line(&ended.stderr), in_one_line(&ended.stdout));
    let announced = number_after(&plan, "Before that, ");
    assert_eq!(number_after(&result, "one request at a time: "), announced);
    let at_depth = number_after(&plan, "Tests the queue: ");
    assert_eq!(number_after(&result, "Compared at depth: "), at_depth);
    // This card has no queue, so nothing was found about it.
    assert!(result.contains("The card's own queue was not tested: the card has none"), "{result}");
    assert!(!result.contains("No harm was found"), "{result}");
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

#[test]
fn an_image_is_told_how_to_find_the_blocks_and_what_to_add_to_fstab() {
    let home = Home::new();
    let image = home.place().join("card.img");
    let mut bytes = vec![0; 64 << 20];
    // A table with one Linux partition of 56 MiB from 4 MiB on.
    bytes[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 32, 0, 0, 0, 0xc0, 1, 0]);
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    fs::write(&image, bytes).unwrap();
    let text = in_one_line(&said(&home, &["tune", word(&image)], 0).stdout);
    let blocks = "run cardproof geometry on the card first, then add --geometry latest";
    assert!(text.contains(blocks), "{text}");
    assert!(text.contains("for good: add noatime to its line in /etc/fstab"), "{text}");
}

#[test]
fn the_two_kinds_of_wear_of_an_emmc_are_explained_and_none_left_is_none() {
    let home = Home::new();
    let log = "tests/questions/01-extcsd-life-dropped/extcsd.txt";
    let text = in_one_line(&said(&home, &["health", "--raw", log], 4).stdout);
    assert!(text.contains("life, type A more than 100 % used"), "{text}");
    assert!(text.contains("Types A and B are two kinds of flash in one eMMC"), "{text}");
    let left = "Days left: none; its rated life is used up. It may still work; replace it.";
    assert!(text.contains(left), "{text}");
}
