//! A database on real file systems: what is committed, what is left, and what a fault becomes.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cardproof_sqlite::{Database, DatabaseError, End, Limits, Run, Setting};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip};
use cardproof_units::{Bytes, Nanos, Seed};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A clock on which every look takes a millisecond.
fn ticking() -> impl Fn() -> Nanos {
    let now = Cell::new(0);
    move || {
        now.set(now.get() + 1_000_000);
        Nanos(now.get())
    }
}

fn laid_out(directory: &Path, rows: u32) -> Database {
    Database::lay_out(directory, rows, Seed::from_bits(7), &GO_ON).unwrap()
}

fn run(database: &mut Database, setting: Setting, transactions: u32) -> Run {
    let limits = Limits { transactions, time: Nanos::from_secs(3600) };
    database.run(setting, limits, 0.99, &ticking(), &GO_ON)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_setting_commits_what_it_was_asked_to_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut database = laid_out(directory.path(), 500);
    for setting in Setting::all() {
        let run = run(&mut database, setting, 21);
        assert_eq!(run.end, End::Complete, "{}", setting.name());
        assert_eq!((run.transactions, run.is_measured()), (21, true));
        // Each transaction takes one tick, and one more goes by to the next.
        assert_eq!(run.latency_summary().unwrap().max, Nanos::from_millis(1));
        assert_eq!(run.duration, Nanos::from_millis(42));
    }
    database.remove().unwrap();
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn what_a_dropped_database_leaves_is_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut database = laid_out(directory.path(), 100);
    run(&mut database, Setting::find("wal-normal").unwrap(), 5);
    assert!(names(directory.path()).contains(&"database-wal".to_owned()));
    drop(database);
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn the_journal_is_what_the_setting_says() {
    let directory = tempfile::tempdir().unwrap();
    let mut database = laid_out(directory.path(), 100);
    let mut journal_after = |name| {
        run(&mut database, Setting::find(name).unwrap(), 2);
        let journal = fs::metadata(directory.path().join("database-journal"));
        journal.ok().map(|metadata| metadata.len() > 0)
    };
    assert_eq!(journal_after("persist"), Some(true));
    assert_eq!(journal_after("delete"), None);
    assert_eq!(journal_after("truncate"), Some(false));
    assert_eq!(journal_after("off"), None);
}

#[test]
fn a_run_ends_in_time_and_when_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut database = laid_out(directory.path(), 100);
    let limits = Limits { transactions: 1000, time: Nanos::from_millis(20) };
    let ended = database.run(Setting::DEFAULT, limits, 0.99, &ticking(), &GO_ON);
    assert_eq!((ended.end, ended.transactions), (End::Complete, 10));

    let stop = AtomicBool::new(true);
    let stopped = database.run(Setting::DEFAULT, limits, 0.99, &ticking(), &stop);
    assert_eq!((stopped.end.clone(), stopped.transactions), (End::Stopped, 0));
    assert!(!stopped.is_measured());

    let elsewhere = tempfile::tempdir().unwrap();
    let none = Database::lay_out(elsewhere.path(), 100, Seed::from_bits(1), &stop);
    assert!(matches!(none, Err(DatabaseError::Stopped)));
    assert_eq!(names(elsewhere.path()), Vec::<String>::new());
}

#[test]
fn a_directory_by_its_handle_serves() {
    use std::os::fd::AsRawFd;
    let directory = tempfile::tempdir().unwrap();
    let handle = fs::File::open(directory.path()).unwrap();
    let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let mut database = laid_out(Path::new(&path), 100);
    assert!(run(&mut database, Setting::DEFAULT, 3).is_measured());
    assert_eq!(names(directory.path()), ["database"]);
}

#[test]
fn without_room_there_is_no_database() {
    let memory = lab_or_skip!(Mount::tmpfs("size=1M"));
    let full = Database::lay_out(memory.path(), 20_000, Seed::from_bits(1), &GO_ON);
    assert!(matches!(full, Err(DatabaseError::Full)), "{full:?}");
    assert_eq!(names(memory.path()), Vec::<String>::new());
}

#[test]
fn a_storage_that_fills_up_gives_no_figure() {
    for setting in Setting::USUAL {
        // One for each: the kernel gives the room of a removed file back a moment later.
        let memory = lab_or_skip!(Mount::tmpfs("size=2M"));
        let mut database = laid_out(memory.path(), 200);
        let filler = memory.path().join("filler");
        // Until nothing more fits in.
        let _ = fs::write(&filler, vec![1; 4 << 20]);
        let run = run(&mut database, setting, 5000);
        let End::Failed { cause } = &run.end else { panic!("{}: {:?}", setting.name(), run.end) };
        assert!(cause.contains("room"), "{}: {cause}", setting.name());
        assert!(!run.is_measured() && run.rate.is_none());
    }
}

#[test]
fn a_storage_that_goes_away_gives_no_figure() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(32)));
    Filesystem::Ext4.make(&device).unwrap();
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, "errors=continue"));
    let mut database = laid_out(mount.path(), 200);
    device.resize(Bytes::ZERO).unwrap();
    let run = run(&mut database, Setting::DEFAULT, 100);
    let End::Failed { cause } = &run.end else { panic!("{:?}", run.end) };
    assert!(cause.contains("SQLITE_"), "{cause}");
    assert!(!run.is_measured());
    // Attached again at its size, so that the file system can be taken away.
    device.resize(Bytes::mib(32)).unwrap();
}
