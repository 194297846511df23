//! What a second reader stumbled over: the answers of whole commands, as an owner of a card reads them.

use std::fs;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};
use crate::process::run;

const SHORT: [&str; 5] = ["--size", "16M", "--time-budget", "2s", "-q"];

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
fn a_geometry_is_one_screen_about_use() {
    let home = Home::new();
    for card in ["sim:sandisk-ultra", "sim:usb-stick"] {
        let answer = said(&home, &["geometry", card, "--seed", "1"], 0).stdout;
        assert!(answer.lines().count() <= 24, "{answer}");
        for word in ["mapping", "by units", "by pages", "confidence", "Open allocation"] {
            assert!(!answer.contains(word), "{word}: {answer}");
        }
    }
    let details = said(&home, &["show", "latest", "--details"], 0).stdout;
    assert!(details.contains("mapping") && details.contains("confidence"), "{details}");
    let answer = said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "2"], 0).stdout;
    let command = "`cardproof tune sim:sandisk-ultra --geometry latest`";
    assert!(in_one_line(&answer).contains(command), "{answer}");
    said(&home, &["tune", "sim:sandisk-ultra", "--geometry", "latest"], 0);
}

/// A question of a forum above the output of `dd`.
const PASTED: &str = "Hey guys, is this a fake Samsung EVO?\n\
    pi@raspberrypi:~ $ dd if=/dev/zero of=test bs=1M count=512 conv=fsync\n\
    512+0 records in\n512+0 records out\n\
    536870912 bytes (537 MB, 512 MiB) copied, 72.4 s, 7.4 MB/s\n";

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

#[test]
fn what_is_shared_names_the_whole_card() {
    let home = Home::new();
    let card = "sim:fake-cached";
    said(&home, &["verify", card, "--exclude-store", "8M", "--seed", "1", "-q"], 4);
    let shared = in_one_line(&said(&home, &["submit", "latest", "--dry-run"], 0).stdout);
    assert!(shared.contains("the latest 1 MiB reads back right)"), "{shared}");
}

#[test]
fn an_image_is_not_looked_at_for_a_switch() {
    let home = Home::new();
    let image = home.place().join("disk.img");
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let mut command = home.cardproof(&["check", word(&image)]);
    command.env("COLUMNS", "80");
    let ended = run(command);
    let text = in_one_line(&ended.stdout);
    assert!(text.contains("an image has no speed of its own"), "{text}");
    assert!(!text.contains("switch"), "{text}");
}

#[test]
fn the_list_of_simulated_cards_names_what_to_do_with_one() {
    let home = Home::new();
    let list = said(&home, &["sim", "list"], 0).stdout;
    for command in ["check", "run", "verify", "geometry", "tune", "powercut", "endure"] {
        assert!(list.contains(command), "{command}");
    }
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
fn simulated_cards_are_called_so_when_they_are_compared() {
    let home = Home::new();
    for (card, name) in [("sim:v30-a2", "one"), ("sim:intenso-class-4", "other")] {
        said(&home, &[&["run", card, "--label", name, "--seed", "1"][..], &SHORT].concat(), 0);
    }
    let text = said(&home, &["compare", "one", "other"], 0).stdout;
    assert!(text.contains("All of these cards are simulated."), "{text}");
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
fn an_image_leads_to_the_card_itself() {
    let home = Home::new();
    let image = home.place().join("card.img");
    fs::write(&image, vec![7; 4 << 20]).unwrap();
    let ended = said(&home, &["verify", word(&image)], 4);
    let answer = in_one_line(&ended.stdout);
    assert!(
        answer.starts_with("UNDECIDED: nothing was written, and only a test that writes"),
        "{answer}"
    );
    assert!(answer.contains("Next: name the card itself, such as /dev/mmcblk0"), "{answer}");
    assert!(in_one_line(&ended.stderr).contains(": a file on "), "{}", ended.stderr);
    let empty = home.place().join("empty.img");
    fs::File::create(&empty).unwrap().set_len(8 << 20).unwrap();
    said(&home, &["verify", word(&empty), "--destroy", "--full", "--quiet"], 0);
    let shown = in_one_line(&said(&home, &["show", "latest"], 0).stdout);
    assert!(shown.contains("a file has no capacity of its own"), "{shown}");
    assert!(!shown.contains("You can use the device"), "{shown}");
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
fn an_error_ends_with_what_can_be_typed() {
    let home = Home::new();
    let told = |words: &[&str], status| in_one_line(&said(&home, words, status).stderr);
    let real = told(&["powercut", "/dev/null"], 2);
    assert!(
        real.contains("A real card needs a second computer: cardproof powercut --help"),
        "{real}"
    );
    let text = home.place().join("text.txt");
    fs::write(&text, "hello world\n").unwrap();
    let no_record = told(&["show", word(&text)], 2);
    assert!(!no_record.contains("expected value"), "{no_record}");
}

/// A command that does not take a simulated card tells of one that there is not, and a group of commands names its own.
#[test]
fn a_name_that_nothing_has_is_told_by_every_command() {
    let home = Home::new();
    for words in [
        &["identify", "sim:nope"][..],
        &["health", "sim:nope"],
        &["diagnose", "sim:nope"],
        &["compare", "sim:nope", "ref:fio-pi5-2024"],
        &["endure", "sim:nope"],
    ] {
        let refused = said(&home, words, 2).stderr;
        assert!(in_one_line(&refused).contains("no simulated card 'nope'"), "{words:?}: {refused}");
    }
    for (words, remedy) in [
        (["sim", "lst"], "did you mean `cardproof sim list`?"),
        (["sim", "show"], "`cardproof sim --help` lists the commands"),
        (["replay", "lst"], "did you mean `cardproof replay list`?"),
    ] {
        let refused = said(&home, &words, 2).stderr;
        assert!(in_one_line(&refused).contains(remedy), "{words:?}: {refused}");
    }
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

/// A list says what a power cut did, and not only that there was a test.
#[test]
fn a_list_tells_what_power_cuts_did() {
    let home = Home::new();
    for (card, told) in [
        ("sim:sandisk-ultra-a1", "no loss in 10 power cuts"),
        ("sim:ignores-flushes", "DATA LOST in"),
    ] {
        let seed = ["--seed", "1", "-q"];
        run(home.cardproof(&[&["powercut", card, "--cuts", "10"][..], &seed].concat()));
        let list = said(&home, &["list"], 0).stdout;
        assert!(in_one_line(&list).contains(told), "{card}: {list}");
    }
}
