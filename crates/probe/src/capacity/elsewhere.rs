//! Whether data of a test come back from places that it has not written, as on a device whose addresses repeat.
//!
//! Data of the test elsewhere are no proof by themselves: an earlier test, a journal or a copy may have left them
//! there. So the test writes what it found once more. A place that then shows the new data, which nobody has written
//! to it, is the same place under another address. Where a hidden store may keep the new data back, all that the
//! test has written is written once more. Somebody may copy what the test writes while it writes, as a mirror does: so
//! it counts only where the storage has taken far less from others meanwhile than such copies need.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::Target;
use cardproof_units::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::plan::{CHUNK, PLACE, Plan};
use crate::{Drive, DriveError};

/// The generation of what is written once more is at least this: far above all that a test has written.
const ONCE_MORE: u32 = 1 << 31;

/// The most times that what was found is written once more, until others write next to nothing meanwhile.
const TRIES: u32 = 8;

/// Reading ends once this many places with data of the test were found.
const FOUND_MAX: usize = 32;

/// Places beside those that a test writes.
pub trait Elsewhere {
    /// Names one of them.
    type Place: Copy;

    /// The place that `random` chooses, each with the same chance; `None` where there is none.
    fn choose(&mut self, random: u64) -> Option<Self::Place>;

    /// What it holds, whole sectors from its start; `None` where it cannot be read.
    fn read(&mut self, place: Self::Place) -> Option<&[u8]>;

    /// Whether the sector `inside_bytes` behind the start of `place` is where the test has its `address_bytes`.
    fn is_own(&self, place: Self::Place, inside_bytes: u64, address_bytes: u64) -> bool;

    /// How many bytes the storage has taken so far, from everybody and after all that waited was written; `None` where
    /// nobody counts them.
    fn written_bytes(&mut self) -> Option<u64>;
}

/// A place that holds data of the test, though the test has not written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strayed<P> {
    /// The place.
    pub place: P,
    /// How many bytes inside of it they lie.
    pub inside_bytes: u64,
    /// The address to which the test has written them.
    pub address_bytes: u64,
}

/// What reading elsewhere has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked<P> {
    /// How many places were read.
    pub places: u64,
    /// Those that hold data of the test; at most 32.
    pub found: Vec<Strayed<P>>,
    /// Those of them that changed when the test wrote the data once more. None where others have written so much
    /// meanwhile, or may have, that they can have changed them.
    pub changed: Vec<Strayed<P>>,
    /// All bytes written.
    pub bytes_written: Bytes,
    /// All bytes read.
    pub bytes_read: Bytes,
}

/// Reads `count` places of `elsewhere` and looks for data of `plan`, which has written `written`, as (start, length)
/// in the order of writing, to `target`. Asks `goes_on` often, with the part of the places that is read.
///
/// # Errors
/// The engine failed or the device vanished.
pub fn look_elsewhere<E: Elsewhere>(
    target: &mut dyn Target,
    plan: &Plan,
    written: &[(u64, u64)],
    elsewhere: &mut E,
    count: u64,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Looked<E::Place>, DriveError> {
    let (places, found) = seek(plan, elsewhere, count, goes_on);
    let mut drive = Drive::new(target, Bytes(CHUNK))?;
    let changed = if found.is_empty() {
        Vec::new()
    } else {
        changed(&mut drive, plan, written, elsewhere, &found, goes_on)?
    };
    let (bytes_written, bytes_read) = (drive.written(), Bytes(places * PLACE));
    Ok(Looked { places, found, changed, bytes_written, bytes_read })
}

/// Those of `found` that change when the test writes, and nobody else can have changed.
fn changed<E: Elsewhere>(
    drive: &mut Drive<'_>,
    plan: &Plan,
    written: &[(u64, u64)],
    elsewhere: &mut E,
    found: &[Strayed<E::Place>],
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Vec<Strayed<E::Place>>, DriveError> {
    // Another test with the same seed, at the same time, has another time.
    let first = drive.now().get() as u32 >> 1;
    let new = |time: u32| {
        let generation = ONCE_MORE | first.wrapping_add(time);
        Stamp { salt: plan.salt(), address_bytes: 0, generation }
    };
    for time in 0..TRIES {
        let before = Counted::now(drive, elsewhere);
        rewrite(drive, plan.random_length, new(time), found)?;
        let changed = changed_of(new(time), elsewhere, found);
        if changed.len() * 2 <= found.len() {
            break;
        }
        // A copy takes a sector of each.
        let copies = changed.len() as u64 * SECTOR as u64;
        if before.others(drive, elsewhere).is_some_and(|others| others * 2 < copies) {
            return Ok(changed);
        }
    }
    let before = Counted::now(drive, elsewhere);
    let own = drive.written();
    if !write_again(drive, new(TRIES), written, goes_on)? {
        return Ok(Vec::new());
    }
    let changed = changed_of(new(TRIES), elsewhere, found);
    let copies = drive.written().saturating_sub(own).get();
    // Who copies does not know which places the test reads. To change most of them he copies most of what was written.
    let is_copied = before.others(drive, elsewhere).is_none_or(|others| others * 2 >= copies);
    Ok(if is_copied { Vec::new() } else { changed })
}

/// What was written up to a moment: by everybody, and by the test.
struct Counted {
    all: Option<u64>,
    own: u64,
}

impl Counted {
    fn now<E: Elsewhere>(drive: &Drive<'_>, elsewhere: &mut E) -> Self {
        Self { all: elsewhere.written_bytes(), own: drive.written().get() }
    }

    /// How much others have written since; `None` where nobody counts it.
    fn others<E: Elsewhere>(&self, drive: &Drive<'_>, elsewhere: &mut E) -> Option<u64> {
        let now = Self::now(drive, elsewhere);
        let all = now.all?.checked_sub(self.all?)?;
        Some(all.saturating_sub(now.own - self.own))
    }
}

/// How many places were read, and those that hold data of the test.
fn seek<E: Elsewhere>(
    plan: &Plan,
    elsewhere: &mut E,
    count: u64,
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> (u64, Vec<Strayed<E::Place>>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed.derive("places elsewhere"));
    let mut places = 0;
    let mut found = Vec::new();
    for number in 0..count {
        if found.len() >= FOUND_MAX || !goes_on(number as f64 / count as f64) {
            break;
        }
        let Some(place) = elsewhere.choose(random.next_u64()) else { break };
        let Some(data) = elsewhere.read(place) else { continue };
        places += 1;
        let stamped = stamps(plan, data);
        let foreign =
            |(inside, stamp): &(u64, Stamp)| !elsewhere.is_own(place, *inside, stamp.address_bytes);
        if let Some((inside_bytes, stamp)) = stamped.into_iter().find(foreign) {
            found.push(Strayed { place, inside_bytes, address_bytes: stamp.address_bytes });
        }
    }
    (places, found)
}

/// The stamps of `plan` in `data`, and how many bytes from its start they lie.
fn stamps(plan: &Plan, data: &[u8]) -> Vec<(u64, Stamp)> {
    let (sectors, _) = data.as_chunks::<SECTOR>();
    let of_plan = |stamp: &Stamp| stamp.salt == plan.salt() && stamp.address_bytes < plan.size;
    let stamped = |(number, sector)| {
        Some(((number * SECTOR) as u64, Stamp::of_whole(sector).filter(of_plan)?))
    };
    sectors.iter().enumerate().filter_map(stamped).collect()
}

/// Writes the blocks of `length` that were `found` once more, as `new`. A write that the storage refuses shows when it
/// is read.
fn rewrite<P>(
    drive: &mut Drive<'_>,
    length: u64,
    new: Stamp,
    found: &[Strayed<P>],
) -> Result<(), DriveError> {
    for strayed in found {
        let start = strayed.address_bytes / length * length;
        let _ = drive.write_stamped(start, length, at(new, start))?;
    }
    let _ = drive.flush()?;
    Ok(())
}

/// Writes all that the test has written once more, as `new`; whether it came to the end.
fn write_again(
    drive: &mut Drive<'_>,
    new: Stamp,
    written: &[(u64, u64)],
    goes_on: &mut dyn FnMut(f64) -> bool,
) -> Result<bool, DriveError> {
    for &(start, length) in written {
        for from in (start..start + length).step_by(CHUNK as usize) {
            if !goes_on(1.0) {
                return Ok(false);
            }
            let part = CHUNK.min(start + length - from);
            let _ = drive.write_stamped(from, part, at(new, from))?;
        }
    }
    let _ = drive.flush()?;
    Ok(true)
}

const fn at(new: Stamp, address_bytes: u64) -> Stamp {
    Stamp { address_bytes, ..new }
}

/// Those of `found` that hold what was written once more, as `new`.
fn changed_of<E: Elsewhere>(
    new: Stamp,
    elsewhere: &mut E,
    found: &[Strayed<E::Place>],
) -> Vec<Strayed<E::Place>> {
    let has_changed = |strayed: &&Strayed<E::Place>| {
        let wanted = at(new, strayed.address_bytes);
        let sector = Bytes(strayed.inside_bytes).as_len() / SECTOR;
        elsewhere.read(strayed.place).is_some_and(|data| {
            data.as_chunks::<SECTOR>().0.get(sector).and_then(Stamp::of_whole) == Some(wanted)
        })
    };
    found.iter().filter(has_changed).copied().collect()
}
