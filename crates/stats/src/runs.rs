//! Several runs of one thing: what varies from run to run, what within a run, and how many runs a
//! wished-for precision takes.
//!
//! A run's own interval tells only what that run can show. The variation from run to run (other
//! places on the card, another state of its housekeeping, another day) is seen only by repeating.
//! The two are told apart as a random effect: the variance of the runs' rates, less the mean
//! variance that the runs' own intervals explain, is that between runs (Kalibera and Jones,
//! "Rigorous benchmarking in reasonable time", ISMM 2013). All is done with logarithms, since
//! cards differ by factors; the mean is the geometric one.
//!
//! Assumption: runs are independent, and the logarithms of their rates about normal. With two or
//! three runs the interval is honest and wide.

use crate::student::{normal_quantile, t_quantile};

/// The most runs that are worth naming as needed.
const RUNS_MAX: usize = 1000;

/// A modified z-score above this is an outlier (Iglewicz and Hoaglin, "How to Detect and Handle
/// Outliers", ASQC 1993).
const OUTLIER_SCORE: f64 = 3.5;

/// Turns the median of absolute deviations into the standard deviation of a normal.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// A scatter below this is that of rounding, and nothing stands out of it.
const LEAST_DEVIATION: f64 = 0.005;

/// One run's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRate {
    /// The rate, above 0, in any unit that is the same for all runs.
    pub rate: f64,
    /// Half the width of the run's own interval as a part of its rate; `None` where it has none.
    pub half_width: Option<f64>,
    /// That interval's confidence, between 0 and 1.
    pub confidence: f64,
}

/// What several runs show together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// How many runs, at least 2.
    pub runs: usize,
    /// The geometric mean of their rates.
    pub mean: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The standard deviation of the runs' rates, as a part of the mean.
    pub total_cv: f64,
    /// The part of it that the runs' own intervals explain, likewise; `None` where a run has none.
    pub within_cv: Option<f64>,
    /// What is left, the variation from run to run, likewise.
    pub between_cv: Option<f64>,
}

impl Variation {
    /// The variation of `runs`, with an interval of the mean of `confidence` (between 0 and 1);
    /// `None` of fewer than two, or where one has no rate above 0.
    #[must_use]
    pub fn new(runs: &[RunRate], confidence: f64) -> Option<Self> {
        let logs = logs(runs.iter().map(|run| run.rate))?;
        let (mean, variance) = mean_and_variance(&logs)?;
        let within = runs.iter().map(|run| run.standard_error().map(|error| error * error));
        let within: Option<f64> = within.sum();
        let within = within.map(|sum| sum / logs.len() as f64);
        let count = logs.len() as f64;
        let of_runs = t_quantile(count - 1.0, confidence)? * (variance / count).sqrt();
        // Runs that agree by chance more closely than each is known make no narrower interval.
        let normal = normal_quantile(confidence)?;
        let of_intervals = within.map_or(0.0, |within| normal * (within / count).sqrt());
        let half = of_runs.max(of_intervals);
        Some(Self {
            runs: logs.len(),
            mean: mean.exp(),
            low: (mean - half).exp(),
            high: (mean + half).exp(),
            total_cv: variance.sqrt(),
            within_cv: within.map(f64::sqrt),
            between_cv: within.map(|within| (variance - within).max(0.0).sqrt()),
        })
    }

    /// How many runs with this variation give an interval of `confidence` that is half as wide as
    /// `relative` of the mean either way, 0.05 for 5 %; `None` where even a thousand do not.
    #[must_use]
    pub fn runs_needed(&self, relative: f64, confidence: f64) -> Option<usize> {
        let wanted = relative.ln_1p();
        (2..=RUNS_MAX).find(|&runs| {
            let count = runs as f64;
            t_quantile(count - 1.0, confidence)
                .is_some_and(|t| t * self.total_cv / count.sqrt() <= wanted)
        })
    }
}

impl RunRate {
    /// The standard error of the logarithm of its rate, by its own interval.
    fn standard_error(&self) -> Option<f64> {
        let normal = normal_quantile(self.confidence)?;
        Some(self.half_width?.ln_1p() / normal)
    }
}

/// The logarithms of `rates`; `None` where one is not above 0 or not finite.
pub(crate) fn logs(rates: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    rates.map(|rate| (rate > 0.0 && rate.is_finite()).then(|| rate.ln())).collect()
}

/// The geometric mean of `rates`; `None` of none, or where one is not above 0 or not finite.
#[must_use]
pub fn geometric_mean(rates: &[f64]) -> Option<f64> {
    let logs = logs(rates.iter().copied())?;
    match rates {
        [] => None,
        // The logarithm and back would round it.
        [only] => Some(*only),
        _ => Some((logs.iter().sum::<f64>() / logs.len() as f64).exp()),
    }
}

/// The mean of `values` and their variance; `None` of fewer than two.
pub(crate) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0)))
}

/// The places of the `rates` (all above 0) that stand far out from the rest; to be named, and not
/// to be dropped. None of fewer than four.
#[must_use]
pub fn outliers(rates: &[f64]) -> Vec<usize> {
    let Some(logs) = logs(rates.iter().copied()).filter(|logs| logs.len() >= 4) else {
        return Vec::new();
    };
    let middle = median(&logs);
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    let deviation = (MAD_TO_DEVIATION * median(&distances)).max(LEAST_DEVIATION);
    (0..logs.len()).filter(|&index| distances[index] / deviation > OUTLIER_SCORE).collect()
}

/// The median of `values`, of which there is at least one.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(rates: &[f64], half_width: f64) -> Vec<RunRate> {
        rates
            .iter()
            .map(|&rate| RunRate { rate, half_width: Some(half_width), confidence: 0.99 })
            .collect()
    }

    #[test]
    fn the_geometric_mean_is_of_factors() {
        assert!((geometric_mean(&[1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[544.3]), Some(544.3));
        for none in [&[][..], &[1.0, 0.0], &[1.0, f64::INFINITY]] {
            assert_eq!(geometric_mean(none), None, "{none:?}");
        }
    }

    #[test]
    fn the_interval_is_students_over_the_logarithms() {
        // ln of these: mean 0, variance 1/2 * 2 * 0.01; t(2) at 95 % is 4.303.
        let found = Variation::new(&runs(&[1.0, 0.1_f64.exp(), (-0.1_f64).exp()], 0.0), 0.95);
        let found = found.unwrap();
        assert!((found.mean - 1.0).abs() < 1e-12);
        assert!((found.high.ln() - 4.3027 * 0.1 / 3.0_f64.sqrt()).abs() < 1e-4, "{found:?}");
        assert_eq!(found.between_cv, Some(found.total_cv));
    }

    #[test]
    fn what_the_runs_explain_is_not_between_them() {
        let half_width = 0.1;
        let found = Variation::new(&runs(&[100.0, 101.0, 99.0, 100.0], half_width), 0.99).unwrap();
        assert_eq!(found.between_cv, Some(0.0));
        let of_one = (found.within_cv.unwrap() * 2.5758).exp() - 1.0;
        assert!((of_one - half_width).abs() < 1e-4, "{of_one}");
        let width = found.high / found.mean - 1.0;
        assert!((0.04..0.06).contains(&width), "half of one run's with four runs: {width}");
    }

    #[test]
    fn more_variation_needs_more_runs() {
        let varied = |spread: f64| {
            Variation::new(
                &runs(&[100.0, 100.0 * (1.0 + spread), 100.0 / (1.0 + spread)], 0.0),
                0.99,
            )
            .unwrap()
        };
        // A random-write CV of 6.8 %, as seen on one board: t(15) 2.947 * 6.8 / 4 = 5.0.
        let usual = Variation { total_cv: 0.068, ..varied(0.05) };
        assert_eq!(usual.runs_needed(0.05, 0.99), Some(17));
        assert!(varied(0.01).runs_needed(0.05, 0.99) < varied(0.10).runs_needed(0.05, 0.99));
        assert_eq!(Variation { total_cv: 5.0, ..usual }.runs_needed(0.01, 0.99), None);
    }

    #[test]
    fn one_run_shows_no_variation() {
        assert_eq!(Variation::new(&runs(&[100.0], 0.01), 0.99), None);
        assert_eq!(Variation::new(&runs(&[100.0, 0.0], 0.01), 0.99), None);
    }

    #[test]
    fn the_run_that_stands_out_is_named() {
        assert_eq!(outliers(&[100.0, 101.0, 55.0, 99.0, 100.5]), [2]);
        assert!(outliers(&[100.0, 101.0, 102.0, 99.0, 100.5]).is_empty());
        assert!(outliers(&[100.0, 10.0, 1.0]).is_empty(), "of three runs none stands out");
    }
}
