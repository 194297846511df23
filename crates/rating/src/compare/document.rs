//! The published form of a comparison.

use serde::Serialize;

use super::{Bases, Choice, Comparison, Use};

/// The name and version of the form.
pub const COMPARISON_SCHEMA: &str = "cardproof.comparison/1";

/// A comparison as it is handed to other programs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document<'c> {
    /// The form: `cardproof.comparison/1`.
    pub schema: &'static str,
    /// The use that was asked for.
    #[serde(rename = "use")]
    pub wanted: Use,
    /// The answer of each order by that use, the order of most cards first.
    pub answers: Vec<Answer>,
    /// The comparison that they rest on.
    #[serde(flatten)]
    pub comparison: &'c Comparison,
}

/// The answer among the cards of one basis.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// How these cards were measured.
    pub basis: Bases,
    /// The best of them.
    #[serde(flatten)]
    pub choice: Choice,
}

impl<'c> Document<'c> {
    /// The document of `comparison` with the answers for `wanted`.
    #[must_use]
    pub fn new(comparison: &'c Comparison, wanted: Use) -> Self {
        let rankings = comparison.rankings.iter().filter(|ranking| ranking.by == wanted);
        let answers = rankings
            .filter_map(|it| Some(Answer { basis: it.basis.clone(), choice: it.choice()? }))
            .collect();
        Self { schema: COMPARISON_SCHEMA, wanted, answers, comparison }
    }
}
