//! Labels: which records they name, and what is refused.

use crate::home::{Home, word};
use crate::said::{checked, ids, in_one_line, measured_with_seed, refuses, said};

#[test]
fn a_label_that_could_not_name_a_record_is_refused() {
    let home = Home::new();
    for label in ["latest", " Latest ", "-x"] {
        let option = format!("--label={label}");
        refuses(
            &home,
            &["run", "sim:intenso-class-4", &option],
            "a record could not be named by it",
        );
    }
}

#[test]
fn a_label_means_all_records_of_its_card_that_were_measured_alike() {
    let home = Home::new();
    for (label, card) in [("red", "sandisk-ultra-a1"), ("grey", "high-endurance")] {
        measured_with_seed(&home, card, label, "5");
        measured_with_seed(&home, card, label, "6");
    }
    let text = in_one_line(&said(&home, &["compare", "red", "grey"], 0).stdout);
    assert!(text.contains("Means of several runs: red (2) and grey (2)."), "{text}");
    let details = said(&home, &["compare", "red", "grey", "--details"], 0).stdout;
    assert!(!in_one_line(&details).contains("one run"), "{details}");
    // A run over another range is another measurement.
    let other = ["run", "sim:high-endurance", "--label", "grey", "--size", "64M"];
    said(&home, &[&other[..], &["--time-budget", "15s", "--seed", "7", "-q"]].concat(), 0);
    let text = in_one_line(&said(&home, &["compare", "red", "grey"], 0).stdout);
    assert!(text.contains("Means of several runs: red (2)."), "{text}");
    let first = ids(&home).remove(0);
    let message = in_one_line(&said(&home, &["compare", "red", &first], 2).stderr);
    assert!(message.contains("have a record in common"), "{message}");
}

#[test]
fn a_label_stands_for_the_records_that_a_list_shows() {
    let home = Home::new();
    for seed in ["1", "2"] {
        checked(&home, "sandisk-ultra", "red", seed);
    }
    assert_eq!(home.records().len(), 4, "each check keeps its test of the capacity too");
    assert_eq!(said(&home, &["list"], 0).stdout.matches("red").count(), 2);
    let shown = said(&home, &["show", "red"], 0);
    assert!(shown.stderr.contains("the newest of 2 records"), "{}", shown.stderr);
    let hidden = home.records().into_iter().find(|path| word(path).contains("-verify-1-")).unwrap();
    let id = hidden.file_stem().unwrap().to_str().unwrap();
    said(&home, &["show", id], 0);
}

#[test]
fn a_label_of_two_cards_is_told_when_it_is_given_and_when_it_is_used() {
    let home = Home::new();
    let first = checked(&home, "sandisk-ultra", "red", "1");
    assert!(!first.contains("another card"), "{first}");
    let again = checked(&home, "sandisk-ultra", "red", "2");
    assert!(!again.contains("another card"), "{again}");
    let second = checked(&home, "sandisk-extreme-a1", "red", "1");
    assert!(second.contains("on a record of another card too: sim-sandisk-ultra-"), "{second}");
    for words in [vec!["show", "red"], vec!["compare", "red", "ref:sandisk-ultra"]] {
        let told = said(&home, &words, 2).stderr;
        assert!(told.contains("(sim:sandisk-extreme-a1, "), "{told}");
        assert_eq!(told.matches("(sim:sandisk-ultra, ").count(), 2, "{told}");
    }
}

#[test]
fn a_label_is_no_id_and_goes_before_a_part_of_one() {
    let home = Home::new();
    for label in ["20261104T181502Z-9e84f69a", "20261104T", "9e84f69a"] {
        let told = said(&home, &["run", "sim:usb-stick", "--label", label], 2).stderr;
        assert!(in_one_line(&told).contains("form of a record's id"), "{told}");
    }
    checked(&home, "sandisk-ultra", "red", "1");
    checked(&home, "sandisk-extreme-a1", "sim-sandisk", "1");
    let shown = said(&home, &["show", "sim-sandisk"], 0).stdout;
    assert!(shown.contains("sim-sandisk: SanDisk Extreme A1"), "{shown}");
}
