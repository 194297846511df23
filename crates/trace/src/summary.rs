//! The published form of what was recorded: `cardproof.recording/1`.

use std::path::Path;

use serde::Serialize;

/// The name and version of the form.
pub const RECORDING_SCHEMA: &str = "cardproof.recording/1";

/// What `replay record --json` recorded.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct RecordingSummary<'a> {
    /// Name and version of this form.
    pub schema: &'static str,
    /// Path of the trace file.
    pub trace: &'a Path,
    /// Requests of the device.
    pub requests: u64,
    /// Events that the kernel lost; the trace has holes where it is above zero.
    pub lost: u64,
    /// Events that were not understood and are missing.
    pub not_understood: u64,
}
