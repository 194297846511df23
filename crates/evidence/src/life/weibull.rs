//! Several cards of one model: a Weibull distribution of their lives, with cards that are not at their
//! end (right censoring), by maximum likelihood.
//!
//! Intervals are those of the likelihood ratio: they do not assume a symmetric error, which a few
//! cards do not have. For few cards the limit of the ratio is that of Student's t squared rather than
//! of chi-squared, which is too small there.

use super::special::{crossing, highest};
use super::{Basis, Life, bounds};

/// Shapes outside these describe no wear.
const SHAPE_LOW: f64 = 0.1;
const SHAPE_HIGH: f64 = 100.0;

/// How long one card has lasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardLife {
    /// Cycles.
    pub cycles: f64,
    /// Whether its life has ended there; otherwise it was stopped.
    pub has_ended: bool,
}

/// A Weibull distribution with the most likely parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeibullFit {
    /// The exponent: 1 for failures at random, more for wear.
    pub shape: f64,
    /// The cycles after which 63.2 % of the cards have failed.
    pub scale_cycles: f64,
    /// The logarithm of the likelihood.
    pub log_likelihood: f64,
}

/// What several cards of one model say of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelLife {
    /// Cards.
    pub cards: usize,
    /// Those whose life has ended.
    pub ended: usize,
    /// The cycles that half of the cards reach, with the interval of that figure.
    pub median: Life,
    /// At most this share of the cards of the model fails before [`all_lasted`](Self::all_lasted).
    pub early_share_max: f64,
    /// The cycles that every card has lasted.
    pub all_lasted: f64,
    /// The fit; `None` where fewer than two cards have ended.
    pub fit: Option<WeibullFit>,
}

impl WeibullFit {
    /// The most likely distribution of the lives of `cards`; `None` where fewer than two have ended at
    /// different cycles.
    #[must_use]
    pub fn fit(cards: &[CardLife]) -> Option<Self> {
        let mut ends: Vec<f64> =
            cards.iter().filter(|card| card.has_ended).map(|card| card.cycles).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        if ends.len() < 2 {
            return None;
        }
        let log_shape =
            highest(SHAPE_LOW.ln(), SHAPE_HIGH.ln(), |log| profile_of_shape(cards, log.exp()));
        let shape = log_shape.exp();
        Some(Self {
            shape,
            scale_cycles: scale_for(cards, shape),
            log_likelihood: profile_of_shape(cards, shape),
        })
    }

    /// The cycles before which the share `part` of the cards fails.
    #[must_use]
    pub fn quantile_cycles(&self, part: f64) -> f64 {
        self.scale_cycles * (-(-part).ln_1p()).powf(1.0 / self.shape)
    }

    /// The interval of [`quantile_cycles`](Self::quantile_cycles) at 95 %; its upper end is `None`
    /// where the cards do not bound it.
    #[must_use]
    pub fn quantile_interval(&self, cards: &[CardLife], part: f64) -> (f64, Option<f64>) {
        let estimate = self.quantile_cycles(part).ln();
        let limit = limit_of_ratio(cards.iter().filter(|card| card.has_ended).count());
        let ratio =
            |log: f64| 2.0 * (self.log_likelihood - profile_of_quantile(cards, log.exp(), part));
        let reach = REACH.ln();
        let low = crossing(0.0, reach, limit, |distance| ratio(estimate - distance));
        let high = crossing(0.0, reach, limit, |distance| ratio(estimate + distance));
        let is_bounded = ratio(estimate + reach) >= limit;
        ((estimate - low).exp(), is_bounded.then(|| (estimate + high).exp()))
    }
}

/// How far from the estimate an end of an interval is looked for.
const REACH: f64 = 1e4;

/// The limit of the likelihood ratio at 95 % with `ends` observed ends: the square of Student's t for
/// one degree of freedom fewer.
fn limit_of_ratio(ends: usize) -> f64 {
    /// Student's t, two-sided 95 %, for 1 to 10 degrees of freedom.
    const STUDENT: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let freedom = ends.saturating_sub(1).max(1);
    let t = match STUDENT.get(freedom - 1) {
        Some(t) => *t,
        // Cornish and Fisher's expansion, good to three digits from 10 on.
        None => 1.959_964 + 2.372_27 / freedom as f64 + 2.822_50 / (freedom * freedom) as f64,
    };
    t * t
}

fn log_likelihood(cards: &[CardLife], shape: f64, scale: f64) -> f64 {
    let of_card = |card: &CardLife| {
        let log = (card.cycles.max(0.5) / scale).ln();
        let survived = -(shape * log).exp();
        if card.has_ended {
            survived + shape.ln() - scale.ln() + (shape - 1.0) * log
        } else {
            survived
        }
    };
    cards.iter().map(of_card).sum()
}

/// The most likely scale for a shape, which has a closed form.
fn scale_for(cards: &[CardLife], shape: f64) -> f64 {
    let ends = cards.iter().filter(|card| card.has_ended).count().max(1) as f64;
    // Relative to the longest life, so that no power overflows.
    let longest = cards.iter().map(|card| card.cycles).fold(0.5, f64::max);
    let sum: f64 = cards.iter().map(|card| (card.cycles.max(0.5) / longest).powf(shape)).sum();
    longest * (sum / ends).powf(1.0 / shape)
}

fn profile_of_shape(cards: &[CardLife], shape: f64) -> f64 {
    log_likelihood(cards, shape, scale_for(cards, shape))
}

/// The highest likelihood of all distributions whose quantile at `part` is `cycles`.
fn profile_of_quantile(cards: &[CardLife], cycles: f64, part: f64) -> f64 {
    let log_odds = -(-part).ln_1p();
    let at = |log_shape: f64| {
        let shape = log_shape.exp();
        log_likelihood(cards, shape, cycles / log_odds.powf(1.0 / shape))
    };
    at(highest(SHAPE_LOW.ln(), SHAPE_HIGH.ln(), at))
}

/// What `cards` of one model say of the model; `None` without a card.
#[must_use]
pub fn model_life(cards: &[CardLife]) -> Option<ModelLife> {
    let all_lasted = cards.iter().map(|card| card.cycles).min_by(f64::total_cmp)?;
    let ended = cards.iter().filter(|card| card.has_ended).count();
    let fit = WeibullFit::fit(cards);
    let median = match fit {
        Some(fit) => {
            let (low, high) = fit.quantile_interval(cards, 0.5);
            let basis = Basis::Extrapolated;
            Life { estimate: Some(fit.quantile_cycles(0.5)), low, high, basis }
        }
        None => Life {
            estimate: None,
            low: bounds::median_low(cards),
            high: None,
            basis: Basis::NoErrors,
        },
    };
    // A card that ended at the shortest life did not fail before it.
    let early_share_max = bounds::share_of_cards_max(cards.len());
    Some(ModelLife { cards: cards.len(), ended, median, early_share_max, all_lasted, fit })
}

#[cfg(test)]
#[path = "weibull_tests.rs"]
mod tests;
