//! Other tools' outputs become records that are kept, shown, and never rated.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::home::{Home, word};
use crate::process::run;
use crate::records::{assert_no_rating, parse, read};

fn log(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../import/tests/import").join(name)
}

#[test]
fn files_are_kept_and_shown_with_what_the_tools_printed() {
    let home = Home::new();
    let (iozone, fio) = (log("iozone-old-columns.txt"), log("fio-version-2.json"));
    let ended = run(home.cardproof(&["import", word(&iozone), word(&fio)])).expect(0);
    for told in
        ["iozone 3.397", "random-write-4k-qd1", "186 IOPS", "(random write: 744 kB/s)", "fio 2.16"]
    {
        assert!(ended.stdout.contains(told), "{told}\n{}", ended.stdout);
    }
    let records = home.records();
    assert_eq!(records.len(), 2, "{}", ended.stderr);
    let mut tools: Vec<String> = records.iter().map(|path| read(path).tool.name).collect();
    tools.sort();
    assert_eq!(tools, ["fio", "iozone"]);
    let rated = run(home.cardproof(&["show", word(&records[0]), "--details"])).expect(0);
    assert!(rated.stdout.contains("another tool"), "{}", rated.stdout);
    run(home.cardproof(&["show", word(&records[0]), "--require", "A1"])).expect(4);
}

#[test]
fn json_goes_where_it_is_asked_for_and_calls_nothing_met() {
    let home = Home::new();
    for name in
        ["agnostics.txt", "pibenchmarks.txt", "kdiskmark-honest.txt", "fio-random-write.json"]
    {
        let ended = run(home.cardproof(&["import", word(&log(name)), "--json", "-"])).expect(0);
        let record = parse(&ended.stdout);
        assert!(record.verdicts.is_some(), "{name}");
        assert_no_rating(&record);
    }
}

#[test]
fn standard_input_and_another_directory() {
    let home = Home::new();
    let place = home.place().join("records");
    let mut command = home.cardproof(&["import", "-", "--output", word(&place)]);
    command.stdin(Stdio::from(fs::File::open(log("dd-german.txt")).unwrap()));
    let output = Command::output(&mut command).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    assert!(home.records().is_empty());
}

#[test]
fn one_bad_file_stops_all_with_its_line_and_keeps_nothing() {
    let home = Home::new();
    let bad = home.place().join("bad.txt");
    let text = fs::read_to_string(log("dd-english.txt")).unwrap();
    fs::write(&bad, text.replace("566 MB/s", "566 kB/s")).unwrap();
    let good = log("dd-german.txt");
    let ended = run(home.cardproof(&["import", word(&good), word(&bad)])).expect(2);
    assert!(ended.stderr.contains("bad.txt: line 3"), "{}", ended.stderr);
    assert!(ended.stderr.contains("do not fit together"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("changed"), "{}", ended.stderr);
    assert_eq!((ended.stdout.as_str(), home.records().len()), ("", 0));
}

#[test]
fn several_cards_are_as_many_records_and_one_document() {
    let home = Home::new();
    let paste = log("defects/agnostics-4-cards.md");
    let ended = run(home.cardproof(&["import", word(&paste), "--json", "-"])).expect(0);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["schema"], "cardproof.import/1");
    assert_eq!(document["records"].as_array().unwrap().len(), 4);
    assert_eq!(home.records().len(), 4);
    assert!(ended.stderr.contains("not understood and skipped"), "{}", ended.stderr);
}

#[test]
fn a_directory_is_read_whole_and_what_is_no_output_is_named() {
    let home = Home::new();
    let place = home.place().join("logs");
    fs::create_dir_all(place.join("below")).unwrap();
    fs::copy(log("dd-german.txt"), place.join("a.txt")).unwrap();
    fs::copy(log("hdparm-t.txt"), place.join("below/b.txt")).unwrap();
    fs::write(place.join("notes.txt"), "nothing of any tool\n").unwrap();
    let output = home.place().join("records");
    let ended = run(home.cardproof(&["import", word(&place), "--output", word(&output)])).expect(0);
    assert_eq!(fs::read_dir(&output).unwrap().count(), 2);
    assert!(ended.stderr.contains("notes.txt"), "{}", ended.stderr);
    let ended = run(home.cardproof(&["import", word(&place), "--quiet"])).expect(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_read() {
    let home = Home::new();
    let cases: [&[&str]; 3] =
        [&["import"], &["import", "-", "-"], &["import", "a", "--as", "spreadsheet"]];
    for words in cases {
        run(home.cardproof(words)).expect(2);
    }
}

#[test]
fn a_bad_finding_has_one_word_wherever_it_is_told() {
    let home = Home::new();
    let text = "F3 read 8.0\n                  SECTORS      ok/corrupted/changed/overwritten\n\
        Validating file 1.h2w ... 2097152/        0/      0/      0\n\
        Validating file 2.h2w ...       0/  2097152/      0/      0\n\
        Validating file 3.h2w ...       0/        0/      0/2097152\n";
    let file = home.place().join("f3.txt");
    fs::write(&file, text).unwrap();
    let imported = run(home.cardproof(&["import", word(&file)])).expect(0).stdout;
    let told = [
        imported,
        run(home.cardproof(&["list"])).expect(0).stdout,
        run(home.cardproof(&["list", "--details"])).expect(0).stdout,
        run(home.cardproof(&["show", "latest"])).expect(0).stdout,
        run(home.cardproof(&["show", "latest", "--markdown", "short"])).expect(0).stdout,
    ];
    for text in told {
        assert!(text.contains("LOSES DATA: ") && text.contains("looks like a fake"), "{text}");
    }
}
