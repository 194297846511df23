//! The published form of what a ledger says: `cardproof.ledger-outlook/1`; fields may come, none goes.

use serde::Serialize;

use super::Outlook;

/// The name and version of the form.
pub const LEDGER_SCHEMA: &str = "cardproof.ledger-outlook/1";

/// What the ledger says of each card.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerDocument<'d> {
    /// The form: `cardproof.ledger-outlook/1`.
    pub schema: &'static str,
    /// The cards, the one that was seen last first.
    pub cards: Vec<LedgerCard<'d>>,
}

/// What the ledger says of one card.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerCard<'d> {
    /// The kernel's name of it, where it is in the computer now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'d str>,
    /// Whether this look could read the kernel's log; where not, errors of the card may be missing.
    pub is_log_read: bool,
    /// What follows from its days.
    #[serde(flatten)]
    pub outlook: Outlook,
}
