//! What can be named on a command line, as JSON for other programs: profiles, simulated cards, traces.

use cardproof_units::{Bytes, Nanos};
use serde::Serialize;

use crate::exit::Failure;
use crate::output::{self, Sink};

/// One thing that has a name. What does not apply to it is left out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) purpose: String,
    /// `SD`, `eMMC`, `USB` or `NVMe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    /// The size that the card announces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size_bytes: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_fake: Option<bool>,
    /// The requests of a trace, or its calls on files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ns: Option<Nanos>,
}

/// Writes `entries` as one JSON list.
///
/// # Errors
/// [`Failure`] where they cannot be written.
pub(crate) fn write(sink: &Sink, entries: &[Entry]) -> Result<(), Failure> {
    output::check(sink)?;
    let text = serde_json::to_string_pretty(entries)
        .map_err(Failure::because("the list cannot be put into JSON"))?;
    output::write(sink, &(text + "\n"))
}
