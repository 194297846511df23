//! What `verify` says: what was tested, what that rules out, and how much it writes.

use std::fs;

use crate::home::{Home, word};
use crate::said::{in_one_line, said};

/// The first number of `text` behind `before`.
fn number_after(text: &str, before: &str) -> u64 {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{before}: {text}"))
}

#[test]
fn the_answer_of_verify_holds_no_statistic() {
    let home = Home::new();
    for (card, status) in [("sim:sandisk-ultra", 0), ("sim:fake-wrap", 4)] {
        let words = ["verify", card, "--exclude-store", "64M", "--seed", "1"];
        let answer = said(&home, &words, status).stdout;
        assert!(!answer.contains("confidence") && !answer.contains("at byte"), "{answer}");
        // One level down it stands.
        let details = said(&home, &["show", "latest", "--details"], 0).stdout;
        assert!(details.contains("How sure this verdict is"), "{details}");
    }
}

#[test]
fn a_test_of_a_directory_says_what_it_can_show_and_where_its_record_is() {
    let home = Home::new();
    let directory = home.place().join("card");
    fs::create_dir(&directory).unwrap();
    let ended = said(&home, &["verify", word(&directory), "--keep", "--exclude-store", "8M"], 4);
    let notes = in_one_line(&ended.stderr);
    for told in ["but not that it is genuine; --full tests all of it", "Record: ", "Report: "] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
}

#[test]
fn verify_says_what_was_tested_and_what_that_rules_out() {
    let home = Home::new();
    let ended = said(&home, &["verify", "sim:sandisk-ultra", "--seed", "1"], 0);
    let answer = in_one_line(&ended.stdout);
    for told in [
        "was read back correctly",
        "A fake that lacks 10 % of its capacity or more would very probably have been found",
        "New data did not overwrite older data elsewhere, as it does on a fake",
    ] {
        assert!(answer.contains(told), "{told}: {answer}");
    }
    assert!(!answer.contains("hidden store"), "{answer}");
    let details = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(
        details.contains("keeps several addresses in one place, chosen at random,"),
        "{details}"
    );
    // No estimate refers to another one that may not have been shown.
    let notes = in_one_line(&ended.stderr);
    assert!(!notes.to_lowercase().contains("new estimate"), "{notes}");
    assert!(!notes.contains("By the speed of the first writes"), "simulated time passes at once");
}

#[test]
fn a_fake_is_told_once() {
    let home = Home::new();
    said(&home, &["verify", "sim:fake-wrap", "--exclude-store", "8M", "--seed", "1", "-q"], 4);
    for words in [&["show", "latest", "--markdown", "short"][..], &["show", "latest"]] {
        let text = said(&home, words, 0).stdout;
        assert_eq!(text.matches("of 64 GiB").count(), 1, "{text}");
        assert!(!text.contains("real capacity 2 GiB"), "{text}");
    }
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
fn a_test_that_puts_data_back_writes_and_reads_as_much_as_it_announces() {
    let home = Home::new();
    let image = home.place().join("card.img");
    fs::write(&image, vec![7_u8; 16 << 20]).unwrap();
    let option = format!("--restore=card.img:{}", 16 << 20);
    let ended = crate::process::run(home.cardproof(&["verify", &option, word(&image)]));
    let (plan, result) = (in_one_line(&ended.stderr), in_one_line(&ended.stdout));
    assert!(plan.contains("That writes 32 MiB to the file and reads 82 MiB"), "{plan}");
    assert!(plan.contains("Estimated time: at least "), "{plan}");
    assert!(result.contains("Written 32 MiB, read 82 MiB."), "{result}");
    assert!(result.contains("a file has no capacity of its own"), "{result}");
    assert!(!result.contains("--full") && !result.contains("You can use"), "{result}");
}

#[test]
fn the_map_of_a_surface_is_part_of_the_plan() {
    let home = Home::new();
    let words = ["verify", "sim:fake-cached", "--surface", "--seed", "1"];
    let plan = in_one_line(&said(&home, &words, 4).stderr);
    assert!(plan.contains(", and then all 64 GiB for the map. Estimated time:"), "{plan}");
    let (_, hours) = plan.split_once("Estimated time: ").unwrap();
    assert!(!hours.starts_with('1') || hours.contains("hours"), "{plan}");
}

#[test]
fn which_stores_a_test_rules_out_is_a_detail() {
    let home = Home::new();
    let card = "sim:sandisk-extreme-a1";
    let short = said(&home, &["verify", card, "--seed", "1"], 0).stdout;
    assert!(short.contains("A fake that lacks 10 % of its capacity or more"), "{short}");
    assert!(!short.contains("store") && !short.contains("cache"), "{short}");
    let long = said(&home, &["verify", card, "--seed", "1", "--details"], 0).stdout;
    let long = in_one_line(&long);
    assert!(
        long.contains("a store of up to ") && long.contains("How sure this verdict is"),
        "{long}"
    );
}
