//! What is said of the outputs of other tools: what they show, and what they leave open.

use std::fs;

use crate::home::{Home, word};
use crate::said::{FIO, in_one_line, measured, refuses, said};

/// A question of a forum above the output of `dd`.
const PASTED: &str = "Hey guys, is this a fake Samsung EVO?\n\
    pi@raspberrypi:~ $ dd if=/dev/zero of=test bs=1M count=512 conv=fsync\n\
    512+0 records in\n512+0 records out\n\
    536870912 bytes (537 MB, 512 MiB) copied, 72.4 s, 7.4 MB/s\n";

/// What `fio` prints of writes at queue depth 32.
const DEEP: &str = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
    ioengine=libaio, iodepth=32\nfio-3.33\n\
    w: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
    \x20 write: IOPS=182, BW=728KiB/s (745kB/s)(42.7MiB/60060msec); 0 zone resets\n";

#[test]
fn what_is_no_output_of_the_named_tool_is_told_so() {
    let home = Home::new();
    let path = home.place().join("text.txt");
    fs::write(&path, "hello world\n").unwrap();
    refuses(&home, &["import", word(&path), "--as", "fio"], "is not output of fio");
}

#[test]
fn an_output_of_another_tool_that_is_named_to_be_measured_leads_to_import() {
    let home = Home::new();
    let pasted = home.place().join("pasted.txt");
    let dd = "$ dd if=/dev/zero of=test bs=1M count=512 conv=fsync\n512+0 records in\n512+0 records out\n\
              536870912 bytes (537 MB, 512 MiB) copied, 28.4 s, 18.9 MB/s\n";
    fs::write(&pasted, dd).unwrap();
    for words in [&["verify", word(&pasted)][..], &["run", word(&pasted)], &["run", "-"]] {
        refuses(&home, words, "cardproof import");
    }
    let read = said(&home, &["import", word(&pasted)], 0);
    // What was measured is judged, and what was not is left out.
    assert!(read.stdout.contains("V10: probably passed"), "{}", read.stdout);
    assert!(!read.stdout.contains("C4 "), "of one kind the best: {}", read.stdout);
    assert!(!read.stdout.contains("not measured"), "{}", read.stdout);
    assert!(read.stderr.contains("cardproof show latest"), "{}", read.stderr);
    assert!(said(&home, &["show", "latest"], 0).stdout.contains("Next: 1."));
}

#[test]
fn a_pasted_question_is_no_name_and_its_figures_show_no_fake() {
    let home = Home::new();
    let pasted = home.place().join("pasted.txt");
    fs::write(&pasted, PASTED).unwrap();
    let ended = said(&home, &["import", word(&pasted)], 0);
    assert!(!ended.stdout.contains("Hey guys"), "{}", ended.stdout);
    let notes = in_one_line(&ended.stderr);
    let told = "Speed does not show whether a card is a fake or keeps data. Whoever has the card can find out with `cardproof verify`.";
    assert_eq!(notes.matches(told).count(), 1, "{notes}");
    // A class is told from a code by its kind.
    assert!(ended.stdout.contains("Speed class V6: probably passed"), "{}", ended.stdout);
    let shown = said(&home, &["show", "latest"], 0).stdout;
    assert!(!shown.contains("Hey guys") && shown.contains("Speed class V6"), "{shown}");
    assert_eq!(in_one_line(&shown).matches(told).count(), 1, "{shown}");
}

/// A forum is told what the figures of another tool say.
#[test]
fn the_short_form_of_a_paste_has_its_figures_and_what_they_say() {
    let home = Home::new();
    let paste = home.place().join("fio.txt");
    let text = "any good?\nw: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 20 10:00:00 2026\n\
                \x20 write: IOPS=182, BW=728KiB/s (745kB/s)(42.7MiB/60060msec); 0 zone resets\n";
    let head = "w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
                ioengine=libaio, iodepth=32\nfio-3.33\n";
    fs::write(&paste, format!("{head}{text}")).unwrap();
    said(&home, &["import", word(&paste), "-q"], 0);
    let short = said(&home, &["show", "latest", "--markdown", "short"], 0).stdout;
    for told in ["182 IOPS", "A1 probably not passed"] {
        assert!(short.contains(told), "{told}: {short}");
    }
}

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
fn output_of_another_tool_than_asked_for_is_called_by_its_name() {
    let home = Home::new();
    let fio = home.place().join("fio.txt");
    fs::write(&fio, FIO).unwrap();
    let message = said(&home, &["import", word(&fio), "--as", "iozone"], 2).stderr;
    let message = in_one_line(&message);
    assert!(message.contains("output of fio, not of iozone; leave --as out"), "{message}");
    let claim = home.place().join("claim.txt");
    fs::write(&claim, "Sequential Read: 180 MB/s\n").unwrap();
    let message = said(&home, &["import", word(&claim), "--as", "fio"], 2).stderr;
    assert!(in_one_line(&message).contains("is not output of fio"), "{message}");
}
