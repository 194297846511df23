//! The hub's bar around a page that the crate `report` has made.

use askama::Template;
use cardproof_report::{FramedPage, one_line};
use cardproof_submission::Capacity;
use serde_json::Value;

use crate::store::state::State;
use crate::store::submissions::Kept;

/// What stands above a report.
#[derive(Debug, Default, Template)]
#[template(path = "frame.html")]
pub struct Frame {
    /// What a reader must know first: imported, simulated, published by whom, doubts.
    pub marks: Vec<String>,
    /// The record's name, on its own page.
    pub id: Option<String>,
    /// The model's name in addresses; none without a page of it.
    pub model: Option<String>,
    /// The model in words.
    pub title: String,
    /// The host's name in addresses; none without a page of it.
    pub host: Option<String>,
    /// What its submitter says beside it: what they call it, and what it cost.
    pub said: Vec<(&'static str, String)>,
    /// The records that are compared: their names and titles.
    pub compared: Vec<(String, String)>,
    /// Their names, with commas between.
    pub ids: String,
    /// The uses: name, words, whether it is the one shown.
    pub uses: Vec<(&'static str, &'static str, bool)>,
}

impl Frame {
    /// The frame of one record's page.
    #[must_use]
    pub fn of(kept: &Kept, title: String, document: &Value, capacity: Option<&Capacity>) -> Self {
        let mut marks = Vec::new();
        if kept.state == State::Waiting {
            marks.push(
                "This record waits for an administrator's look: until then it is in no list and counts nowhere."
                    .to_owned(),
            );
        }
        if kept.state == State::Hidden {
            marks.push("This record is hidden: administrators alone see it.".to_owned());
        }
        match kept.origin.as_str() {
            "simulated" => {
                let words =
                    "Simulated: measured on a model of a card, not on a card. It is in no ranking.";
                marks.push(words.to_owned());
            }
            "imported" => marks.push("Imported: read from another tool's output.".to_owned()),
            "published" => {
                let source = kept.source.as_deref().unwrap_or_default();
                marks.push(format!(
                    "Published by others, not measured by cardproof. Source: {source}"
                ));
            }
            _ => {}
        }
        if let Some(found) = capacity {
            let real = found.real_size_bytes;
            let bounds = [real.low, real.high].map(|it| it.to_string());
            let holds = match bounds {
                [low, high] if low == high => low,
                [low, high] => format!("{low} to {high}"),
            };
            marks.push(format!(
                "Capacity: {}. It announces {} and holds {holds}; the probability of the verdict is {:.2} %. The \
                 sender's program found this from a journal, which is not shared.",
                found.verdict.name(),
                found.announced_size_bytes,
                (found.probability * 1e4).floor() / 100.0
            ));
        }
        if !kept.doubts.is_empty() {
            let count = kept.doubts.len();
            let s = if count == 1 { "" } else { "s" };
            marks.push(format!(
                "{count} doubt{s} about this record; figures in doubt are compared with nothing."
            ));
        }
        Self {
            marks,
            id: Some(kept.id.clone()),
            model: Some(kept.model.clone()),
            title,
            host: Some(kept.host.clone()),
            said: said(document),
            ids: kept.id.clone(),
            ..Self::default()
        }
    }
}

/// What the submitter of `document` says beside what was measured.
fn said(document: &Value) -> Vec<(&'static str, String)> {
    let word = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let label = document.get("label").map(word).filter(|label| !label.is_empty());
    let price = document.get("price").and_then(|price| {
        let (currency, date) = (word(&price["currency"]), word(&price["date"]));
        Some(format!("{:.2} {currency} on {date}", price["amount"].as_f64()?))
    });
    let label = label.map(|label| ("Label, as its submitter says", label));
    let price = price.map(|price| ("Price, as its submitter says", price));
    label.into_iter().chain(price).collect()
}

/// What is in the head of a report for those who look at a link to it.
#[derive(Template)]
#[template(path = "report-head.html")]
struct Head<'a> {
    title: &'a str,
    marks: &'a [String],
}

/// The rule for wide tables, as on the hub's other pages.
const WIDE: &str = include_str!("../../templates/scroll.css");

/// Rules for the bar, in the colours of the report.
const STYLE: &str = "
.hub a { color: var(--line-0); }
nav.hub { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-bottom: 1rem; }
nav.hub a { display: inline-block; padding: .25rem 0; }
.hub ul { list-style: none; padding: 0; }
.hub li a { display: block; padding: .25rem 0; }
.scroll td:first-child, .scroll th:first-child { white-space: normal; min-width: 8rem; }
section.hub { margin: 0 0 1.5rem; }
.hub .mark { border-left: 4px solid var(--fair); background: var(--raised); padding: .5rem .75rem; }
.hub form { margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.hub input, .hub select, .hub button { font: inherit; padding: .375rem .5rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--axis); border-radius: 4px; max-width: 100%; }
";

/// The report `page` with `frame` above it.
///
/// # Errors
/// The frame cannot be written as HTML.
pub fn framed(page: &FramedPage, frame: &Frame) -> Result<String, askama::Error> {
    let bar = frame.render()?;
    let head = Head { title: &frame.title, marks: &frame.marks }.render()?;
    Ok(page.with(&[STYLE, WIDE].concat(), &head, &bar))
}
