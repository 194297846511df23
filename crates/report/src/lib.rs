//! A record for people: a terminal summary, Markdown, one HTML file.
//!
//! Everything here turns a record and its verdicts into text. It measures nothing, judges
//! nothing, reads no file and prints nothing.

use cardproof_record::{Record, Verdict};

/// A report could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the report of run {id} could not be drawn; the record itself is unharmed")]
pub struct HtmlError {
    /// The run.
    pub id: String,
}

/// The record in words for a terminal of `width` columns; with colour where `styled`.
#[must_use]
pub fn summary(record: &Record, _verdicts: &[Verdict], _width: u16, _styled: bool) -> String {
    format!("{}\n", record.id)
}

/// The record in Markdown, for a forum post or a bug report.
#[must_use]
pub fn markdown(record: &Record, _verdicts: &[Verdict]) -> String {
    format!("# {}\n", record.id)
}

/// The record as one HTML file that works offline.
///
/// # Errors
/// A chart could not be drawn.
pub fn html(record: &Record, _verdicts: &[Verdict]) -> Result<String, HtmlError> {
    Ok(format!("<!doctype html><title>{}</title>\n", record.id))
}
