//! The strata of the experiment: how far a card's worst rate lies from its limit, and how the card
//! behaves.

use super::card::{Card, Traits};
use super::class::Class;

/// Ranges of the worst rate as a part of its limit; a point has one end only.
pub(super) const STRATA: [(&str, f64, f64); 16] = [
    ("0.3 to 0.5", 0.3, 0.5),
    ("0.5", 0.5, 0.5),
    ("0.5 to 0.8", 0.5, 0.8),
    ("1 / 1.5", 1.0 / 1.5, 1.0 / 1.5),
    ("1 / 1.2", 1.0 / 1.2, 1.0 / 1.2),
    ("0.8 to 0.95", 0.8, 0.95),
    ("0.95 to 0.98", 0.95, 0.98),
    ("0.98 to 1", 0.98, 1.0),
    ("1 to 1.02", 1.0, 1.02),
    ("1.02 to 1.05", 1.02, 1.05),
    ("1.05 to 1.2", 1.05, 1.2),
    ("1.2", 1.2, 1.2),
    ("1.2 to 1.5", 1.2, 1.5),
    ("1.5", 1.5, 1.5),
    ("1.5 to 3", 1.5, 3.0),
    ("2", 2.0, 2.0),
];

/// The limits by name, in the order of their numbers.
pub(super) const LIMITS: [&str; 3] = ["random read", "random write", "sequential write"];

/// The kinds of behaviour, of which a card can have several.
pub(super) const BEHAVIOURS: [&str; 4] =
    ["steady but for jitter", "with pauses", "with drift", "with a cliff in what is written"];

/// Which of [`BEHAVIOURS`] a card has.
pub(super) fn behaviours(traits: &Traits) -> [bool; 4] {
    // The cache fills up within the 320 MiB that a verdict may write.
    let has_cliff = traits.slc.is_some_and(|(size, _)| size < 320.0 * 1_048_576.0);
    let (pauses, drift) = (traits.pauses.is_some(), traits.drift.is_some());
    [!pauses && !drift && !has_cliff, pauses, drift, has_cliff]
}

/// Which limit of `class` the card is worst at, and how far it reaches it.
pub(super) fn worst(card: &Card, class: &Class) -> (usize, f64) {
    let ratios = card.truth.ratios(class);
    ratios.into_iter().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}
