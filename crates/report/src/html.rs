//! The record as one HTML file.
//!
//! It works offline and without scripts, from a phone to A4, by day and by night. There is no
//! template engine: the page is one fixed sequence of sections, and what must not go wrong, the
//! escaping, is done by the one type ([`Markup`]) that all text of a page passes through.

mod answer;
mod capacity;
mod figures;
mod parts;
mod sections;

use cardproof_rating::answer::Answer;
use cardproof_rating::{Capacity, judge};
use cardproof_record::{Record, Verdict};

use crate::answer::{AnswerPage, NO_TARGET, is_of_check};
use crate::charts::PlotError;
use crate::contents::Contents;
use crate::framed::FramedPage;
use crate::kept::ChartFile;
use crate::markup::{Markup, markup};
use parts::Charts;

pub(crate) use answer::our_place;

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

/// The record as one HTML file that needs nothing else: no network, no script, no font. It opens with the
/// answer as far as the record alone gives it.
///
/// # Errors
/// A chart could not be drawn.
pub fn html(record: &Record, verdicts: &[Verdict]) -> Result<String, HtmlError> {
    Ok(page_of_record(record, verdicts)?.0.into_text())
}

/// The same of a record that is shared, for a frame around it, with what a test of its capacity has `found`, which is
/// shared without the test.
///
/// # Errors
/// A chart could not be drawn.
pub fn shared_page(
    record: &Record,
    verdicts: &[Verdict],
    found: Option<&Capacity>,
) -> Result<FramedPage, HtmlError> {
    let (page, _) = page_with(record, verdicts, Answer::of_shared(record, found).as_ref())?;
    Ok(FramedPage::new(page.into_parts()))
}

/// The charts of that page, as files of their own.
///
/// # Errors
/// A chart could not be drawn.
pub fn charts(record: &Record, verdicts: &[Verdict]) -> Result<Vec<ChartFile>, HtmlError> {
    Ok(page_of_record(record, verdicts)?.1.into_files())
}

/// A check as such a page: `answer`, and what the run that measured the speed says in detail, where there is
/// one.
///
/// # Errors
/// A chart could not be drawn.
pub fn check_html(answer: &AnswerPage<'_>, speed: Option<&Record>) -> Result<String, HtmlError> {
    match speed {
        Some(record) => Ok(page_of(record, &judge(record), Some(answer))?.0.into_text()),
        None => {
            let mut page = Markup::default();
            head(&mut page, &answer.device());
            sections::write_header(&mut page, &answer.device(), "");
            answer::write(&mut page, &mut Charts::default(), answer, None)?;
            end_page(&mut page);
            Ok(page.into_text())
        }
    }
}

/// The page of a record alone, and its charts. Nobody said how its storage is named today.
fn page_of_record(record: &Record, verdicts: &[Verdict]) -> Result<(Markup, Charts), HtmlError> {
    page_with(record, verdicts, Answer::of_record(record).as_ref())
}

fn page_with(
    record: &Record,
    verdicts: &[Verdict],
    answer: Option<&Answer>,
) -> Result<(Markup, Charts), HtmlError> {
    let page = answer.map(|answer| AnswerPage {
        answer,
        conditions: &record.conditions,
        target: NO_TARGET,
        is_saved: false,
        label: record.label.as_deref(),
    });
    page_of(record, verdicts, page.as_ref())
}

/// The page, and its charts.
fn page_of(
    record: &Record,
    verdicts: &[Verdict],
    answer: Option<&AnswerPage<'_>>,
) -> Result<(Markup, Charts), HtmlError> {
    let mut contents = Contents::from_record(record, verdicts);
    if is_of_check(record) {
        // The answer at the top has named them.
        contents.steps.clear();
    }
    let mut page = Markup::with_capacity(256 * 1024);
    let mut charts = Charts::default();
    head(&mut page, &contents.title);
    let below = if answer.is_some() { "" } else { &contents.headline };
    sections::write_header(&mut page, &contents.title, below);
    match (answer, &contents.lead) {
        (Some(answer), _) => answer::write(&mut page, &mut charts, answer, Some(record))?,
        (None, Some(lead)) => answer::write_lead(&mut page, lead),
        (None, None) => {}
    }
    sections::write_results(&mut page, &contents);
    sections::write(&mut page, &contents);
    figures::write(&mut page, &mut charts, record)?;
    capacity::write(&mut page, record).into_iter().for_each(|chart| charts.add(chart));
    sections::write_conditions(&mut page, &contents);
    if !charts.is_empty() {
        page.literal(KEEPING);
    }
    end_page(&mut page);
    Ok((page, charts))
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
    page.end_part();
    page.literal("</style>");
    page.end_part();
    page.literal("\n</head>\n<body>\n");
    page.end_part();
}
