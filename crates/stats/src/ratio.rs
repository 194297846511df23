//! How many times as fast one thing is as another, with an interval.
//!
//! Ratios of rates are compared by their logarithms. Where runs were taken alternately, run by run,
//! the pairs' ratios leave out what changed for both. The interval is the hull of two: Student's t
//! (Welch's for unpaired runs), and the bootstrap by run (Efron and Tibshirani, "An Introduction to
//! the Bootstrap", 1993, chapters 8 and 13), which resamples whole runs because what happens within
//! one is not independent. The percentile bootstrap alone is too narrow with few runs, and Student's
//! t alone trusts in normality.
//!
//! A single run of each says nothing of what varies from run to run, so an allowance is put in its
//! place, which the caller states.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::RunRate;
use crate::runs::{logs, mean_and_variance};
use crate::student::{normal_quantile, t_quantile};

/// How often runs are drawn anew.
const DRAWS: usize = 4000;

/// A ratio and the interval that holds it with the confidence asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInterval {
    /// The best single figure.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RatioInterval {
    /// Whether the interval leaves no doubt that the two differ.
    #[must_use]
    pub fn is_a_difference(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The ratio of `b` to `a`, rates above 0 of runs taken in pairs, from at least two pairs;
    /// `None` where that is not so. `seed` decides the bootstrap's draws.
    #[must_use]
    pub fn paired(a: &[f64], b: &[f64], confidence: f64, seed: u64) -> Option<Self> {
        if a.len() != b.len() {
            return None;
        }
        let (a, b) = (logs(a.iter().copied())?, logs(b.iter().copied())?);
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        let (mean, variance) = mean_and_variance(&differences)?;
        let count = differences.len() as f64;
        let half = t_quantile(count - 1.0, confidence)? * (variance / count).sqrt();
        let mut draws = Draws::new(seed);
        let drawn = draws.percentiles(confidence, |draws| draws.mean_of(&differences));
        Some(Self::hull(mean, half, drawn))
    }

    /// The ratio of `b` to `a`, rates above 0 of at least two runs each; `None` where that is not
    /// so. `seed` decides the bootstrap's draws.
    #[must_use]
    pub fn unpaired(a: &[f64], b: &[f64], confidence: f64, seed: u64) -> Option<Self> {
        let (a, b) = (logs(a.iter().copied())?, logs(b.iter().copied())?);
        let ((mean_a, variance_a), (mean_b, variance_b)) =
            (mean_and_variance(&a)?, mean_and_variance(&b)?);
        let of_mean = |variance: f64, count: usize| variance / count as f64;
        let (error_a, error_b) = (of_mean(variance_a, a.len()), of_mean(variance_b, b.len()));
        let freedom = welch_freedom((error_a, a.len()), (error_b, b.len()));
        let half = t_quantile(freedom, confidence)? * (error_a + error_b).sqrt();
        let mut draws = Draws::new(seed);
        let drawn = draws.percentiles(confidence, |draws| draws.mean_of(&b) - draws.mean_of(&a));
        Some(Self::hull(mean_b - mean_a, half, drawn))
    }

    /// The ratio of `b` to `a`, one run each, whose own intervals are widened to `confidence` and
    /// by an allowance for what varies from run to run: `run_cv`, the standard deviation of a
    /// run's rate as a part of it. `None` where a run has no interval or no rate above 0.
    #[must_use]
    pub fn of_single_runs(a: RunRate, b: RunRate, confidence: f64, run_cv: f64) -> Option<Self> {
        let logs = logs([a.rate, b.rate].into_iter())?;
        let normal = normal_quantile(confidence)?;
        let of_runs = 2.0 * (normal * run_cv).powi(2);
        let squares = half_width(a, confidence)?.powi(2) + half_width(b, confidence)?.powi(2);
        let (mean, half) = (logs[1] - logs[0], (squares + of_runs).sqrt());
        Some(Self::hull(mean, half, (0.0, 0.0)))
    }

    /// From a mean of logarithms, half the width of its interval, and the bootstrap's ends as
    /// distances from that mean.
    fn hull(mean: f64, half: f64, drawn: (f64, f64)) -> Self {
        Self {
            estimate: mean.exp(),
            low: (mean - half.max(drawn.0)).exp(),
            high: (mean + half.max(drawn.1)).exp(),
        }
    }
}

impl RunRate {
    /// Half the width, in logarithms, of the interval of `confidence` (between 0 and 1) that holds the
    /// rate of another run of the same thing: the run's own interval, and in quadrature an allowance
    /// for what varies from run to run, `run_cv`, the standard deviation of a run's rate as a part of
    /// it. `None` where the run has no interval.
    #[must_use]
    pub fn log_half_width(self, confidence: f64, run_cv: f64) -> Option<f64> {
        let of_runs = normal_quantile(confidence)? * run_cv;
        Some(half_width(self, confidence)?.hypot(of_runs))
    }
}

/// Half the width, in logarithms, of a run's own interval at another confidence. The interval comes
/// from ten batches or more, so the ratio of Student's quantiles with nine degrees of freedom widens
/// it enough.
fn half_width(run: RunRate, confidence: f64) -> Option<f64> {
    let factor = t_quantile(9.0, confidence)? / t_quantile(9.0, run.confidence)?;
    Some(run.half_width?.ln_1p() * factor.max(1.0))
}

/// The degrees of freedom of a difference of means (Welch, Biometrika 34, 1947), from each mean's
/// squared error and number of values.
fn welch_freedom(a: (f64, usize), b: (f64, usize)) -> f64 {
    let part = |(error, count): (f64, usize)| error * error / (count as f64 - 1.0);
    let freedom = (a.0 + b.0).powi(2) / (part(a) + part(b));
    // Without any scatter the quotient is none, and the freedom does not matter.
    if freedom.is_finite() { freedom } else { 1.0 }
}

/// The bootstrap's draws.
struct Draws {
    random: Xoshiro256PlusPlus,
}

impl Draws {
    fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The mean of as many of `values` as there are, drawn with replacement.
    fn mean_of(&mut self, values: &[f64]) -> f64 {
        let count = values.len() as u64;
        let sum: f64 = (0..count).map(|_| values[(self.random.next_u64() % count) as usize]).sum();
        sum / count as f64
    }

    /// How far below and above their median the percentiles of `statistic` lie that leave half of
    /// what `confidence` leaves on either side.
    fn percentiles(
        &mut self,
        confidence: f64,
        mut statistic: impl FnMut(&mut Self) -> f64,
    ) -> (f64, f64) {
        let mut drawn: Vec<f64> = (0..DRAWS).map(|_| statistic(self)).collect();
        drawn.sort_by(f64::total_cmp);
        let tail = ((1.0 - confidence) / 2.0 * DRAWS as f64) as usize;
        let middle = drawn[DRAWS / 2];
        (middle - drawn[tail], drawn[DRAWS - 1 - tail] - middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rate: f64, half_width: f64) -> RunRate {
        RunRate { rate, half_width: Some(half_width), confidence: 0.99 }
    }

    #[test]
    fn a_paired_ratio_leaves_out_what_changed_for_both() {
        let a = [100.0, 200.0, 50.0, 400.0];
        let b = a.map(|rate| 1.5 * rate);
        let paired = RatioInterval::paired(&a, &b, 0.99, 1).unwrap();
        assert!((paired.low - 1.5).abs() < 1e-9 && (paired.high - 1.5).abs() < 1e-9, "{paired:?}");
        let unpaired = RatioInterval::unpaired(&a, &b, 0.99, 1).unwrap();
        assert!(!unpaired.is_a_difference(), "{unpaired:?}");
        assert!((unpaired.estimate - 1.5).abs() < 1e-9);
    }

    #[test]
    fn welch_by_hand() {
        // Logarithms 0, 0.1, 0.2 and 1, 1.1, 1.2: error of the difference 0.0816, four degrees of
        // freedom, t at 95 % 2.776.
        let rates = |from: f64| [from, from + 0.1, from + 0.2].map(f64::exp);
        let ratio = RatioInterval::unpaired(&rates(0.0), &rates(1.0), 0.95, 1).unwrap();
        assert!((ratio.high.ln() - (1.0 + 2.776 * 0.081_65)).abs() < 1e-3, "{ratio:?}");
        assert!(ratio.is_a_difference());
    }

    #[test]
    fn single_runs_need_intervals_and_allow_for_what_one_run_cannot_show() {
        let none = RunRate { half_width: None, ..run(100.0, 0.0) };
        assert_eq!(RatioInterval::of_single_runs(none, run(150.0, 0.0), 0.99, 0.0), None);
        let sure = RatioInterval::of_single_runs(run(100.0, 0.02), run(110.0, 0.02), 0.99, 0.0);
        assert!(sure.unwrap().is_a_difference());
        let allowed =
            RatioInterval::of_single_runs(run(100.0, 0.02), run(110.0, 0.02), 0.99, 0.068);
        assert!(!allowed.unwrap().is_a_difference());
    }

    #[test]
    fn one_seed_gives_one_interval() {
        let (a, b) = ([1.0, 1.4, 1.2, 1.1, 0.9], [1.1, 1.0, 1.3, 1.2, 1.6]);
        let once = RatioInterval::unpaired(&a, &b, 0.9, 5);
        assert_eq!(once, RatioInterval::unpaired(&a, &b, 0.9, 5));
    }

    #[test]
    fn the_same_things_seem_different_no_more_often_than_said() {
        let seed = 7;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut uniform = move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        // Runs with a rare slow one among them: no normal.
        let mut runs = move || {
            let slow = if uniform() < 0.1 { 0.7 } else { 1.0 };
            slow * (1.0 + 0.1 * uniform())
        };
        let pairs = 1000;
        let mut wrong = [0, 0];
        for number in 0..pairs {
            let a: Vec<f64> = std::iter::repeat_with(&mut runs).take(5).collect();
            let b: Vec<f64> = std::iter::repeat_with(&mut runs).take(5).collect();
            let both = [
                RatioInterval::paired(&a, &b, 0.99, number),
                RatioInterval::unpaired(&a, &b, 0.99, number),
            ];
            for (wrong, found) in wrong.iter_mut().zip(both) {
                *wrong += usize::from(found.unwrap().is_a_difference());
            }
        }
        assert!(wrong.iter().all(|&wrong| wrong <= pairs as usize / 100), "{wrong:?}, seed {seed}");
    }
}
