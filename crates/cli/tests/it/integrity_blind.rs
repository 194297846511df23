//! `cardproof verify --queue` and `--discard` on cards made from descriptions in words alone: a small part of
//! `cargo xtask prove integrity`.

use std::fs;

use cardproof_testkit::some_of;
use serde_json::Value;

use crate::home::Home;
use crate::process::run;

/// What the test of `option` says of a small card on `base` with `rest`.
fn verdict(base: &str, rest: &str, option: &str, share: &str) -> String {
    let home = Home::new();
    let file = home.place().join("card.toml");
    fs::write(&file, format!("base = \"{base}\"\nsize = \"96MiB\"\n{rest}")).unwrap();
    let target = format!("sim:{}", file.display());
    let words = ["verify", &target, "--quiet", "--json", "-", "--seed", "5", option];
    let words = [&words[..], &["--exclude-share", share]].concat();
    let ended = run(home.cardproof(&words));
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
    let part = &answer[option.trim_start_matches('-')];
    part["verdict"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn queues_that_nobody_planned_for_are_judged_rightly() {
    for (fault, expected) in [
        ("[queue]\nharm = \"swapped-blocks\"\nshare = 0.01", "corrupts"),
        ("[queue]\nharm = \"other-tag\"\nshare = 0.01", "corrupts"),
        ("[queue]\nharm = \"resent-stale\"\nshare = 0.01", "corrupts"),
        ("[queue]\nharm = \"flipped-bit\"\nshare = 0.01", "corrupts"),
        ("[queue]\nharm = \"read-spoils\"\nshare = 0.01", "corrupts"),
        ("[queue]\nharm = \"stale-while-cached\"\nshare = 0.05", "corrupts"),
        ("[queue]\nharm = \"flush-drops-newest\"", "corrupts"),
        ("[queue]\nharm = \"lost-write\"\n[host]\nqueue_depth = 1", "sound"),
        ("[power]\nvolatile = \"64MiB\"\nflush = \"ignored\"", "sound"),
    ] {
        assert_eq!(verdict("v30-a2-queued", fault, "--queue", "0.001"), expected, "{fault}");
    }
}

#[test]
fn discards_that_nobody_planned_for_are_judged_rightly() {
    let faults = [
        ("harm = \"rounds-out\"\nreach = \"64KiB\"", "harms_data"),
        ("harm = \"kills-next-write\"\nreach = \"64KiB\"", "harms_data"),
        ("harm = \"loses-latest\"", "harms_data"),
        ("harm = \"frays-rewrite\"\nreads = \"ones\"", "harms_data"),
        ("harm = \"comes-back-later\"", "returns_old_data"),
        ("harm = \"rounds-in\"\nreach = \"64KiB\"", "sound"),
        ("reads = \"mixed\"", "sound"),
    ];
    for (fault, expected) in some_of(faults, 2) {
        let card = format!("[discard]\n{fault}");
        assert_eq!(verdict("v30-a2", &card, "--discard", "0.02"), expected, "{fault}");
    }
}
