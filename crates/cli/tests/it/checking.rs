//! `cardproof check`: the page of the answer on simulated cards, recorded machines and directories.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::home::{Home, word};
use crate::process::{Ended, run};
use crate::refusals::as_nobody;

pub(crate) fn tree(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../device/tests/trees/{name}.txt"))
}

fn check(words: &[&str]) -> Ended {
    let home = Home::new();
    let mut command = home.cardproof(&[&["check"], words].concat());
    command.env("COLUMNS", "80");
    run(command)
}

/// The page, which is one screen.
fn page(words: &[&str], status: i32) -> String {
    let page = check(words).expect(status).stdout;
    assert!(page.lines().count() <= 24, "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    page
}

fn page_of_card(name: &str, status: i32) -> String {
    page(&[&format!("sim:{name}"), "--seed", "1"], status)
}

#[test]
fn a_good_card() {
    insta::assert_snapshot!(page_of_card("sandisk-extreme-a1", 0));
}

#[test]
fn a_slow_card() {
    insta::assert_snapshot!(page_of_card("intenso-class-4", 4));
}

#[test]
fn a_fake_is_bad_whatever_else_it_is() {
    insta::assert_snapshot!(page_of_card("fake-wrap", 4));
}

#[test]
fn a_worn_emmc() {
    insta::assert_snapshot!(page(&["--sysroot", word(&tree("nanopi_emmc_hs200"))], 0));
}

#[test]
fn a_suspected_counterfeit_at_low_voltage() {
    insta::assert_snapshot!(page(&["--sysroot", word(&tree("suspected_counterfeit"))], 0));
}

#[test]
fn only_the_questions_that_are_asked_are_answered() {
    let page = page(&["--sysroot", word(&tree("pi4_a2_ddr50")), "--only", "setup,power"], 0);
    insta::assert_snapshot!(page);
}

#[test]
fn scripts_find_one_key_for_each_question() {
    let text = check(&["sim:fake-drop", "--seed", "1", "--json", "-"]).expect(4).stdout;
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "cardproof.check/1");
    assert_eq!(answer["overall"], "fake");
    assert_eq!(answer["real"]["found"]["reply"], "no");
    for question in ["real", "healthy", "fast", "set_up", "power"] {
        assert!(answer[question]["standing"].is_string(), "{question}");
    }
    assert_eq!(answer["records"].as_array().map(Vec::len), Some(2));
}

/// The test of the capacity and the speed are records of their own; the latest tells of both.
#[test]
fn the_record_of_a_check_answers_as_the_check_did() {
    for (card, status) in [("sim:sandisk-extreme-a1", 0), ("sim:fake-drop", 4)] {
        let home = Home::new();
        let [checked, shown] = ["checked.svg", "shown.svg"].map(|name| home.place().join(name));
        run(home.cardproof(&["check", card, "--seed", "1", "--picture", word(&checked)]))
            .expect(status);
        run(home.cardproof(&["show", "latest", "--picture", word(&shown)])).expect(0);
        let picture = |file| fs::read_to_string(file).unwrap();
        assert_eq!(picture(&shown), picture(&checked), "{card}");
    }
}

#[test]
fn a_forum_gets_a_few_lines() {
    let words = ["sim:sandisk-extreme-a1", "--seed", "1", "--only", "real,fast", "--markdown", "-"];
    insta::assert_snapshot!(check(&words).expect(0).stdout);
}

#[test]
fn what_a_fake_holds_is_told_once() {
    let words = ["sim:fake-wrap", "--seed", "1", "--only", "real,fast", "--markdown", "-"];
    let text = check(&words).expect(4).stdout;
    assert_eq!(text.matches("holds 2 GiB").count(), 1, "{text}");
}

#[test]
fn a_target_that_is_not_there_is_an_error() {
    let ended = check(&["/no/such/place"]).expect(2);
    assert!(ended.stderr.contains("/no/such/place"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

/// Holes are filled by the computer and not by the storage.
#[test]
fn a_file_with_holes_is_not_measured() {
    let home = Home::new();
    let image = home.place().join("image");
    fs::File::create(&image).unwrap().set_len(200 << 20).unwrap();
    let ended = run(home.cardproof(&["check", word(&image)])).expect(1);
    assert!(ended.stdout.contains("holes"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("system good"), "{}", ended.stdout);
    let ended = run(home.cardproof(&["run", word(&image), "--time-budget", "5s"])).expect(3);
    assert!(ended.stderr.contains("holes"), "{}", ended.stderr);
}

/// An answer that is not known is no failure; where no test could be made for what was asked, the status says so.
#[test]
fn only_what_could_not_be_tested_at_all_is_a_failure() {
    let home = Home::new();
    let image = home.place().join("image");
    fs::write(&image, vec![7; 20 << 20]).unwrap();
    for (questions, status) in [("real", 1), ("healthy,setup", 0), ("real,fast", 0)] {
        let words = ["check", word(&image), "--only", questions];
        let ended = run(home.cardproof(&words)).expect(status);
        assert_eq!(ended.stderr.matches("error").count(), 0, "{}", ended.stderr);
    }
}

/// A healthy log alone is no result of a check that was to test.
#[test]
fn where_nothing_could_be_tested_the_headline_claims_nothing() {
    let home = Home::new();
    let holes = home.place().join("holes");
    fs::File::create(&holes).unwrap().set_len(64 << 20).unwrap();
    let text = run(home.cardproof(&["check", word(&holes)])).expect(1).stdout;
    assert!(text.contains("NOT ENOUGH IS KNOWN"), "{text}");
}

/// Each command's help has the rule by which it ends.
#[test]
fn the_helps_say_what_the_statuses_mean() {
    let home = Home::new();
    for (command, told) in [
        ("check", "0 done, also where an answer is \"not known\""),
        ("verify", "mounted read-only, too little free space"),
        ("run", "`run` measures; only --require gives status 4."),
    ] {
        let help = run(home.cardproof(&[command, "--help"])).expect(0).stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(told), "{command}: {help}");
    }
}

#[test]
fn a_saved_machine_is_not_measured() {
    let home = Home::new();
    let command = home.cardproof(&["check", "--sysroot", word(&tree("usb2_stick"))]);
    run(command).expect(0);
    assert_eq!(home.records().len(), 0);
}

#[test]
fn a_directory_keeps_its_files_and_gets_its_space_back() {
    let home = Home::new();
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(place.path().join("photo"), b"somebody's").unwrap();
    let words = ["check", word(place.path()), "--only", "real,healthy,setup"];
    let ended = run(home.cardproof(&words));
    // On a full disk there is nothing to test.
    let is_full = ended.stdout.contains("too little free space");
    let expected = if is_full { [1, 4] } else { [0, 4] };
    assert!(expected.contains(&ended.code()), "{}", ended.stderr);
    assert!(ended.stdout.contains("Real?"), "{}", ended.stdout);
    let names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["photo"]);
    assert_eq!(fs::read(place.path().join("photo")).unwrap(), b"somebody's");
}

#[test]
fn a_check_says_once_that_this_user_may_not_write_and_what_would_do() {
    let home = Home::for_others();
    let closed = home.place().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let (command, _program) = as_nobody(&home, &["check", word(&closed)]);
    let ended = run(command).expect(1);
    let told = &ended.stdout;
    assert_eq!(told.matches("this user may not write here").count(), 1, "{told}");
    assert!(!told.contains("os error"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let next = told.split("Next: 1. ").nth(1).unwrap_or_default();
    assert!(
        next.starts_with("cardproof DIRECTORY (name a directory of your own on it, or"),
        "{told}"
    );
}
