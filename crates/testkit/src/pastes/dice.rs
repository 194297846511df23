//! Chance from a seed: SplitMix64 (Steele, Lea and Flood, 2014).

use cardproof_units::Seed;

/// Numbers drawn one after the other.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: Seed) -> Self {
        Self(seed.get())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in `count` times.
    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// A number between `low` and `high`, each power of ten as likely as the next.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        low * (high / low).powf(share)
    }

    /// One of `all`.
    pub(super) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// `value` with `digits` decimals, and the number that stands there.
pub(super) fn printed(value: f64, digits: usize) -> (String, f64) {
    let text = format!("{value:.digits$}");
    let value = text.parse().unwrap_or(value);
    (text, value)
}
