//! The record as one HTML file.
//!
//! It works offline and without scripts, from a phone to A4, by day and by night. There is no
//! template engine: the page is one fixed sequence of sections, and what must not go wrong, the
//! escaping, is done by the one type ([`Markup`]) that all text of a page passes through.

mod capacity;
mod figures;
mod sections;

use cardproof_record::{Record, Verdict};

use crate::charts::PlotError;
use crate::contents::Contents;
use crate::kept::ChartFile;
use crate::markup::{Markup, markup};

const STYLE: &str = include_str!("html/style.css");

/// How charts become files.
const KEEPING: &str = "<p class=\"note\">Every chart as PNG, SVG and CSV: \
                       <code>cardproof show RECORD --charts DIR</code></p>\n";

/// A chart of a report could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error(
    "the report's chart '{chart}' could not be drawn; the record is unharmed, and its summary and \
     Markdown hold the same figures"
)]
pub struct HtmlError {
    /// What the chart was to show.
    pub chart: String,
    /// What went wrong.
    #[source]
    pub source: PlotError,
}

/// The record as one HTML file that needs nothing else: no network, no script, no font.
///
/// # Errors
/// A chart could not be drawn.
pub fn html(record: &Record, verdicts: &[Verdict]) -> Result<String, HtmlError> {
    Ok(page_of(record, verdicts)?.0)
}

/// The charts of that page, as files of their own.
///
/// # Errors
/// A chart could not be drawn.
pub fn charts(record: &Record, verdicts: &[Verdict]) -> Result<Vec<ChartFile>, HtmlError> {
    Ok(page_of(record, verdicts)?.1)
}

/// The page, and its charts.
fn page_of(record: &Record, verdicts: &[Verdict]) -> Result<(String, Vec<ChartFile>), HtmlError> {
    let contents = Contents::of(record, verdicts);
    let mut page = Markup::with_capacity(256 * 1024);
    head(&mut page, &contents.title);
    sections::write(&mut page, &contents);
    let mut charts = figures::write(&mut page, record, contents.is_jobs_only)?;
    charts.extend(capacity::write(&mut page, record));
    if !charts.is_empty() {
        page.literal(KEEPING);
    }
    sections::write_conditions(&mut page, &contents);
    end_page(&mut page);
    Ok((page.into_text(), charts))
}

/// Appends the end of every page.
pub(crate) fn end_page(page: &mut Markup) {
    page.literal("</main>\n</body>\n</html>\n");
}

/// Appends the beginning of every page, up to where its body begins.
pub(crate) fn head(page: &mut Markup, title: &str) {
    // The policy forbids scripts and every request, whatever the record says.
    page.literal(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n<title>",
    );
    markup!(page, "{} - cardproof</title>\n<style>\n", title);
    page.literal(STYLE);
    page.literal("</style>\n</head>\n<body>\n");
}
