//! The kinds of a defect.

use serde::Serialize;

/// The kind of a defect, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DefectKind {
    /// It holds less than it announces.
    Fake,
    /// Parts of it do not keep data.
    Damaged,
    /// Data came back wrong.
    LosesData,
    /// It fails, or is worn out.
    Failing,
}
