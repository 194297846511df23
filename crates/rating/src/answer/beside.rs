//! What `check` saw beside its measurements, as its records keep it, so that a record answers as the check did.

use cardproof_record::Record;
use serde::{Deserialize, Serialize};

use super::{Earlier, PowerFacts, Untested};
use crate::signs::Signs;

/// What `check` saw beside its measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenBeside {
    /// The signs of trouble in use.
    pub signs: Signs,
    /// What is known of the power.
    pub power: PowerFacts,
    /// Why the capacity was not tested, where it was not.
    #[serde(default)]
    pub untested: Untested,
    /// What failed, where that test could not be completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What an earlier test of the card found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

impl SeenBeside {
    /// What the check of `record` saw; `None` of a record that no check made, and of one whose form is of a newer
    /// version.
    #[must_use]
    pub fn of_record(record: &Record) -> Option<Self> {
        serde_json::from_value(record.seen_beside.clone()?).ok()
    }

    /// The same as a record keeps it.
    #[must_use]
    pub fn kept(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}
