//! What is said where all records of a comparison are of one card: how it changed, and no winner.

use cardproof_rating::compare::{Comparison, Ratio, SameCard};

use super::sections::{beside_one, times};
use crate::clean::one_line;

/// Whether the records are of one card for certain, so that none of them is the better card.
pub(super) fn is_certain(comparison: &Comparison) -> bool {
    comparison.same_card == Some(SameCard::Certain)
}

/// What stands first: that it is one card, and how its rates changed.
pub(super) fn answer(comparison: &Comparison) -> Vec<String> {
    let count = count_in_words(comparison);
    let mut sentences = vec![format!(
        "The same card, measured {count}. The figures show how it changed, and not which card is better."
    )];
    sentences.extend(changes(comparison));
    sentences
}

/// That the cards may be one card.
pub(super) fn doubt(comparison: &Comparison) -> Option<String> {
    (comparison.same_card == Some(SameCard::Possible)).then(|| {
        format!(
            "These may be one card, measured {}: model, size and computer are the same, and they have no label. To \
             tell cards apart, give each a --label when you measure it.",
            count_in_words(comparison)
        )
    })
}

fn count_in_words(comparison: &Comparison) -> String {
    match comparison.cards.len() {
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// How many times as fast as the first measurement the second was; of more than two, where to read it.
fn changes(comparison: &Comparison) -> Option<String> {
    if comparison.cards.len() > 2 {
        return Some("Every rate relative to the first measurement: --details.".to_owned());
    }
    let ratio_of = |row: &cardproof_rating::compare::ComparedRow| {
        let ratio = row.cells.get(1)?.ratio?;
        Some(format!("{}: {}", one_line(&row.what.to_string()), in_words(ratio)))
    };
    let ratios: Vec<String> = comparison.rows.iter().filter_map(ratio_of).collect();
    let [first, second] = comparison.cards.as_slice() else { return None };
    let (first, second) = (one_line(first), one_line(second));
    Some(if ratios.is_empty() {
        "No rate of the two can be compared: they were measured in different ways (--details)."
            .to_owned()
    } else {
        format!("Rates of {second} relative to {first}: {}.", ratios.join("; "))
    })
}

fn in_words(ratio: Ratio) -> String {
    match ratio.between {
        Some([low, high]) => {
            format!("{} times ({} to {})", times(ratio.estimate), beside_one(low), beside_one(high))
        }
        None => format!("{} times", times(ratio.estimate)),
    }
}
