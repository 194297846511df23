//! Random numbers of the experiment, from a seed and a purpose.

use cardproof_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(super) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    pub(super) fn new(seed: Seed, purpose: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.derive(purpose)))
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn chance(&mut self, part: f64) -> bool {
        self.part() < part
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.part()
    }

    /// As likely between 1 and 2 as between 2 and 4.
    pub(super) fn log_between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.part())
    }
}
