//! A figure as another tool would print it.

use serde::{Deserialize, Serialize};

/// One figure in the unit of the tool whose method the run followed.
///
/// It follows from the phases and is kept beside them, because the way from one to the other is
/// the tool's and may be found nowhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What it is, in the tool's words.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// In [`unit`](Self::unit).
    pub value: f64,
    /// The unit as the tool writes it, such as `kB/s`, whatever the tool means by it.
    pub unit: String,
    /// What one of that unit is in bytes a second, where it is a rate of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_bytes_per_s: Option<f64>,
    /// The phases that it comes from; empty for one made of other figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<String>,
}

impl Figure {
    /// The figure in bytes a second, where it is a rate of bytes.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.unit_bytes_per_s.map(|unit| unit * self.value)
    }
}
