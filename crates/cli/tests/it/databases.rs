//! `cardproof run --profile sqlite`: every mode measured, nothing left, and a run that is stopped.

use std::path::Path;
use std::time::Duration;

use cardproof_record::{PhaseState, State};
use cardproof_testkit::{Mount, Tree, lab_or_skip};
use rustix::process::Signal;

use crate::home::{Home, our_directories, word, write_user_files};
use crate::process::{run, start};
use crate::records;

const MODES: [&str; 5] = ["delete", "truncate", "persist", "wal-full", "wal-normal"];

fn words<'a>(place: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", word(place), "--profile", "sqlite", "--seed", "3"], more].concat()
}

#[test]
fn every_mode_is_measured_and_nothing_stays() {
    // In memory, where a flush costs nothing.
    let memory = lab_or_skip!(Mount::tmpfs("size=400M"));
    write_user_files(memory.path());
    let before = Tree::of_user(memory.path()).unwrap();
    let home = Home::new();
    let ended = run(home.cardproof(&words(memory.path(), &[]))).expect(0);
    assert_eq!(before.changes(&Tree::of_user(memory.path()).unwrap()), "");
    assert_eq!(our_directories(memory.path()), Vec::<String>::new());

    let record = records::read(&home.records()[0]);
    assert_eq!(record.state, State::Complete);
    let names: Vec<_> = record.job_runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, MODES.map(|mode| format!("sqlite-{mode}")));
    for run in &record.job_runs {
        assert!(run.surroundings.is_some(), "nobody looked: {}", run.name);
        assert_eq!(run.state, PhaseState::Measured, "{}", run.name);
        let transactions = run.transactions.as_ref().unwrap();
        assert_eq!(transactions.count, run.ops);
        let rate = transactions.per_s.unwrap();
        assert!(rate.low.0 <= rate.estimate.0 && rate.estimate.0 <= rate.high.0);
        assert!(ended.stdout.contains(run.name.trim_start_matches("sqlite-")), "{}", ended.stdout);
    }
    assert!(ended.stdout.contains("transactions a second"), "{}", ended.stdout);
    assert!(ended.stdout.contains("can be lost"), "{}", ended.stdout);
}

#[test]
fn stopped_it_keeps_what_there_is_and_leaves_nothing() {
    let home = Home::new();
    let mut running = start(home.cardproof(&words(home.place(), &["--quiet"])));
    assert!(running.until(|| !our_directories(home.place()).is_empty()), "ended before it began");
    running.ends_within(Duration::from_millis(300));
    running.signal(Signal::INT);
    let ended = running.end();
    // Where the storage is so fast that it was done, there was nothing to stop.
    assert!([0, 130].contains(&ended.code()), "{}", ended.stderr);
    assert_eq!(our_directories(home.place()), Vec::<String>::new());
    let record = records::read(&home.records()[0]);
    let wanted = if ended.code() == 130 { State::Partial } else { State::Complete };
    assert_eq!(record.state, wanted);
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let home = Home::new();
    for (more, says) in [
        (&["--repeat", "3"][..], "--repeat"),
        (&["--time-budget", "5s"], "--time-budget"),
        (&["--destroy"], "--destroy"),
        (&["--size", "1M"], "needs room for"),
    ] {
        let ended = run(home.cardproof(&words(home.place(), more)));
        assert!([2, 3].contains(&ended.code()), "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
        assert_eq!(our_directories(home.place()), Vec::<String>::new());
    }
    let simulated = ["run", "sim:sandisk-industrial", "--profile", "sqlite"];
    let ended = run(home.cardproof(&simulated)).expect(2);
    assert!(ended.stderr.contains("has no file system"), "{}", ended.stderr);
}

#[test]
fn it_is_among_the_profiles() {
    let home = Home::new();
    let all = run(home.cardproof(&["profiles"])).expect(0);
    assert!(all.stdout.contains("\nsqlite  "), "{}", all.stdout);
    let one = run(home.cardproof(&["profiles", "sqlite"])).expect(0);
    assert!(MODES.iter().all(|mode| one.stdout.contains(mode)), "{}", one.stdout);
    let none = run(home.cardproof(&["run", "--profile", "sqlit"])).expect(2);
    assert!(none.stderr.contains("sqlite"), "{}", none.stderr);
}
