//! Test sectors as three numbers, for simulated cards that keep them so. The signatures are those of
//! `cardproof_sim::Shorthand`, which this crate does not know.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};

/// The numbers from which a test sector follows, if it is one and every bit of it is right.
#[must_use]
pub fn shorten(sector: &[u8; SECTOR]) -> Option<[u64; 3]> {
    let stamp = Stamp::of_whole(sector)?;
    Some([stamp.salt, stamp.address_bytes, u64::from(stamp.generation)])
}

/// The same, from the head alone: for whoever knows that every sector is a test sector or blank.
#[must_use]
pub fn shorten_head(sector: &[u8; SECTOR]) -> Option<[u64; 3]> {
    let stamp = Stamp::on(sector)?;
    Some([stamp.salt, stamp.address_bytes, u64::from(stamp.generation)])
}

/// The test sector that follows from `numbers`.
pub fn expand(numbers: [u64; 3], sector: &mut [u8; SECTOR]) {
    stamp(numbers).fill(sector);
}

/// The numbers of the test sector so many sectors later.
#[must_use]
pub fn further(numbers: [u64; 3], sectors: u64) -> [u64; 3] {
    [numbers[0], numbers[1].wrapping_add(sectors * SECTOR as u64), numbers[2]]
}

/// The numbers of the test sector that carries `stamp`.
pub(crate) const fn numbers(stamp: Stamp) -> [u64; 3] {
    [stamp.salt, stamp.address_bytes, stamp.generation as u64]
}

/// Fills `data` with the test sectors that follow from the `numbers` of the first.
pub(crate) fn fill(numbers: [u64; 3], data: &mut [u8]) {
    stamp(numbers).fill(data);
}

const fn stamp([salt, address_bytes, generation]: [u64; 3]) -> Stamp {
    Stamp { salt, address_bytes, generation: generation as u32 }
}
