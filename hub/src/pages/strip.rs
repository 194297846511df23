//! Distributions: every figure of one model measured on one basis as a dot on a logarithmic scale, with the
//! interval of their median.
//!
//! Figures of different bases are never in one picture. Figures in doubt are not in any, and are counted beside it.
//! An outlier is marked and stays.

use cardproof_rating::compare::Column;

/// How sure the interval of a median is.
const CONFIDENCE: f64 = 0.95;

/// A figure is an outlier beyond so many times the spread of the others, and at least by half.
const OUTLIER_SPREADS: f64 = 5.0;

/// The fewest figures among which one can be an outlier.
const OUTLIER_FIGURES_MIN: usize = 5;

const WIDTH: f64 = 320.0;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// The submission.
    pub id: String,
    /// The rate.
    pub rate: f64,
    /// Its own interval.
    pub between: Option<[f64; 2]>,
    /// Whether it lies far from the others.
    pub is_outlier: bool,
    /// Where it is drawn.
    pub x: f64,
    /// Its interval's ends as drawn.
    pub ends: Option<[f64; 2]>,
}

/// The figures of one basis.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// How they were measured.
    pub basis: String,
    /// All of them, lowest first; what is drawn is at most [`DOTS_MAX`] of them.
    pub dots: Vec<Dot>,
    /// How many there are.
    pub count: usize,
    /// How many are in doubt and left out.
    pub in_doubt: usize,
    /// How many are outliers.
    pub outliers: usize,
    /// The median with its interval, in words.
    pub median: String,
    /// The median as drawn.
    pub median_x: f64,
    /// The ends of its interval as drawn.
    pub median_ends: Option<[f64; 2]>,
    /// The scale's ends in words.
    pub scale: [String; 2],
    /// The whole in words, for those who do not see it.
    pub alternative: String,
}

/// The most dots that are drawn; of more, evenly many of each part of the distribution.
pub(crate) const DOTS_MAX: usize = 200;

impl Distribution {
    /// The distribution of `rates` (the submission, its rate, its interval), measured by `basis`, of which
    /// `in_doubt` more were left out; `None` where there are none above 0.
    #[must_use]
    pub fn of(
        column: Column,
        basis: &str,
        mut rates: Vec<(String, f64, Option<[f64; 2]>)>,
        in_doubt: usize,
    ) -> Option<Self> {
        rates.retain(|(_, rate, _)| rate.is_finite() && *rate > 0.0);
        rates.sort_by(|a, b| a.1.total_cmp(&b.1));
        let sorted: Vec<f64> = rates.iter().map(|(_, rate, _)| *rate).collect();
        let (median, interval) = median_interval(&sorted)?;
        let low = rates
            .iter()
            .map(|(_, rate, ends)| ends.map_or(*rate, |ends| ends[0]))
            .fold(f64::MAX, f64::min);
        let high = rates
            .iter()
            .map(|(_, rate, ends)| ends.map_or(*rate, |ends| ends[1]))
            .fold(0.0, f64::max);
        let scale =
            Scale::over(low.max(sorted[0] / 10.0), high.min(sorted[sorted.len() - 1] * 10.0));
        let is_outlier = outliers(&sorted, median);
        let outlying = sorted.iter().filter(|rate| is_outlier(**rate)).count();
        let step = rates.len().div_ceil(DOTS_MAX).max(1);
        let count = rates.len();
        let drawn = rates
            .into_iter()
            .enumerate()
            .filter(|(at, (_, rate, _))| at % step == 0 || at + 1 == count || is_outlier(*rate));
        let dots: Vec<Dot> = drawn
            .take(2 * DOTS_MAX)
            .map(|(_, (id, rate, between))| Dot {
                id,
                rate,
                between,
                is_outlier: is_outlier(rate),
                x: scale.x(rate),
                ends: between.map(|ends| ends.map(|end| scale.x(end))),
            })
            .collect();
        let words = match interval {
            Some([low, high]) => {
                format!(
                    "{} (95 %: {} to {})",
                    told(column, median),
                    told(column, low),
                    told(column, high)
                )
            }
            None => told(column, median),
        };
        let spread = [told(column, sorted[0]), told(column, sorted[sorted.len() - 1])];
        let s = if count == 1 { "" } else { "s" };
        Some(Self {
            basis: basis.to_owned(),
            alternative: format!(
                "{count} result{s} from {} to {}, median {words}",
                spread[0], spread[1]
            ),
            dots,
            count,
            in_doubt,
            outliers: outlying,
            median: words,
            median_x: scale.x(median),
            median_ends: interval.map(|ends| ends.map(|end| scale.x(end))),
            scale: [told(column, scale.low), told(column, scale.high)],
        })
    }
}

/// A rate in words.
pub(crate) fn told(column: Column, rate: f64) -> String {
    if column.is_told_in_iops() {
        cardproof_units::Iops(rate).to_string()
    } else {
        cardproof_units::Throughput(rate).to_string()
    }
}

/// A logarithmic scale.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// One that shows `low` to `high`, at least a factor of 4 wide.
    fn over(low: f64, high: f64) -> Self {
        let centre = (low * high).sqrt();
        Self { low: low.min(centre / 2.0), high: high.max(centre * 2.0) }
    }

    fn x(&self, rate: f64) -> f64 {
        let share = (rate / self.low).ln() / (self.high / self.low).ln();
        10.0 + (share.clamp(0.0, 1.0) * (WIDTH - 20.0) * 10.0).round() / 10.0
    }
}

/// Which of `sorted` lie far from the others: by the median of the distances from the median, on a logarithmic
/// scale (Hampel).
fn outliers(sorted: &[f64], median: f64) -> impl Fn(f64) -> bool + use<> {
    let mut distances: Vec<f64> = sorted.iter().map(|rate| (rate / median).ln().abs()).collect();
    distances.sort_by(f64::total_cmp);
    let spread = distances.get(distances.len() / 2).copied().unwrap_or(0.0) * 1.4826;
    let can_tell = sorted.len() >= OUTLIER_FIGURES_MIN;
    let limit = (OUTLIER_SPREADS * spread).max(1.5_f64.ln());
    move |rate| can_tell && (rate / median).ln().abs() > limit
}

/// The median of `sorted` (ascending) and an interval that holds the true one with at least 95 %, whatever the
/// distribution: order statistics by the binomial distribution. Fewer than six figures give none.
#[must_use]
pub fn median_interval(sorted: &[f64]) -> Option<(f64, Option<[f64; 2]>)> {
    let count = sorted.len();
    let upper = sorted.get(count / 2)?;
    let median =
        if count.is_multiple_of(2) { f64::midpoint(sorted[count / 2 - 1], *upper) } else { *upper };
    // The probability that fewer than k of n lie below the median.
    let mut term = -(count as f64) * 2.0_f64.ln();
    let (mut tail, mut k) = (0.0, 0);
    while k < count / 2 {
        tail += term.exp();
        if 2.0 * tail > 1.0 - CONFIDENCE {
            break;
        }
        k += 1;
        term += ((count - k + 1) as f64 / k as f64).ln();
    }
    let interval = (k > 0).then(|| [sorted[k - 1], sorted[count - k]]);
    Some((median, interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known ranks of the interval at 95 % (Conover, Practical Nonparametric Statistics, and R's
    /// `qbinom(0.025, n, 0.5)`).
    #[test]
    fn the_interval_of_a_median_has_the_known_ranks() {
        for (count, rank) in [(5, 0), (6, 1), (9, 2), (10, 2), (20, 6), (50, 18), (100, 40)] {
            let sorted: Vec<f64> = (1..=count).map(f64::from).collect();
            let (_, interval) = median_interval(&sorted).unwrap();
            let expected = (rank > 0).then(|| [f64::from(rank), f64::from(count - rank + 1)]);
            assert_eq!(interval, expected, "{count}");
        }
        assert_eq!(median_interval(&[]), None);
        assert_eq!(median_interval(&[4.0]), Some((4.0, None)));
        assert_eq!(median_interval(&[1.0, 3.0]).unwrap().0, 2.0);
    }

    #[test]
    fn an_outlier_is_marked_and_stays() {
        let mut rates: Vec<(String, f64, Option<[f64; 2]>)> =
            (0..9).map(|at| (at.to_string(), 100.0 + f64::from(at), None)).collect();
        rates.push(("far".to_owned(), 10_000.0, None));
        let found = Distribution::of(Column::RandomWrite, "b", rates, 2).unwrap();
        assert_eq!((found.count, found.outliers, found.in_doubt), (10, 1, 2));
        assert!(found.dots.iter().any(|dot| dot.id == "far" && dot.is_outlier));
        assert!(found.dots.iter().all(|dot| (10.0..=310.0).contains(&dot.x)));
    }

    #[test]
    fn ten_thousand_figures_make_a_small_picture() {
        let rates = (1..=10_000).map(|at| (at.to_string(), f64::from(at), None)).collect();
        let found = Distribution::of(Column::RandomWrite, "b", rates, 0).unwrap();
        assert!(found.dots.len() <= 2 * DOTS_MAX);
        assert_eq!(found.count, 10_000);
        assert!(Distribution::of(Column::RandomWrite, "b", Vec::new(), 0).is_none());
    }
}
