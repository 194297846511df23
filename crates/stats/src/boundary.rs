//! How far a mean may stray from the truth at any moment of a measurement.
//!
//! An interval that holds at one time fixed beforehand is wrong far more often than it says when
//! somebody looks again and again and stops once he likes what he sees. The boundary here holds at
//! all times together: it is that of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha,
//! Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences",
//! arXiv 2103.06476, theorem 2.2), Robbins' mixture of normal distributions.

use std::f64::consts::{FRAC_PI_2, SQRT_2};

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

/// The same bound for a standard error that was itself estimated with so few degrees of freedom, at
/// least 5: the quantile of Student's t with the tail of `normal_errors` standard errors.
///
/// To four digits by Hill's expansions ("Algorithm 396: Student's t-quantiles", Communications of the
/// ACM 13, 1970), which take the normal quantile that is at hand and need no search.
pub(crate) fn with_freedom(normal_errors: f64, degrees_of_freedom: usize) -> f64 {
    let freedom = degrees_of_freedom as f64;
    let both_tails = erfc(normal_errors / SQRT_2);
    let a = 1.0 / (freedom - 0.5);
    let b = 48.0 / (a * a);
    let c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * freedom;
    let far = (d * both_tails).powf(2.0 / freedom);
    let square = if far > 0.05 + a {
        near_the_middle(normal_errors, a, b, c, d)
    } else {
        let first =
            1.0 / (((freedom + 6.0) / (freedom * far) - 0.089 * d - 0.822) * (freedom + 2.0) * 3.0);
        ((first + 0.5 / (freedom + 4.0)) * far - 1.0) * (freedom + 1.0) / (freedom + 2.0)
            + 1.0 / far
    };
    (freedom * square).sqrt()
}

/// Hill's expansion around the normal quantile; the square of t over the degrees of freedom.
fn near_the_middle(x: f64, a: f64, b: f64, c: f64, d: f64) -> f64 {
    let c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c;
    let y = x * x;
    let t = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
    (a * t * t).exp_m1()
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
            (3.7, 19, 4.556_706_073),
            (6.0, 9, 23.766_066_293),
            (5.0, 39, 5.968_221_624),
        ] {
            let found = with_freedom(errors, freedom);
            assert!((found / expected - 1.0).abs() < 1e-4, "{errors} {freedom}: {found}");
        }
    }
}
