//! The published form of a storage's health: `cardproof.health/1`; fields may come, none goes.

use cardproof_record::HealthDocument;
use serde::Serialize;

use super::Signs;

/// Readings of wear, and the signs of trouble of a device in use.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthPage<'d> {
    /// Readings of wear.
    #[serde(flatten)]
    pub wear: &'d HealthDocument,
    /// The signs; absent where only saved outputs were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<&'d Signs>,
}
