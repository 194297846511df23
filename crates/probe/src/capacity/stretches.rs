//! A plan as stretches: what it touches, in whole units of a file system, cut so that each stretch can be
//! written from its start to its end.
//!
//! Some file systems reserve space without writing it, but write zeros before the first byte that is
//! written out of turn. So a place that is written before its surroundings is a stretch of its own.

use cardproof_units::Bytes;

use super::plan::Plan;

impl Plan {
    /// What this plan touches, in whole units of `unit` bytes, as (start, length) by address: a stretch for
    /// the units of each place, and stretches for the filler between them. They do not overlap. The last
    /// one may end beyond the addresses.
    #[must_use]
    pub fn stretches(&self, unit: u64) -> Vec<(u64, u64)> {
        let down = |address: u64| address / unit * unit;
        let mut places: Vec<(u64, u64)> = Vec::new();
        for place in self.places_by_address() {
            let (from, to) = (down(place.start), place.end().next_multiple_of(unit));
            match places.last_mut() {
                Some((_, last)) if from < *last => *last = to.max(*last),
                _ => places.push((from, to)),
            }
        }
        let mut stretches = places.clone();
        for (start, end) in self.fillers() {
            let (mut from, end) = (down(start), end.next_multiple_of(unit));
            let first = places.partition_point(|&(_, to)| to <= from);
            for &(start, to) in places[first..].iter().take_while(|&&(start, _)| start < end) {
                stretches.push((from, start.max(from)));
                from = to;
            }
            stretches.push((from, end.max(from)));
        }
        stretches.sort_unstable();
        join(&stretches)
    }

    /// How many bytes more are written at most, because a file system fills the unit of `unit` bytes in
    /// which a place or a piece of filler begins.
    #[must_use]
    pub fn filling_bytes(&self, unit: u64) -> Bytes {
        let places = self.places_by_address().map(|place| place.start);
        let starts = places.chain(self.fillers().map(|(start, _)| start));
        Bytes(starts.map(|start| start % unit).sum())
    }
}

/// The stretches that hold something, without what the one before holds already: units that two pieces
/// of filler share.
fn join(stretches: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut joined = Vec::with_capacity(stretches.len());
    let mut end = 0;
    for &(from, to) in stretches {
        let from = from.max(end);
        if from < to {
            joined.push((from, to - from));
            end = to;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use cardproof_units::Seed;

    use super::super::plan::Wish;
    use super::*;

    const UNIT: u64 = 128 << 10;

    fn plan(size: Bytes, store: Bytes) -> Plan {
        let wish = Wish { store: Some(store), ..Wish::default() };
        Plan::new(size, Bytes(4096), wish, Seed::from_bits(7)).unwrap()
    }

    /// The stretch that holds `address`.
    fn at(stretches: &[(u64, u64)], address: u64) -> Option<(u64, u64)> {
        let index = stretches.partition_point(|&(start, _)| start <= address).checked_sub(1)?;
        stretches.get(index).copied().filter(|&(start, length)| address < start + length)
    }

    #[test]
    fn stretches_hold_all_that_is_written_and_little_else() {
        for (size, store) in [(Bytes::gib(30), Bytes::mib(256)), (Bytes::mib(700), Bytes::gib(1))] {
            let plan = plan(size, store);
            let stretches = plan.stretches(UNIT);
            let is_apart = |pair: &[(u64, u64)]| pair[0].0 + pair[0].1 <= pair[1].0;
            assert!(stretches.windows(2).all(is_apart), "{size}");
            assert!(stretches.iter().all(|&(start, length)| (start | length) % UNIT == 0));
            for place in plan.places_by_address() {
                let (start, length) = at(&stretches, place.start).unwrap();
                assert!(place.end() <= start + length, "{size}: {place:?}");
                assert!(place.start < start + UNIT, "a place waits for filler: {place:?}");
            }
            for (start, end) in plan.fillers() {
                let mut address = start;
                while address < end {
                    let (start, length) = at(&stretches, address).unwrap();
                    address = start + length;
                }
            }
            let all: u64 = stretches.iter().map(|(_, length)| length).sum();
            let pieces = plan.places_count() + 2 * plan.fillers().count() as u64;
            assert!(all <= plan.bytes_to_write().get() + pieces * UNIT, "{size}: {all}");
        }
    }
}
