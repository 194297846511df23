//! What a run has written, so that any place of it can be compared later.
//!
//! Nothing is noted while a phase runs. Addresses follow from the seed and generations from the
//! order, so a phase is replayed in thought: its stream is drawn again, and the last write that
//! covers a place is what the place must hold. Writes that were in flight together have no order;
//! where two of them cover a sector, either may be there.

use cardproof_io::OpKind;
use cardproof_units::Bytes;
use cardproof_workload::{Generation, OpStream, SECTOR};

/// The writes of one phase, or of one round of blocks written for a check.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) source: Source,
    pub(crate) block_size: Bytes,
    /// The generation of the first write.
    pub(crate) first: Generation,
    /// All writes carry the first generation.
    pub(crate) is_laid_out: bool,
    /// How many writes were handed over.
    pub(crate) writes: u64,
    /// So many operations later, at the latest, an operation was over. Two writes closer than that
    /// may have changed their order.
    pub(crate) overlap: u64,
    /// Every write that was handed over succeeded.
    pub(crate) is_certain: bool,
}

/// Where writes went.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A stream, as it was before its first operation, and how many operations it had without
    /// flushes.
    Stream(Box<OpStream>, u64),
    /// One block after the other at these offsets.
    Offsets(Vec<Bytes>),
}

/// One write.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// Its place in the order of operations.
    number: u64,
    offset: Bytes,
    generation: Generation,
}

impl Written {
    /// How many bytes were written, those written again included.
    pub(crate) fn bytes(&self) -> u64 {
        self.block_size.get().saturating_mul(self.writes)
    }

    /// Whether what a place holds can be told: a sector is the unit in which data names itself.
    fn is_known(&self, offset: Bytes) -> bool {
        self.is_certain && self.block_size.is_multiple_of(SECTOR) && offset.is_multiple_of(SECTOR)
    }

    fn each(&self, mut visit: impl FnMut(Write)) {
        let mut writes = 0;
        let mut next = |number, offset| {
            let step = if self.is_laid_out { 0 } else { writes };
            visit(Write { number, offset, generation: Generation(self.first.0 + step) });
            writes += 1;
        };
        match &self.source {
            Source::Offsets(offsets) => {
                (0..).zip(offsets).for_each(|(number, offset)| next(number, *offset));
            }
            Source::Stream(stream, ops) => {
                let mut stream = stream.clone();
                let mut number = 0;
                while number < *ops {
                    let op = stream.next_op();
                    if op.kind == OpKind::Write {
                        next(number, op.offset);
                    }
                    number += u64::from(op.kind != OpKind::Flush);
                }
            }
        }
    }
}

/// Draws `count` places of `unit` at random from all that `written` says, each once, lowest first.
/// Of everything written the places are evenly drawn; `random` gives 64 random bits.
pub(crate) fn draw(
    written: &[Written],
    count: u64,
    unit: Bytes,
    mut random: impl FnMut() -> u64,
) -> Vec<Bytes> {
    let certain = || written.iter().filter(|written| written.is_certain);
    let total: u64 = certain().map(Written::bytes).fold(0, u64::saturating_add);
    if total == 0 || count == 0 {
        return Vec::new();
    }
    // One position in each of `count` equal parts, so that they come in order and spread.
    let part = u128::from(total);
    let mut positions = (0..count).map(|index| {
        let start = part * u128::from(index) / u128::from(count);
        let length = part * u128::from(index + 1) / u128::from(count) - start;
        (start + ((u128::from(random()) * length) >> 64)) as u64
    });
    let mut wanted = positions.next();
    let mut passed = 0_u64;
    let mut places = Vec::new();
    for phase in certain() {
        phase.each(|write| {
            let end = passed + phase.block_size.get();
            while let Some(position) = wanted.filter(|position| *position < end) {
                if phase.is_known(write.offset) {
                    let within = Bytes(position.saturating_sub(passed));
                    places.push((write.offset + within).round_down_to(unit));
                }
                wanted = positions.next();
            }
            passed = end;
        });
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// A place, and what each of its sectors may hold.
#[derive(Clone, Debug)]
pub(crate) struct CheckedBlock {
    pub(crate) offset: Bytes,
    sectors: Vec<Held>,
}

/// What a sector may hold: no generation where that is not known, else any of these.
#[derive(Clone, Debug, Default)]
struct Held(Vec<Candidate>);

#[derive(Clone, Copy, Debug)]
struct Candidate {
    phase: usize,
    number: u64,
    generation: Generation,
}

impl CheckedBlock {
    /// Whether anything is known of it.
    pub(crate) fn is_known(&self) -> bool {
        self.sectors.iter().any(|sector| !sector.0.is_empty())
    }

    /// Its sectors of which something is known: number and what they may hold.
    pub(crate) fn known(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = Generation>)> {
        let known = self.sectors.iter().enumerate().filter(|(_, sector)| !sector.0.is_empty());
        known.map(|(number, sector)| (number, sector.0.iter().map(|held| held.generation)))
    }
}

/// What the places of `unit` at `offsets`, the lowest first, hold after all that was `written`.
pub(crate) fn held(written: &[Written], offsets: &[Bytes], unit: Bytes) -> Vec<CheckedBlock> {
    let sectors = (unit.get() / SECTOR.get()) as usize;
    let empty = |&offset: &Bytes| CheckedBlock { offset, sectors: vec![Held::default(); sectors] };
    let mut places: Vec<CheckedBlock> = offsets.iter().map(empty).collect();
    for (phase, entry) in written.iter().enumerate() {
        entry.each(|write| {
            let end = write.offset + entry.block_size;
            let first = places.partition_point(|place| place.offset + unit <= write.offset);
            let known = entry.is_known(write.offset);
            for place in places[first..].iter_mut().take_while(|place| place.offset < end) {
                for (index, sector) in (0..).zip(&mut place.sectors) {
                    let start = place.offset + SECTOR * index;
                    if start + SECTOR <= write.offset || start >= end {
                        continue;
                    }
                    sector.0.retain(|before| {
                        known
                            && before.phase == phase
                            && write.number - before.number <= entry.overlap
                    });
                    if known {
                        let Write { number, generation, .. } = write;
                        sector.0.push(Candidate { phase, number, generation });
                    }
                }
            }
        });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(blocks: &[u64], first: u64, overlap: u64) -> Written {
        Written {
            source: Source::Offsets(blocks.iter().map(|block| Bytes(block * 4096)).collect()),
            block_size: Bytes(4096),
            first: Generation(first),
            is_laid_out: false,
            writes: blocks.len() as u64,
            overlap,
            is_certain: true,
        }
    }

    fn generations(written: &[Written], block: u64) -> Vec<u64> {
        let places = held(written, &[Bytes(block * 4096)], Bytes(4096));
        let known = places[0].known().map(|(_, held)| held.map(|held| held.0).collect());
        let mut known: Vec<Vec<u64>> = known.collect();
        known.dedup();
        known.pop().unwrap_or_default()
    }

    #[test]
    fn the_last_write_of_a_place_is_what_it_holds() {
        let phases = [offsets(&[0, 1, 2, 1], 0, 1), offsets(&[2], 4, 1)];
        assert_eq!(generations(&phases, 0), [0]);
        assert_eq!(generations(&phases, 1), [3]);
        assert_eq!(generations(&phases, 2), [4]);
        assert_eq!(generations(&phases, 3), Vec::<u64>::new());
    }

    #[test]
    fn writes_in_flight_together_may_have_changed_their_order() {
        assert_eq!(generations(&[offsets(&[1, 5, 1], 0, 2)], 1), [0, 2]);
        assert_eq!(generations(&[offsets(&[1, 5, 5, 1], 0, 2)], 1), [3]);
    }

    #[test]
    fn what_a_failed_phase_may_have_written_is_not_known() {
        let failed = Written { is_certain: false, ..offsets(&[1], 3, 1) };
        let phases = [offsets(&[0, 1, 2], 0, 1), failed];
        assert_eq!(generations(&phases, 0), [0]);
        assert_eq!(generations(&phases, 1), Vec::<u64>::new());
    }

    #[test]
    fn places_are_drawn_all_over_what_was_written_and_nowhere_else() {
        let blocks: Vec<u64> = (0..1000).map(|block| block * 2).collect();
        let mut state = 1_u64;
        let places = draw(&[offsets(&blocks, 0, 1)], 100, Bytes(4096), || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state
        });
        assert!(places.len() >= 90, "{}", places.len());
        assert!(places.iter().all(|place| place.get() / 4096 % 2 == 0));
        let tenths = places.iter().map(|place| place.get() * 10 / (2000 * 4096));
        let mut tenths: Vec<u64> = tenths.collect();
        tenths.dedup();
        assert_eq!(tenths, (0..10).collect::<Vec<u64>>());
    }
}
