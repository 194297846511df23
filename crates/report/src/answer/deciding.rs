//! The figures that decide an answer that is not good, each beside its limit.

use cardproof_rating::answer::{BadPauses, Fast, TooLow};
use cardproof_rating::wording::bare;
use cardproof_rating::{FELT_PAUSE, Purpose, Quantity};

/// The figure that makes a use slow and the limit, in brackets; empty where it is not
/// slow. Of pauses the longest.
pub(super) fn deciding_figure(fast: &Fast, purpose: Purpose) -> String {
    let Fast::Measured { slow_by, bad_pauses, felt_pause, .. } = fast else { return String::new() };
    match (purpose, bad_pauses) {
        (Purpose::Pauses, None) => felt_pause.map_or_else(String::new, |longest| {
            format!(" (longest {longest}, limit {FELT_PAUSE})")
        }),
        (Purpose::Pauses, Some(BadPauses::Long(longest))) => {
            format!(" (longest {longest}, limit {})", BadPauses::LENGTH)
        }
        (Purpose::Pauses, Some(BadPauses::Share(share))) => {
            format!(
                " (it stood still {:.0} % of the time, limit {:.0} %)",
                100.0 * share,
                100.0 * BadPauses::SHARE
            )
        }
        _ => {
            let found = slow_by.iter().find(|(slow, _)| *slow == purpose);
            found.map_or_else(String::new, |(_, TooLow { quantity, reached, between, limit })| {
                let what = quantity_in_words(*quantity);
                match between {
                    None => format!(" ({what} {reached}, needs {limit})"),
                    Some((low, high)) => format!(
                        " ({what} {reached}, uncertain: {} to {}; fair needs {})",
                        bare(low),
                        bare(high),
                        bare(limit)
                    ),
                }
            })
        }
    }
}

/// A measured quantity as a verb or noun before its figure.
pub(super) const fn quantity_in_words(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::RandomRead => "reads",
        Quantity::RandomWrite => "writes",
        Quantity::SequentialWrite => "large writes",
    }
}
