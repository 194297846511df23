//! Marks on a card, by which a journal knows it: the first sectors of the test, written before all others
//! and put back after them.
//!
//! They lie at falling powers of two, so that some lie within the real size of any fake.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::{Slot, Target};
use cardproof_probe::DriveError;
use cardproof_units::{Bytes, Seed, in_words, with_causes};

use super::journal::{Batch, Journal, Paper, Phase};
use super::own::is_own;
use super::stable;
use super::steady::{Moved, Steady};

/// At a half, a quarter … of the size.
const HALVINGS: u64 = 8;

/// Why a card has no marks, so that the test must not begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unmarked {
    /// They could not be saved.
    #[error("the journal cannot be written: {}", in_words(.0))]
    Journal(std::io::Error),
    /// The device fails.
    #[error("{0}")]
    Device(String),
    /// None of them was read back.
    #[error(
        "none of the {0} marks that tell this card from others could be written and read back, so that \
         nothing could be put back on it for sure; copy its data and use --destroy"
    )]
    NoneKept(usize),
}

/// Where the marks of the test of `salt` lie on a device of `size` in blocks of `block`.
pub(super) fn places(size: Bytes, block: Bytes, salt: u64) -> Vec<u64> {
    let (size, block) = (size.get(), block.get());
    let place = |halving: u64| {
        let (base, room) = (size >> halving, (size >> halving) / 4 / block);
        let random = Seed::from_bits(salt).derive("capacity marks").wrapping_mul(2 * halving + 1);
        base / block * block + random % room.max(1) * block
    };
    let mut places: Vec<u64> = (1..=HALVINGS).map(place).collect();
    places.retain(|place| place + block <= size);
    places.sort_unstable();
    places.dedup();
    places
}

/// Saves what lies at `places`, writes the marks there, and has the journal know it. Adds to `moved`.
///
/// # Errors
/// There is no mark. What was written is in the journal.
pub(super) fn set<P: Paper>(
    target: &mut dyn Target,
    journal: &mut Journal<P>,
    places: &[u64],
    moved: &mut Moved,
) -> Result<(), Unmarked> {
    let block = target.abilities().logical_block;
    target.prepare(1, block).map_err(|error| Unmarked::Device(with_causes(&error)))?;
    let mut steady = Steady::new(target, Slot(0));
    let set = set_on(&mut steady, journal, places);
    *moved += steady.moved;
    set
}

fn set_on<P: Paper>(
    steady: &mut Steady<'_>,
    journal: &mut Journal<P>,
    places: &[u64],
) -> Result<(), Unmarked> {
    let of_device = |error: DriveError| Unmarked::Device(with_causes(&error));
    let (block, salt) = (steady.block(), journal.salt());
    let (mut pieces, mut savable) = (Vec::new(), Vec::new());
    for &place in places {
        let found = stable::find(steady, place, block, salt).map_err(of_device)?;
        pieces.extend(found.pieces);
        savable.extend(found.savable);
    }
    journal.save(&pieces, true).map_err(Unmarked::Journal)?;
    for &(place, length) in &savable {
        let mut data = vec![0; Bytes(length).as_len()];
        Stamp { salt, address_bytes: place, generation: 0 }.fill(&mut data);
        steady.write(place, &data).map_err(of_device)?;
    }
    let is_durable = steady.flush().map_err(of_device)?;
    let mut kept = 0;
    for &(place, length) in &savable {
        kept += u64::from(is_marked(steady, place, length, salt).map_err(of_device)?);
    }
    if kept == 0 || !is_durable {
        return Err(Unmarked::NoneKept(places.len()));
    }
    journal.reach(Phase::Marked).map_err(Unmarked::Journal)
}

/// Whether `target` carries a mark of `journal`, or any other sector of its test.
///
/// # Errors
/// The device has vanished, or the engine failed.
pub(super) fn are_on<P: Paper>(
    target: &mut dyn Target,
    journal: &Journal<P>,
) -> Result<bool, DriveError> {
    let block = target.abilities().logical_block;
    target.prepare(1, block)?;
    let mut steady = Steady::new(target, Slot(0));
    let batches = journal.batches().iter();
    let (marks, others): (Vec<&Batch>, Vec<&Batch>) = batches.partition(|batch| batch.is_mark);
    for batch in marks.into_iter().chain(others) {
        let place = batch.offset / block.get() * block.get();
        if is_marked(&mut steady, place, block.get(), journal.salt())? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_marked(
    steady: &mut Steady<'_>,
    place: u64,
    length: u64,
    salt: u64,
) -> Result<bool, DriveError> {
    let back = steady.read(place, length)?;
    let sectors = back.data.as_chunks::<SECTOR>().0;
    Ok((place..).step_by(SECTOR).zip(sectors).any(|(at, sector)| is_own(sector, salt, at)))
}
