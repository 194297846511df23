//! Reading a set of files N.h2w: what each sector holds.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cardproof_device::ReadWitness;
use cardproof_record::CapacityFiles;
use cardproof_units::Bytes;

use super::{CHUNK, FILE_BYTES, Numbered, SECTOR, fill, length_of, tell};
use crate::signals::Signals;
use crate::talk::Talk;

/// What reading a set of files has shown.
#[derive(Clone, Debug, Default)]
struct Tally {
    shown: CapacityFiles,
    /// Sectors up to here that are not right.
    stretch: u64,
}

/// Reads `set`, which is in order, and notes for `witness` how much.
pub(super) fn read_set(
    set: &[Numbered<'_>],
    witness: &mut ReadWitness,
    signals: &Signals,
    talk: Talk,
) -> CapacityFiles {
    let of: u64 = set.iter().map(|(_, file)| length_of(file)).sum();
    let mut tally = Tally::default();
    let (mut done, mut tenths, mut expected) = (0, 0, 1);
    for &(number, file) in set {
        tally.shown.missing_files += number - expected;
        expected = number + 1;
        let length = length_of(file);
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
        let mut at = 0;
        while at < length && signals.exit().is_none() {
            let part = (length - at).min(CHUNK as u64);
            read_part(file, (number - 1) * FILE_BYTES, at, part, &mut tally);
            witness.note(Bytes(part));
            at += part;
            done += part;
            tell(&mut tenths, "read", done, of, talk);
        }
    }
    tally.end_stretch(done);
    tally.shown.tested_bytes = Bytes(of);
    tally.shown
}

/// Reads a part of a file; where that fails, sector by sector, each twice.
fn read_part(file: &File, base: u64, at: u64, length: u64, tally: &mut Tally) {
    let mut data = vec![0; length as usize];
    let whole = read_at(file, at, &mut data);
    for (index, sector) in data.as_chunks_mut::<SECTOR>().0.iter_mut().enumerate() {
        let inside = at + (index * SECTOR) as u64;
        let mut outcome = if whole.is_ok() { Ok(()) } else { read_at(file, inside, sector) };
        if whole.is_err() && outcome.is_err() {
            outcome = read_at(file, inside, sector);
            tally.shown.transient_errors += u64::from(outcome.is_ok());
        }
        tally.note(base + inside, sector, outcome.is_ok());
    }
}

fn read_at(file: &File, at: u64, data: &mut [u8]) -> io::Result<()> {
    file.read_exact_at(data, at)
}

impl Tally {
    fn note(&mut self, offset: u64, sector: &[u8; SECTOR], is_read: bool) {
        let mut right = [0; SECTOR];
        fill(offset, &mut right);
        if is_read && *sector == right {
            self.shown.right_sectors += 1;
            self.end_stretch(offset);
            return;
        }
        self.stretch += 1;
        let named = sector.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        fill(named, &mut right);
        if !is_read {
            self.shown.unreadable_sectors += 1;
        } else if named.is_multiple_of(SECTOR as u64) && *sector == right {
            self.shown.foreign_sectors += 1;
        } else {
            self.shown.wrong_sectors += 1;
        }
    }

    /// Ends a stretch of bad sectors before `offset`.
    fn end_stretch(&mut self, offset: u64) {
        const RANGES_MAX: usize = 64;
        if self.stretch > 0 {
            self.shown.longest_bad_sectors = self.shown.longest_bad_sectors.max(self.stretch);
            if self.shown.bad_ranges.len() < RANGES_MAX {
                let start = offset - self.stretch * SECTOR as u64;
                self.shown.bad_ranges.push([Bytes(start), Bytes(offset)]);
            }
            self.stretch = 0;
        }
    }
}
