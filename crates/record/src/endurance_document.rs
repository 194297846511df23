//! What `cardproof endure --json` writes, for scripts.

use std::collections::BTreeMap;

use cardproof_units::Bytes;
use serde::Serialize;

use crate::StoppedBy;

/// The form of a document on one card.
pub const ENDURE_SCHEMA: &str = "cardproof.endure/1";

/// The form of a document on several cards.
pub const ENDURE_CARDS_SCHEMA: &str = "cardproof.endure-cards/1";

/// A run on one card.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndureDocument {
    /// The form's name and version.
    pub schema: &'static str,
    /// What the card is.
    pub device: String,
    /// Where each cycle writes.
    pub pattern: String,
    /// Cycles that were written and read back in full.
    pub cycles: u64,
    /// The cycle in which each milestone was reached, or null.
    pub milestones: BTreeMap<String, Option<u64>>,
    /// How the card has ended: `read_only`, `silently_wrong`, `ignores_writes`, `times_out`, `shrinks`,
    /// `gone` or `unreadable`; null while it lives.
    pub end: Option<String>,
    /// Why the run has stopped.
    pub stopped_by: StoppedBy,
    /// The bad share of the pages, 0 to 1.
    pub bad_share: f64,
    /// The life in cycles of the pattern.
    pub life_cycles: LifeInterval,
    /// The life in days, where the user's bytes a day were given.
    pub life_days: Option<LifeDays>,
    /// The verdict on the budget, where one was given.
    pub budget: Option<BudgetVerdict>,
    /// Bytes that each cycle writes.
    pub cycle_bytes: Bytes,
    /// Bytes written in all sessions.
    pub bytes_written: Bytes,
    /// Failures that a second attempt did not show; they count for nothing.
    pub transient_errors: u64,
    /// Times in which the whole device failed and came back; they count for nothing.
    pub host_errors: u64,
    /// What the figures mean, in sentences.
    pub reasons: Vec<String>,
    /// The name of the record.
    pub record: String,
}

/// A life with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LifeInterval {
    /// The most likely number of cycles; null where there is a lower bound only.
    pub estimate: Option<f64>,
    /// The lower end.
    pub low: f64,
    /// The upper end; null where nothing bounds it.
    pub high: Option<f64>,
    /// The confidence of the interval.
    pub confidence: f64,
    /// The bad share that ends a life.
    pub milestone: &'static str,
    /// On what it rests: `observed`, `extrapolated`, `no_errors`, or `first_cycle` for a card that failed in its
    /// first cycle, whose life is unknown.
    pub basis: &'static str,
}

/// Days until a life is used up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LifeDays {
    /// The most likely number; null where there is a lower bound only.
    pub estimate: Option<f64>,
    /// The lower end.
    pub low: f64,
    /// The upper end; null where nothing bounds it.
    pub high: Option<f64>,
    /// What the host writes in a day.
    pub bytes_per_day: Bytes,
    /// Bytes that the card writes for each byte of the host.
    pub write_amplification: f64,
    /// Whether the amplification is assumed or counted: `assumed`.
    pub write_amplification_is: &'static str,
}

/// Whether a card has borne what it had to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetVerdict {
    /// What it had to bear.
    pub bytes: Bytes,
    /// Whether it did; null where the run stopped before.
    pub passed: Option<bool>,
    /// With 95 % confidence at most this share of the model's cards fails within the budget; one card
    /// that passed excludes little.
    pub failing_share_of_cards_max: Option<f64>,
    /// The life in cycles is above this.
    pub life_cycles_above: u64,
}

/// Runs on several cards.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndureCardsDocument {
    /// The form's name and version.
    pub schema: &'static str,
    /// Each card.
    pub cards: Vec<EndureDocument>,
    /// What the cards of one model say of the model.
    pub models: Vec<ModelDocument>,
}

/// A model of which several cards were worn out or are being worn out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelDocument {
    /// What the cards call themselves.
    pub model: String,
    /// How many there are.
    pub cards: usize,
    /// How many are at the end of their life.
    pub ended: usize,
    /// The cycles that half of the cards reach.
    pub median_life_cycles: LifeInterval,
    /// The exponent of the Weibull distribution; null where fewer than two cards have ended.
    pub weibull_shape: Option<f64>,
    /// The cycles after which 63.2 % have failed; null as above.
    pub weibull_scale_cycles: Option<f64>,
    /// Every card has lasted so many cycles.
    pub all_lasted_cycles: f64,
    /// With 95 % confidence at most this share of the model's cards fails before that.
    pub failing_share_before_max: f64,
}
