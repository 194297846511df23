//! What a third reader stumbled over: names of cards, lists, comparisons and other tools' figures.

use std::fs;

use serde_json::Value;

use crate::first_reader::{in_one_line, said};
use crate::home::{Home, word};

/// A short run of `card`, called `label`, with `seed`.
fn measured(home: &Home, card: &str, label: &str, seed: &str) {
    let target = format!("sim:{card}");
    let short = ["--size", "32M", "--time-budget", "15s", "--seed", seed, "--quiet"];
    said(home, &[&["run", &target, "--label", label][..], &short].concat(), 0);
}

/// The ids of the records in a list of `home`, in its order.
fn ids(home: &Home) -> Vec<String> {
    let json: Value =
        serde_json::from_str(&said(home, &["list", "--json", "-"], 0).stdout).unwrap();
    let records = json["records"].as_array().unwrap().iter();
    records.map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_label_means_all_records_of_its_card_that_were_measured_alike() {
    let home = Home::new();
    for (label, card) in [("red", "sandisk-ultra-a1"), ("grey", "high-endurance")] {
        measured(&home, card, label, "5");
        measured(&home, card, label, "6");
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
fn a_comma_joins_no_two_cards() {
    let home = Home::new();
    measured(&home, "sandisk-ultra-a1", "red", "5");
    measured(&home, "high-endurance", "grey", "5");
    measured(&home, "v30-a2", "blue", "5");
    measured(&home, "v30-a2", "green", "6");
    for (joined, other, expected) in [
        (
            "red,grey",
            "blue",
            "red and grey are labels of different cards; separate them by a space",
        ),
        ("blue,green", "red", "blue and green are labels of different cards"),
    ] {
        let message = in_one_line(&said(&home, &["compare", joined, other], 2).stderr);
        assert!(message.contains(expected), "{message}");
    }
    let [red, grey, blue, green] = ids(&home).try_into().unwrap();
    let joined = format!("{red},{grey}");
    let message = in_one_line(&said(&home, &["compare", &joined, "blue"], 2).stderr);
    assert!(message.contains("joins records of different cards"), "{message}");
    said(&home, &["compare", &format!("{blue},{green}"), "red"], 0);
}

#[test]
fn a_tie_says_which_records_to_compare() {
    let home = Home::new();
    measured(&home, "v30-a2", "one", "5");
    measured(&home, "v30-a2", "two", "6");
    let text = in_one_line(&said(&home, &["compare", "one", "two"], 0).stdout);
    assert!(
        text.contains("for the same work. Their figures are too uncertain for an order."),
        "{text}"
    );
    assert!(text.contains("Measure each card again with the --label of its first run"), "{text}");
    let details = said(&home, &["compare", "one", "two", "--details"], 0).stdout;
    let details = in_one_line(&details);
    assert!(details.contains("does not show how much another run may differ"), "{details}");
    assert!(details.contains("with 99 % confidence for all of them together"), "{details}");
}

#[test]
fn a_usb_stick_is_slower_than_a_class_asks_and_fails_none() {
    let home = Home::new();
    let page = said(&home, &["check", "sim:usb-stick", "--seed", "1"], 4).stdout;
    let list = said(&home, &["list"], 0).stdout;
    for text in [page, list] {
        assert!(text.contains("slower than A1 asks") && !text.contains("not passed"), "{text}");
    }
}

#[test]
fn a_queue_that_is_off_was_not_tested() {
    let home = Home::new();
    said(&home, &["verify", "sim:sandisk-ultra-a1", "--queue", "--seed", "1", "-q"], 1);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.contains("queue not tested (it is off)"), "{list}");
}

#[test]
fn ids_that_end_alike_are_shown_longer_and_are_found() {
    let home = Home::new();
    measured(&home, "v30-a2", "one", "5");
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
    measured(&home, "v30-a2", "one", "5");
    said(&home, &["import", word(&paste)], 0);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.lines().last().unwrap().contains("(latest)"), "{list}");
}

/// What fio prints of writes that may be those of memory.
const FIO: &str = "\
test: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
fio-3.33
Starting 1 process

test: (groupid=0, jobs=1): err= 0: pid=2212: Sat Nov 21 10:11:12 2026
  write: IOPS=20.5k, BW=80.2MiB/s (84.1MB/s)(401MiB/5004msec); 0 zone resets
";

#[test]
fn output_of_another_tool_than_asked_for_is_called_by_its_name() {
    let home = Home::new();
    let fio = home.place().join("fio.txt");
    fs::write(&fio, FIO).unwrap();
    let message = said(&home, &["import", word(&fio), "--as", "iozone"], 2).stderr;
    let message = in_one_line(&message);
    assert!(message.contains("output of fio, not of iozone; leave --as out"), "{message}");
    let claim = home.place().join("claim.txt");
    fs::write(&claim, "Sequential Read: 180 MB/s\n").unwrap();
    let message = said(&home, &["import", word(&claim), "--as", "fio"], 2).stderr;
    assert!(in_one_line(&message).contains("is not output of fio"), "{message}");
}

#[test]
fn more_writes_than_any_card_does_may_be_those_of_memory() {
    let home = Home::new();
    let fio = home.place().join("fio.txt");
    fs::write(&fio, FIO).unwrap();
    said(&home, &["import", word(&fio), "--label", "old"], 0);
    let page = said(&home, &["show", "old"], 0).stdout;
    assert!(!page.contains("good"), "{page}");
    assert!(page.contains("fio: 4 KiB random write, depth 1: write iops: 20.5 k IOPS"), "{page}");
    let details = in_one_line(&said(&home, &["show", "old", "--details"], 0).stdout);
    assert!(details.contains("perhaps of the page cache (memory)"), "{details}");
    measured(&home, "v30-a2", "one", "5");
    let compared = in_one_line(&said(&home, &["compare", "one", "old"], 0).stdout);
    assert!(compared.contains("20500?"), "{compared}");
    assert!(compared.contains("perhaps of the page cache (memory), as fio"), "{compared}");
    assert!(compared.contains("'old' has no sound figure of 4 KiB random write"), "{compared}");
}

/// What dd and iozone print of a card.
const DD: &str = "$ dd if=/dev/zero of=test bs=4k count=80k conv=fsync\n\
    335544320 bytes (336 MB, 320 MiB) copied, 17.4 s, 19.3 MB/s\n";
const IOZONE: &str = "\
                                                              random    random
          kB  reclen    write  rewrite    read    reread    read     write
      102400       4     2175     2232     8421     8430     7930     2310
      102400    1024    12010    12100    22310    22320    22300    11800
";

#[test]
fn a_rate_of_small_blocks_is_named_where_a_large_one_is_missing() {
    let home = Home::new();
    for (name, text) in [("dd", DD), ("iozone", IOZONE)] {
        let file = home.place().join(name);
        fs::write(&file, text).unwrap();
        said(&home, &["import", word(&file), "--label", name], 0);
    }
    let text = in_one_line(&said(&home, &["compare", "iozone", "dd"], 0).stdout);
    assert!(text.contains("measured only through the page cache (19.3 MB/s)"), "{text}");
    let page = in_one_line(&said(&home, &["show", "dd"], 0).stdout);
    assert!(page.contains("its figure includes the time to empty it"), "{page}");
    assert!(page.contains("4 KiB sequential write, depth 1, through the page cache"), "{page}");
}

#[test]
fn a_stated_figure_is_the_same_everywhere_and_its_grade_allows_for_other_runs() {
    let home = Home::new();
    let file = home.place().join("iozone.txt");
    fs::write(&file, IOZONE).unwrap();
    said(&home, &["import", word(&file), "--label", "old"], 0);
    let text = in_one_line(&said(&home, &["show", "old", "--details"], 0).stdout);
    // 1982 random reads a second, of which other runs may be fair or good.
    assert!(text.contains("programs: fair to good."), "{text}");
    assert!(!text.contains("577 IOPS") && text.contains("578 IOPS (one iozone"), "{text}");
    assert!(text.contains("Sequential write: 12.3 MB/s as stated"), "{text}");
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
