//! The life of one card from a run that was stopped while places turned bad.
//!
//! Blocks of flash wear out independently of each other, so the bad places come as a Poisson process.
//! Its expected number grows as a power of the cycles, which is the early part of a Weibull
//! distribution of the blocks' lives: `x (t / c)^k` after `t` of `c` cycles. A card hides the first `s`
//! of them behind spare blocks. So the first visible place is number `s + 1`.
//!
//! With `r` visible places at `t_1 ... t_r`, the likelihood is, but for a factor,
//! `k^r x^(s + r) exp(-x - k (s ln(c / t_1) + sum ln(c / t_i))) / s!`. With the prior `1 / x`, the
//! integral over `x` and the prediction of the place number `s + m` are exact: the cycle is
//! `c y^(-1/k)`, where `y` has a beta distribution with the parameters `s + r` and `m - r`. What is
//! left, `k` and `s`, is summed over a grid.
//!
//! The trend cannot know of a mechanism that has not begun: a sudden end, or the wear of the main part
//! of the blocks after weak ones. Such a mechanism can only shorten the life, so it moves the lower end
//! alone.

use super::special::{beta_below, crossing, ln_gamma};
use super::{Basis, CardRun, LIFE_SHARE, Life};

/// The median of the prior of `k`, and the standard deviation of its logarithm: 95 % between 1 and 24.
/// Published lives of blocks on one chip scatter by 5 to 50 % (k of 25 to 2).
const SHAPE_MEDIAN: f64 = 5.0;
const SHAPE_SIGMA: f64 = 0.8;

/// The largest share of blocks that a card keeps as spares: those of consumer cards are 2 to 10 %.
const SPARES_MAX: f64 = 0.2;

/// The probability that another mechanism ends the life before [`OTHER_SPAN`] times the cycles done.
const OTHER: f64 = 0.15;
const OTHER_SPAN: f64 = 4.0;

/// No prediction goes further, as a multiple of the cycles done.
const FURTHEST: f64 = 1e4;

/// The tail of the interval on either side.
const TAIL: f64 = (1.0 - super::CONFIDENCE) / 2.0;

/// One pair of `k` and `s` with its posterior weight.
#[derive(Clone, Copy, Debug)]
struct Cell {
    shape: f64,
    hidden: f64,
    weight: f64,
}

/// The life that the growth of the bad places in `run` predicts.
#[must_use]
pub fn extrapolate(run: &CardRun) -> Life {
    let places: u64 = run.failures.iter().map(|failures| failures.places).sum();
    let pages: u64 = run.failures.iter().map(|failures| failures.pages).sum();
    let done = run.cycles.max(1) as f64;
    let a_place = pages as f64 / places.max(1) as f64;
    let needed = (LIFE_SHARE * run.pages as f64 / a_place).ceil();
    let left = (needed - places as f64).max(1.0);
    let cells = posterior(run, places as f64, run.pages as f64 / a_place);
    let by = |ratio: f64| -> f64 {
        let below = |cell: &Cell| {
            cell.weight
                * (1.0 - beta_below(ratio.powf(-cell.shape), cell.hidden + places as f64, left))
        };
        cells.iter().map(below).sum()
    };
    let by_other = |ratio: f64| OTHER * (ratio.ln() / OTHER_SPAN.ln()).min(1.0);
    let quantile = |part: f64, share: &dyn Fn(f64) -> f64| {
        crossing(0.0, FURTHEST.ln(), part, |log| share(log.exp())).exp() * done
    };
    let with_other = |ratio: f64| 1.0 - (1.0 - by(ratio)) * (1.0 - by_other(ratio));
    Life {
        estimate: Some(quantile(0.5, &by).round().max(done + 1.0)),
        low: quantile(TAIL, &with_other).floor().max(done),
        high: Some(quantile(1.0 - TAIL, &by).ceil().max(done + 1.0)),
        basis: Basis::Extrapolated,
    }
}

/// The posterior over shapes and hidden places, without what weighs next to nothing.
fn posterior(run: &CardRun, places: f64, blocks: f64) -> Vec<Cell> {
    let done = run.cycles.max(1) as f64;
    // A place turned bad at some time within its cycle.
    let log_back = |cycle: u64| (done / (cycle as f64 - 0.5).max(0.5)).ln().max(0.0);
    let first = run.failures.iter().find(|failures| failures.places > 0);
    let first = first.map_or(0.0, |failures| log_back(failures.cycle));
    let visible: f64 =
        run.failures.iter().map(|failures| failures.places as f64 * log_back(failures.cycle)).sum();
    let mut cells = Vec::new();
    let hidden = hidden_grid(SPARES_MAX * blocks);
    for &(hidden, prior) in &hidden {
        for step in -40..=40 {
            let deviations = f64::from(step) * 0.1;
            let shape = SHAPE_MEDIAN * (SHAPE_SIGMA * deviations).exp();
            let log_weight = prior.ln() - deviations * deviations / 2.0 + places * shape.ln()
                - shape * (hidden * first + visible)
                + ln_gamma(hidden + places)
                - ln_gamma(hidden + 1.0);
            cells.push(Cell { shape, hidden, weight: log_weight });
        }
    }
    let most = cells.iter().map(|cell| cell.weight).fold(f64::NEG_INFINITY, f64::max);
    cells.retain(|cell| cell.weight > most - 12.0);
    let sum: f64 = cells.iter().map(|cell| (cell.weight - most).exp()).sum();
    cells.iter_mut().for_each(|cell| cell.weight = (cell.weight - most).exp() / sum);
    cells
}

/// Numbers of hidden places with their prior: half for none, the rest even over the logarithm.
fn hidden_grid(most: f64) -> Vec<(f64, f64)> {
    let mut grid = vec![(0.0, 0.5)];
    let steps: Vec<f64> = std::iter::successors(Some(1.0_f64), |n| Some((n * 1.4).ceil()))
        .take_while(|&n| n <= most)
        .collect();
    let share = 0.5 / steps.len().max(1) as f64;
    grid.extend(steps.into_iter().map(|n| (n, share)));
    grid
}

#[cfg(test)]
mod tests {
    use super::super::{Failures, of_card};
    use super::*;

    fn run(cycles: u64, pages: u64, failures: &[(u64, u64, u64)]) -> CardRun {
        let failures =
            failures.iter().map(|&(cycle, places, pages)| Failures { cycle, places, pages });
        CardRun { cycles, pages, failures: failures.collect(), reached: None }
    }

    #[test]
    fn without_an_error_there_is_a_lower_bound_only() {
        let life = of_card(&run(500, 1_000_000, &[]));
        assert_eq!((life.estimate, life.low, life.high), (None, 500.0, None));
    }

    #[test]
    fn a_milestone_that_was_seen_is_the_life() {
        let seen = CardRun { reached: Some(4634), ..run(5000, 1_000_000, &[(4000, 1, 1)]) };
        let life = of_card(&seen);
        assert_eq!((life.estimate, life.low, life.high), (Some(4634.0), 4634.0, Some(4634.0)));
    }

    /// Expected counts of a power law with the exponent 6 that reaches 1,000 bad pages at cycle 1,000.
    #[test]
    fn a_clear_trend_gives_a_narrow_interval_around_the_truth() {
        let count = |cycle: u64| (1000.0 * (cycle as f64 / 1000.0).powi(6)).round() as u64;
        let failures: Vec<(u64, u64, u64)> = (1..=800)
            .map(|cycle| (cycle, count(cycle) - count(cycle - 1), count(cycle) - count(cycle - 1)))
            .filter(|(_, places, _)| *places > 0)
            .collect();
        let life = of_card(&run(800, 1_000_000, &failures));
        let (estimate, high) = (life.estimate.unwrap(), life.high.unwrap());
        assert!((970.0..1030.0).contains(&estimate), "{life:?}");
        assert!(life.low < 1000.0 && 1000.0 < high, "{life:?}");
        assert!(high - life.low < 250.0, "{life:?}");
    }

    /// One error says little: the interval is wide and begins at what was seen.
    #[test]
    fn one_error_gives_a_wide_interval() {
        let life = of_card(&run(100, 1_000_000, &[(90, 1, 1)]));
        assert!(life.low < 130.0 && life.high.unwrap() > 300.0, "{life:?}");
    }

    /// Against a simulation with numpy 2 that draws shape, hidden places and scale from their priors,
    /// weighs them with the likelihood of the Poisson process written out, and draws the times of the
    /// places to come: 2 million draws.
    #[test]
    fn predictions_are_those_of_a_simulation() {
        let fine = run(500, 40_000, &[(300, 1, 1), (380, 2, 2), (430, 2, 2), (470, 3, 3)]);
        let coarse = run(1000, 200_000, &[(700, 1, 16), (860, 1, 16), (900, 2, 32)]);
        for (run, median, high) in [(fine, 700.4, 1077.5), (coarse, 1270.4, 2108.3)] {
            let life = of_card(&run);
            assert!((life.estimate.unwrap() / median - 1.0).abs() < 0.01, "{life:?}");
            assert!((life.high.unwrap() / high - 1.0).abs() < 0.02, "{life:?}");
        }
    }

    #[test]
    fn places_are_counted_not_their_pages() {
        let fine = of_card(&run(800, 1_000_000, &[(700, 100, 100), (800, 100, 100)]));
        let coarse = of_card(&run(800, 1_000_000, &[(700, 1, 100), (800, 1, 100)]));
        let width = |life: Life| life.high.unwrap() / life.low;
        assert!(width(coarse) > 1.2 * width(fine), "{coarse:?} {fine:?}");
    }
}
