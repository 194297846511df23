//! Whether two orders agree.

/// Spearman's rank correlation of `a` and `b`, from -1 (opposite orders) to 1 (the same order);
/// equal values share the mean of their ranks. `None` where the two differ in length, there are
/// fewer than three, one is not a number, or all of one are equal.
///
/// Spearman, "The proof and measurement of association between two things", American Journal of
/// Psychology 15, 1904: Pearson's correlation of the ranks.
#[must_use]
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 3 || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let scatter = (product(&a, &a) * product(&b, &b)).sqrt();
    (scatter > 0.0).then(|| product(&a, &b) / scatter)
}

/// The rank of each value, from 1.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 900.0]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // The classic sum of squared rank differences: 1 - 6 * 4 / (5 * 24).
        let found = rank_correlation(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]);
        assert!((found.unwrap() - (1.0 - 6.0 * 4.0 / 120.0)).abs() < 1e-12);
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(rank_correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(rank_correlation(&[1.0, 2.0], &[1.0, 2.0]), None);
    }
}
