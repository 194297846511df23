//! The published form of an identity: `cardproof.identity/1`; fields may come, none goes.

use serde::Serialize;

use super::{Identity, StorageSummary};

/// The name and version of the form.
pub const IDENTITY_SCHEMA: &str = "cardproof.identity/1";

/// One device's document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document<'a, Health> {
    /// The form: `cardproof.identity/1`.
    pub schema: &'static str,
    /// The version of the program that looked.
    pub cardproof: &'static str,
    /// What is known.
    #[serde(flatten)]
    pub identity: &'a Identity,
    /// What the signs of trouble in use mean together, with each sign.
    pub health: Health,
    /// The serial number; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// All storage of the machine.
    pub storage: &'a [StorageSummary],
}
