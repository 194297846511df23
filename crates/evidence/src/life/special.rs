//! The functions of probability that the estimates need.

/// The logarithm of the gamma function above zero, to 14 digits: Lanczos' approximation with the
/// coefficients for g = 7 (P. Godfrey, 2001).
pub(super) fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Below one half by Euler's reflection formula.
        let sine = (std::f64::consts::PI * x).sin();
        return (std::f64::consts::PI / sine).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let rest: f64 = (1..9).map(|index| COEFFICIENTS[index] / (x + index as f64)).sum();
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + (COEFFICIENTS[0] + rest).ln()
}

/// The share of a beta distribution with the parameters `a` and `b` that lies below `x`, by the
/// continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz' method.
pub(super) fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    (front.exp() * fraction(x, a, b) / a).clamp(0.0, 1.0)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for step in 1..2000 {
        let m = f64::from(step);
        for coefficient in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + coefficient * d);
            c = away(1.0 + coefficient / c);
            sum *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    sum
}

/// The place between `low` and `high` where `rises`, which rises, passes `value`.
pub(super) fn crossing(low: f64, high: f64, value: f64, rises: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if rises(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Where `f` is highest between `low` and `high`, if it rises and then falls: golden section.
pub(super) fn highest(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (low, high);
    let mut left = high - GOLDEN * (high - low);
    let mut right = low + GOLDEN * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..80 {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = f(right);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((ln_gamma(5.0) - 24_f64.ln()).abs() < 1e-12);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
        // scipy 1.17.1, `scipy.special.betainc`.
        for (a, b, x, expected) in BETA {
            let found = beta_below(x, a, b);
            assert!((found - expected).abs() < 1e-9, "{a} {b} {x}: {found}");
        }
    }

    const BETA: [(f64, f64, f64, f64); 3] = [
        (3.0, 7.0, 0.3, 0.537_168_834),
        (40.0, 2.5, 0.9, 0.126_835_814_512),
        (1000.0, 30.0, 0.975, 0.778_696_799_210),
    ];
}
