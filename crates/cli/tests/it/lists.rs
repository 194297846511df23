//! Lists of saved records and of simulated cards.

use std::fs;

use serde_json::Value;

use crate::home::{Home, word};
use crate::process::run;
use crate::said::{in_one_line, measured_with_seed, said};

#[test]
fn a_list_has_one_line_for_each_record() {
    let home = Home::new();
    let short = ["--size", "16M", "--time-budget", "2s", "-q"];
    for card in ["sim:v30-a2", "sim:intenso-class-4"] {
        said(&home, &[&["run", card, "--seed", "1"][..], &short].concat(), 0);
    }
    let text = said(&home, &["list"], 0).stdout;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for line in text.lines() {
        let name = line.split_whitespace().next().unwrap();
        said(&home, &["show", name], 0);
    }
}

#[test]
fn the_list_of_simulated_cards_names_what_to_do_with_one() {
    let home = Home::new();
    let list = said(&home, &["sim", "list"], 0).stdout;
    for command in ["check", "run", "verify", "geometry", "tune", "powercut", "endure"] {
        assert!(list.contains(command), "{command}");
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

#[test]
fn a_check_is_one_row_of_a_list_and_names_its_label() {
    let home = Home::new();
    let words = ["check", "sim:sandisk-extreme-a1", "--seed", "1", "--label", "kitchen pi"];
    let ended = said(&home, &words, 0);
    assert!(ended.stdout.trim_start().starts_with("kitchen pi: SanDisk"), "{}", ended.stdout);
    assert!(ended.stdout.contains("To quote: small writes faster than "), "{}", ended.stdout);
    let notes = in_one_line(&ended.stderr);
    assert!(notes.contains("in simulated time"), "{notes}");
    assert!(notes.contains("4 KiB random write, depth 32"), "{notes}");
    assert!(!notes.contains("qd32"), "{notes}");
    let list = said(&home, &["list"], 0).stdout;
    assert_eq!(list.lines().count(), 1, "{list}");
    assert!(list.contains("A1 passed, genuine") && list.contains("(latest)"), "{list}");
    let json: Value =
        serde_json::from_str(&said(&home, &["list", "--json", "-"], 0).stdout).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 1, "{json:#}");
}

#[test]
fn a_list_with_details_says_what_each_record_found() {
    let home = Home::new();
    said(&home, &["powercut", "sim:ignores-flushes", "--cuts", "10", "--seed", "1", "-q"], 4);
    said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], 0);
    said(&home, &["endure", "sim:sandisk-ultra", "--cycles", "1", "--seed", "1", "-q"], 0);
    for words in [&["list", "--details"][..], &["list"]] {
        let list = in_one_line(&said(&home, words, 0).stdout);
        assert!(list.contains("DATA LOST in "), "{list}");
        assert!(
            list.contains("geometry: allocation unit") && list.contains("NO FAILURE"),
            "{list}"
        );
        assert!(!list.contains("no class tested"), "{list}");
    }
}

#[test]
fn ids_that_end_alike_are_shown_longer_and_are_found() {
    let home = Home::new();
    measured_with_seed(&home, "v30-a2", "one", "5");
    let text = fs::read_to_string(&home.records()[0]).unwrap();
    let directory = home.records()[0].parent().unwrap().to_owned();
    for number in ["1111111111111111", "2222222222222222"] {
        let mut record: Value = serde_json::from_str(&text).unwrap();
        let id = format!("sim-card-{number}-33bee7a8");
        record["id"] = Value::String(id.clone());
        fs::write(directory.join(format!("{id}.json")), record.to_string()).unwrap();
    }
    let list = said(&home, &["list"], 0).stdout;
    for id in ["1111111111111111-33bee7a8", "2222222222222222-33bee7a8"] {
        assert!(list.contains(id), "{list}");
        said(&home, &["show", id], 0);
    }
}

#[test]
fn the_latest_record_is_the_last_of_a_list() {
    let home = Home::new();
    let paste = home.place().join("logs");
    fs::create_dir(&paste).unwrap();
    let log = "$ dd if=/dev/zero of=test bs=1M count=100 conv=fsync\n\
        104857600 bytes (105 MB, 100 MiB) copied, 5.2 s, 20.2 MB/s\n";
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        fs::write(paste.join(name), log).unwrap();
    }
    measured_with_seed(&home, "v30-a2", "one", "5");
    said(&home, &["import", word(&paste)], 0);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.lines().last().unwrap().contains("(latest)"), "{list}");
}

#[test]
fn records_of_one_simulated_card_have_ends_of_their_own() {
    let home = Home::new();
    for seed in ["1", "2"] {
        said(&home, &["geometry", "sim:sandisk-ultra", "--seed", seed, "-q"], 0);
    }
    let list = said(&home, &["list"], 0).stdout;
    let ids: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids.len(), 2, "{list}");
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == 8), "{list}");
}

/// Only the file was tested, so no text may speak of the capacity of its device.
#[test]
fn a_file_is_called_a_file_wherever_its_record_is_told() {
    let home = Home::new();
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(16 << 20).unwrap();
    let verify = ["verify", word(file.path()), "--destroy", "--full", "--label", "file"];
    let verified = said(&home, &verify, 0).stdout;
    assert!(verified.contains("FILE KEEPS DATA: all 16 MiB"), "{verified}");
    let picture = home.place().join("picture.svg");
    let html = home.place().join("page.html");
    said(&home, &["show", "latest", "--picture", word(&picture), "--html", word(&html)], 0);
    let texts = [
        verified,
        said(&home, &["list"], 0).stdout,
        said(&home, &["list", "--markdown", "-"], 0).stdout,
        said(&home, &["show", "latest"], 0).stdout,
        said(&home, &["show", "latest", "--markdown", "-"], 0).stdout,
        said(&home, &["show", "latest", "--markdown", "short"], 0).stdout,
        fs::read_to_string(picture).unwrap(),
        fs::read_to_string(html).unwrap(),
    ];
    for text in texts {
        let small = text.to_lowercase();
        assert!(small.contains("file keeps data") || small.contains("a file on "), "{text}");
        assert!(!small.contains("genuine") && !small.contains("capacity real"), "{text}");
    }
}

#[test]
fn the_simulated_cards_are_listed_by_kind_and_one_remark_holds_for_all() {
    let text = said(&Home::new(), &["sim", "list"], 0).stdout;
    assert_eq!(text.matches("published figures").count(), 1, "{text}");
    let at = |heading: &str| text.find(heading).unwrap();
    assert!(at("SD cards:") < at("Fake SD cards"), "{text}");
    assert!(at("fake-cached") < at("eMMC devices:"), "{text}");
    assert!(at("eMMC devices:") < at("samsung-emmc"), "{text}");
}

#[test]
fn a_list_has_whole_results_of_tests_without_classes() {
    let home = Home::new();
    said(&home, &["geometry", "sim:sandisk-extreme-a1", "-q"], 0);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let honesty = ["run", "--profile", "honesty", "--time-budget", "4s", "-q", word(place.path())];
    said(&home, &honesty, 0);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.contains("geometry: allocation unit not found"), "{list}");
    assert!(list.contains("flushes: ") && list.contains(" (latest)"), "{list}");
}
