//! Wear and endurance in words: what a device reports, and how long it lasts.

use std::fs;

use crate::home::{Home, word};
use crate::process::run;
use crate::said::{checked, in_one_line, refuses, said};

#[test]
fn an_endurance_test_keeps_the_users_unit_and_needs_a_whole_cycle() {
    let home = Home::new();
    refuses(&home, &["endure", "sim:sandisk-ultra", "--budget", "1"], "less than one cycle");
    let words = ["endure", "sim:sandisk-ultra", "--budget", "3GB", "--size", "64M", "--seed", "1"];
    let ended = said(&home, &words, 0);
    assert!(
        in_one_line(&ended.stderr).contains("after the cycle in which 3 GB are written"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("PASSED: 3 GB written"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("95 %"), "{}", ended.stdout);
}

#[test]
fn wear_over_time_needs_two_records() {
    let home = Home::new();
    refuses(&home, &["health", "--over", "latest"], "two records");
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

#[test]
fn wear_that_an_emmc_reports_leads_to_another_emmc_and_to_no_test() {
    let home = Home::new();
    let file = home.place().join("emmc.txt");
    fs::write(&file, "life_time 0x09 0x0a\npre_eol_info 0x02\n").unwrap();
    let text = in_one_line(&said(&home, &["health", "--raw", word(&file)], 0).stdout);
    assert!(text.contains("Next: 1. get another one, and copy your data to it"), "{text}");
    assert!(!text.contains("old one") && !text.contains("verify"), "{text}");
    assert!(text.contains("few spare blocks are left"), "{text}");
    fs::write(&file, "life_time 0x09 0x0a\npre_eol_info 0x03\n").unwrap();
    let text = in_one_line(&said(&home, &["health", "--raw", word(&file)], 4).stdout);
    assert!(text.contains("almost no spare blocks are left"), "{text}");
    assert!(text.contains("copy your data to another device now 2. replace it"), "{text}");
}

#[test]
fn the_two_files_of_an_emmc_are_one_output() {
    let home = Home::new();
    let file = |directory: &str, name: &str, text: &str| {
        let place = home.place().join(directory);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(name), text).unwrap();
        place.join(name)
    };
    let life = file("old", "life_time", "0x05 0x06\n");
    let reserve = file("old", "pre_eol_info", "0x02\n");
    for files in [[&life, &reserve], [&reserve, &life]] {
        let words = ["health", "--raw", word(files[0]), word(files[1])];
        let text = in_one_line(&said(&home, &words, 0).stdout);
        assert!(
            text.contains("life, type B 50 to 60 % used spare blocks 80 to 90 % used"),
            "{text}"
        );
    }
    let text = in_one_line(&said(&home, &["health", "--raw", word(&reserve)], 0).stdout);
    assert!(text.contains("spare blocks 80 to 90 % used"), "{text}");
    // One code in a file of another name may be anything.
    let other = file("old", "number", "0x02\n");
    said(&home, &["health", "--raw", word(&other)], 2);
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

#[test]
fn the_wear_of_one_record_is_not_compared_with_itself() {
    let home = Home::new();
    checked(&home, "sandisk-ultra", "red", "1");
    let told = said(&home, &["health", "--over", "latest", "red"], 2).stderr;
    assert!(told.contains("'latest' and 'red' are the same record"), "{told}");
}
