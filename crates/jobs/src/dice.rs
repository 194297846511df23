//! The chances of a job, all from its seed.

use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of numbers that follow from a seed and a label.
#[derive(Clone, Debug)]
pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The chances called `label`; those of other labels do not touch them.
    pub(super) fn new(seed: Seed, label: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.derive(label)))
    }

    /// A whole number below `bound`; 0 for a bound of 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The high half of the product (Lemire, 2019): without bias that could be seen here.
        let product = u128::from(self.0.next_u64()) * bound as u128;
        (product >> 64) as usize
    }

    /// At least 0 and below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// Bytes from `low` to `high`, every order of magnitude as likely as another.
    pub(super) fn bytes(&mut self, low: Bytes, high: Bytes) -> Bytes {
        let ratio = high.as_f64() / low.as_f64().max(1.0);
        Bytes((low.as_f64() * ratio.powf(self.unit())) as u64)
    }

    /// A name of `length` small letters and digits.
    pub(super) fn name(&mut self, length: usize) -> String {
        const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        (0..length.max(1)).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect()
    }

    /// Puts `items` in a random order (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_follow_from_the_seed_and_stay_in_their_bounds() {
        let draw = |label| {
            let mut dice = Dice::new(Seed::from_bits(3), label);
            (0..100).map(|_| dice.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw("a"), draw("a"));
        assert_ne!(draw("a"), draw("b"));
        assert!(draw("a").iter().all(|&number| number < 7));
        let mut dice = Dice::new(Seed::from_bits(3), "sizes");
        for _ in 0..1000 {
            let size = dice.bytes(Bytes::kib(4), Bytes::mib(1));
            assert!((Bytes::kib(4)..=Bytes::mib(1)).contains(&size), "{size}");
        }
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut items: Vec<u32> = (0..50).collect();
        Dice::new(Seed::from_bits(1), "order").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
