//! Fresh files and the page cache: what a phase may ask for, and what is never done to a file that
//! is not our own.

use std::fs::{self, File, OpenOptions as FileOptions};
use std::path::Path;

use cardproof_io::{
    Arrangement, Caching, Calls, Completion, EngineChoice, FileState, Op, OpKind, OpenOptions,
    Slot, Submission, Target, Wait, open, open_new,
};
use cardproof_units::Bytes;

const BLOCK: Bytes = Bytes::kib(4);
const SIZE: Bytes = Bytes::mib(1);
const CACHED: Caching = Caching::Through { random: true };

const OPTIONS: OpenOptions =
    OpenOptions { engine: EngineChoice::Auto, read_only: false, direct: true };

fn engines() -> [OpenOptions; 2] {
    [OPTIONS, OpenOptions { engine: EngineChoice::Psync, ..OPTIONS }]
}

fn on(path: &Path) -> File {
    FileOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap()
}

fn arrangement(caching: Caching, file: FileState) -> Arrangement {
    Arrangement { caching, file, ..Arrangement::default() }
}

/// Does one operation on the block `number` and returns its end.
fn perform(target: &mut dyn Target, kind: OpKind, number: u64) -> Completion {
    let op = Op { slot: Slot(0), kind, offset: BLOCK * number, length: BLOCK };
    match target.submit(op).unwrap() {
        Submission::Done(completion) => completion,
        Submission::Queued | Submission::Busy => {
            let mut completions = Vec::new();
            while completions.is_empty() {
                target.complete(Wait::One, &mut completions).unwrap();
            }
            completions[0]
        }
    }
}

#[test]
fn a_fresh_file_of_our_own_is_empty_again_and_grows_as_it_is_written() {
    for options in engines() {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = directory.path().join("own");
        let mut target = open_new(on(&path), SIZE, options).unwrap();
        for caching in [Caching::Bypassed, CACHED] {
            target.arrange(arrangement(caching, FileState::Growing)).unwrap();
            target.prepare(1, BLOCK).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), 0);
            assert_eq!(perform(&mut *target, OpKind::Write, 0).outcome, Ok(BLOCK));
            assert_eq!(fs::metadata(&path).unwrap().len(), BLOCK.get());
            assert_eq!(perform(&mut *target, OpKind::Read, 1).outcome, Ok(Bytes::ZERO));
        }
    }
}

#[test]
fn a_reserved_file_has_its_size_at_once() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("own");
    let mut target = open_new(on(&path), SIZE, OPTIONS).unwrap();
    let half = Bytes(SIZE.get() / 2);
    target.arrange(arrangement(Caching::Bypassed, FileState::Reserved(half))).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), half.get());
    // Never more than was announced.
    target.arrange(arrangement(Caching::Bypassed, FileState::Reserved(SIZE * 4))).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), SIZE.get());
}

#[test]
fn a_file_that_is_not_our_own_keeps_its_contents() {
    for options in engines() {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = directory.path().join("precious");
        let contents = vec![0x5a; SIZE.as_len()];
        fs::write(&path, &contents).unwrap();
        let mut target = open(on(&path), options).unwrap();
        for file in [FileState::Growing, FileState::Reserved(BLOCK), FileState::AsIs] {
            for caching in [CACHED, Caching::Bypassed] {
                target.arrange(arrangement(caching, file)).unwrap();
            }
        }
        drop(target);
        assert_eq!(fs::read(&path).unwrap(), contents);
    }
}

#[test]
fn the_way_through_the_cache_says_so_and_the_way_past_it_comes_back() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut target = open_new(on(&directory.path().join("own")), SIZE, OPTIONS).unwrap();
    let before = target.abilities().directness.clone();
    let cached = target.arrange(arrangement(CACHED, FileState::AsIs)).unwrap();
    assert!(!cached.is_direct());
    target.prepare(1, BLOCK).unwrap();
    target.buffer(Slot(0)).fill(7);
    assert_eq!(perform(&mut *target, OpKind::Write, 3).outcome, Ok(BLOCK));
    let after = target.arrange(Arrangement::default()).unwrap();
    assert_eq!(after, before);
    target.prepare(1, BLOCK).unwrap();
    // What went through the cache has reached the storage.
    assert_eq!(perform(&mut *target, OpKind::Read, 3).outcome, Ok(BLOCK));
    assert!(target.buffer(Slot(0)).iter().all(|byte| *byte == 7));
}

#[test]
fn plain_calls_are_one_after_the_other_however_many_slots_there_are() {
    for options in engines() {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut target = open_new(on(&directory.path().join("own")), SIZE, options).unwrap();
        let plain = Arrangement { calls: Calls::Plain, ..Arrangement::default() };
        for asked in [plain, arrangement(CACHED, FileState::AsIs)] {
            target.arrange(asked).unwrap();
            target.prepare(8, BLOCK).unwrap();
            for slot in (0..8).map(Slot) {
                let op = Op { slot, kind: OpKind::Write, offset: Bytes::ZERO, length: BLOCK };
                let done = target.submit(op).unwrap();
                assert!(matches!(done, Submission::Done(_)), "{asked:?}: {done:?}");
            }
        }
    }
}
