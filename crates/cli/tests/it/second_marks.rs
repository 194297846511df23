//! More of what a second reader stumbled over: lists, comparisons, imports and plans.

use std::fs;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};

/// A short run of `card`, called `label`.
fn measured(home: &Home, card: &str, label: &str) {
    let target = format!("sim:{card}");
    let short = ["--size", "32M", "--time-budget", "15s", "--seed", "5", "--quiet"];
    said(home, &[&["run", &target, "--label", label][..], &short].concat(), 0);
}

#[test]
fn a_check_is_one_row_of_a_list_and_names_its_label() {
    let home = Home::new();
    let words = ["check", "sim:sandisk-extreme-a1", "--seed", "1", "--label", "kitchen pi"];
    let ended = said(&home, &words, 0);
    assert!(ended.stdout.trim_start().starts_with("kitchen pi: SanDisk"), "{}", ended.stdout);
    assert!(ended.stdout.contains("To quote: small writes faster than "), "{}", ended.stdout);
    let notes = in_one_line(&ended.stderr);
    assert!(notes.contains("in simulated time"), "{notes}");
    assert!(notes.contains("4 KiB random write, depth 32"), "{notes}");
    assert!(!notes.contains("qd32"), "{notes}");
    let list = said(&home, &["list"], 0).stdout;
    assert_eq!(list.lines().count(), 1, "{list}");
    assert!(list.contains("A1 passed, genuine") && list.contains("(latest)"), "{list}");
    let json: serde_json::Value =
        serde_json::from_str(&said(&home, &["list", "--json", "-"], 0).stdout).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 1, "{json:#}");
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
fn a_list_with_details_says_what_each_record_found() {
    let home = Home::new();
    said(&home, &["powercut", "sim:ignores-flushes", "--cuts", "10", "--seed", "1", "-q"], 4);
    said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], 0);
    said(&home, &["endure", "sim:sandisk-ultra", "--cycles", "1", "--seed", "1", "-q"], 0);
    for words in [&["list", "--details"][..], &["list"]] {
        let list = in_one_line(&said(&home, words, 0).stdout);
        assert!(list.contains("DATA LOST in "), "{list}");
        assert!(
            list.contains("geometry: allocation unit") && list.contains("NO FAILURE"),
            "{list}"
        );
        assert!(!list.contains("no class tested"), "{list}");
    }
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

/// What `fio` prints of writes at queue depth 32.
const DEEP: &str = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
    ioengine=libaio, iodepth=32\nfio-3.33\n\
    w: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
    \x20 write: IOPS=182, BW=728KiB/s (745kB/s)(42.7MiB/60060msec); 0 zone resets\n";

#[test]
fn an_import_leads_to_no_comparison_that_is_refused() {
    let home = Home::new();
    let paste = home.place().join("fio.txt");
    fs::write(&paste, DEEP).unwrap();
    let ended = said(&home, &["import", word(&paste), "--label", "deep"], 0);
    assert!(!ended.stderr.contains("compare"), "{}", ended.stderr);
    assert!(!said(&home, &["show", "deep"], 0).stdout.contains("cardproof compare"));
    measured(&home, "v30-a2", "other");
    let text = in_one_line(&said(&home, &["compare", "deep", "other"], 0).stdout);
    let why = "measured at queue depth 32, but compared at queue depth 1";
    assert!(text.contains(why), "{text}");
}

#[test]
fn an_import_says_first_what_it_can_tell() {
    let home = Home::new();
    let paste = home.place().join("dd.txt");
    let quick = "$ dd if=/dev/zero of=test bs=1M count=100 conv=fsync\n\
        104857600 bytes (105 MB, 100 MiB) copied, 0.2 s, 524 MB/s\n";
    fs::write(&paste, quick).unwrap();
    let text = said(&home, &["import", word(&paste)], 0).stdout;
    assert!(!text.contains("V90: probably passed") && !text.contains("V30"), "{text}");
    assert!(text.contains("In doubt: dd wrote through the page cache"), "{text}");
    let iozone =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/import/iozone-several-records.txt");
    // A path is never broken, however long that of the source is.
    fs::copy(iozone, home.place().join("iozone.txt")).unwrap();
    let mut command = home.cardproof(&["import", "iozone.txt"]);
    command.env("COLUMNS", "80").current_dir(home.place());
    let text = crate::process::run(command).expect(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().all(|line| line.len() <= 80) && lines.len() <= 24, "{text}");
    let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(at("Application class A1") < at("sequential-write-1k"), "{text}");
    assert!(text.contains("more figures: cardproof show RECORD --details"), "{text}");
}

#[test]
fn our_own_files_are_no_seller_s_claim() {
    let home = Home::new();
    let place = home.place().join("mixed");
    fs::create_dir(&place).unwrap();
    let (page, json) = (place.join("page.html"), place.join("record.json"));
    let words = ["check", "sim:v30-a2", "--seed", "5", "-q", "--html", word(&page)];
    said(&home, &[&words[..], &["--json", word(&json), "--label", "one"]].concat(), 0);
    said(&home, &["check", "sim:sandisk-ultra", "--seed", "5", "-q", "--label", "other"], 0);
    said(&home, &["list", "--csv", word(&place.join("list.csv"))], 0);
    said(&home, &["compare", "one", "other", "--csv", word(&place.join("compare.csv"))], 0);
    let refused = in_one_line(&said(&home, &["import", word(&page)], 2).stderr);
    assert!(refused.contains("it is a page of cardproof"), "{refused}");
    fs::write(place.join("fio.txt"), DEEP).unwrap();
    let notes = in_one_line(&said(&home, &["import", word(&place)], 0).stderr);
    assert!(notes.contains("4 files skipped, written by cardproof itself"), "{notes}");
    assert!(!notes.contains("seller"), "{notes}");
}

/// Nothing that needs the device is advised for figures of somebody else's card.
#[test]
fn somebody_else_s_card_is_not_to_be_tested_here() {
    let home = Home::new();
    let paste = home.place().join("fio.txt");
    fs::write(&paste, DEEP).unwrap();
    let ended = said(&home, &["import", word(&paste)], 0);
    let text = in_one_line(&format!("{}{}", ended.stdout, ended.stderr));
    assert!(!text.contains("verify DEVICE"), "{text}");
    assert!(text.contains("Whoever has the card can find out with `cardproof verify`"), "{text}");
}

#[test]
fn what_helps_a_hopeless_card_comes_before_another_test() {
    let home = Home::new();
    let text = in_one_line(&said(&home, &["run", "sim:intenso-class-4", "--seed", "1"], 0).stdout);
    assert!(text.contains("Next: 1. For a system, use a card that passes A1"), "{text}");
    assert!(!text.contains("again with a longer"), "{text}");
}

#[test]
fn a_missing_word_is_named_whatever_stands_before_it() {
    let home = Home::new();
    let told = |words: &[&str]| in_one_line(&said(&home, words, 2).stderr);
    assert!(told(&["-q", "sim", "lst"]).contains("did you mean `cardproof sim list`?"));
    let late = told(&["-q", "sim", "list"]);
    assert!(late.contains("options come after the command: cardproof sim list"), "{late}");
    let shell = told(&["completions"]);
    assert!(shell.contains("cardproof completions bash") && shell.contains("zsh"), "{shell}");
    assert!(!shell.contains("required arguments"), "{shell}");
}

/// A Raspberry Pi's system is on the second partition, behind the one that it starts from.
#[test]
fn a_plan_mounts_the_partition_of_the_system() {
    let home = Home::new();
    let plan = said(&home, &["tune", "sim:sandisk-ultra"], 0).stdout;
    let mount = plan.lines().find(|line| line.contains("sudo mount -o noatime"));
    let told = "a Raspberry Pi system is on partition 2";
    assert!(mount.is_some_and(|line| line.contains(told)), "{plan}");
}
