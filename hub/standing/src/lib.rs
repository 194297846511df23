//! The order of cards from what many submitters measured, of whom some lie.
//!
//! Every submitter has one vote for a card on a board: the median of what it measured. A card's figure is found from all
//! votes of all boards together, by a model with four spreads: of cards around the mean, of a card from board to board,
//! of votes around their card, and of lies. It begins with medians, and finds spreads and lies by expectation and
//! maximisation (Dempster, Laird and Rubin, 1977). What a card has on other boards is the prior of what it has on this
//! one (shrinkage), so that a single vote cannot lift a known card.
//!
//! It also finds out whether a model changed at some month of making.
//!
//! This crate only computes: figures come in as logarithms, so that errors are factors, and submitters, cards and boards
//! as numbers.

mod change;
mod fit;
mod normal;
mod order;
mod posterior;

pub use change::{Change, Made, change};
pub use fit::{Fit, Spreads};
pub use order::places;
pub use posterior::Estimate;

/// What a submitter says of a card on a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    /// The submitter.
    pub submitter: u64,
    /// The card.
    pub card: usize,
    /// The board.
    pub board: usize,
    /// The logarithm of the figure.
    pub value: f64,
}

/// The median of `values`, which are sorted by this; none where there are none.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let is_even = values.len().is_multiple_of(2);
    Some(if is_even { f64::midpoint(values[values.len() / 2 - 1], upper) } else { upper })
}
