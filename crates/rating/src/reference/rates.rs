//! The small reads and writes of the published cards: what a card of one's own is seen among.

use cardproof_record::{OpName, Phase};
use cardproof_units::Iops;

use super::{ReferenceCard, references};
use crate::pick::Finding;

/// A published card with its random rates of 4 KiB, one operation at a time.
#[derive(Clone, Copy, Debug)]
pub struct PublishedRates {
    /// The card.
    pub card: &'static ReferenceCard,
    /// Reads, where they were published too.
    pub read: Option<Iops>,
    /// Writes.
    pub write: Iops,
}

/// All published cards of which the writes are known, the fastest first.
#[must_use]
pub fn published_rates() -> Vec<PublishedRates> {
    let mut all: Vec<PublishedRates> = references().iter().filter_map(rates).collect();
    all.sort_by(|one, other| other.write.0.total_cmp(&one.write.0));
    all
}

fn rates(card: &'static ReferenceCard) -> Option<PublishedRates> {
    let stated = |op| Finding::of_random_4k(&card.record, op, 1).stated(Phase::point_iops);
    Some(PublishedRates { card, read: stated(OpName::Read), write: stated(OpName::Write)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_cards_come_with_the_fastest_first_and_most_have_reads() {
        let all = published_rates();
        assert!(all.len() >= 40, "{}", all.len());
        assert!(all.windows(2).all(|pair| pair[0].write >= pair[1].write));
        let with_reads = all.iter().filter(|rates| rates.read.is_some()).count();
        assert!(with_reads * 2 > all.len(), "{with_reads}");
    }
}
