//! Commands that are printed to be copied: whatever a file is called, a shell reads its name as one word.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use cardproof_units::{shell_path, shell_word};

use crate::home::Home;
use crate::process::run;

/// Names that do something in a shell, or that a program takes for an option.
const NAMES: [&str; 10] = [
    "my card",
    "it's $HOME",
    "-x",
    "--destroy",
    "a\"b",
    "`id`",
    "$(id) & ls",
    "~",
    "*",
    "line\nfeed\ttab",
];

/// A log of iostat, which `watch --explain` reads.
const IOSTAT: &str = "Linux 6.1.0 (pi)\t11/20/26\t_aarch64_\t(4 CPU)\n\n\
Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n\
mmcblk0          10.00       100.00       200.00         0.00       1000       2000          0\n\n\
Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n\
mmcblk0          10.00       100.00       200.00         0.00       1000       2000          0\n";

/// The size of an image in bytes.
const IMAGE: usize = 16 << 20;

/// What cardproof says where `words` name `name` in its current directory.
fn said(home: &Home, words: &[&str], name: &str) -> String {
    let mut command = home.cardproof(words);
    command.arg("--").arg(name).current_dir(home.place());
    let ended = run(command);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    ended.stdout + &ended.stderr
}

/// Checks that `said` holds `command` with `word` after it.
fn assert_copied(said: &str, command: &str, word: &str) {
    assert!(said.contains(&format!("{command}{word}")), "no {command}{word} in: {said}");
}

/// An image file called `name` in a home of its own.
fn home_with_image(name: &str) -> Home {
    let home = Home::new();
    // Without holes, which are read from no storage; an image begins with a table, or blank.
    let mut image = vec![0xa5; IMAGE];
    image[..1 << 20].fill(0);
    fs::write(home.place().join(name), image).unwrap();
    home
}

#[test]
fn every_name_of_an_image_is_one_word_in_every_command() {
    for name in NAMES {
        let home = home_with_image(name);
        let word = shell_path(Path::new(name));
        let option = shell_word(format!("{name}:{IMAGE}"));
        let text = said(&home, &["verify"], name);
        assert_copied(&text, "cardproof verify ", &format!("{word} --restore={option}"));
        let text = said(&home, &["tune"], name);
        assert_copied(&text, "| sfdisk ", &word);
        assert_copied(&text, "losetup --find --show --partscan ", &word);
    }
}

#[test]
fn every_name_of_a_paste_is_one_word_in_the_command_that_reads_it() {
    for name in NAMES {
        let home = Home::new();
        fs::write(home.place().join(name), IOSTAT).unwrap();
        let word = shell_path(Path::new(name));
        let readers: [&[&str]; 3] = [&["show"], &["compare"], &["health", "--raw"]];
        for words in readers {
            let text = said(&home, words, name);
            assert_copied(&text, "cardproof watch --explain ", &word);
        }
    }
}

#[test]
fn every_name_behind_a_link_is_one_word() {
    for name in NAMES {
        let home = Home::new();
        let real = home.place().join(name);
        fs::create_dir(&real).unwrap();
        symlink(&real, home.place().join("to-it")).unwrap();
        let text = said(&home, &["run"], "to-it");
        assert_copied(
            &text,
            "name the directory itself: ",
            &shell_path(&real.canonicalize().unwrap()),
        );
    }
}

#[test]
fn every_name_of_a_dump_is_one_word() {
    let name = "it's my $HOME";
    let home = Home::new();
    let mut command = home.cardproof(&["identify", "--dump", name]);
    command.current_dir(home.place());
    let said = run(command).stderr;
    assert_copied(&said, "cardproof identify --sysroot ", &shell_path(Path::new(name)));
}
