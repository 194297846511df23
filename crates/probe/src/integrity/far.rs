//! Single blocks all over a span, which a discard elsewhere must not touch.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_evidence::integrity::Sector;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::patient::Patient;
use super::pieces::UNIT;
use crate::drive::DriveError;

/// So many blocks at most, and one in so many units where there are fewer.
const BLOCKS_MAX: u64 = 2048;
const UNITS_PER_BLOCK: u64 = 16;

/// The blocks: at random places, and at those that a wrong address leads to, the ends and powers of two.
#[derive(Clone, Debug)]
pub(super) struct FarBlocks {
    /// Where those lie that nobody has written to since.
    offsets: Vec<u64>,
    salt: u64,
}

impl FarBlocks {
    /// One block at a random place of each of the equal parts of `span`, and those at fixed places.
    pub(super) fn new(span: Bytes, seed: Seed) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("places of far blocks"));
        let units = span.get() / UNIT;
        let count = (units / UNITS_PER_BLOCK).clamp(1, BLOCKS_MAX);
        let part = (units / count).max(1);
        let place = |number: u64| (number * part + random.next_u64() % part) * UNIT;
        let mut offsets: Vec<u64> = (0..count).map(place).collect();
        offsets.extend([0, (units - 1) * UNIT]);
        offsets.extend((16..60).map(|power| 1 << power).filter(|at| at + UNIT <= span.get()));
        offsets.sort_unstable();
        offsets.dedup();
        Self { offsets, salt: seed.derive("salt of far blocks") }
    }

    fn stamp(&self, address_bytes: u64) -> Stamp {
        Stamp { salt: self.salt, address_bytes, generation: 1 }
    }

    /// Writes and flushes all of them; those that the device refused are given up, since what lies there is
    /// unknown.
    pub(super) fn write(&mut self, drive: &mut Patient<'_>) -> Result<(), DriveError> {
        let mut written = Vec::new();
        for &offset in &self.offsets {
            if drive.write_stamped(offset, UNIT, self.stamp(offset))?.is_ok() {
                written.push(offset);
            }
        }
        self.offsets = written;
        if drive.flush()?.is_err() {
            self.offsets.clear();
        }
        Ok(())
    }

    /// Gives up those from `start` to `end`, which is written to.
    pub(super) fn give_up(&mut self, start: u64, end: u64) {
        self.offsets.retain(|&offset| offset + UNIT <= start || offset >= end);
    }

    /// Reads all of them: those that are wrong, which are given up, and how many bytes were compared.
    pub(super) fn read(
        &mut self,
        drive: &mut Patient<'_>,
    ) -> Result<(Vec<(u64, Sector)>, u64), DriveError> {
        let (mut wrong, mut checked) = (Vec::new(), 0);
        for &offset in &self.offsets {
            let stamp = self.stamp(offset);
            let Some(data) = drive.read(offset, UNIT)? else { continue };
            checked += UNIT;
            let (sectors, _) = data.as_chunks::<SECTOR>();
            let mut found = (0..).zip(sectors).map(|(at, it)| Sector::of(stamp.further(at), it));
            wrong.extend(found.find(|it| *it != Sector::Right).map(|it| (offset, it)));
        }
        self.offsets.retain(|offset| wrong.iter().all(|(it, _)| it != offset));
        Ok((wrong, checked))
    }
}
