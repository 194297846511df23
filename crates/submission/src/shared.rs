//! The published form of what became of shared records: `cardproof.shared/1`, the answer of `submit --json`.

use serde::Serialize;

/// The name and version of the form.
pub const SHARED_SCHEMA: &str = "cardproof.shared/1";

/// The answer of `submit --json`: one document for one record, an array for several.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SharedDocument {
    /// Of one record.
    One(SharedRecord),
    /// Of several.
    Several(#[cfg_attr(feature = "schema", schemars(length(min = 2)))] Vec<SharedRecord>),
}

impl SharedDocument {
    /// The document of `records`; nothing where there is none.
    #[must_use]
    pub fn new(mut records: Vec<SharedRecord>) -> Option<Self> {
        match records.len() {
            0 => None,
            1 => records.pop().map(Self::One),
            _ => Some(Self::Several(records)),
        }
    }
}

/// What became of one record.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SharedRecord {
    /// The hub has it.
    Shared(Shared),
    /// It is to be sent later.
    Queued(Queued),
}

/// A record that the hub has.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Shared {
    /// Name and version of this form.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SHARED_SCHEMA)))]
    schema: &'static str,
    /// The token that amends or deletes it.
    token: String,
    /// The address of the shared record.
    url: String,
    /// It is in no list of the hub before an administrator has looked at it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
    waits: bool,
}

/// A record that is to be sent later.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Queued {
    /// The hub could not be reached; the record is kept.
    #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
    queued: bool,
    /// Why it could not be reached.
    reason: String,
    /// Name and version of this form.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SHARED_SCHEMA)))]
    schema: &'static str,
    /// The hub.
    to: String,
}

impl SharedRecord {
    /// A record that is on the hub at `url`, and that `token` amends; it may be one that `waits`.
    #[must_use]
    pub const fn shared(url: String, token: String, waits: bool) -> Self {
        Self::Shared(Shared { schema: SHARED_SCHEMA, token, url, waits })
    }

    /// A record that the hub `to` did not get, for this `reason`.
    #[must_use]
    pub const fn queued(to: String, reason: String) -> Self {
        Self::Queued(Queued { queued: true, reason, schema: SHARED_SCHEMA, to })
    }
}
