//! The answer of an order of cards: the winner, or those that cannot be told apart, and why.

use serde::Serialize;

use super::column::Column;
use super::rank::{Ranked, Ranking};

/// The answer of one order.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Whether all of the best have intervals. If not, the order is uncertain.
    pub has_intervals: bool,
    /// The cards of which no other card is better with certainty, best first; at least one. Without
    /// intervals only the card with the best figure.
    pub best: Vec<String>,
    /// The first card that is worse with certainty than one of the best; absent if there is none. Without
    /// intervals the card with the second best figure.
    pub next: Option<String>,
    /// The quantity that contributes most to the difference between the best and the next.
    pub reason: Option<Reason>,
    /// The card with the best value for its price; absent if fewer than two have a price.
    pub best_value: Option<String>,
}

/// The quantity that decides between the best card and the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The quantity.
    pub column: Column,
    /// The rate of the best card, in operations or bytes a second.
    pub best_rate: f64,
    /// The rate of the next.
    pub next_rate: f64,
    /// Whether the two differ in it with certainty, and not only in all quantities together.
    pub is_certain: bool,
}

impl Ranking {
    /// The answer of this order; `None` of a single card, which is compared with nothing.
    #[must_use]
    pub fn choice(&self) -> Option<Choice> {
        let first = self.cards.first().filter(|_| self.cards.len() > 1)?;
        let best = || self.cards.iter().filter(|card| card.place == 1);
        let has_intervals = best().all(|card| card.has_intervals);
        // Behind another card of these, and perhaps not behind the first.
        let may_be_level =
            |card: &&Ranked| card.behind_first.is_some_and(|behind| behind.low <= 1.0);
        let is_alone = best().count() == 1;
        let (best, next): (Vec<&Ranked>, _) = if has_intervals && is_alone {
            let level = self.cards.iter().filter(|card| card.place > 1).filter(may_be_level);
            let is_behind = |card: &&Ranked| card.place > 1 && !may_be_level(card);
            (best().chain(level).collect(), self.cards.iter().find(is_behind))
        } else if has_intervals {
            (best().collect(), self.cards.iter().find(|card| card.place > 1))
        } else {
            (vec![first], self.cards.get(1))
        };
        let priced = || self.cards.iter().filter_map(|card| Some((card, card.value_for_price?)));
        let best_value =
            priced().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| priced().count() > 1);
        Some(Choice {
            has_intervals,
            best: best.iter().map(|card| card.name.clone()).collect(),
            next: next.map(|card| card.name.clone()),
            reason: next.and_then(|next| decisive(first, next)),
            best_value: best_value.map(|(card, _)| card.name.clone()),
        })
    }
}

/// The part in which `next` loses the most time to `best`.
fn decisive(best: &Ranked, next: &Ranked) -> Option<Reason> {
    let parts = best.parts.iter().zip(&next.parts);
    let lost =
        |(best, next): &(&super::rank::Part, &super::rank::Part)| next.seconds - best.seconds;
    let (best, next) = parts.max_by(|a, b| lost(a).total_cmp(&lost(b)))?;
    let error = best.log_half_width.zip(next.log_half_width).map(|(best, next)| best.hypot(next));
    Some(Reason {
        column: best.column,
        best_rate: best.rate,
        next_rate: next.rate,
        is_certain: error.is_some_and(|error| (best.rate / next.rate).ln() > error),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Bases, Behind, Part, Use};
    use super::*;
    use cardproof_units::Bytes;

    fn card(name: &str, place: usize, behind: Option<f64>, rate: f64) -> Ranked {
        let part = Part {
            column: Column::SyncedWrite,
            rate,
            seconds: 1000.0 / rate,
            span_bytes: Bytes::gib(1),
            log_half_width: Some(0.3),
        };
        Ranked {
            name: name.to_owned(),
            value: part.seconds,
            between: None,
            has_intervals: true,
            place,
            is_told_apart: true,
            behind_first: behind.map(|low| Behind { times: 2.0 * low, low, high: None }),
            parts: vec![part],
            price: None,
            value_for_price: None,
        }
    }

    fn ranking(cards: Vec<Ranked>) -> Ranking {
        Ranking { by: Use::System, basis: Bases::default(), cards, is_one_span: true }
    }

    #[test]
    fn a_card_is_the_best_only_of_those_that_are_surely_behind_it() {
        let choice = |low| {
            let red = card("red", 2, Some(low), 500.0);
            ranking(vec![card("blue", 1, None, 600.0), red]).choice().unwrap()
        };
        assert_eq!((choice(1.02).best.len(), choice(1.02).next.as_deref()), (1, Some("red")));
        assert_eq!((choice(0.98).best.len(), choice(0.98).next), (2, None));
    }

    #[test]
    fn a_quantity_that_does_not_differ_for_certain_is_marked() {
        let is_certain = |rate| {
            let red = card("red", 2, Some(1.1), rate);
            let choice = ranking(vec![card("blue", 1, None, 600.0), red]).choice().unwrap();
            choice.reason.unwrap().is_certain
        };
        assert!(is_certain(200.0));
        assert!(!is_certain(500.0), "both may be off by 0.3 in the logarithm");
    }
}
