//! Every engine of this crate, and the faulty decorator, held to the contract of `Target`.

use std::fs::{File, OpenOptions as FileOptions};
use std::path::Path;

use cardproof_io::faulty::{Failure, FaultyTarget};
use cardproof_io::{
    EngineChoice, Fault, FreeSpaceTarget, Layer, NullTarget, Op, OpKind, OpenOptions, SampledSpace,
    Slot, Submission, SubmitError, Target, Wait, contract, open,
};
use cardproof_units::{Bytes, Nanos};

fn file_of(path: &Path, size: Bytes) -> File {
    let file =
        FileOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(size.get()).unwrap();
    file
}

/// A target on a fresh file in the crate's build directory, which is on a real file system.
fn on_a_file(engine: EngineChoice, read_only: bool, direct: bool) -> Option<Box<dyn Target>> {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = file_of(&directory.path().join("target"), Bytes::mib(2));
    match open(file, OpenOptions { engine, read_only, direct }) {
        Ok(target) => Some(target),
        Err(error) if engine == EngineChoice::IoUring => {
            cardproof_testkit::skip("io_uring_keeps_the_contract", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn check_engine(engine: EngineChoice) {
    for read_only in [false, true] {
        for direct in [true, false] {
            if on_a_file(engine, read_only, direct).is_some() {
                contract::check_all(&mut || on_a_file(engine, read_only, direct).unwrap());
            }
        }
    }
}

#[test]
fn psync_keeps_the_contract() {
    check_engine(EngineChoice::Psync);
}

#[test]
fn io_uring_keeps_the_contract() {
    check_engine(EngineChoice::IoUring);
}

#[test]
fn auto_keeps_the_contract() {
    check_engine(EngineChoice::Auto);
}

#[test]
fn null_keeps_the_contract() {
    contract::check_all(&mut || Box::new(NullTarget::new(Bytes::mib(2)).unwrap()));
}

#[test]
fn a_faulty_target_without_failures_keeps_the_contract() {
    contract::check_all(&mut || {
        Box::new(FaultyTarget::new(NullTarget::new(Bytes::mib(2)).unwrap(), Vec::new()))
    });
}

/// Free space on the build directory's file system, if it tells where files lie.
fn free_space() -> Option<FreeSpaceTarget> {
    let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    match FreeSpaceTarget::new(file, Bytes::mib(2)) {
        Ok(target) => Some(target),
        Err(error) => {
            cardproof_testkit::skip("free_space_keeps_the_contract", &error.to_string());
            None
        }
    }
}

#[test]
fn free_space_keeps_the_contract() {
    let Some(target) = free_space() else { return };
    assert_eq!(target.abilities().size, Bytes::mib(2));
    assert!(target.is_in_place().unwrap());
    let places: Vec<_> =
        target.pieces().iter().map(|piece| (piece.device_offset, piece.length)).collect();
    assert!(places.is_sorted() && places.iter().all(|(place, _)| *place > Bytes::ZERO));
    contract::check_all(&mut || Box::new(free_space().unwrap()));
}

/// Makes files in the build directory, and ends after so many questions.
struct Files(u32);

impl Layer for Files {
    fn create(&mut self) -> std::io::Result<File> {
        tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR"))
    }

    fn goes_on(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// Sampled space of 2 MiB with these stretches, as any file system with `fallocate` gives it; `None` where
/// this one does not.
fn sampled_space(stretches: &[(u64, u64)]) -> Option<SampledSpace> {
    let laid =
        SampledSpace::new(Files(2).create().unwrap(), Bytes::mib(2)).and_then(|mut target| {
            assert!(target.lay(stretches, &mut Files(100))?);
            Ok(target)
        });
    match laid {
        Ok(target) => Some(target),
        Err(error) => {
            cardproof_testkit::skip("sampled_space", &error.to_string());
            None
        }
    }
}

/// Sampled space of which all can be used and is written: what was not written cannot be read.
fn written_space() -> Option<SampledSpace> {
    const KIB: u64 = 1 << 10;
    let mut target =
        sampled_space(&[(0, 512 * KIB), (512 * KIB, 64 * KIB), (576 * KIB, 1472 * KIB)])?;
    target.prepare(1, Bytes::mib(2)).unwrap();
    let op = Op { slot: Slot(0), kind: OpKind::Write, offset: Bytes::ZERO, length: Bytes::mib(2) };
    let Submission::Done(done) = target.submit(op).unwrap() else { panic!("not done") };
    assert_eq!(done.outcome, Ok(Bytes::mib(2)));
    Some(target)
}

#[test]
fn sampled_space_keeps_the_contract() {
    if written_space().is_some() {
        contract::check_all(&mut || Box::new(written_space().unwrap()));
    }
}

#[test]
fn sampled_space_can_be_used_where_it_is_laid_and_nowhere_else() {
    let Some(mut target) = sampled_space(&[(8192, 8192), (65_536, 4096)]) else { return };
    target.prepare(1, Bytes(8192)).unwrap();
    let mut outcome = |kind, offset, length, byte| {
        target.buffer(Slot(0)).fill(byte);
        let op = Op { slot: Slot(0), kind, offset: Bytes(offset), length: Bytes(length) };
        let Submission::Done(done) = target.submit(op).unwrap() else { panic!("not done") };
        (done.outcome, target.buffer(Slot(0))[0])
    };
    assert_eq!(outcome(OpKind::Write, 12_288, 4096, 7).0, Ok(Bytes(4096)));
    assert_eq!(outcome(OpKind::Write, 65_536, 4096, 9).0, Ok(Bytes(4096)));
    assert_eq!(outcome(OpKind::Read, 12_288, 4096, 0), (Ok(Bytes(4096)), 7));
    assert_eq!(outcome(OpKind::Read, 65_536, 4096, 0), (Ok(Bytes(4096)), 9));
    for address in [0, 16_384, 69_632] {
        assert_eq!(outcome(OpKind::Write, address, 4096, 1).0, Ok(Bytes::ZERO), "{address}");
    }
    assert_eq!(
        outcome(OpKind::Write, 12_288, 8192, 8).0,
        Ok(Bytes(4096)),
        "it ends with its stretch"
    );
    assert_eq!(target.filled(), Bytes(4096), "what lies before the first write");
}

#[test]
fn sampled_space_is_laid_no_further_than_its_caller_wants() {
    if sampled_space(&[]).is_none() {
        return;
    }
    let mut target = SampledSpace::new(Files(2).create().unwrap(), Bytes::mib(2)).unwrap();
    assert!(!target.lay(&[(8192, 4096), (65_536, 4096)], &mut Files(2)).unwrap());
    assert!(target.stretches() < 2);
}

#[test]
fn a_failing_write_never_reaches_the_storage() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("target");
    let file = file_of(&path, Bytes::mib(1));
    let options = OpenOptions { engine: EngineChoice::Psync, read_only: false, direct: true };
    let failure = Failure::Once { nth: 1, fault: Fault::InputOutput };
    let mut target = FaultyTarget::new(open(file, options).unwrap(), vec![failure]);
    target.prepare(1, Bytes(4096)).unwrap();
    target.buffer(Slot(0)).fill(0xa5);
    let write = Op { slot: Slot(0), kind: OpKind::Write, offset: Bytes::ZERO, length: Bytes(4096) };
    let Submission::Done(completion) = target.submit(write).unwrap() else { panic!("not done") };
    assert_eq!(completion.outcome, Err(Fault::InputOutput));
    assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn a_read_beyond_a_file_cut_short_is_a_short_read() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("target");
    let file = file_of(&path, Bytes::mib(1));
    for engine in [EngineChoice::Psync, EngineChoice::Auto] {
        let options = OpenOptions { engine, read_only: true, direct: true };
        let mut target = open(file.try_clone().unwrap(), options).unwrap();
        target.prepare(1, Bytes(8192)).unwrap();
        file.set_len(4096).unwrap();
        let read =
            Op { slot: Slot(0), kind: OpKind::Read, offset: Bytes::ZERO, length: Bytes(8192) };
        let mut completions = Vec::new();
        if let Submission::Done(completion) = target.submit(read).unwrap() {
            completions.push(completion);
        }
        while completions.is_empty() {
            target.complete(Wait::One, &mut completions).unwrap();
        }
        assert_eq!(completions[0].outcome, Ok(Bytes(4096)));
        file.set_len(Bytes::mib(1).get()).unwrap();
    }
}

#[test]
fn what_has_ended_is_found_without_waiting() {
    for engine in [EngineChoice::Psync, EngineChoice::Auto] {
        let Some(mut target) = on_a_file(engine, false, true) else { continue };
        target.prepare(2, Bytes(4096)).unwrap();
        let write =
            Op { slot: Slot(1), kind: OpKind::Write, offset: Bytes::ZERO, length: Bytes(4096) };
        assert_eq!(target.submit(write).unwrap(), Submission::Queued);
        let mut completions = Vec::new();
        let give_up = target.now() + Nanos::from_secs(20);
        while completions.is_empty() && target.now() < give_up {
            target.complete(Wait::No, &mut completions).unwrap();
        }
        assert_eq!(completions.len(), 1, "{engine:?}");
    }
}

#[test]
fn what_is_no_storage_is_refused() {
    let options = OpenOptions { engine: EngineChoice::Auto, read_only: true, direct: true };
    for path in ["/dev/null", env!("CARGO_TARGET_TMPDIR")] {
        assert!(open(File::open(path).unwrap(), options).is_err(), "{path}");
    }
    let empty = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert!(open(empty, options).is_err());
}

#[test]
fn a_discarded_range_can_be_written_again() {
    let Some(mut target) = on_a_file(EngineChoice::Auto, false, true) else { return };
    target.prepare(1, Bytes(4096)).unwrap();
    let discard =
        Op { slot: Slot(0), kind: OpKind::Discard, offset: Bytes::ZERO, length: Bytes::mib(1) };
    let Submission::Done(completion) = target.submit(discard).unwrap() else { panic!("queued") };
    match completion.outcome {
        Ok(moved) => assert_eq!(moved, Bytes::mib(1)),
        Err(fault) => assert_eq!(fault, Fault::Unsupported),
    }
    assert!(!matches!(
        target.submit(Op { kind: OpKind::Write, length: Bytes(4096), ..discard }),
        Err(SubmitError::ReadOnly)
    ));
    target.complete(Wait::One, &mut Vec::new()).unwrap();
}
