//! Reading what is to be saved: twice, and where the two differ until two agree.
//!
//! A device that gives something wrong once would else have that put back in the place of the data.

use cardproof_evidence::capacity::stamp::SECTOR;
use cardproof_probe::DriveError;

use super::journal::Piece;
use super::own::is_own;
use super::steady::{ReadBack, Steady};

/// How often more a block is read whose two readings differ.
const MORE: u32 = 5;

/// What is known of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sector {
    /// Two readings agree.
    Stable([u8; SECTOR]),
    /// All readings succeeded and no two agree; the last.
    Unstable([u8; SECTOR]),
    /// It cannot be read twice.
    Unreadable,
}

/// What a stretch of a device holds, for saving.
pub(super) struct Found {
    /// What must be saved before the stretch is overwritten: all but the test's own sectors.
    pub(super) pieces: Vec<Piece>,
    /// Blocks that cannot be read, so that they must not be overwritten, as (offset, length).
    pub(super) unreadable: Vec<(u64, u64)>,
    /// The rest, which may be overwritten once the pieces are saved.
    pub(super) savable: Vec<(u64, u64)>,
}

/// Reads what a test of `salt` is about to overwrite.
///
/// # Errors
/// The device has vanished, or the engine failed.
pub(super) fn find(
    steady: &mut Steady<'_>,
    offset: u64,
    length: u64,
    salt: u64,
) -> Result<Found, DriveError> {
    let readings = [steady.read(offset, length)?, steady.read(offset, length)?];
    let block = steady.block();
    let mut found = Found { pieces: Vec::new(), unreadable: Vec::new(), savable: Vec::new() };
    if readings[0] == readings[1] && !readings[0].is_read.contains(&false) {
        found.savable.push((offset, length));
        for (address, data) in (offset..).step_by(SECTOR).zip(readings[0].data.as_chunks().0) {
            if !is_own(data, salt, address) {
                add(&mut found.pieces, address, (*data, false));
            }
        }
        return Ok(found);
    }
    for (index, start) in (offset..offset + length).step_by(block as usize).enumerate() {
        let sectors = sectors(steady, &readings, index, start)?;
        if sectors.contains(&Sector::Unreadable) {
            join(&mut found.unreadable, start, block);
            continue;
        }
        join(&mut found.savable, start, block);
        for (address, sector) in (start..).step_by(SECTOR).zip(sectors) {
            match sector {
                Sector::Stable(data) if is_own(&data, salt, address) => {}
                Sector::Stable(data) => add(&mut found.pieces, address, (data, false)),
                Sector::Unstable(data) => add(&mut found.pieces, address, (data, true)),
                Sector::Unreadable => {}
            }
        }
    }
    Ok(found)
}

/// The sectors of the block at `start`, which is number `index` of `readings`.
fn sectors(
    steady: &mut Steady<'_>,
    readings: &[ReadBack; 2],
    index: usize,
    start: u64,
) -> Result<Vec<Sector>, DriveError> {
    let block = steady.block() as usize;
    let whole = index * block..(index + 1) * block;
    let mut good: Vec<Vec<u8>> = Vec::new();
    for reading in readings.iter().filter(|reading| reading.is_read[index]) {
        good.push(reading.data[whole.clone()].to_vec());
    }
    let mut failed = readings.len() - good.len();
    for _ in 0..MORE {
        if agreed(&good).iter().all(Option::is_some) && good.len() > 1 {
            break;
        }
        let again = steady.read(start, block as u64)?;
        if again.is_read == [true] { good.push(again.data) } else { failed += 1 }
    }
    let last = good.last().cloned().unwrap_or_default();
    let sector = |(index, agreed): (usize, Option<[u8; SECTOR]>)| match agreed {
        Some(data) => Sector::Stable(data),
        None if failed > 0 => Sector::Unreadable,
        None => last.as_chunks().0.get(index).map_or(Sector::Unreadable, |d| Sector::Unstable(*d)),
    };
    let agreed = if good.len() > 1 { agreed(&good) } else { vec![None; block / SECTOR] };
    Ok(agreed.into_iter().enumerate().map(sector).collect())
}

/// For each sector what two of `readings` agree on.
fn agreed(readings: &[Vec<u8>]) -> Vec<Option<[u8; SECTOR]>> {
    let count = readings.first().map_or(0, |reading| reading.len() / SECTOR);
    let of = |index: usize| {
        let all: Vec<&[u8; SECTOR]> =
            readings.iter().filter_map(|reading| reading.as_chunks().0.get(index)).collect();
        let count = |data: &[u8; SECTOR]| all.iter().filter(|other| **other == data).count();
        all.iter().find(|data| count(data) > 1).map(|data| **data)
    };
    (0..count).map(of).collect()
}

fn join(stretches: &mut Vec<(u64, u64)>, start: u64, length: u64) {
    match stretches.last_mut() {
        Some((from, so_far)) if *from + *so_far == start => *so_far += length,
        _ => stretches.push((start, length)),
    }
}

fn add(pieces: &mut Vec<Piece>, address: u64, sector: ([u8; SECTOR], bool)) {
    match pieces.last_mut() {
        Some(piece) if piece.offset + (piece.sectors.len() * SECTOR) as u64 == address => {
            piece.sectors.push(sector);
        }
        _ => pieces.push(Piece { offset: address, sectors: vec![sector] }),
    }
}
