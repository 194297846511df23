//! What can be named on a command line, as JSON for other programs: profiles, simulated cards, traces.

use cardproof_report::{Catalogue, CatalogueEntry};

use crate::exit::Failure;
use crate::output::{self, Sink};

/// Writes `entries` as one JSON list.
///
/// # Errors
/// [`Failure`] where they cannot be written.
pub(crate) fn write(sink: &Sink, entries: &[CatalogueEntry]) -> Result<(), Failure> {
    output::check(sink)?;
    let text = serde_json::to_string_pretty(&Catalogue(entries))
        .map_err(Failure::because("the list cannot be put into JSON"))?;
    output::write(sink, &(text + "\n"))
}
