//! After a test of free space: whether its data appear at places that it has not written.
//!
//! Free space of a part of a disk says nothing of the rest. But a disk whose addresses repeat shows what was written
//! in that part at addresses outside of it, which need only be read. Root reads places all over the disk, anybody
//! else places in files.

mod disk;
mod files;
mod written;

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cardproof_device::DeviceNumber;
use cardproof_evidence::capacity::{places_to_read, repeats_after};
use cardproof_probe::capacity::{Elsewhere, Looked, Outcome, Plan, Strayed, look_elsewhere};
use cardproof_record::CapacityElsewhere;
use cardproof_units::{Bytes, with_causes};

use crate::frontend::Event;
use crate::session::Bench;
use crate::target::FreeSpace;
use disk::Disk;
use files::Files;

/// The longest time for reading places, after a long and after a short test.
const TIME_MAX: Duration = Duration::from_secs(8);
const TIME_MAX_OF_SHORT: Duration = Duration::from_secs(4);

/// The longest time that a short test reads and writes once more what was found.
const AGAIN_MAX_OF_SHORT: Duration = Duration::from_secs(20);

/// The longest time for finding files.
const FINDING_MAX: Duration = Duration::from_secs(2);

/// The most places that are read on a disk.
const PLACES_MAX: u64 = 1 << 18;

/// The number of places that are read in files.
const PLACES_IN_FILES: u64 = 2000;

/// The most bytes, from the highest address written downwards, whose second addresses are sought.
const TOP: u64 = 1 << 30;

/// Reads places elsewhere after the test of `plan`, whose `outcome` does not show a fake. `None` where none can be
/// read or the storage fails; that says nothing.
pub(super) fn look(
    bench: &mut Bench<'_, FreeSpace>,
    plan: &Plan,
    outcome: &Outcome,
    is_short: bool,
) -> Option<CapacityElsewhere> {
    let stretches = outcome.evidence.writes.stretches();
    let written = stretches.map(|(start, length, _)| (start, length)).collect();
    let test = Test { plan, written, is_short };
    if let Some(mut disk) = open_disk(bench) {
        // What was written at the end without gaps; the rest lies in pieces.
        let (top, top_start) = disk.top(&test.written, TOP.min(outcome.evidence.filler_bytes));
        let count = places_to_read(top, disk.size.get()).min(PLACES_MAX);
        let looked = test.read(bench, &mut disk, count)?;
        let (top, top_start) = if disk.is_plain { (top, top_start) } else { (0, 0) };
        return Some(CapacityElsewhere {
            disk_bytes: Some(disk.size),
            distances_bytes: distances(&disk, &looked.changed),
            top_bytes: Bytes(top),
            top_start_bytes: Bytes(top_start),
            ..counts(&looked)
        });
    }
    let begun = Instant::now();
    let directory = bench.place.lasting_path();
    let mut goes_on = || begun.elapsed() < FINDING_MAX && !bench.stop.load(Ordering::Relaxed);
    let mut files = Files::find(&directory, &mut goes_on)?;
    Some(counts(&test.read(bench, &mut files, PLACES_IN_FILES)?))
}

/// How far each place that has `changed` lies from where the test wrote. None where no place below the common distance
/// is among them: then the addresses do not begin again there, as where a device repeats only its last part.
fn distances(disk: &Disk, changed: &[Strayed<Bytes>]) -> Vec<Bytes> {
    let distance = |strayed: &Strayed<Bytes>| {
        disk.distance(strayed.place, strayed.inside_bytes, strayed.address_bytes)
    };
    let distances: Vec<u64> = changed.iter().filter_map(distance).collect();
    let common = repeats_after(distances.iter().copied()).unwrap_or(0);
    let begins_again = changed.iter().any(|strayed| strayed.place.get() < common);
    distances.into_iter().filter(|_| begins_again).map(Bytes).collect()
}

/// The disk under the free space, where this user may read it and the file system says where the space lies.
fn open_disk(bench: &Bench<'_, FreeSpace>) -> Option<Disk> {
    let directory = bench.place.lasting_path();
    let number = DeviceNumber::from_raw(std::fs::metadata(&directory).ok()?.dev());
    let filesystem = bench.record.conditions.filesystem.as_ref()?;
    let pieces = bench.place.target.pieces()?;
    Disk::open(&directory, number, filesystem.partition_start_bytes, &pieces)
}

fn counts<P>(looked: &Looked<P>) -> CapacityElsewhere {
    CapacityElsewhere {
        places: looked.places,
        found: looked.found.len() as u64,
        changed: looked.changed.len() as u64,
        ..CapacityElsewhere::default()
    }
}

/// A test that was done.
struct Test<'a> {
    plan: &'a Plan,
    /// What it has written, as (start, length) in the order of writing.
    written: Vec<(u64, u64)>,
    /// Whether it may take only so long.
    is_short: bool,
}

impl Test<'_> {
    /// Reads `count` places of `elsewhere`, as long as there is time and others do not need the space.
    fn read<E: Elsewhere>(
        &self,
        bench: &mut Bench<'_, FreeSpace>,
        elsewhere: &mut E,
        count: u64,
    ) -> Option<Looked<E::Place>> {
        let Bench { place, record, recorder, stop, .. } = bench;
        let FreeSpace { target, room, .. } = place;
        let begun = Instant::now();
        let mut goes_on = |done: f64| {
            recorder.tell(Event::Step {
                name: "verify",
                deed: "reading elsewhere",
                done,
                elapsed: begun.elapsed().into(),
            });
            let is_late = begun.elapsed() > self.time_max(done < 1.0);
            !is_late && !stop.load(Ordering::Relaxed) && !room.is_needed_by_others()
        };
        let target = target.target();
        let Self { plan, written, .. } = self;
        match look_elsewhere(target, plan, written, elsewhere, count, &mut goes_on) {
            Ok(looked) => {
                record.bytes_written += looked.bytes_written;
                record.bytes_read += looked.bytes_read;
                Some(looked)
            }
            Err(error) => {
                recorder.note(&format!("Other places were not read: {}.", with_causes(&error)));
                None
            }
        }
    }

    /// How long after its beginning it reads, or writes once more what was found.
    const fn time_max(&self, is_reading: bool) -> Duration {
        match (self.is_short, is_reading) {
            (true, true) => TIME_MAX_OF_SHORT,
            (true, false) => AGAIN_MAX_OF_SHORT,
            (false, true) => TIME_MAX,
            (false, false) => Duration::MAX,
        }
    }
}
