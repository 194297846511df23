//! What a sixth reader marked as wrong or had to read twice.

use std::fs;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};
use crate::process::run;

/// Only the file was tested, so no text may speak of the capacity of its device.
#[test]
fn a_file_is_called_a_file_wherever_its_record_is_told() {
    let home = Home::new();
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(16 << 20).unwrap();
    let verify = ["verify", word(file.path()), "--destroy", "--full", "--label", "file"];
    let verified = said(&home, &verify, 0).stdout;
    assert!(verified.contains("FILE KEEPS DATA: all 16 MiB"), "{verified}");
    let picture = home.place().join("picture.svg");
    let html = home.place().join("page.html");
    said(&home, &["show", "latest", "--picture", word(&picture), "--html", word(&html)], 0);
    let texts = [
        verified,
        said(&home, &["list"], 0).stdout,
        said(&home, &["list", "--markdown", "-"], 0).stdout,
        said(&home, &["show", "latest"], 0).stdout,
        said(&home, &["show", "latest", "--markdown", "-"], 0).stdout,
        said(&home, &["show", "latest", "--markdown", "short"], 0).stdout,
        fs::read_to_string(picture).unwrap(),
        fs::read_to_string(html).unwrap(),
    ];
    for text in texts {
        let small = text.to_lowercase();
        assert!(small.contains("file keeps data") || small.contains("a file on "), "{text}");
        assert!(!small.contains("genuine") && !small.contains("capacity real"), "{text}");
    }
}

#[test]
fn two_cycles_say_nothing_of_how_long_a_card_lasts() {
    let home = Home::new();
    let words = ["endure", "--cycles", "2", "--bytes-per-day", "5GB", "sim:sandisk-ultra"];
    let text = said(&home, &words, 0).stdout;
    assert!(text.contains("(2016) (simulated): NO FAILURE in 2 cycles."), "{text}");
    assert!(text.contains("2 cycles are too few to say how long the card lasts"), "{text}");
    assert!(!text.contains(" days") && !text.contains("more than"), "{text}");
}

#[test]
fn the_days_of_life_are_in_every_report_of_the_test() {
    let home = Home::new();
    let card = ["sim:sandisk-ultra", "--size", "64M", "--seed", "1"];
    let words = [&["endure", "--bytes-per-day", "5GB"], &card[..]].concat();
    let told = "At 5 GB a day, the tested 64 MiB of the simulated card alone lasts ";
    assert!(said(&home, &words, 0).stdout.contains(told));
    for words in [&["show", "latest"][..], &["show", "latest", "--markdown", "-"]] {
        let text = in_one_line(&said(&home, words, 0).stdout);
        assert!(text.contains(told) && !text.contains("observed this life"), "{text}");
    }
}

#[test]
fn what_makes_a_card_too_slow_stands_beside_its_limit() {
    let home = Home::new();
    let text = said(&home, &["check", "sim:usb-stick", "--only", "fast", "--seed", "1"], 4).stdout;
    let text = in_one_line(&text);
    assert!(text.contains("starting programs slow (reads 8"), "{text}");
    assert!(text.contains(" IOPS, needs 1500 IOPS)"), "{text}");
}

/// `qd1-2` reads as a depth of 2.
#[test]
fn a_second_run_of_dd_is_not_called_a_depth() {
    let home = Home::new();
    let run = "$ dd if=/dev/zero of=test bs=1M count=100 oflag=direct\n100+0 records in\n100+0 records out\n\
               104857600 bytes (105 MB, 100 MiB) copied, 6.0 s, 17.5 MB/s\n";
    let file = home.place().join("dd.txt");
    fs::write(&file, run.repeat(2).replacen("6.0 s, 17.5", "7.0 s, 15.0", 1)).unwrap();
    let text = said(&home, &["import", word(&file)], 0).stdout;
    assert!(text.contains("sequential-write-1m-qd1-run2 "), "{text}");
    assert!(!text.contains("qd1-2"), "{text}");
}

#[test]
fn the_simulated_cards_are_listed_by_kind_and_one_remark_holds_for_all() {
    let text = said(&Home::new(), &["sim", "list"], 0).stdout;
    assert_eq!(text.matches("published figures").count(), 1, "{text}");
    let at = |heading: &str| text.find(heading).unwrap();
    assert!(at("SD cards:") < at("Fake SD cards"), "{text}");
    assert!(at("fake-cached") < at("eMMC devices:"), "{text}");
    assert!(at("eMMC devices:") < at("samsung-emmc"), "{text}");
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

#[test]
fn a_list_has_whole_results_of_tests_without_classes() {
    let home = Home::new();
    said(&home, &["geometry", "sim:sandisk-extreme-a1", "-q"], 0);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let honesty = ["run", "--profile", "honesty", "--time-budget", "4s", "-q", word(place.path())];
    said(&home, &honesty, 0);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.contains("geometry: allocation unit not found"), "{list}");
    assert!(list.contains("flushes: ") && list.contains(" (latest)"), "{list}");
}

#[test]
fn each_next_step_of_health_is_short() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // The status depends on whether this user may read the kernel log.
    let home = Home::new();
    let mut health = home.cardproof(&["health", word(place.path())]);
    health.env("COLUMNS", "80");
    let text = run(health).stdout;
    let (_, next) = text.split_once("Next, to learn the days left:\n  1. ").unwrap();
    assert!(next.lines().all(|line| line.len() <= 80), "{next}");
}
