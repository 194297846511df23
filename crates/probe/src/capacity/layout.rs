//! Where the test places lie: at random, for the looks, on a grid, and where fakes break.

use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::plan::{PLACE, Plan};

/// Places between which a wrap-around is looked for are at most so many.
const GRID_MAX: u64 = 20_000;

/// How many places over the whole device each look reads, and how many that crowd towards the front.
const LOOK_PLACES: u64 = 16;
const HALVINGS: u64 = 6;

/// The places that are taken.
pub(super) struct Taken {
    size: u64,
    pub(super) random: Xoshiro256PlusPlus,
    places: std::collections::HashSet<u64>,
}

impl Taken {
    pub(super) fn new(size: u64, seed: Seed) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("capacity places"));
        Self { size, random, places: std::collections::HashSet::new() }
    }

    /// The place around `address`, unless it is taken.
    pub(super) fn take(&mut self, address: u64) -> Option<u64> {
        let last = (self.size - PLACE) / PLACE * PLACE;
        let place = (address / PLACE * PLACE).min(last);
        self.places.insert(place).then_some(place)
    }

    /// A block of `length` in a place that is not taken yet.
    pub(super) fn block_at_random(&mut self, length: u64) -> Option<u64> {
        let place = self.at_random(0, self.size)?;
        Some(place + self.random.next_u64() % (PLACE / length) * length)
    }

    fn at_random(&mut self, from: u64, to: u64) -> Option<u64> {
        (0..32).find_map(|_| {
            let address = from + self.random.next_u64() % (to - from).max(1);
            self.take(address)
        })
    }
}

/// How many looks there are before `filler` is written.
fn look_count(filler: u64) -> u64 {
    (0..).take_while(|&number| Plan::look_after(number) < filler).count() as u64
}

/// The places of the looks: each look has some over the whole device, some that crowd towards the
/// front as real sizes do, and the highest one left.
pub(super) fn looks(taken: &mut Taken, filler: u64) -> Vec<Vec<u64>> {
    let size = taken.size;
    (0..look_count(filler))
        .map(|look| {
            let mut places = Vec::new();
            places.extend(taken.take(size - (look + 2) * PLACE));
            for part in 0..LOOK_PLACES {
                let step = size / LOOK_PLACES;
                places.extend(taken.at_random(part * step, (part + 1) * step));
            }
            let halves = (2..2 + HALVINGS).map(|power| size >> power);
            places.extend(halves.filter_map(|half| taken.at_random(half, half * 2)));
            shuffle(&mut places, &mut taken.random);
            places
        })
        .collect()
}

/// Places over the first half of the device, no further apart than the filler is long: whatever the
/// modulus, one of them shares its place with a byte of the filler.
pub(super) fn grid(taken: &mut Taken, filler: u64) -> (u64, Vec<u64>) {
    let step = filler.saturating_sub(2 * PLACE) / PLACE * PLACE;
    let count = (taken.size / 2).div_ceil(step.max(PLACE)) + 1;
    if count > GRID_MAX {
        return (0, Vec::new());
    }
    (step, (0..count).filter_map(|number| taken.take(number * step)).collect())
}

/// Where fakes break: the end, the last place before the filler, and powers of two and their halves.
pub(super) fn edges(size: u64, filler_start: u64) -> Vec<u64> {
    let mut edges = vec![0, size - PLACE, filler_start.saturating_sub(PLACE)];
    let powers = (20..41).flat_map(|power| [1_u64 << power, 3 << (power - 1)]);
    edges.extend(powers.flat_map(|edge| [edge - PLACE, edge]));
    edges.retain(|&edge| edge < size);
    edges
}

pub(crate) fn shuffle(order: &mut [u64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..order.len()).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
