//! Two levels in a list of numbers, and how clearly they stand apart.
//!
//! The usual least-squares fit of two means; the share of the variance that it explains is R². One
//! value in eight may lie anywhere and is left out of it, because cards have single slow places that
//! come back in every pass and are no level.

/// Two levels: those values that should be high, and the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TwoLevels {
    /// The mean of the values that should be high.
    pub(super) high: f64,
    /// The mean of the others.
    pub(super) low: f64,
    /// The share of the variance that the two means explain, 0 to 1.
    pub(super) r_squared: f64,
    /// The sum of all distances from the level's median, none left out: the measure by which one
    /// division is better than another.
    pub(super) deviation: f64,
}

impl TwoLevels {
    /// How far the levels stand apart.
    pub(super) fn step(self) -> f64 {
        self.high - self.low
    }
}

/// The fit for a division of the values into `high` and `low`; `None` where one is empty.
pub(super) fn two_levels(high: &[f64], low: &[f64]) -> Option<TwoLevels> {
    if high.is_empty() || low.is_empty() {
        return None;
    }
    let (middle_high, middle_low) = (median(high)?, median(low)?);
    let far = |value: &f64, middle: f64| (value - middle).abs();
    let mut distances: Vec<f64> = high
        .iter()
        .map(|value| far(value, middle_high))
        .chain(low.iter().map(|value| far(value, middle_low)))
        .collect();
    let deviation = distances.iter().sum();
    distances.sort_by(f64::total_cmp);
    let kept = distances.len() - distances.len() / 8;
    let limit = distances[kept - 1];
    let keep = |values: &[f64], middle: f64| -> Vec<f64> {
        values.iter().copied().filter(|value| far(value, middle) <= limit).collect()
    };
    let (high, low) = (keep(high, middle_high), keep(low, middle_low));
    let (mean_high, mean_low) = (mean(&high)?, mean(&low)?);
    let all: Vec<f64> = high.iter().chain(&low).copied().collect();
    let total = squares(&all, mean(&all)?);
    let left = squares(&high, mean_high) + squares(&low, mean_low);
    let r_squared = if total > 0.0 { 1.0 - left / total } else { 0.0 };
    Some(TwoLevels { high: mean_high, low: mean_low, r_squared, deviation })
}

/// The middle value; `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value that every element has; `None` where they differ or there are none.
pub(super) fn agreed<T: PartialEq + Copy>(values: &[T]) -> Option<T> {
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

fn squares(values: &[f64], around: f64) -> f64 {
    values.iter().map(|value| (value - around).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_place_in_eight_hides_no_step() {
        let high = [340.0, 338.0, 490.0, 345.0];
        let low = [250.0, 247.0, 252.0, 249.0];
        let fit = two_levels(&high, &low).unwrap();
        assert!(fit.r_squared > 0.95 && (fit.step() - 91.0).abs() < 3.0, "{fit:?}");
    }

    #[test]
    fn scatter_is_no_step() {
        let fit = two_levels(&[5.0, 9.0, 1.0, 7.0], &[6.0, 2.0, 8.0, 4.0]).unwrap();
        assert!(fit.r_squared < 0.3, "{fit:?}");
        assert_eq!(two_levels(&[], &[1.0]), None);
        assert!(two_levels(&[3.0, 3.0], &[3.0]).unwrap().r_squared < f64::EPSILON);
    }
}
