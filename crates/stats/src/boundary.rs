//! How far a mean may stray from the truth at any moment of a measurement.
//!
//! An interval that holds at one time fixed beforehand is wrong far more often than it says when
//! somebody looks again and again and stops once he likes what he sees. The boundary here holds at
//! all times together: it is that of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha,
//! Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences",
//! arXiv 2103.06476, theorem 2.2), Robbins' mixture of normal distributions.

use std::f64::consts::SQRT_2;

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;

/// The boundary of a confidence sequence, in standard errors of the mean so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixtureBoundary {
    alpha: f64,
    /// Information at the time of best use, in the mixture's own measure.
    best: f64,
}

impl MixtureBoundary {
    /// A boundary that is ever crossed with a probability of at most `1 - confidence`, both sides
    /// together; `None` for a confidence outside 0 to 1.
    #[must_use]
    pub fn new(confidence: f64) -> Option<Self> {
        let alpha = 1.0 - confidence;
        let squared = -2.0 * alpha.ln();
        (confidence > 0.0 && confidence < 1.0)
            .then(|| Self { alpha, best: squared + (squared + 1.0).ln() })
    }

    /// How many standard errors the mean may be off. `progress` is the time so far as a part of
    /// the time at which the boundary is to be narrowest, above 0; the choice changes the width
    /// little and the validity not at all (section 2.5 of the source).
    #[must_use]
    pub fn standard_errors(&self, progress: f64) -> f64 {
        let information = self.best * progress;
        let log = (information + 1.0).ln() / 2.0 - self.alpha.ln();
        (2.0 * (information + 1.0) / information * log).sqrt()
    }
}

/// The same bound for a standard error that was itself estimated with so few degrees of freedom:
/// the quantile of Student's t with the tail of `normal_errors` standard errors.
pub(crate) fn with_freedom(normal_errors: f64, degrees_of_freedom: usize) -> f64 {
    // Of the upper tail alone, so that no digits are lost.
    let tail = erfc(normal_errors / SQRT_2) / 2.0;
    match StudentsT::new(0.0, 1.0, degrees_of_freedom as f64) {
        Ok(distribution) => -distribution.inverse_cdf(tail),
        Err(_) => f64::INFINITY,
    }
}

/// The confidence of each of `limits` intervals, so that all their ends on one side hold together
/// with `confidence`.
///
/// A class is wrongly called missed when any of its limits' intervals lies wrongly below; each of
/// them may do so with a chance of `(1 - confidence) / limits`, which is half of what its interval
/// leaves. It is wrongly called met only when the interval of the very limit that it misses lies
/// wrongly above, which is rarer still (Berger, Technometrics 24, 1982).
#[must_use]
pub fn split_among(confidence: f64, limits: u16) -> f64 {
    1.0 - 2.0 * (1.0 - confidence) / f64::from(limits.max(2))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_boundary_is_that_of_the_formula() {
        // The source's formula with n = 1000 observations and rho from the best time, in SciPy.
        for (alpha, progress, expected) in [
            (0.05, 1.0, 3.035_208_990),
            (0.05, 10.0, 3.241_723_145),
            (0.01, 1.0, 3.571_629_971),
            (0.01, 0.1, 4.316_013_748),
            (0.01, 5.0, 3.675_944_325),
        ] {
            let found = MixtureBoundary::new(1.0 - alpha).unwrap().standard_errors(progress);
            assert!((found - expected).abs() < 1e-6, "{alpha} {progress}: {found}");
        }
        assert_eq!((MixtureBoundary::new(1.0), MixtureBoundary::new(0.0)), (None, None));
    }

    #[test]
    fn few_degrees_of_freedom_widen_as_student_found() {
        // scipy.stats.t.isf(scipy.stats.norm.sf(errors), freedom)
        for (errors, freedom, expected) in [
            (3.7, 9, 5.949_024_978),
            (3.7, 39, 4.079_742_629),
            (4.5, 9, 9.254_061_427),
            (2.0, 19, 2.140_493_723),
        ] {
            let found = with_freedom(errors, freedom);
            assert!((found - expected).abs() < 1e-5, "{errors} {freedom}: {found}");
        }
    }

    #[test]
    fn the_error_is_split_by_sides() {
        assert!((split_among(0.99, 3) - 0.993_333_333).abs() < 1e-9);
        assert!((split_among(0.99, 2) - 0.99).abs() < 1e-12);
    }
}
