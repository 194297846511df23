//! Indications: what figures without an interval make likely, and never more.
//!
//! They stand apart from verdicts, so that nothing takes one for the other.

use serde::{Deserialize, Serialize};

/// What a rule makes likely of a record whose figures have no intervals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Indication {
    /// The rule's name, such as `A1`.
    pub rule: String,
    /// What is likely.
    pub outcome: Likelihood,
    /// On which figures it rests, in words, weightiest first.
    pub basis: Vec<String>,
}

/// What can be likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Every figure is further above its limit than cards vary from run to run.
    LikelyMeets,
    /// A figure is further below its limit than cards vary.
    LikelyMisses,
    /// Too near a limit, or a figure is missing; also whatever a later version calls likely.
    #[serde(other)]
    Unclear,
}
