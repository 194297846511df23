//! The order of cards by what they are used for.
//!
//! Cards are ranked only among those measured on the same basis: one whose host is not known stands
//! alone, and one whose figure is in doubt has no place. Two cards are told apart where the interval
//! of the ratio of their figures excludes 1: with all pairs of an order together at the confidence of
//! a comparison, and with the allowance for what varies from run to run.
//!
//! A disturbance only slows. So a card whose tests were disturbed is behind another only where the most that it can
//! have lost does not explain the difference; and it is ahead of another as it would be undisturbed.
//!
//! A smaller test range gives higher rates. Of cards with different ranges the slower one is told apart
//! where it had the smaller range, since it is slower in spite of that, and else where the difference is
//! larger than the ranges can explain.

use cardproof_record::Record;
use cardproof_units::Bytes;
use serde::Serialize;

use super::column::Column;
use super::likeness::{Bases, basis, in_doubt, is_span_alike, range_advantage, shared_basis};
use super::shape::Measured;
use super::uses::Use;
use super::{CONFIDENCE, Contender};

/// The order of cards that were measured on one basis.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranking {
    /// By what.
    pub by: Use,
    /// How all of them were measured.
    pub basis: Bases,
    /// By their places, and best first where these are the same; at least one.
    pub cards: Vec<Ranked>,
    /// Whether all were measured over one range of addresses.
    pub is_one_span: bool,
}

/// One card in an order.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// The figure of the use, in the unit of the use.
    pub value: f64,
    /// Its interval; absent where a rate has none, or one that reaches down to nothing.
    pub between: Option<[f64; 2]>,
    /// Whether all its rates have intervals, so that it can be told apart from others.
    pub has_intervals: bool,
    /// Its place: one more than the number of cards that are surely better.
    pub place: usize,
    /// Whether it is surely behind the card before it; true for the first.
    pub is_told_apart: bool,
    /// How many times as fast the first card is; absent for the first itself, and where a rate has no
    /// interval.
    pub behind_first: Option<Behind>,
    /// What each part of the use takes, in seconds, in the order of the use's weights.
    pub parts: Vec<Part>,
    /// What it costs.
    pub price: Option<f64>,
    /// How much of the use it gives for its price, as a part of the best that has a price.
    pub value_for_price: Option<f64>,
}

/// How many times as fast another card is.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Behind {
    /// The best single figure.
    pub times: f64,
    /// The interval's lower end, below 1 where the other may be the slower one.
    pub low: f64,
    /// The interval's upper end; absent where the first card was disturbed and nothing bounds what that has cost.
    pub high: Option<f64>,
}

/// What one part of a use takes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The quantity.
    pub column: Column,
    /// Its rate, in operations or bytes a second.
    pub rate: f64,
    /// The time of the part, in seconds.
    pub seconds: f64,
    /// The range of addresses over which it was measured; zero where that is not told.
    pub span_bytes: Bytes,
    /// By how much the logarithm of the rate may be wrong; absent where the rate has no interval.
    #[serde(skip)]
    pub log_half_width: Option<f64>,
}

/// A card's figure for a use, with what it takes to compare it.
struct Score<'r> {
    ranked: Ranked,
    basis: Bases,
    /// Whether others of the same basis are known to be measured alike.
    can_share: bool,
    measured: Vec<Measured<'r>>,
}

impl<'r> Score<'r> {
    fn new(by: Use, card: &Contender<'r>) -> Option<Self> {
        let weights = by.weights();
        let figures: Option<Vec<_>> =
            weights.iter().map(|weight| sound(weight.column, &card.runs)).collect();
        let (figures, measured): (Vec<_>, Vec<Measured<'r>>) = figures?.into_iter().unzip();
        let parts: Vec<Part> = weights
            .iter()
            .zip(&figures)
            .map(|(weight, figure)| Part {
                column: weight.column,
                rate: figure.rate,
                seconds: weight.amount / figure.rate,
                span_bytes: figure.span_bytes,
                log_half_width: None,
            })
            .collect();
        // At the lower ends of all rates, and at their upper ends.
        let at = |end: usize| -> Option<f64> {
            let ends = weights.iter().zip(&figures);
            ends.map(|(weight, figure)| Some(weight.amount / figure.between?[end])).sum()
        };
        let slow_and_fast =
            at(0).zip(at(1)).map(|(slow, fast)| [slow, fast].map(|it| by.of_seconds(it)));
        let between = slow_and_fast.map(|[slow, fast]| [slow.min(fast), slow.max(fast)]);
        let seconds: f64 = parts.iter().map(|part| part.seconds).sum();
        Some(Self {
            basis: common_basis(&measured),
            can_share: measured.iter().all(|one| shared_basis(one).is_some()),
            ranked: Ranked {
                name: card.name.clone(),
                value: by.of_seconds(seconds),
                // An interval that reaches down to no rate at all bounds no time.
                between: between.filter(|ends| ends[1].is_finite()),
                has_intervals: figures.iter().all(|figure| figure.between.is_some()),
                place: 1,
                is_told_apart: true,
                behind_first: None,
                parts,
                price: card.price,
                value_for_price: None,
            },
            measured,
        })
    }

    fn seconds(&self) -> f64 {
        self.ranked.parts.iter().map(|part| part.seconds).sum()
    }

    /// The least that it could have taken without what disturbed its tests.
    fn seconds_alone(&self) -> f64 {
        let parts = self.ranked.parts.iter().zip(&self.measured);
        parts.map(|(part, measured)| part.seconds / part.column.faster_alone(measured)).sum()
    }

    /// By how much the logarithm of the time may be wrong, downwards and upwards. Each rate's own
    /// error moves the time by itself; the errors have nothing to do with each other, so their effects
    /// are added in quadrature.
    fn time_error(&self, confidence: f64) -> Option<[f64; 2]> {
        let seconds = self.seconds();
        let mut squares = [0.0_f64; 2];
        for (part, measured) in self.ranked.parts.iter().zip(&self.measured) {
            let half = part.column.spread(measured, confidence)?;
            for (square, sign) in squares.iter_mut().zip([-1.0, 1.0]) {
                let moved = seconds - part.seconds + part.seconds * f64::exp(sign * half);
                *square += (moved / seconds).ln().powi(2);
            }
        }
        Some(squares.map(f64::sqrt))
    }

    /// Whether this is surely better than `other`, which takes more time.
    fn is_surely_better(&self, other: &Self, confidence: f64) -> bool {
        let (Some([_, up]), Some([down, _])) =
            (self.time_error(confidence), other.time_error(confidence))
        else {
            return false;
        };
        let Some(alike) = self.seconds_over_ranges_of(other) else { return false };
        (other.seconds_alone() / alike).ln() > up.hypot(down)
    }

    /// How many times as fast this is as `other`; `None` where a rate has no interval. Where the ranges
    /// differ, the lower end allows for that. Both ends allow for what disturbances may have cost.
    fn ahead_of(&self, other: &Self, confidence: f64) -> Option<Behind> {
        let [own_down, own_up] = self.time_error(confidence)?;
        let [other_down, other_up] = other.time_error(confidence)?;
        let times = (other.seconds() / self.seconds()).ln();
        let alike = self.seconds_over_ranges_of(other).unwrap_or_else(|| self.seconds());
        let low = (other.seconds_alone() / alike).ln() - own_up.hypot(other_down);
        let high = (other.seconds() / self.seconds_alone()).ln() + own_down.hypot(other_up);
        let high = Some(high.exp()).filter(|high| high.is_finite());
        Some(Behind { times: times.exp(), low: low.exp(), high })
    }

    /// The most that this may take over the ranges of `other`; `None` where a range is not told.
    fn seconds_over_ranges_of(&self, other: &Self) -> Option<f64> {
        let parts = self.ranked.parts.iter().zip(&other.ranked.parts);
        let seconds = parts.map(|(own, theirs)| {
            Some(own.seconds * range_advantage(own.span_bytes, theirs.span_bytes)?)
        });
        seconds.sum()
    }
}

/// What `runs` have in `column`, unless it is in doubt or no rate.
fn sound<'r>(
    column: Column,
    runs: &[&'r Record],
) -> Option<(super::column::CardFigure, Measured<'r>)> {
    let figure = column.of(runs).filter(|it| it.doubt.is_none() && it.rate > 0.0)?;
    let measured = column.measured(runs).filter(|measured| in_doubt(measured).is_none())?;
    Some((figure, measured))
}

/// How `measured` were measured: of one basis, or the bases with what they are of.
fn common_basis(measured: &[Measured<'_>]) -> Bases {
    let mut bases = Vec::new();
    for one in measured.iter().map(basis) {
        if !bases.contains(&one) {
            bases.push(one);
        }
    }
    Bases(bases)
}

/// The orders of `cards`, one for each use and basis on which at least one was measured.
pub(super) fn rankings(cards: &[Contender<'_>]) -> Vec<Ranking> {
    Use::ALL.into_iter().flat_map(|by| rankings_by(by, cards)).collect()
}

fn rankings_by(by: Use, cards: &[Contender<'_>]) -> Vec<Ranking> {
    let mut groups: Vec<Vec<Score<'_>>> = Vec::new();
    for score in cards.iter().filter_map(|card| Score::new(by, card)) {
        let is_same = |group: &&mut Vec<Score<'_>>| {
            score.can_share && group[0].can_share && group[0].basis == score.basis
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(score),
            None => groups.push(vec![score]),
        }
    }
    let mut rankings: Vec<Ranking> = groups.into_iter().map(|group| ranked(by, group)).collect();
    // The order that says the most comes first.
    rankings.sort_by_key(|ranking| std::cmp::Reverse(ranking.cards.len()));
    rankings
}

fn ranked(by: Use, mut group: Vec<Score<'_>>) -> Ranking {
    group.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    let pairs = group.len() * group.len().saturating_sub(1) / 2;
    let confidence = 1.0 - (1.0 - CONFIDENCE) / pairs.max(1) as f64;
    for score in &mut group {
        for (part, measured) in score.ranked.parts.iter_mut().zip(&score.measured) {
            part.log_half_width = part.column.spread(measured, confidence);
        }
    }
    for at in 1..group.len() {
        let is_better = |better: &&Score<'_>| better.is_surely_better(&group[at], confidence);
        group[at].ranked.place = 1 + group[..at].iter().filter(is_better).count();
    }
    // A card with a wide interval may be behind fewer cards than one with a better figure.
    group.sort_by_key(|score| score.ranked.place);
    for at in 1..group.len() {
        group[at].ranked.is_told_apart = group[at - 1].is_surely_better(&group[at], confidence);
    }
    let ahead: Vec<Option<Behind>> =
        group.iter().skip(1).map(|score| group[0].ahead_of(score, confidence)).collect();
    for (score, ahead) in group.iter_mut().skip(1).zip(ahead) {
        score.ranked.behind_first = ahead;
    }
    let is_one_span = group.iter().all(|score| {
        let pairs = score.ranked.parts.iter().zip(&group[0].ranked.parts);
        pairs.into_iter().all(|(own, first)| is_span_alike(own.span_bytes, first.span_bytes))
    });
    let basis = group.first().map_or_else(Bases::default, |score| score.basis.clone());
    let mut cards: Vec<Ranked> = group.into_iter().map(|score| score.ranked).collect();
    value(by, &mut cards);
    Ranking { by, basis, cards, is_one_span }
}

/// Sets what each of `cards` gives for its price.
fn value(by: Use, cards: &mut [Ranked]) {
    let for_price = |card: &Ranked| {
        let speed = if by.is_better_low() { 1.0 / card.value } else { card.value };
        card.price.filter(|price| *price > 0.0).map(|price| speed / price)
    };
    let best = cards.iter().filter_map(for_price).fold(0.0, f64::max);
    for card in cards {
        card.value_for_price = for_price(card).map(|value| value / best);
    }
}
