//! Whether what is compared is one card, measured several times: then none of the measurements is the better card.
//!
//! A record holds no serial number, so the label tells, which the user has given to the card. Records without a label are
//! of one card for certain only where the card is simulated.

use cardproof_record::Record;
use serde::Serialize;

use super::Contender;
use crate::reference::is_published;

/// How sure it is that all records are of one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SameCard {
    /// They may be of two cards of one model: they have no label, and all that is known of the card is the same.
    Possible,
    /// They have the same label and are of the same model and size, or they are of one simulated card.
    Certain,
}

/// Whether all records of `cards` are of one card; `None` where nothing says so.
pub(super) fn same_card(cards: &[Contender<'_>]) -> Option<SameCard> {
    let mut records = cards.iter().flat_map(|card| card.runs.iter().copied());
    let first = records.next().filter(|_| cards.len() > 1)?;
    // The least sure of them, and none where one is of another card.
    records.try_fold(SameCard::Certain, |sure, record| Some(sure.min(of_two(first, record)?)))
}

fn of_two(a: &Record, b: &Record) -> Option<SameCard> {
    let [one, other] = [a, b].map(|record| &record.conditions.device);
    let is_alike = (&one.model, one.size_bytes) == (&other.model, other.size_bytes);
    let is_simulated = a.is_simulated() && b.is_simulated();
    let is_known = one.model.is_some() || one.card.is_some() || one.name.is_some();
    let is_of_others = is_published(a) || is_published(b) || a.is_imported() || b.is_imported();
    if !is_alike || is_of_others || a.is_simulated() != b.is_simulated() {
        return None;
    }
    let is_one_simulated = is_simulated && one.name.is_some() && one.name == other.name;
    match (&a.label, &b.label) {
        (Some(a), Some(b)) if a != b => None,
        _ if is_simulated => is_one_simulated.then_some(SameCard::Certain),
        (Some(_), Some(_)) => Some(SameCard::Certain),
        (None, None) => {
            let is_same = is_known && one == other && a.conditions.host == b.conditions.host;
            is_same.then_some(SameCard::Possible)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cardproof_record::TargetKind;
    use cardproof_units::Bytes;

    use super::*;

    fn record(label: Option<&str>, model: &str, kind: TargetKind) -> Record {
        let mut record = cardproof_testkit::records::typical_a1_card();
        record.label = label.map(str::to_owned);
        record.conditions.target.kind = kind;
        let device = &mut record.conditions.device;
        device.name = Some(format!("name of {model}"));
        device.model = Some(model.to_owned());
        device.size_bytes = Some(Bytes::gib(32));
        record
    }

    #[test]
    fn a_label_tells_the_card_and_a_model_alone_does_not() {
        use SameCard::{Certain, Possible};
        let (real, simulated) = (TargetKind::Directory, TargetKind::Simulated);
        let cases = [
            (Some("red"), "a", Some("red"), "a", real, Some(Certain)),
            (Some("red"), "a", Some("red"), "b", real, None),
            (Some("red"), "a", Some("blue"), "a", real, None),
            (None, "a", None, "a", real, Some(Possible)),
            (None, "a", None, "b", real, None),
            (Some("red"), "a", None, "a", real, None),
            (None, "a", None, "a", simulated, Some(Certain)),
            (Some("red"), "a", None, "a", simulated, Some(Certain)),
            (Some("red"), "a", Some("blue"), "a", simulated, None),
        ];
        for (label, model, other_label, other_model, kind, expected) in cases {
            let records = [record(label, model, kind), record(other_label, other_model, kind)];
            let cards = records.each_ref().map(|record| Contender {
                name: "card".to_owned(),
                runs: vec![record],
                price: None,
            });
            assert_eq!(
                same_card(&cards),
                expected,
                "{label:?} {model}, {other_label:?} {other_model}"
            );
            assert_eq!(same_card(&cards[..1]), None);
        }
    }
}
