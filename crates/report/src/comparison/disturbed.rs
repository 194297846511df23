//! Which tests of which cards were disturbed, of those that a use weighs.

use cardproof_rating::compare::{CardFigure, CardFigures, Comparison, Use};
use cardproof_rating::wording;
use cardproof_record::DisturbanceKind;

use crate::clean::one_line;

/// The names of the cards of which tests that `wanted` weighs were disturbed.
pub(super) fn names(comparison: &Comparison, wanted: Use) -> Vec<&str> {
    let is_disturbed = |card: &&CardFigures| of(card, wanted).next().is_some();
    comparison.figures.iter().filter(is_disturbed).map(|card| card.name.as_str()).collect()
}

/// The disturbed tests of all cards with what disturbed them; `None` where there are none.
pub(super) fn note(comparison: &Comparison, wanted: Use) -> Option<String> {
    // The tests, and the cards of which these were disturbed.
    let mut cards: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for card in &comparison.figures {
        let columns: Vec<&str> = of(card, wanted).map(|figure| figure.column.label()).collect();
        match cards.iter_mut().find(|(known, _)| *known == columns) {
            _ if columns.is_empty() => {}
            Some((_, names)) => names.push(one_line(&card.name)),
            None => cards.push((columns, vec![one_line(&card.name)])),
        }
    }
    if cards.is_empty() {
        return None;
    }
    let told = cards.iter().map(|(columns, names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{} ({})", wording::list(&names), columns.join(", "))
    });
    let told: Vec<String> = told.collect();
    let mut causes: Vec<&str> = Vec::new();
    for kind in comparison.figures.iter().flat_map(|card| of(card, wanted)).flat_map(kinds) {
        if !causes.contains(&words(*kind)) {
            causes.push(words(*kind));
        }
    }
    let is_by_programs = causes.contains(&words(DisturbanceKind::OtherIo));
    let cure = if is_by_programs { " Close other programs, and measure these again." } else { "" };
    Some(format!(
        "Disturbed by {}: {}. Undisturbed, these may be faster.{cure}",
        wording::list(&causes),
        told.join("; ")
    ))
}

/// The disturbed figures of `card` that `wanted` weighs.
fn of(card: &CardFigures, wanted: Use) -> impl Iterator<Item = &CardFigure> {
    let is_weighed = move |figure: &&CardFigure| {
        let mut weights = wanted.weights().iter();
        weights.any(|weight| weight.column.of_table() == figure.column)
    };
    card.figures.iter().filter(is_weighed).filter(|figure| !figure.disturbed_by.is_empty())
}

fn kinds(figure: &CardFigure) -> &[DisturbanceKind] {
    &figure.disturbed_by
}

const fn words(kind: DisturbanceKind) -> &'static str {
    match kind {
        DisturbanceKind::OtherIo | DisturbanceKind::CpuByOthers => "other programs",
        DisturbanceKind::Heat => "heat",
        DisturbanceKind::UnderVoltage => "too low a supply voltage",
        DisturbanceKind::ClockChanged => "a lowered clock",
        DisturbanceKind::Other => "other work",
    }
}

#[cfg(test)]
mod tests {
    use cardproof_rating::Grade;
    use cardproof_rating::compare::{Contender, Pairing, compare};
    use cardproof_record::DisturbanceFigures;
    use cardproof_testkit::records;
    use cardproof_units::Bytes;

    use super::*;
    use crate::comparison::{View, comparison_text};

    /// A card beside a slow one with all tests disturbed by `figures`, and what `check` calls the two.
    fn text_with(figures: &DisturbanceFigures, grades: Option<[Grade; 2]>) -> String {
        let card = records::typical_a1_card();
        let mut disturbed = records::slow_class4();
        disturbed.conditions.host = card.conditions.host.clone();
        for phase in &mut disturbed.phases {
            phase.disturbances = vec![figures.clone().into()];
        }
        let contender = |name: &str, record| Contender {
            name: name.to_owned(),
            runs: vec![record],
            price: None,
        };
        let cards = [contender("one", &card), contender("other", &disturbed)];
        let mut comparison = compare(&cards, Pairing::Independent, 1);
        for (card, grade) in comparison.figures.iter_mut().zip(grades.into_iter().flatten()) {
            card.system_grade = Some(grade);
        }
        let view = View { wanted: Use::System, has_details: false };
        let text = comparison_text(&comparison, view, 100, false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn text(figures: &DisturbanceFigures) -> String {
        text_with(figures, None)
    }

    fn by_programs() -> DisturbanceFigures {
        let (read_bytes, written_bytes) = (Bytes::mib(64), Bytes::mib(64));
        let device = "mmcblk0".to_owned();
        DisturbanceFigures::Used { device, read_bytes, written_bytes, requests: None }
    }

    #[test]
    fn a_disturbed_card_is_not_called_worse_and_is_named() {
        let text = text(&by_programs());
        assert!(text.contains("one and other cannot be told apart"), "{text}");
        assert!(text.contains("Some of their tests were disturbed"), "{text}");
        let told = "Disturbed by other programs: other (4 KiB random read, 4 KiB random write).";
        assert!(text.contains(told) && text.contains("Close other programs"), "{text}");
        assert!(!text.contains("--repeat"), "repeating does not stop other programs: {text}");
    }

    #[test]
    fn what_heat_cannot_have_cost_is_a_difference_and_no_program_is_to_blame() {
        let text = text(&DisturbanceFigures::Heat { celsius: Some(82.0) });
        assert!(text.contains("one is the best"), "{text}");
        assert!(text.contains("Disturbed by heat: other ("), "{text}");
        assert!(!text.contains("Close other programs"), "{text}");
    }

    #[test]
    fn cards_of_one_rank_that_check_grades_differently_are_told_why() {
        let told = text_with(&by_programs(), Some([Grade::Good, Grade::Fair]));
        let grades =
            "`check` grades by the weakest use: one good and other fair. This order adds up";
        assert!(told.contains(grades), "{told}");
        let told = text_with(&by_programs(), Some([Grade::Good, Grade::Good]));
        assert!(!told.contains("`check` grades"), "{told}");
    }
}
