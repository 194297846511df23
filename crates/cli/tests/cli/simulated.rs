//! Simulated cards through the program: the same from run to run, marked as what they are, and
//! never taken for real.

use std::fs;

use cardproof_record::{Outcome, State, TargetKind};

use crate::home::Home;
use crate::process::run;
use crate::records;

/// The record of a run on `card` with `words`, as text.
fn record_of(home: &Home, card: &str, words: &[&str]) -> String {
    let target = format!("sim:{card}");
    let common = ["run", &target, "--seed", "1", "--quiet", "--json", "-"];
    run(home.cardproof(&[&common, words].concat())).expect(0).stdout
}

/// FNV-1a (Fowler, Noll and Vo), 64 bits: short enough to be kept here.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_same_seed_gives_the_same_record_to_the_last_byte() {
    let (home, other_home) = (Home::new(), Home::new());
    let first = record_of(&home, "sandisk-extreme-a1", &[]);
    assert_eq!(first, record_of(&other_home, "sandisk-extreme-a1", &[]));
    assert_eq!(
        home.records(),
        [home.data().join("cardproof/records/sim-sandisk-extreme-a1-standard-1.json",)]
    );
    let saved = fs::read_to_string(&home.records()[0]).unwrap();
    let prints = format!("{:016x} {:016x}", fingerprint(&first), fingerprint(&saved));
    insta::assert_snapshot!(prints, @"858ba4b3b1dc2c9d a08bdef711e90095");
}

#[test]
fn a_simulated_record_says_that_it_is_one() {
    let record = records::parse(&record_of(&Home::new(), "sandisk-ultra-a1", &[]));
    assert_eq!(record.conditions.target.kind, TargetKind::Simulated);
    assert_eq!(record.state, State::Complete);
    assert_eq!(record.conditions.host, Default::default(), "the host has nothing to do with it");
    assert_eq!(record.monitor, Default::default());
}

#[test]
fn old_cards_miss_a1_and_the_best_published_one_meets_it() {
    let outcome = |card| {
        let record = records::parse(&record_of(&Home::new(), card, &[]));
        let verdicts = record.verdicts.unwrap();
        verdicts.iter().find(|verdict| verdict.rule == "A1").unwrap().outcome
    };
    assert_eq!(outcome("intenso-class-4"), Outcome::Misses);
    assert_eq!(outcome("sandisk-ultra"), Outcome::Misses);
    assert_eq!(outcome("sandisk-extreme-a1"), Outcome::Meets);
}

#[test]
fn the_list_names_cards_that_can_be_run() {
    let home = Home::new();
    let list = run(home.cardproof(&["sim", "list"])).expect(0).stdout;
    let names: Vec<&str> =
        list.lines().filter(|line| !line.starts_with(' ') && !line.contains(' ')).collect();
    assert!(names.len() >= 13, "{list}");
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        record_of(&home, name, &["--size", "16M", "--time-budget", "2s"]);
    }
}

#[test]
fn an_unknown_card_is_named_with_the_remedy() {
    let home = Home::new();
    for words in [&["run", "sim:no-such-card"][..], &["sim", "serve", "no-such-card"]] {
        let ended = run(home.cardproof(words)).expect(2);
        assert!(ended.stderr.contains("no-such-card"), "{}", ended.stderr);
        assert!(ended.stderr.contains("sim list"), "{}", ended.stderr);
    }
}
