//! Normal densities and their products.

use std::f64::consts::TAU;

/// A normal distribution by its mean and variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl Normal {
    /// What follows from this and `weight` observations whose weighted mean is `mean`, each of `variance`.
    pub(crate) fn with(self, weight: f64, mean: f64, variance: f64) -> Self {
        let (own, others) = (1.0 / self.variance, weight / variance);
        let precision = own + others;
        Self { mean: (self.mean * own + mean * others) / precision, variance: 1.0 / precision }
    }

    /// What this was before an observation of `weight` at `value`, of `variance`, was added.
    pub(crate) fn without(self, weight: f64, value: f64, variance: f64) -> Self {
        let (all, one) = (1.0 / self.variance, weight / variance);
        let precision = (all - one).max(all * 1e-9);
        Self { mean: (self.mean * all - value * one) / precision, variance: 1.0 / precision }
    }

    /// The density at `value`.
    pub(crate) fn density(self, value: f64) -> f64 {
        let distance = value - self.mean;
        (-0.5 * distance * distance / self.variance).exp() / (TAU * self.variance).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_that_is_taken_away_leaves_what_was_before() {
        let before = Normal { mean: 1.0, variance: 4.0 };
        let after = before.with(0.7, 3.0, 0.5);
        let again = after.without(0.7, 3.0, 0.5);
        assert!((again.mean - before.mean).abs() < 1e-9, "{again:?}");
        assert!((again.variance - before.variance).abs() < 1e-9, "{again:?}");
        assert!(after.mean > before.mean && after.variance < before.variance);
    }
}
