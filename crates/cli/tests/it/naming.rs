//! Records by their names, files whose names are no text, and what is said when there is no such thing.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

use cardproof_record::Record;
use cardproof_testkit::records::typical_a1_card;
use cardproof_testkit::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::home::{Home, SMALL, word};
use crate::process::run;
use crate::records;

/// A home with the record of another tool's output, and that record's id.
fn with_record() -> (Home, String) {
    let home = Home::new();
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/import/dd-german.txt");
    run(home.cardproof(&["import", log])).expect(0);
    let id = records::read(&home.records()[0]).id;
    (home, id)
}

#[test]
fn the_latest_record_is_the_one_that_began_last_and_not_the_file_touched_last() {
    let home = Home::new();
    let directory = home.data().join("cardproof/records");
    fs::create_dir_all(&directory).unwrap();
    // The older run is written last, as a copy or an edit does it.
    for id in ["20261105T000000Z-00000001", "20261104T235959Z-ffffffff"] {
        let record = Record { id: id.to_owned(), ..typical_a1_card() };
        fs::write(directory.join(format!("{id}.json")), record.to_json().unwrap()).unwrap();
    }
    let said = run(home.cardproof(&["show", "latest", "--json", "-"])).expect(0).stdout;
    assert_eq!(Record::from_json(&said).unwrap().id, "20261105T000000Z-00000001");
}

#[test]
fn a_record_is_named_by_its_file_its_id_or_as_the_latest() {
    let (home, id) = with_record();
    let path = home.records()[0].clone();
    let by_file = run(home.cardproof(&["show", word(&path)])).expect(0).stdout;
    for name in [id.as_str(), "latest"] {
        assert_eq!(run(home.cardproof(&["show", name])).expect(0).stdout, by_file, "{name}");
    }
}

#[test]
fn what_is_not_there_is_told_with_what_would_do() {
    let home = Home::new();
    let cases = [
        ("latest", "cardproof check DIRECTORY"),
        ("no-such", "name a file, the id or the label of a record"),
    ];
    for command in ["show", "compare"] {
        for (name, told) in cases {
            let said = run(home.cardproof(&[command, name])).expect(2).stderr;
            assert!(said.contains(told), "{command} {name}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(!said.contains("os error"), "{said}");
        }
    }
}

#[test]
fn a_page_is_not_written_to_a_file_called_like_standard_output() {
    let (home, _) = with_record();
    let said = run(home.cardproof(&["show", "latest", "--html", "-"])).expect(2).stderr;
    assert!(said.contains("report.html"), "{said}");
}

#[test]
fn a_name_need_not_be_text() {
    let (home, _) = with_record();
    let directory = home.place().join(OsString::from_vec(b"not\xff text\n".to_vec()));
    fs::create_dir(&directory).unwrap();
    let mut command = home.cardproof(&["show", "latest"]);
    for option in ["--json", "--html", "--markdown"] {
        command.arg(option).arg(directory.join(&option[2..]));
    }
    run(command).expect(0);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    let mut command = home.cardproof(&["show"]);
    command.arg(directory.join("json"));
    run(command).expect(0);
}

#[test]
fn where_an_output_fails_it_is_told_that_the_record_is_kept() {
    let home = Home::new();
    let place = word(home.place());
    // Standard output is full: what is kept beside it must be told.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" > /dev/full", env!("CARGO_BIN_EXE_cardproof")]);
    command.args([&["run", place], SMALL, &["--quiet", "--json", "-"]].concat());
    home.surround(&mut command);
    let ended = run(command).expect(1);
    let path = home.records()[0].clone();
    assert!(ended.stderr.contains(&format!("the record is kept: {}", path.display())));
    records::read(&path);
}

#[test]
fn ctrl_c_ends_at_once_what_waits_for_standard_input() {
    let home = Home::new();
    for words in [["show", "-"], ["import", "-"]] {
        let mut command = home.cardproof(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = Command::spawn(&mut command).unwrap();
        // Its standard input stays open: only the signal can end it.
        let input = child.stdin.take();
        // A signal is lost where it comes while its handler is being installed, so the last handler is waited for.
        wait_until(|| catches(child.id(), Signal::XFSZ));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ended = child.wait().unwrap();
        drop(input);
        assert!(!ended.success(), "{words:?}");
    }
}

/// Whether the process has a handler for `signal`, by the kernel's mask of signals that are caught.
fn catches(process: u32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let bit = 1 << (signal.as_raw() - 1);
    u64::from_str_radix(mask.trim(), 16).unwrap() & bit != 0
}
