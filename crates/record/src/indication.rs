//! Indications: weaker than verdicts, from figures without an interval.
//!
//! They are separate from verdicts, so that no code confuses the two.

use serde::{Deserialize, Serialize};

/// The indication of a rule for a record whose figures have no intervals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Indication {
    /// The rule's name, such as `A1`.
    pub rule: String,
    /// The likely outcome.
    pub outcome: Likelihood,
    /// The reasons in words, most important first.
    pub basis: Vec<String>,
}

/// A likely outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Every figure is above its limit by more than the usual variation between runs.
    LikelyMeets,
    /// A figure is below its limit by more than the usual variation between runs.
    LikelyMisses,
    /// A figure is too close to its limit or missing, or an outcome of a newer version.
    #[serde(other)]
    Unclear,
}
