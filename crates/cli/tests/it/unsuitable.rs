//! What cannot be measured or looked at is refused with the reason, and with what can be named in its place.

use std::fs;

use crate::home::{Home, word};
use crate::process::run;
use crate::said::{in_one_line, refuses, said};

#[test]
fn a_directory_without_a_copy_of_sys_is_no_saved_computer() {
    let home = Home::new();
    let empty = home.place().join("no-sys");
    fs::create_dir(&empty).unwrap();
    for command in ["identify", "check"] {
        refuses(&home, &[command, "--sysroot", word(&empty)], "no copy of /sys");
    }
}

#[test]
fn a_file_is_no_storage_to_identify() {
    let home = Home::new();
    let path = home.place().join("text.txt");
    fs::write(&path, "hello world\n").unwrap();
    refuses(&home, &["identify", word(&path)], "is a file; name a device or a directory");
    refuses(&home, &["diagnose", "sim:v30-a2"], "cannot use a simulated card");
}

#[test]
fn a_small_file_is_not_measured_and_no_command_to_overwrite_a_file_is_printed() {
    let home = Home::new();
    let small = home.place().join("small");
    fs::write(&small, b"somebody's").unwrap();
    refuses(&home, &["run", word(&small)], "too small to measure");
    let large = home.place().join("large");
    fs::write(&large, vec![7; 4 << 20]).unwrap();
    let mut command = home.cardproof(&["run", word(&large), "--time-budget", "2s"]);
    command.env("COLUMNS", "80");
    let ended = run(command);
    assert!(!ended.stderr.contains("--destroy"), "{}", ended.stderr);
}

#[test]
fn what_is_no_storage_is_refused_before_anything_is_measured() {
    let home = Home::new();
    refuses(&home, &["run", "/proc"], "no storage to test");
    refuses(&home, &["check", "/proc"], "no storage to test");
}

#[test]
fn a_file_system_needs_room() {
    let home = Home::new();
    let words = ["compare-setups", word(home.place()), "--size", "1M"];
    refuses(&home, &words, "too small for a file system");
}

#[test]
fn diagnose_cannot_watch_a_simulated_card() {
    refuses(&Home::new(), &["diagnose", "sim:v30-a2"], "cannot use a simulated card");
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
fn a_queue_that_is_off_was_not_tested() {
    let home = Home::new();
    said(&home, &["verify", "sim:sandisk-ultra-a1", "--queue", "--seed", "1", "-q"], 1);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.contains("queue not tested (it is off)"), "{list}");
}

/// What the kernel makes up lies on no storage, of which nothing can be said.
#[test]
fn no_storage_is_diagnosed_where_there_is_none() {
    let home = Home::new();
    let [told, checked] =
        ["diagnose", "check"].map(|command| said(&home, &[command, "/proc"], 2).stderr);
    assert!(told.contains("there is no storage to test"), "{told}");
    assert_eq!(told, checked);
}
