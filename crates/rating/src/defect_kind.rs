//! The kinds of a defect, and their words.

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

impl DefectKind {
    /// In one or two words, such as `FAKE`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fake => "FAKE",
            Self::Damaged => "DAMAGED",
            Self::LosesData => "LOSES DATA",
            Self::Failing => "FAILING",
        }
    }
}
