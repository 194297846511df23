//! The fit against lifelines 0.30.3 (`WeibullFitter`) and the intervals against scipy 1.17.1
//! (`minimize_scalar` and `brentq` on the same likelihood, limit from `scipy.stats.t`).

use super::*;

fn cards(lives: &[(f64, bool)]) -> Vec<CardLife> {
    lives.iter().map(|&(cycles, has_ended)| CardLife { cycles, has_ended }).collect()
}

fn near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() < part, "{found} is not {expected}");
}

/// Lives, and from the other programs: shape, scale, logarithm of the likelihood, median, its interval.
type Case = (Vec<(f64, bool)>, [f64; 6]);

fn cases() -> [Case; 3] {
    let survey: [f64; 10] = [4634., 3555., 291., 5200., 6100., 7900., 2800., 5000., 5000., 5000.];
    let alike: [f64; 6] = [812., 1020., 990., 1105., 1200., 1200.];
    let wide: [f64; 8] = [100., 250., 400., 800., 1600., 3000., 5200., 20_000.];
    let ended = |lives: &[f64], ended: usize| {
        lives.iter().enumerate().map(|(index, &life)| (life, index < ended)).collect()
    };
    [
        (
            ended(&survey, 7),
            [
                1.833_067_397,
                5_934.548_521,
                -67.197_369_40,
                4_859.063_932,
                2_384.069_137,
                10_166.028_65,
            ],
        ),
        (
            ended(&alike, 4),
            [
                6.653_177_956,
                1_164.163_002,
                -28.653_564_60,
                1_101.765_593,
                637.578_756_1,
                2_252.964_792,
            ],
        ),
        (
            ended(&wide, 8),
            [
                0.640_886_457_9,
                2_703.698_986,
                -72.418_040_30,
                1_526.132_112,
                188.627_485_3,
                6_984.991_714,
            ],
        ),
    ]
}

#[test]
fn fits_and_intervals_are_those_of_other_programs() {
    for (lives, [shape, scale, log_likelihood, median, low, high]) in cases() {
        let cards = cards(&lives);
        let fit = WeibullFit::fit(&cards).unwrap();
        near(fit.shape, shape, 1e-5);
        near(fit.scale_cycles, scale, 1e-5);
        near(fit.log_likelihood, log_likelihood, 1e-8);
        near(fit.quantile_cycles(0.5), median, 1e-5);
        let (found_low, found_high) = fit.quantile_interval(&cards, 0.5);
        near(found_low, low, 1e-3);
        near(found_high.unwrap(), high, 1e-3);
    }
}

#[test]
fn cards_without_an_end_give_a_lower_bound_only() {
    let lives = [(900.0, false), (1000.0, false), (1200.0, false), (800.0, false), (950.0, false)];
    let life = model_life(&cards(&lives)).unwrap();
    assert_eq!((life.median.estimate, life.median.high, life.median.low), (None, None, 800.0));
    assert_eq!((life.ended, life.all_lasted), (0, 800.0));
    assert!((life.early_share_max - 0.4507).abs() < 1e-3, "{life:?}");
    let few = model_life(&cards(&lives[..3])).unwrap();
    assert_eq!(few.median.low, 0.0, "three cards do not bound the median");
    assert!(model_life(&[]).is_none());
}

#[test]
fn one_end_or_equal_ends_fit_no_distribution() {
    assert!(WeibullFit::fit(&cards(&[(900.0, true), (1000.0, false)])).is_none());
    assert!(WeibullFit::fit(&cards(&[(900.0, true), (900.0, true)])).is_none());
}

/// Of many sets of five cards from a known distribution, the intervals hold its median as often as
/// they claim.
#[test]
fn intervals_of_five_cards_hold_the_median() {
    let (shape, scale) = (3.0_f64, 1000.0_f64);
    let median = scale * 2_f64.ln().powf(1.0 / shape);
    let mut state = 9_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 33) as f64) + 0.5) / f64::from(1_u32 << 31)
    };
    let (mut held, mut sets) = (0, 0);
    for _ in 0..400 {
        let lives: Vec<(f64, bool)> = (0..5)
            .map(|_| scale * (-random().ln()).powf(1.0 / shape))
            .map(|life| (life.min(1100.0), life <= 1100.0))
            .collect();
        let Some(fit) = WeibullFit::fit(&cards(&lives)) else { continue };
        let (low, high) = fit.quantile_interval(&cards(&lives), 0.5);
        sets += 1;
        held += usize::from(low <= median && high.is_none_or(|high| median <= high));
    }
    assert!(held * 100 >= sets * 93, "{held} of {sets}");
}
