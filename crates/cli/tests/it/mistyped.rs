//! A word that the program does not know, or that is missing: the error names what can be typed.

use std::fs;

use crate::home::{Home, word};
use crate::said::{in_one_line, refuses, said};

const NO_RECORD: &str = "here is no record yet; check a card first: cardproof check DIRECTORY";

#[test]
fn a_name_is_found_whatever_its_case_and_a_mistyped_one_is_suggested() {
    let home = Home::new();
    let short = ["--size", "16M", "--time-budget", "2s", "-q"];
    let run = |words: &[&str]| said(&home, &[words, &short].concat(), 0);
    run(&["run", "sim:SanDisk-Extreme-A1", "--profile", "Standard", "--seed", "1"]);
    refuses(&home, &["run", "sim:sandisk-extrem-a1"], "did you mean sim:sandisk-extreme-a1?");
    refuses(&home, &["run", "sim:v30-a2", "--profile", "standrd"], "did you mean standard?");
    refuses(&home, &["replay", "show", "desktop-instal"], "did you mean desktop-install?");
    said(&home, &["replay", "show", "BOOT"], 0);
    said(&home, &["profiles", "A1"], 0);
    said(&home, &["compare", "ref:FIO-pi5-2024", "--use", "HomeAssistant"], 0);
}

#[test]
fn no_old_name_of_a_command_stays() {
    let home = Home::new();
    for name in ["rate", "report", "summary", "capture", "traces"] {
        let ended = said(&home, &[name, "latest"], 2);
        assert!(!ended.stderr.is_empty(), "{name}");
    }
}

#[test]
fn a_word_for_a_markdown_file_is_a_mistyped_short() {
    let home = Home::new();
    said(&home, &["run", "sim:v30-a2", "--size", "16M", "--time-budget", "2s", "-q"], 0);
    refuses(&home, &["show", "latest", "--markdown", "lng"], "`short`");
    let path = home.place().join("result.md");
    let ended = said(&home, &["show", "latest", "--markdown", word(&path)], 0);
    assert!(in_one_line(&ended.stderr).contains("Markdown:"), "{}", ended.stderr);
}

#[test]
fn who_names_too_little_is_told_what_there_is_to_name() {
    let home = Home::new();
    said(&home, &["run", "sim:sandisk-ultra", "--profile", "a1", "--seed", "1", "-q"], 0);
    refuses(&home, &["compare"], "name at least two cards; `cardproof list`");
    refuses(&home, &["submit", "latest"], "for a forum: cardproof show latest --markdown short");
}

#[test]
fn a_count_starts_at_one() {
    let home = Home::new();
    for words in [["watch", "--count", "0"].as_slice(), &["endure", "sim:v30-a2", "--cycles", "0"]]
    {
        refuses(&home, words, "give a number from 1");
    }
}

#[test]
fn two_targets_and_unknown_commands_are_told_in_plain_words() {
    let home = Home::new();
    refuses(&home, &["/", "work"], "name only one target; 'work' is one too many");
    refuses(&home, &["work", "work"], "there is no command and no file 'work'");
    refuses(&home, &["work", "verify"], "the command comes first");
    refuses(&home, &["help", "verfy"], "did you mean `cardproof verify`?");
    refuses(&home, &["help", "foo"], "`cardproof --help` lists the commands");
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

#[test]
fn help_and_errors_name_what_there_is() {
    let home = Home::new();
    let missing = said(&home, &["health", "/dev/no-such-device"], 2).stderr;
    assert!(in_one_line(&missing).contains("does not exist; check the name: `lsblk`"), "{missing}");
    let check = in_one_line(&said(&home, &["check", "-h"], 0).stdout);
    assert!(check.contains("`cardproof show latest --json -`"), "{check}");
    for command in ["show", "compare", "tune", "submit"] {
        let help = in_one_line(&said(&home, &[command, "-h"], 0).stdout);
        assert!(help.contains("an id as `list` shows it"), "{command}: {help}");
    }
    let compare = said(&home, &["compare", "-h"], 0).stdout;
    assert!(compare.contains("Home Assistant"), "{compare}");
    let server = ["compare", "ref:sd-card-bench-2018", "--use", "server"];
    let text = in_one_line(&said(&home, &server, 0).stdout);
    assert!(text.contains("can be ranked: --use system"), "{text}");
    assert!(text.contains("has no figure of 4 KiB synced write"), "{text}");
}

#[test]
fn without_a_record_one_sentence_says_what_to_do() {
    let home = Home::new();
    for (words, status) in [
        (vec!["list"], 0),
        (vec!["show", "latest"], 2),
        (vec!["compare"], 2),
        (vec!["compare", "latest", "latest"], 2),
    ] {
        let told = said(&home, &words, status).stderr;
        assert!(told.contains(NO_RECORD), "{words:?}: {told}");
    }
}

#[test]
fn an_unknown_simulated_card_is_an_error_and_nothing_else() {
    let told = said(&Home::new(), &["check", "sim:nope"], 2).stderr;
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("error: there is no simulated card"), "{told}");
}

#[test]
fn a_word_that_is_neither_command_nor_file_is_called_so() {
    let home = Home::new();
    for (words, told) in [
        (vec!["frobnicate"], "no command and no file 'frobnicate'; `cardproof --help`"),
        (vec!["frobnicate", "--bogus"], "no command and no file 'frobnicate'"),
        (vec!["lsit"], "no command and no file 'lsit'; did you mean `cardproof list`?"),
        (vec!["sandisk-ultra"], "did you mean the simulated card sim:sandisk-ultra?"),
        (vec!["no/such"], "no/such does not exist; check its spelling"),
        (vec!["run", "frobnicate"], "frobnicate does not exist; check its spelling"),
    ] {
        let said = in_one_line(&said(&home, &words, 2).stderr);
        assert!(said.contains(told) && !said.contains("lsblk"), "{words:?}: {said}");
    }
    let device = said(&home, &["/dev/cardproof-none"], 2).stderr;
    assert!(device.contains("`lsblk` lists devices"), "{device}");
}

#[test]
fn the_usage_is_that_of_the_program() {
    let help = said(&Home::new(), &["--help"], 0).stdout;
    let usage =
        "Usage: cardproof [TARGET] [OPTIONS OF check]\n       cardproof COMMAND [OPTIONS]\n";
    assert!(help.contains(usage), "{help}");
}
