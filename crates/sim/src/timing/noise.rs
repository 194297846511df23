//! Scatter and drift of service times, from a seed.
//!
//! The scatter is a sum of four uniform numbers (close to normal, bounded at 3.5 standard
//! deviations), bent so that slow is further from the mean than fast, with a mean of exactly
//! one: a model with noise has the throughput of the model without.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::Noise;

/// One, in the fixed-point numbers of this file.
const ONE: i64 = 1 << 16;

/// The mean of a sum of four uniform 16-bit numbers.
const SUM_MEAN: i64 = 2 * 65_535;

/// One over the standard deviation of that sum, times 2^32: the deviation is 65536 / sqrt(3).
const SUM_TO_DEVIATIONS: i64 = 113_512;

/// How strongly the scatter is bent: this part of (z^2 - 1) is added to z.
const SKEW_DIVISOR: i64 = 5;

/// The source of scatter, and of every other random choice of a model.
#[derive(Debug)]
pub(crate) struct Scatter {
    random: Xoshiro256PlusPlus,
    /// One standard deviation, fixed point.
    spread: i64,
    /// How far the drift goes to either side, fixed point.
    drift: i64,
    drift_period: u64,
    drift_phase: u64,
}

impl Scatter {
    pub(crate) fn new(noise: &Noise, mut random: Xoshiro256PlusPlus) -> Self {
        let drift_period = noise.drift_period.get().max(4);
        let drift_phase = random.next_u64() % drift_period;
        Self {
            spread: i64::from(noise.spread_permille) * ONE / 1000,
            drift: i64::from(noise.drift_permille) * ONE / 1000,
            drift_period,
            drift_phase,
            random,
        }
    }

    /// `nanos` as it turns out this time, at the time `now`.
    pub(crate) fn apply(&mut self, nanos: u64, now: u64) -> u64 {
        let factor = ONE + self.scatter() + self.wander(now);
        ((u128::from(nanos) * factor.max(ONE / 8) as u128) >> 16) as u64
    }

    /// Whether something that happens `parts` times in `whole` happens this time.
    pub(crate) fn happens(&mut self, parts: u64, whole: u64) -> bool {
        parts > 0 && self.random.next_u64() % whole < parts
    }

    /// A number around `mean`, evenly between three and five quarters of it.
    pub(crate) fn around(&mut self, mean: u64) -> u64 {
        let half = mean / 2;
        if half == 0 {
            return mean;
        }
        mean - mean / 4 + self.random.next_u64() % half
    }

    /// A number from zero to `most`, all equally likely.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 { 0 } else { self.random.next_u64() % (most + 1) }
    }

    fn scatter(&mut self) -> i64 {
        if self.spread == 0 {
            return 0;
        }
        let bits = self.random.next_u64();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        let z = ((sum as i64 - SUM_MEAN) * SUM_TO_DEVIATIONS) >> 16;
        let bent = z + (((z * z) >> 16) - ONE) / SKEW_DIVISOR;
        (bent * self.spread) >> 16
    }

    /// A triangle wave between minus and plus the drift.
    fn wander(&self, now: u64) -> i64 {
        if self.drift == 0 {
            return 0;
        }
        let phase = (now.wrapping_add(self.drift_phase)) % self.drift_period;
        // A period of a day keeps within 64 bits, whose division is a quarter as long.
        let quarters = match phase.checked_mul(4 * ONE as u64) {
            Some(product) => (product / self.drift_period) as i64,
            None => (u128::from(phase) * 4 * ONE as u128 / u128::from(self.drift_period)) as i64,
        };
        let wave = if quarters < 2 * ONE { quarters - ONE } else { 3 * ONE - quarters };
        (wave * self.drift) >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::Nanos;
    use rand_core::SeedableRng;

    fn scatter(noise: Noise) -> Scatter {
        Scatter::new(&noise, Xoshiro256PlusPlus::seed_from_u64(7))
    }

    #[test]
    fn noise_keeps_the_mean_and_has_the_spread_asked_for() {
        let mut scatter = scatter(Noise { spread_permille: 100, ..Noise::NONE });
        let times: Vec<f64> = (0..200_000).map(|_| scatter.apply(1_000_000, 0) as f64).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let variance = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / times.len() as f64;
        assert!((mean - 1e6).abs() < 1000.0, "mean {mean}");
        assert!((variance.sqrt() - 1e5).abs() < 5000.0, "deviation {}", variance.sqrt());
        let slowest = times.iter().fold(0.0, |a: f64, &b| a.max(b));
        let fastest = times.iter().fold(f64::MAX, |a, &b| a.min(b));
        assert!(slowest - mean > 1.5 * (mean - fastest), "slow is further away than fast");
    }

    #[test]
    fn drift_comes_back() {
        let period = Nanos::from_secs(8);
        let mut scatter =
            scatter(Noise { spread_permille: 0, drift_permille: 20, drift_period: period });
        let times: Vec<u64> =
            (0..800).map(|step| scatter.apply(1_000_000, step * period.get() / 800)).collect();
        let mean = times.iter().sum::<u64>() / 800;
        assert!((999_900..=1_000_100).contains(&mean), "{mean}");
        assert!(times.iter().max().is_some_and(|&most| (1_019_800..=1_020_000).contains(&most)));
        assert_eq!(scatter.apply(1_000_000, 0), scatter.apply(1_000_000, period.get()));
    }

    #[test]
    fn no_noise_changes_nothing() {
        assert_eq!(scatter(Noise::NONE).apply(123_456, 99), 123_456);
    }

    #[test]
    fn chances_are_kept() {
        let mut scatter = scatter(Noise::NONE);
        let hits = (0..100_000).filter(|_| scatter.happens(1, 100)).count();
        assert!((900..1100).contains(&hits), "{hits}");
        assert!(!scatter.happens(0, 100));
        let sum: u64 = (0..100_000).map(|_| scatter.up_to(100)).sum();
        assert!((4_950_000..5_050_000).contains(&sum), "{sum}");
    }
}
