//! The position of a card among the published ones.
//!
//! A position among cards that were measured with other methods or on other hosts is a rough comparison
//! and no rank; the differences are named with it.

use cardproof_record::{OpName, Record};
use serde::Serialize;

use super::likeness::{Difference, differences};
use super::shape::{Measured, Shape};
use crate::reference::references;

/// The position of one figure among those of published cards.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Position {
    /// What was measured, such as `4 KiB random write, depth 1`.
    pub what: Shape,
    /// The number of published cards with a lower figure.
    pub faster_than: usize,
    /// The number of published cards in the comparison.
    pub of: usize,
    /// Whether all of them were measured with the same method on the same kind of host.
    pub is_like_with_like: bool,
    /// The differences from the others, in words; empty if there are none.
    pub differs_in: Vec<DiffersIn>,
}

/// In what a card differs from others, whatever the values.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffersIn(pub Difference);

/// The places of the 4 KiB random read and write, one at a time, of `record` among all published
/// cards: only those that were measured alike where there are at least five, else all of them.
#[must_use]
pub fn positions(record: &Record) -> Vec<Position> {
    [OpName::Read, OpName::Write]
        .into_iter()
        .filter_map(|op| position(&Shape::random_4k(op), record))
        .collect()
}

/// Among fewer alike cards than this a place says little.
const ALIKE_MIN: usize = 5;

fn position(shape: &Shape, record: &Record) -> Option<Position> {
    let own = Measured::new(shape, &[record])?;
    let others: Vec<Measured<'_>> =
        references().iter().filter_map(|card| Measured::new(shape, &[&card.record])).collect();
    let alike: Vec<&Measured<'_>> =
        others.iter().filter(|other| differences(&own, other).is_empty()).collect();
    let is_like_with_like = alike.len() >= ALIKE_MIN;
    let among: Vec<&Measured<'_>> = if is_like_with_like { alike } else { others.iter().collect() };
    let differs_in = if is_like_with_like { Vec::new() } else { kinds_of_difference(&own, &among) };
    Some(Position {
        what: shape.clone(),
        faster_than: among.iter().filter(|other| own.rate() > other.rate()).count(),
        of: among.len(),
        is_like_with_like,
        differs_in,
    })
}

/// In what `own` differs from `others`, each once and without its values.
fn kinds_of_difference(own: &Measured<'_>, others: &[&Measured<'_>]) -> Vec<DiffersIn> {
    let mut kinds: Vec<DiffersIn> = Vec::new();
    for difference in others.iter().flat_map(|other| differences(own, other)) {
        if !kinds.iter().any(|known| known.0.is_in_the_same(&difference)) {
            kinds.push(DiffersIn(difference));
        }
    }
    kinds
}
