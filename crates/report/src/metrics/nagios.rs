//! The facts as a plugin of Nagios prints them: one line with the state, and performance data.
//!
//! Source: Monitoring Plugins Development Guidelines. Characters that separate parts of the line are in no name.

use cardproof_rating::signs::HealthVerdict;

use super::facts::{CardFacts, Facts, Known};

/// The state of a service. The number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginState {
    /// No sign of trouble.
    Ok = 0,
    /// Nothing is lost yet.
    Warning = 1,
    /// Data are at risk or lost.
    Critical = 2,
    /// There was nothing to judge by.
    Unknown = 3,
}

/// Days left from which on a card should be replaced soon.
const DAYS_LEFT_WARNING: f64 = 30.0;

/// The line for all cards of `facts`, and the state of the worst of them.
#[must_use]
pub fn nagios(facts: &Facts<'_>) -> (String, PluginState) {
    let state = facts.cards.iter().map(state).max_by_key(|state| gravity(*state));
    let state = state.unwrap_or(PluginState::Unknown);
    let words: Vec<String> = facts.cards.iter().map(in_words).collect();
    let figures: Vec<String> = facts.cards.iter().map(figures).collect();
    let word = match state {
        PluginState::Ok => "OK",
        PluginState::Warning => "WARNING",
        PluginState::Critical => "CRITICAL",
        PluginState::Unknown => "UNKNOWN",
    };
    let words = if words.is_empty() { "no storage was found".to_owned() } else { words.join("; ") };
    (format!("STORAGE {word} - {words} |{}\n", figures.concat()), state)
}

/// The order in which states of several cards count: what is not known is less than what is known to be bad.
const fn gravity(state: PluginState) -> u8 {
    match state {
        PluginState::Ok => 0,
        PluginState::Unknown => 1,
        PluginState::Warning => 2,
        PluginState::Critical => 3,
    }
}

fn state(card: &CardFacts<'_>) -> PluginState {
    let is_soon = card.life_left_high().is_ok_and(|left| left < DAYS_LEFT_WARNING * 86_400.0);
    let is_slower = card.is_slower() == Ok(1.0);
    match card.verdict() {
        Ok(HealthVerdict::CopyNow | HealthVerdict::Dead) => PluginState::Critical,
        Ok(HealthVerdict::WatchIt) => PluginState::Warning,
        _ if is_soon || is_slower => PluginState::Warning,
        Ok(_) => PluginState::Ok,
        Err(_) => PluginState::Unknown,
    }
}

fn in_words(card: &CardFacts<'_>) -> String {
    let verdict = card.verdict().map_or_else(
        |missing| format!("not known, because {}", missing.in_words()),
        |verdict| crate::signs::verdict_in_words(verdict).to_owned(),
    );
    let signs: Vec<String> = card.signs.weighty().take(2).map(crate::signs::short).collect();
    let signs = if signs.is_empty() { String::new() } else { format!(" ({})", signs.join(", ")) };
    plain(&format!("{} {verdict}{signs}", card.device))
}

/// The performance data of a card, each behind a blank: `'label'=value[unit]`. What is not known is `U`.
fn figures(card: &CardFacts<'_>) -> String {
    let errors = card.totals.errors;
    let figures: [(&str, Known, &str); 9] = [
        ("written", Ok(card.written_bytes()), "B"),
        ("read", Ok(card.read_bytes()), "B"),
        ("failed", Ok(errors.failed as f64), "c"),
        ("repeated", Ok(errors.repeated as f64), "c"),
        ("filesystem_errors", Ok(errors.filesystem as f64), "c"),
        ("life_used", card.life_used_high().map(|share| (share * 100.0).round()), "%"),
        ("life_left_min", card.life_left_low().map(f64::round), "s"),
        ("life_left_max", card.life_left_high().map(f64::round), "s"),
        ("request_time_ratio", card.request_time(), ""),
    ];
    let device = plain(card.device);
    let figure = |(name, value, unit): (&str, Known, &str)| match value {
        Ok(value) => format!(" '{device}_{name}'={value}{unit}"),
        Err(_) => format!(" '{device}_{name}'=U"),
    };
    figures.into_iter().map(figure).collect()
}

/// `text` without the characters that separate the parts of the line.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| !matches!(c, '|' | '\'' | '=');
    crate::one_line(text).chars().filter(is_plain).collect()
}
