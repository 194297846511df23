//! Storage that fails in the middle of a run: said as "not measured" with the cause, never as a
//! figure, never as a rating.

use cardproof_record::{Record, State};
use cardproof_testkit::{Filesystem, Limits, LoopDevice, Mount, Throttle, Tree, lab_or_skip};
use cardproof_units::Bytes;

use crate::home::{Home, fill_up, our_directories, word, write_user_files};
use crate::process::{Ended, Running, run, start};
use crate::records;

/// Checks a run that met a fault: status 1, a record on disk and on standard output that name the
/// cause, and no rating.
fn assert_not_measured(home: &Home, ended: Ended, causes: &[&str]) -> Record {
    let ended = ended.expect(1);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    let record = records::parse(&ended.stdout);
    let said = records::causes(&record);
    assert!(!said.is_empty(), "every phase was measured, on storage that fails");
    assert!(
        said.iter().all(|cause| !cause.is_empty())
            && said.iter().any(|said| is_one_of(said, causes)),
        "none of {causes:?} in {said:?}"
    );
    records::assert_no_rating(&record);
    assert_ne!(record.state, State::Running, "the record does not say how the run ended");
    let saved = records::read(home.records().last().expect("a record is saved"));
    assert_eq!(records::causes(&saved), said);
    record
}

/// Whether `said` holds one of `causes`.
fn is_one_of(said: &str, causes: &[&str]) -> bool {
    causes.iter().any(|cause| said.contains(cause))
}

/// Waits until the first phase has been saved.
fn await_first_phase(running: &mut Running, home: &Home) {
    let has_phase =
        || home.records().first().is_some_and(|path| !records::read(path).phases.is_empty());
    assert!(running.until(has_phase), "the run ended before its first phase");
}

/// The device behind the file system has less room than it claims, as thin volumes do.
#[test]
fn a_device_that_cannot_take_what_it_promised() {
    let lower = lab_or_skip!(Mount::tmpfs("size=24M"));
    let device = lab_or_skip!(LoopDevice::sparse_in(lower.path(), Bytes::mib(128)));
    let home = Home::new();
    let destroy = format!("--destroy={}", device.identity().unwrap());
    let words = ["run", word(device.path()), &destroy, "--size", "64M", "--time-budget", "5s"];
    let ended = run(home.cardproof(&[&words[..], &["--quiet", "--json", "-"]].concat()));
    assert_not_measured(&home, ended, &["no space", "input/output error"]);
}

/// Somebody else fills the file system while cardproof lays out its file: the space is reserved,
/// so neither of the two is spoiled.
#[test]
fn a_file_system_that_fills_up_in_mid_run() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(256)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    write_user_files(mount.path());
    let before = Tree::of_user(mount.path()).unwrap();
    // Slow enough that laying out takes seconds, in which the neighbour's one call surely falls.
    let limits = Limits { write_bytes: Some(Bytes::mib(8)), ..Limits::default() };
    let throttle = lab_or_skip!(Throttle::new(&device, &limits));
    let home = Home::new();
    let words = ["run", word(mount.path()), "--size", "64M", "--time-budget", "20s"];
    let words = [&words[..], &["--quiet", "--json", "-"]].concat();
    let mut running = start(home.cardproof_in(&throttle, &words));
    assert!(running.until(|| !home.records().is_empty()), "the run ended before it began");
    let filler = mount.path().join("neighbour");
    fill_up(&filler);
    let ended = running.end().expect(0);
    std::fs::remove_file(&filler).unwrap();
    let record = records::parse(&ended.stdout);
    assert_eq!(record.state, State::Complete);
    assert_eq!(records::causes(&record), [""; 0]);
    assert_eq!(our_directories(mount.path()), [""; 0]);
    assert_eq!(before.changes(&Tree::of_user(mount.path()).unwrap()), "");
}

/// The neighbour was faster: there is not even room to begin, which is said, and nothing stays.
#[test]
fn a_file_system_that_has_filled_up() {
    let mount = lab_or_skip!(Mount::tmpfs("size=64M"));
    fill_up(&mount.path().join("neighbour"));
    let home = Home::new();
    let ended = run(home.cardproof(&["run", word(mount.path()), "--size", "16M"])).expect(3);
    assert!(ended.stderr.contains("space") || ended.stderr.contains("full"), "{}", ended.stderr);
    assert_eq!(our_directories(mount.path()), [""; 0]);
}

/// The card is pulled out between two phases. What was measured before stays.
#[test]
fn a_device_that_vanishes_while_being_read() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(64), 10));
    let home = Home::new();
    let words = ["run", word(device.path()), "--size", "32M", "--time-budget", "20s"];
    let words = [&words[..], &["--quiet", "--json", "-"]].concat();
    let mut running = start(home.cardproof(&words));
    await_first_phase(&mut running, &home);
    device.resize(Bytes::ZERO).unwrap();
    let record = assert_not_measured(&home, running.end(), FAILED_READS);
    assert!(record.phases[0].is_measured() || !records::causes(&record).is_empty());
}

/// What a device that is gone may be said to have done: the kernel answers with an error, or with
/// nothing.
const FAILED_READS: &[&str] =
    &["input/output error", "moved only 0 bytes", "vanished", "disconnected"];

/// The same while it is written to.
#[test]
fn a_device_that_vanishes_while_being_written() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(64), 11));
    let home = Home::new();
    let destroy = format!("--destroy={}", device.identity().unwrap());
    let words = ["run", word(device.path()), &destroy, "--size", "32M", "--time-budget", "20s"];
    let words = [&words[..], &["--quiet", "--json", "-"]].concat();
    let mut running = start(home.cardproof(&words));
    await_first_phase(&mut running, &home);
    device.resize(Bytes::ZERO).unwrap();
    let causes = [FAILED_READS, &["no space"]].concat();
    let record = assert_not_measured(&home, running.end(), &causes);
    assert!(record.phases[0].is_measured(), "what was measured before is kept");
}

/// The file system turns read-only under the run, as ext4 does after an error.
#[test]
fn a_file_system_that_turns_away() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(256)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, "errors=remount-ro"));
    let home = Home::new();
    let words = ["run", word(mount.path()), "--size", "32M", "--time-budget", "20s"];
    let words = [&words[..], &["--quiet", "--json", "-"]].concat();
    let mut running = start(home.cardproof(&words));
    await_first_phase(&mut running, &home);
    device.resize(Bytes::ZERO).unwrap();
    let ended = running.end();
    let causes = [FAILED_READS, &["read-only", "no space"]].concat();
    assert_not_measured(&home, ended, &causes);
}
