//! Why a storage is not to be recommended, in words.

use serde::{Serialize, Serializer};

use crate::defect::{Defect, Found};
use crate::defect_kind::DefectKind;

use super::findings::in_short;

impl Defect {
    /// What was found, without a full stop, such as `FAKE: holds 8 GiB of 64 GiB`.
    #[must_use]
    pub fn words(&self) -> String {
        let kind = self.kind.word();
        match found_in_words(&self.what) {
            Some(what) => self.told(&format!("{kind}: {what}")),
            None => self.told(kind),
        }
    }

    /// The same without the word of its kind; empty where that says all.
    #[must_use]
    pub fn what_in_words(&self) -> String {
        self.told(&found_in_words(&self.what).unwrap_or_default())
    }

    fn told(&self, words: &str) -> String {
        let by =
            if self.is_of_another_record { " (by another record with this label)" } else { "" };
        format!("{words}{by}")
    }
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

/// What was found, in a few words; `None` where the kind says all.
fn found_in_words(found: &Found) -> Option<String> {
    let words = match found {
        Found::KindAlone => return None,
        Found::LessCapacity(capacity) => return Some(capacity.held()),
        Found::ByTool(what) => return Some(in_short(what)),
        Found::QueueCorrupts => "its queue corrupts data",
        Found::WrongData => "test data came back wrong",
        Found::RequestsFailed => "requests failed with errors",
        Found::DiscardsDestroy => "discards destroy data",
        Found::DiscardsReturnOldData => "discards bring old data back",
        Found::Signs => "signs of failure when it was checked",
        Found::FirstCycle => "it failed in the first cycle of a test, as a fake does",
        Found::WornOut => "a test has worn it out",
    };
    Some(words.to_owned())
}

/// Why a storage is not to be recommended.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Defect"))]
struct Told {
    /// Its kind.
    kind: DefectKind,
    /// What was found, without a full stop, such as `FAKE: holds 8 GiB of 64 GiB`.
    words: String,
}

impl Serialize for Defect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Told { kind: self.kind, words: self.words() }.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Defect {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Told::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Told::json_schema(generator)
    }
}
