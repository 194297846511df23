//! Reading a set of files N.h2w: what each sector holds.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use cardproof_device::ReadWitness;
use cardproof_record::CapacityFiles;
use cardproof_units::Bytes;

use super::{CHUNK, FILE_BYTES, Numbered, SECTOR, Test, fill, length_of};

/// What reading a set of files has shown.
#[derive(Clone, Debug, Default)]
struct Tally {
    shown: CapacityFiles,
    /// Sectors up to here that are not right.
    stretch: u64,
}

/// Reads `set`, in its order whatever that of making was, and notes for `witness` how much.
pub(super) fn read_set(
    mut set: Vec<Numbered<'_>>,
    witness: &mut ReadWitness,
    test: &mut Test<'_>,
) -> CapacityFiles {
    set.sort_unstable_by_key(|(number, _)| *number);
    let of: u64 = set.iter().map(|(_, file)| length_of(file)).sum();
    let mut tally = Tally::default();
    let (mut done, mut expected) = (0, 1);
    test.tell("read", 0, of);
    for (number, file) in set {
        tally.shown.missing_files += number - expected;
        expected = number + 1;
        let length = length_of(file);
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
        let mut at = 0;
        while at < length && !test.is_stopped() {
            let part = (length - at).min(CHUNK as u64);
            read_part(file, (number - 1) * FILE_BYTES, at, part, &mut tally);
            witness.note(Bytes(part));
            at += part;
            done += part;
            test.tell("read", done, of);
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use cardproof_device::Sysroot;

    use super::super::FilesWish;
    use super::*;
    use crate::frontend::Silent;

    /// As where a file in the middle of a set was missing, and there was no room to write it whole.
    #[test]
    fn a_file_that_was_made_after_a_later_one_is_read_in_its_place() {
        let directory = Path::new("/");
        let mut test = Test {
            wish: FilesWish { is_full: true, store: Bytes::ZERO, keeps: false },
            directory,
            lasting: directory,
            frontend: &mut Silent,
            stop: &AtomicBool::new(false),
        };
        let files = [1, 3, 2].map(|number| (number, tempfile::tempfile().unwrap()));
        for (number, file) in &files {
            let mut sector = [0; SECTOR];
            fill((number - 1) * FILE_BYTES, &mut sector);
            file.write_all_at(&sector, 0).unwrap();
        }
        let set = files.iter().map(|(number, file)| (*number, file)).collect();
        let mut witness = ReadWitness::begin(&Sysroot::default(), directory);
        let shown = read_set(set, &mut witness, &mut test);
        assert_eq!((shown.right_sectors, shown.missing_files), (3, 0));
    }
}
