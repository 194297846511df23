//! Reads every byte of a target once: the speed of each part, and what cannot be read.

use cardproof_probe::{Drive, DriveError};
use cardproof_record::{CapacityTest, State, Trial};
use cardproof_units::{Bytes, with_causes};

use super::stored::Regions;
use crate::frontend::Event;
use crate::session::Bench;
use crate::target::Storage;

/// How much is read at once.
const PIECE: u64 = 1 << 20;

/// Where a piece fails, it is read in parts of this length.
const PART: u64 = 4096;

/// The most unreadable stretches that are kept.
const STRETCHES_MAX: usize = 64;

/// Reads all of the target and adds to the record what that shows.
pub(super) fn read_all(bench: &mut Bench<'_, Storage>) {
    let size = bench.place.target.abilities().size;
    let mut test = match bench.record.trial.take() {
        Some(Trial::Capacity(test)) => test,
        _ => CapacityTest::default(),
    };
    let mut regions = Regions::new(size.get());
    // Reading all finds them again, and others.
    test.unreadable.clear();
    let read = read(bench, size.get(), &mut regions, &mut test);
    // The sectors of the test were judged by themselves; errors found there stay on the map.
    for (region, earlier) in regions.0.iter_mut().zip(&test.regions) {
        region.wrong += earlier.wrong;
    }
    test.regions = regions.0;
    test.announced_bytes = size;
    bench.record.trial = Some(Trial::Capacity(test));
    if let Err(error) = read {
        bench.recorder.note(&format!("The test has ended early: {}.", with_causes(&error)));
        bench.record.state = State::Failed;
    }
}

fn read(
    bench: &mut Bench<'_, Storage>,
    size: u64,
    regions: &mut Regions,
    test: &mut CapacityTest,
) -> Result<(), DriveError> {
    let mut drive = Drive::new(&mut *bench.place.target, Bytes(PIECE))?;
    let begun = drive.now();
    let mut at = 0;
    while at < size && !bench.stop.load(std::sync::atomic::Ordering::Relaxed) {
        let length = PIECE.min(size - at);
        let start = drive.now();
        let is_read = drive.read(at, length)?.is_ok();
        let end = drive.now();
        regions.note(at, length, end.saturating_sub(start));
        if !is_read {
            read_parts(&mut drive, at, length, regions, test)?;
        }
        at += length;
        bench.recorder.tell(Event::Step {
            name: "verify",
            deed: "reads the surface",
            done: at as f64 / size.max(1) as f64,
            elapsed: end.saturating_sub(begun),
        });
    }
    test.surface_bytes = Bytes(at);
    bench.record.bytes_read += drive.read_so_far();
    if at < size {
        bench.record.state = State::Partial;
    }
    Ok(())
}

/// Reads a piece that failed part by part, each twice.
fn read_parts(
    drive: &mut Drive<'_>,
    at: u64,
    length: u64,
    regions: &mut Regions,
    test: &mut CapacityTest,
) -> Result<(), DriveError> {
    for part in (at..at + length).step_by(PART as usize) {
        let length = PART.min(at + length - part);
        if drive.read(part, length)?.is_ok() || drive.read(part, length)?.is_ok() {
            continue;
        }
        regions.note_wrong(part);
        note_unreadable(&mut test.unreadable, part, length);
    }
    Ok(())
}

/// Joins the stretch to the one before it, or adds it while there is room.
fn note_unreadable(stretches: &mut Vec<[Bytes; 2]>, part: u64, length: u64) {
    let count = stretches.len();
    match stretches.last_mut() {
        Some([start, before]) if start.get() + before.get() == part => *before += Bytes(length),
        _ if count < STRETCHES_MAX => stretches.push([Bytes(part), Bytes(length)]),
        _ => {}
    }
}
