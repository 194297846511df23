//! Bounds of a probability from a number of trials (Clopper and Pearson, Biometrika 26, 1934).
//!
//! Assumption: the cuts are independent and equally likely to do harm. The bounds never cover the
//! true probability less often than they say.

/// The probability that with `confidence` (between 0 and 1) is not exceeded, after `found` of
/// `trials` did harm. Without harm it is the rule of three where that is above: 3/n at 95 %.
/// 1 without trials.
#[must_use]
pub fn upper_bound(found: u64, trials: u64, confidence: f64) -> f64 {
    if trials == 0 || found >= trials {
        return 1.0;
    }
    let exact = root(|p| at_most(found, trials, p) - (1.0 - confidence));
    if found > 0 {
        return exact;
    }
    // -ln(0.05) is 2.996, which is published as 3.
    let rule = (-(1.0 - confidence).ln() * 100.0).ceil() / 100.0 / trials as f64;
    rule.max(exact).min(1.0)
}

/// The two-sided interval of the probability at `confidence` (between 0 and 1).
#[must_use]
pub fn interval(found: u64, trials: u64, confidence: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let tail = (1.0 - confidence) / 2.0;
    let low = match found {
        0 => 0.0,
        _ => root(|p| tail - (1.0 - at_most(found - 1, trials, p))),
    };
    let high = if found >= trials { 1.0 } else { root(|p| at_most(found, trials, p) - tail) };
    (low, high)
}

/// Where `falling`, which is above zero at 0 and below at 1, meets zero.
fn root(falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if falling(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The probability of at most `found` in `trials`, each with probability `p`.
fn at_most(found: u64, trials: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return if found >= trials { 1.0 } else { 0.0 };
    }
    let (odds, n) = ((p / (1.0 - p)).ln(), trials as f64);
    let mut term = n * (-p).ln_1p();
    let mut sum = term.exp();
    for k in 1..=found {
        let k = k as f64;
        term += ((n - k + 1.0) / k).ln() + odds;
        sum += term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 5e-4 * expected.max(0.1), "{value} is not {expected}");
    }

    #[test]
    fn no_harm_is_the_rule_of_three() {
        near(upper_bound(0, 1000, 0.95), 0.003);
        near(upper_bound(0, 1000, 0.99), 0.0046);
        near(upper_bound(0, 1, 0.95), 1.0);
        near(upper_bound(0, 0, 0.95), 1.0);
    }

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Published for 95 %: 1 of 10, 5 of 10, 0 of 20, 10 of 10.
        for (found, trials, low, high) in [
            (1, 10, 0.0025, 0.4450),
            (5, 10, 0.1871, 0.8129),
            (0, 20, 0.0, 0.1684),
            (10, 10, 0.6915, 1.0),
        ] {
            let (a, b) = interval(found, trials, 0.95);
            near(a, low);
            near(b, high);
        }
        // One-sided, 95 %: 1 of 10, 2 of 100.
        near(upper_bound(1, 10, 0.95), 0.3942);
        near(upper_bound(2, 100, 0.95), 0.0616);
    }

    #[test]
    fn many_trials_do_not_lose_the_figure() {
        near(upper_bound(500, 1_000_000, 0.95), 0.000_538);
        let (low, high) = interval(8_000, 20_000, 0.95);
        assert!(low < 0.4 && 0.4 < high && high - low < 0.015, "{low} {high}");
    }
}
