//! Limits as text: a lower limit rounded down and an upper limit up, so that what is said stays true.

/// So much of a step is no rounding but the error of a calculation.
const NOISE: f64 = 1e-6;

/// A lower limit with so many `decimals`, rounded down.
#[must_use]
pub fn rounded_down(value: f64, decimals: usize) -> String {
    rounded(value, decimals, |steps| (steps + NOISE).floor())
}

/// An upper limit with so many `decimals`, rounded up.
#[must_use]
pub fn rounded_up(value: f64, decimals: usize) -> String {
    rounded(value, decimals, |steps| (steps - NOISE).ceil())
}

fn rounded(value: f64, decimals: usize, round: impl Fn(f64) -> f64) -> String {
    let step = 10_f64.powi(decimals.try_into().unwrap_or(i32::MAX));
    // Without the sign of a negative zero.
    let rounded = round(value * step) / step + 0.0;
    format!("{rounded:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_never_rounded_past_itself() {
        assert_eq!((rounded_down(23.8, 0), rounded_up(23.2, 0)), ("23".into(), "24".into()));
        assert_eq!((rounded_down(1.999, 2), rounded_up(1.991, 2)), ("1.99".into(), "2.00".into()));
        // Neither number is written exactly in binary.
        assert_eq!(
            (rounded_down(0.029, 3), rounded_up(0.057, 3)),
            ("0.029".into(), "0.057".into())
        );
        assert_eq!((rounded_down(0.0, 0), rounded_up(0.0, 1)), ("0".into(), "0.0".into()));
    }
}
