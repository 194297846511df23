//! `cardproof powercut` through the program: its contract for scripts, on simulated cards.

use std::fs;

use serde_json::{Value, json};

use crate::home::Home;
use crate::process::run;

fn found(home: &Home, words: &[&str], status: i32) -> Value {
    let words = [&["powercut", "--quiet", "--json", "-", "--seed", "1"], words].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

/// The card that `power` describes.
fn card(home: &Home, power: &str) -> String {
    let file = home.place().join("card.toml");
    fs::write(&file, format!("base = \"sandisk-ultra-a1\"\n[power]\n{power}")).unwrap();
    format!("sim:{}", file.display())
}

#[test]
fn an_honest_card_has_no_finding_and_a_bound() {
    let home = Home::new();
    for mode in ["flush", "fua", "fsync"] {
        let found = found(&home, &["sim:sandisk-ultra-a1", "--cuts", "60", "--mode", mode], 0);
        assert_eq!((&found["cuts"], &found["mode"]), (&json!(60), &json!(mode)));
        let effective = found["effective_cuts"].as_u64().unwrap();
        assert!((50..=60).contains(&effective), "{found}");
        let bound = found["bound"].as_f64().unwrap();
        assert!((bound - 3.0 / effective as f64).abs() < 1e-9, "{found}");
        let kinds = found["findings"].as_object().unwrap();
        assert_eq!(kinds.len(), 7);
        assert!(kinds.values().all(|count| *count == json!(0)), "{found}");
    }
    assert!(!home.records().is_empty(), "a record is saved");
}

#[test]
fn each_described_harm_is_found_by_its_name() {
    let home = Home::new();
    for kind in ["lost", "torn", "reordered", "collateral", "misdirected", "gone"] {
        let target = card(&home, &format!("cut = \"{kind}\""));
        let found = found(&home, &[&target, "--cuts", "20"], 4);
        let cuts = found["cuts"].as_u64().unwrap();
        assert_eq!(cuts, if kind == "gone" { 1 } else { 20 });
        assert!(found["findings"][kind].as_u64().unwrap() * 100 >= 95 * cuts, "{found}");
        let all: u64 =
            found["findings"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert!(all <= cuts, "nothing else is found: {found}");
        assert_eq!(found["harm"][0]["kind"], json!(kind));
    }
}

#[test]
fn a_card_that_ignores_flushes_is_found() {
    let home = Home::new();
    for target in [card(&home, "flush = \"ignored\""), "sim:ignores-flushes".to_owned()] {
        let found = found(&home, &[&target, "--cuts", "20"], 4);
        assert!(found["share"]["low"].as_f64().unwrap() > 0.5, "{target}: {found}");
    }
}

#[test]
fn the_same_seed_gives_the_same_findings() {
    let home = Home::new();
    let target = card(&home, "cut = \"torn\"\nshare = 0.5");
    let words = [target.as_str(), "--cuts", "20"];
    assert_eq!(found(&home, &words, 4), found(&home, &words, 4));
}

#[test]
fn people_read_a_bound_and_what_was_found() {
    let home = Home::new();
    let said = run(home.cardproof(&["powercut", "sim:sandisk-ultra-a1", "--seed", "1"])).expect(0);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("NO DATA LOST"), "{text}");
    assert!(text.contains("A card that loses data in 3.0 % of power cuts or more would"), "{text}");
    let target = card(&home, "cut = \"collateral\"");
    let page = home.place().join("page.html");
    let html = page.to_str().unwrap();
    let words = ["powercut", &target, "--cuts", "5", "--seed", "1", "--html", html];
    let said = run(home.cardproof(&words)).expect(4);
    assert!(said.stdout.contains("data changed that was not being written"), "{}", said.stdout);
    assert!(!said.stdout.contains("at byte"), "the answer is one screen: {}", said.stdout);
    let details = run(home.cardproof(&["show", "latest", "--details"])).expect(0).stdout;
    assert!(details.contains("from the nearest write"), "{details}");
    assert!(fs::read_to_string(page).unwrap().contains("<h2>Power cuts</h2>"));
}

#[test]
fn what_cannot_be_cut_is_a_clear_error() {
    let home = Home::new();
    for (words, said) in [
        (vec!["."], "of a simulated card only"),
        (vec!["sim:sandisk-ultra-a1", "--cuts", "0"], "--cuts"),
        (vec!["sim:sandisk-ultra-a1", "--size", "8K"], "it needs 256 KiB"),
        (vec!["sim:none"], "no simulated card 'none'"),
    ] {
        let words = [vec!["powercut"], words].concat();
        let told = run(home.cardproof(&words)).expect(2);
        assert!(told.stderr.contains(said), "{words:?}: {}", told.stderr);
    }
}
