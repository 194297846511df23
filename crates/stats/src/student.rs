//! Student's t and the ranks of a binomial count: the two distributions that intervals here need.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// From this variance on the normal distribution stands for the binomial. The library's own is found
/// by a series that no longer converges where it is far greater: of 90 million values and more it
/// gave quantiles that were none, and panicked over them.
const NORMAL_VARIANCE: f64 = 1e4;

/// From so many degrees of freedom on Student's t is the normal distribution to six digits, and the
/// library's search for its quantile may have no end.
const NORMAL_FREEDOM: f64 = 1e6;

/// The two-sided quantile of Student's t; `None` for a confidence outside 0 to 1 or without a
/// degree of freedom.
#[must_use]
pub fn t_quantile(degrees_of_freedom: f64, confidence: f64) -> Option<f64> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    if degrees_of_freedom > NORMAL_FREEDOM {
        return normal_quantile(confidence);
    }
    let distribution = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    Some(distribution.inverse_cdf(0.5 + confidence / 2.0))
}

/// The two-sided quantile of the normal distribution; `None` for a confidence outside 0 to 1.
pub(crate) fn normal_quantile(confidence: f64) -> Option<f64> {
    let is_share = confidence > 0.0 && confidence < 1.0;
    is_share.then(|| Normal::standard().inverse_cdf(0.5 + confidence / 2.0))
}

/// Between which of `count` sorted values a quantile lies: the ranks, from 1, of its interval's
/// ends, each missing where no value bounds it that surely.
///
/// Each end is passed with at most half of what `confidence` leaves (David and Nagaraja, "Order
/// Statistics", 3rd ed., section 7.1). Nothing is assumed of the distribution, but that the values
/// are independent. `None` without values or outside 0 to 1.
pub(crate) fn quantile_ranks(count: u64, quantile: f64, confidence: f64) -> Option<Ranks> {
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    if count == 0 || !is_share(quantile) || !is_share(confidence) {
        return None;
    }
    if count as f64 * quantile * (1.0 - quantile) > NORMAL_VARIANCE {
        return normal_ranks(count, quantile, confidence);
    }
    let below = Binomial::new(quantile, count).ok()?;
    let tail = (1.0 - confidence) / 2.0;
    let low = below.inverse_cdf(tail);
    let high = below.inverse_cdf(1.0 - tail) + 1;
    Some(Ranks { low: (low > 0).then_some(low), high: (high <= count).then_some(high) })
}

/// The same of so many values that the binomial distribution is the normal one to a fraction of a
/// rank, with a rank to spare on each side.
fn normal_ranks(count: u64, quantile: f64, confidence: f64) -> Option<Ranks> {
    let middle = count as f64 * quantile;
    let reach = normal_quantile(confidence)? * (middle * (1.0 - quantile)).sqrt();
    let (low, high) = ((middle - reach).floor() - 1.0, (middle + reach).ceil() + 1.0);
    let is_there = |rank: f64| (1.0..=count as f64).contains(&rank).then_some(rank as u64);
    Some(Ranks { low: is_there(low), high: is_there(high) })
}

/// The ranks of an interval's ends, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) low: Option<u64>,
    pub(crate) high: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, table of the t distribution.
        for (freedom, confidence, t) in [(9.0, 0.99, 3.250), (14.0, 0.95, 2.145), (1.0, 0.9, 6.314)]
        {
            let found = t_quantile(freedom, confidence).unwrap();
            assert!((found - t).abs() < 0.001, "{found} is not {t}");
        }
        assert_eq!(t_quantile(9.0, 1.0), None);
        assert!((normal_quantile(0.99).unwrap() - 2.575_829).abs() < 1e-6);
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The published ranks for a median of 100 values at 95 %: the 40th and the 61st
        // (Conover, "Practical Nonparametric Statistics", 3rd ed., section 3.2).
        let ranks = quantile_ranks(100, 0.5, 0.95);
        assert_eq!(ranks, Some(Ranks { low: Some(40), high: Some(61) }));
    }

    #[test]
    fn no_count_is_too_large() {
        for count in [91_455_469, 1_702_297_289, 10_000, 10_000_000, 40_000_000_000_u64] {
            for quantile in [0.5, 0.9, 0.99] {
                let ranks = quantile_ranks(count, quantile, 0.99).unwrap();
                let (middle, whole) = (count as f64 * quantile, count as f64);
                let deviation = (whole * quantile * (1.0 - quantile)).sqrt();
                for rank in [ranks.low.unwrap() as f64, ranks.high.unwrap() as f64] {
                    let errors = (rank - middle).abs() / deviation;
                    assert!((errors - 2.576).abs() < 0.15, "{count} {quantile}: {errors}");
                }
            }
        }
        for exponent in 0..15 {
            let freedom = 10_f64.powi(exponent);
            let t = t_quantile(freedom, 0.99).unwrap();
            assert!((2.57..64.0).contains(&t), "{freedom}: {t}");
        }
    }

    #[test]
    fn an_end_that_no_value_bounds_is_missing() {
        // Of 59 values the largest bounds the 95th percentile with 95 %, of 58 none does (Wilks).
        let high = |count| quantile_ranks(count, 0.95, 0.9).unwrap().high;
        assert_eq!((high(58), high(59)), (None, Some(59)));
        assert_eq!(quantile_ranks(1, 0.5, 0.99), Some(Ranks { low: None, high: None }));
        assert_eq!(quantile_ranks(0, 0.5, 0.99), None);
    }
}
