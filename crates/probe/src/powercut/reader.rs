//! Reads the whole area of a plan, sector by sector where a piece fails.

use cardproof_evidence::powercut::{Plan, SECTOR, Sector};
use cardproof_io::Target;
use cardproof_units::Bytes;

use crate::drive::{Drive, DriveError};

/// The area is read in pieces of this length.
const PIECE: Bytes = Bytes::kib(64);

/// What was read of an area.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// What each sector holds, from the first on.
    pub sectors: Vec<Sector>,
    /// How many bytes were read.
    pub bytes: Bytes,
    /// The device has vanished, and the rest was not read.
    pub is_gone: bool,
}

/// Reads the area of `plan` from `target`.
///
/// # Errors
/// The experiment cannot go on. A device that vanished is no error.
pub fn read_area(target: &mut dyn Target, plan: &Plan) -> Result<Read, DriveError> {
    let block = target.abilities().logical_block.get();
    let mut drive = Drive::new(target, PIECE)?;
    let mut sectors = Vec::with_capacity((plan.area().end - plan.area().start) as usize);
    let (mut at, end) = (plan.area().start * SECTOR as u64, plan.area().end * SECTOR as u64);
    let is_gone = loop {
        if at >= end {
            break false;
        }
        let length = PIECE.get().min(end - at);
        match piece(&mut drive, at, length, block, &mut sectors) {
            Ok(()) => at += length,
            Err(DriveError::Vanished) => break true,
            Err(error) => return Err(error),
        }
    };
    Ok(Read { sectors, bytes: drive.read_so_far(), is_gone })
}

/// Reads a piece, block by block where it fails as a whole.
fn piece(
    drive: &mut Drive<'_>,
    at: u64,
    length: u64,
    block: u64,
    sectors: &mut Vec<Sector>,
) -> Result<(), DriveError> {
    if let Ok(data) = drive.read(at, length)? {
        sectors.extend(data.as_chunks::<SECTOR>().0.iter().map(Sector::of));
        return Ok(());
    }
    for offset in (at..at + length).step_by(block as usize) {
        match drive.read(offset, block)? {
            Ok(data) => sectors.extend(data.as_chunks::<SECTOR>().0.iter().map(Sector::of)),
            Err(_) => {
                let count = (block / SECTOR as u64) as usize;
                sectors.extend(std::iter::repeat_n(Sector::Unreadable, count));
            }
        }
    }
    Ok(())
}
