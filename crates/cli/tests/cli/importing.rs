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
    let rated = run(home.cardproof(&["rate", word(&records[0])])).expect(0);
    assert!(rated.stdout.contains("another tool"), "{}", rated.stdout);
    run(home.cardproof(&["rate", word(&records[0]), "--require", "A1"])).expect(4);
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
    let cut = home.place().join("cut.txt");
    let text = fs::read_to_string(log("iozone-old-columns.txt")).unwrap();
    fs::write(&cut, text.replace("iozone test complete.", "")).unwrap();
    let good = log("dd-german.txt");
    let ended = run(home.cardproof(&["import", word(&good), word(&cut)])).expect(2);
    assert!(ended.stderr.contains("cut.txt: line"), "{}", ended.stderr);
    assert!(ended.stderr.contains("iozone test complete."), "{}", ended.stderr);
    assert_eq!((ended.stdout.as_str(), home.records().len()), ("", 0));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_read() {
    let home = Home::new();
    let cases: [&[&str]; 4] = [
        &["import"],
        &["import", "a", "b", "--json", "-"],
        &["import", "-", "-"],
        &["import", "a", "--as", "spreadsheet"],
    ];
    for words in cases {
        run(home.cardproof(words)).expect(2);
    }
}
