//! The result for people: the life first, then what was seen.

use std::fmt::Write;

use cardproof_rating::{life, wording};
use cardproof_record::{EndureDocument, LifeInterval, ModelDocument, Record};

/// The page of all cards and models.
pub(super) fn page(
    records: &[Record],
    documents: &[EndureDocument],
    models: &[ModelDocument],
) -> String {
    let mut text = String::new();
    for (record, document) in records.iter().zip(documents) {
        let _ = writeln!(text, "\n{}", headline(record, document));
        let is_part = !life::tested(record).is_empty();
        card(&mut text, document, is_part);
    }
    for model in models {
        of_model(&mut text, model);
    }
    text
}

/// One sentence on a card.
pub(super) fn headline(record: &Record, document: &EndureDocument) -> String {
    let result = record.endurance().map_or_else(String::new, life::result);
    format!("{}: {result}{}.", document.device, life::tested(record))
}

/// What is known of the life of a card, or of the part of it that was tested.
fn card(text: &mut String, document: &EndureDocument, is_part: bool) {
    if let Some(life) = life::life_in_words(&document.life_cycles) {
        let _ = writeln!(text, "  {}.", wording::sentence(&life));
    }
    if let Some(days) = &document.life_days {
        let what = if is_part {
            format!("the tested {} alone would last", document.cycle_bytes)
        } else {
            "the card lasts".to_owned()
        };
        let _ = writeln!(
            text,
            "  At {} a day, {what} {} days, if small writes of daily use wear its flash {} times as much as this \
             test (an assumption).",
            days.bytes_per_day.as_typed(),
            range(days.estimate, days.low, days.high),
            days.write_amplification
        );
    }
    let shown = [
        ("first_error", "first error"),
        ("0.1%", "0.1%"),
        ("1%", "1%"),
        ("10%", "10%"),
        ("25%", "25%"),
        ("50%", "50%"),
    ];
    let reached: Vec<(&str, u64)> = shown
        .iter()
        .filter_map(|(name, words)| {
            Some((*words, document.milestones.get(*name).copied().flatten()?))
        })
        .collect();
    if let [(_, first), _, ..] = reached[..]
        && reached.iter().all(|(_, cycle)| *cycle == first)
    {
        let _ = writeln!(text, "  All errors came in cycle {first}.");
    } else if !reached.is_empty() {
        let in_words = reached.iter().map(|(words, cycle)| format!("{words} in cycle {cycle}"));
        let _ = writeln!(text, "  Bad: {}.", in_words.collect::<Vec<_>>().join(", "));
    }
    for reason in &document.reasons {
        let _ = writeln!(text, "  - {}.", wording::sentence(reason));
    }
    let _ = writeln!(text, "  Written {}.", document.bytes_written);
}

fn of_model(text: &mut String, model: &ModelDocument) {
    let _ =
        writeln!(text, "\n{}: {} cards, {} at their end.", model.model, model.cards, model.ended);
    let _ = writeln!(text, "  Half of them last {}.", cycles(&model.median_life_cycles));
    let _ = writeln!(
        text,
        "  All have lasted {:.0} cycles: with 95 % confidence, at most {:.0} % of the model fail before.",
        model.all_lasted_cycles,
        model.failing_share_before_max * 100.0
    );
}

fn cycles(life: &LifeInterval) -> String {
    format!("{} cycles", range(life.estimate, life.low, life.high))
}

/// A figure with its interval, or its lower bound.
fn range(estimate: Option<f64>, low: f64, high: Option<f64>) -> String {
    let low_text = number(low);
    match (estimate, high) {
        (Some(estimate), Some(high)) if low_text != number(high) => {
            format!("{} ({low_text} to {}, 95 %)", number(estimate), number(high))
        }
        (Some(estimate), Some(_)) => number(estimate),
        (Some(estimate), None) => format!("{} (at least {low_text}, 95 %)", number(estimate)),
        (None, _) => format!("more than {low_text}"),
    }
}

/// Small figures that are not whole keep a digit, those below 1 three.
fn number(value: f64) -> String {
    match value {
        value if value < 1.0 && value > 0.0 => format!("{}", (value * 1000.0).round() / 1000.0),
        value if value < 10.0 && value.fract() > 0.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_bound_is_not_told_as_a_figure() {
        assert_eq!(range(None, 500.0, None), "more than 500");
        assert_eq!(range(Some(900.0), 700.0, Some(1200.0)), "900 (700 to 1200, 95 %)");
        assert_eq!(range(Some(900.0), 900.0, Some(900.0)), "900");
        assert_eq!(range(Some(148.8), 148.6, Some(149.1)), "149");
        assert_eq!(range(Some(0.5), 0.5, Some(0.5)), "0.5");
        assert_eq!(range(None, 0.05, None), "more than 0.05");
    }
}
