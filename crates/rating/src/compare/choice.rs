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
}

impl Ranking {
    /// The answer of this order; `None` of a single card, which is compared with nothing.
    #[must_use]
    pub fn choice(&self) -> Option<Choice> {
        let first = self.cards.first().filter(|_| self.cards.len() > 1)?;
        let best = || self.cards.iter().filter(|card| card.place == 1);
        let has_intervals = best().all(|card| card.has_intervals);
        let (best, next): (Vec<&Ranked>, _) = if has_intervals {
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
    Some(Reason { column: best.column, best_rate: best.rate, next_rate: next.rate })
}
