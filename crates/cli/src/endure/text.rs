//! The result for people: the life first, then what was seen.

use std::fmt::Write;

use cardproof_rating::wording;
use cardproof_rating::words::life;
use cardproof_record::{EndureDocument, LifeInterval, ModelDocument, Record};
use cardproof_units::{rounded_down, rounded_up};

/// The page of all cards and models.
pub(super) fn page(
    records: &[Record],
    documents: &[EndureDocument],
    models: &[ModelDocument],
) -> String {
    let mut text = String::new();
    for (record, document) in records.iter().zip(documents) {
        let _ = writeln!(text, "\n{}", headline(record, document));
        card(&mut text, document, &life::who(record));
    }
    for model in models {
        of_model(&mut text, model);
    }
    text
}

/// One sentence on a card.
pub(super) fn headline(record: &Record, document: &EndureDocument) -> String {
    let result = record.endurance().map_or_else(String::new, life::result);
    let simulated = if record.is_simulated() { " (simulated)" } else { "" };
    format!("{}{simulated}: {result}{}.", document.device, life::tested(record))
}

/// What is known of the life of a card, or of the part of it that was tested.
fn card(text: &mut String, document: &EndureDocument, who: &str) {
    if let Some(life) = life::life_in_words(&document.life_cycles) {
        let _ = writeln!(text, "  {}.", wording::sentence(&life));
    }
    if let Some(days) = &document.life_days {
        let _ = writeln!(text, "  {}.", wording::sentence(&life::days_in_words(days, who)));
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
    let _ = writeln!(text, "  Written in total: {}.", document.bytes_written);
}

fn of_model(text: &mut String, model: &ModelDocument) {
    let _ =
        writeln!(text, "\n{}: {} cards, {} at their end.", model.model, model.cards, model.ended);
    let _ = writeln!(text, "  Half of them last {}.", cycles(&model.median_life_cycles));
    let _ = writeln!(
        text,
        "  All have lasted {} cycles: with 95 % confidence, at most {} % of the model fail before.",
        rounded_down(model.all_lasted_cycles, 0),
        rounded_up(model.failing_share_before_max * 100.0, 0)
    );
}

fn cycles(life: &LifeInterval) -> String {
    format!("{} cycles", life::range(life.estimate, life.low, life.high))
}
