//! A figure as another tool would print it.

use serde::{Deserialize, Serialize};

/// One figure in the unit of the tool whose method the run followed.
///
/// It is computed from the phases. The record keeps it too, because the computation is the tool's own
/// and may not be documented elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Its name in the tool's output.
    pub name: String,
    /// The tool.
    pub tool: String,
    /// In [`unit`](Self::unit).
    pub value: f64,
    /// The unit as the tool prints it, such as `kB/s`.
    pub unit: String,
    /// One unit in bytes a second, if it is a rate of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_bytes_per_s: Option<f64>,
    /// The phases that it is computed from; empty if it is computed from other figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<String>,
}

impl Figure {
    /// The figure in bytes a second, if it is a rate of bytes.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.unit_bytes_per_s.map(|unit| unit * self.value)
    }
}
