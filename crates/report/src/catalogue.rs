//! What can be named on a command line, for other programs: profiles, simulated cards, traces, published cards.

use cardproof_units::{Bytes, Nanos};
use serde::Serialize;

/// What `profiles`, `sim list`, `replay list` and `compare --list` list with --json. Its form has no name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Catalogue<'e>(pub &'e [CatalogueEntry]);

/// One thing that has a name. What does not apply to it is left out.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CatalogueEntry {
    /// The word for the command line.
    pub name: String,
    /// Its description or purpose, in words.
    pub purpose: String,
    /// Of a card: its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CardKind>,
    /// Of a card: the size that it announces, or that is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// Of a card: whether it announces more than it keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_fake: Option<bool>,
    /// Of a trace: its requests, or its calls on files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Of a trace: how long the recording took, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<Nanos>,
}

/// The kind of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CardKind {
    /// An SD card.
    #[serde(rename = "SD")]
    Sd,
    /// An eMMC device.
    #[serde(rename = "eMMC")]
    Emmc,
    /// A USB stick.
    #[serde(rename = "USB")]
    Usb,
    /// A microSD Express card, used as an NVMe device.
    #[serde(rename = "NVMe")]
    Nvme,
}
