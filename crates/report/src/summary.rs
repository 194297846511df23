//! The record in words for a terminal.
//!
//! The verdicts come first, then daily use, limits and doubts, then the figures and their conditions,
//! and at the end, where the eye rests, the next steps. Each verdict has its decisive reason; the other
//! reports have all reasons and comparisons. Everything is text; colour only repeats it. A table that
//! does not fit the terminal becomes a list, so that nothing is cut off and nothing wraps inside a
//! column.

use anstyle::{AnsiColor, Style};
use cardproof_rating::Grade;
use cardproof_rating::prediction::Prediction;
use cardproof_rating::words::data::ALARM;
use cardproof_record::{Likelihood, Outcome, Reason, Record, Verdict};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::answer::words::grade_in_words;
use crate::answer::{check_text, ended_in_words, is_of_check, style_of};
use crate::columns::columns_of;
use crate::contents::{Contents, GEOMETRY_HEADING, Ruling};
use crate::facts::{DATA, SETTINGS};
use crate::lead::Lead;
use crate::rows::{Cells, Row, shown};
use crate::wrap::{sentence, wrap_into};
use crate::yardstick::verdict_in_words;

/// Lines longer than this are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 100;

/// Below this there is no room for words.
const WIDTH_MIN: usize = 20;

/// The note below the verdicts; the other reports have a longer one.
const NO_CERTIFICATE: &str =
    "The limits are those of the SD Association. This result is not a certificate.";

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const FAIR: Style = AnsiColor::Yellow.on_default().bold();
const POOR: Style = AnsiColor::Red.on_default().bold();
const PLAIN: Style = Style::new();

/// The record in words for a terminal of `width` columns (20 to 100 are used), ending in a
/// newline. With `styled`, headings, outcomes and grades are set in ANSI styles; without, there
/// is no escape sequence in the text. Nothing of the record can bring one in.
///
/// The record of a check begins with the page of the check, its answers and steps.
#[must_use]
pub fn summary(record: &Record, verdicts: &[Verdict], width: u16, styled: bool) -> String {
    let details = details(record, verdicts, width, styled);
    match check_text(record, width, styled) {
        Some(answer) => format!("{answer}\n{details}"),
        None => details,
    }
}

/// The same without that page.
#[must_use]
pub fn details(record: &Record, verdicts: &[Verdict], width: u16, styled: bool) -> String {
    let contents = Contents::from_record(record, verdicts);
    let width = usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX);
    let mut page = Page { out: String::with_capacity(4096), width, styled };
    page.heading(&contents.title);
    if let Some(ended) = ended_in_words(record) {
        page.out.push('\n');
        wrap_into(&mut page.out, "", &ended, "  ", width);
    }
    page.lead(contents.lead.as_ref());
    page.alarm(contents.alarm.as_deref());
    page.list(contents.capacity_heading, &contents.capacity);
    page.list(GEOMETRY_HEADING, &contents.geometry);
    page.list(crate::jobs::HEADING, &contents.jobs);
    contents.setups.iter().for_each(|(heading, items)| page.list(heading, items));
    page.list(crate::replays::HEADING, &contents.replays);
    page.list(crate::flushes::HEADING, &contents.flushes);
    page.verdicts(&contents);
    page.daily_use(&contents);
    page.limits_and_doubts(&contents);
    page.phases(&contents);
    page.list(contents.figures_heading, &contents.figures);
    page.list(contents.course_heading, &contents.course_in_short);
    page.conditions(&contents);
    if !is_of_check(record) {
        page.list("Next", &contents.steps);
    }
    page.out
}

/// A text being set.
struct Page {
    out: String,
    width: usize,
    styled: bool,
}

impl Page {
    fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.labelled(text, BOLD, "", "");
    }

    /// A paragraph that begins with `label`, set in `style`, and goes on with `text`.
    fn labelled(&mut self, label: &str, style: Style, text: &str, indent: &str) {
        let start = self.out.len() + indent.len();
        let whole = format!("{label} {text}");
        wrap_into(&mut self.out, indent, &whole, &format!("{indent}  "), self.width);
        if self.styled {
            let end = start + end_of(label, &self.out[start..]);
            self.out.insert_str(end, &format!("{style:#}"));
            self.out.insert_str(start, &style.to_string());
        }
    }

    fn lead(&mut self, lead: Option<&Lead>) {
        let Some(lead) = lead else { return };
        self.out.push('\n');
        self.labelled(&format!("{}:", lead.headline), style_of(lead.standing), &lead.what, "");
    }

    fn alarm(&mut self, alarm: Option<&str>) {
        let Some(alarm) = alarm else { return };
        self.out.push('\n');
        self.labelled(ALARM, POOR, alarm, "");
    }

    fn conditions(&mut self, contents: &Contents) {
        self.heading("Conditions");
        let is_said = |label| label == SETTINGS || (label == DATA && contents.data.is_some());
        for fact in contents.facts.iter().filter(|fact| !is_said(fact.label)) {
            wrap_into(
                &mut self.out,
                &format!("  {:<12}", fact.label),
                &fact.text,
                &" ".repeat(14),
                self.width,
            );
        }
    }

    fn phases(&mut self, contents: &Contents) {
        if contents.is_jobs_only {
            return;
        }
        let data = contents.data.as_ref().map_or(String::new(), |data| format!(". {data}"));
        self.heading(&format!("Measured{data}"));
        match fitting_table(&contents.rows, self.width) {
            Some(table) => self.out.push_str(&table),
            None => contents.rows.iter().for_each(|row| self.row(row)),
        }
        let confidence = contents
            .confidence
            .as_ref()
            .map(|confidence| format!("Intervals hold with {confidence} confidence."));
        let notes: Vec<String> = confidence.into_iter().chain(contents.rows_note.clone()).collect();
        if !notes.is_empty() {
            wrap_into(&mut self.out, "  ", &notes.join(" "), "  ", self.width);
        }
        self.causes(&contents.rows);
    }

    /// A row as a paragraph.
    fn row(&mut self, row: &Row) {
        let indent = if row.is_part { "    " } else { "  " };
        let text = match &row.cells {
            Cells::NotMeasured(_) => "not measured".to_owned(),
            Cells::Figures { rate, interval, latency } => {
                let interval = interval.as_deref().map(|between| format!(" ({between})"));
                let rate = format!("{rate}{}", interval.unwrap_or_default());
                let latency = latency.map_or(String::new(), |latency| {
                    let [p50, p999, max] = shown(&latency);
                    format!("p50 {p50}, p99.9 {p999}, max {max}")
                });
                let parts = [rate, latency];
                parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("; ")
            }
        };
        self.labelled(&format!("{}:", row.name), BOLD, &text, indent);
    }

    /// Why rows have no figures, the same cause once.
    fn causes(&mut self, rows: &[Row]) {
        let mut causes: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in rows {
            let Cells::NotMeasured(cause) = &row.cells else { continue };
            match causes.iter_mut().find(|(known, _)| known == cause) {
                Some((_, names)) => names.push(&row.name),
                None => causes.push((cause, vec![&row.name])),
            }
        }
        for (cause, names) in causes {
            let text = format!("{}: {cause}.", names.join(", "));
            self.labelled("Not measured:", FAIR, &text, "  ");
        }
    }

    fn verdicts(&mut self, contents: &Contents) {
        if !contents.has_verdicts() {
            return;
        }
        match &contents.scope {
            Some(scope) => self.heading(&format!("Verdicts ({scope})")),
            None => self.heading("Verdicts"),
        }
        for Decided { rules, outcome, reasons } in decided(&contents.verdicts) {
            let words = verdict_in_words(&rules, outcome, contents.is_card);
            self.labelled(&words, style_of_outcome(outcome), "", "  ");
            for reason in reasons {
                wrap_into(
                    &mut self.out,
                    "    ",
                    &format!("{}.", sentence(&reason.text)),
                    "    ",
                    self.width,
                );
            }
        }
        if let Some(recording) = &contents.recording {
            self.labelled(&recording.text, BOLD, "", "  ");
        }
        if let Some(reason) = &contents.no_verdicts {
            wrap_into(&mut self.out, "  ", reason, "    ", self.width);
        }
        for indication in &contents.indications {
            let style = style_of_likelihood(indication.outcome);
            self.labelled(&indication.label, style, "", "  ");
            if let Some(basis) = indication.basis.first() {
                wrap_into(&mut self.out, "    ", basis, "    ", self.width);
            }
        }
        for claim in &contents.claims {
            wrap_into(&mut self.out, "  ", claim, "    ", self.width);
        }
        if let Some(note) = contents.comparison_only {
            wrap_into(&mut self.out, "  ", note, "  ", self.width);
        }
        wrap_into(&mut self.out, "  ", NO_CERTIFICATE, "  ", self.width);
    }

    fn daily_use(&mut self, contents: &Contents) {
        if contents.is_jobs_only {
            return;
        }
        self.heading("Daily use, compared with published figures");
        for meaning in &contents.meanings {
            let grade = grade_in_words(meaning.purpose, meaning.grade);
            let label = format!("{}: {grade}.", meaning.topic);
            let style = style_of_grade(meaning.grade);
            self.labelled(&label, style, &meaning.finding, "  ");
        }
        if !contents.predictions.is_empty() {
            let text = predicted(&contents.predictions);
            self.labelled("On a NanoPi M4 board, it would need:", PLAIN, &text, "  ");
        }
    }

    fn limits_and_doubts(&mut self, contents: &Contents) {
        let (limits, doubts) = (&contents.limits_in_short, &contents.doubts);
        let heading = match (limits.is_empty(), doubts.is_empty()) {
            (true, _) => "Doubts",
            (false, true) => "What set the figures",
            (false, false) => "What set the figures, and doubts",
        };
        self.list(heading, &limits.iter().chain(doubts).cloned().collect::<Vec<_>>());
    }

    fn list(&mut self, heading: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.heading(heading);
        for item in items {
            wrap_into(&mut self.out, "  - ", item, "    ", self.width);
        }
    }
}

/// Verdicts that were decided by the same reason, its figures aside.
struct Decided<'c> {
    rules: Vec<&'c str>,
    outcome: Outcome,
    /// Why the limits are not met, with the first rule's figures.
    reasons: &'c [Reason],
}

fn decided(verdicts: &[Ruling]) -> Vec<Decided<'_>> {
    let mut decided: Vec<Decided<'_>> = Vec::new();
    for Ruling { rule, outcome, reasons } in verdicts {
        let reasons = weightiest(*outcome, reasons);
        let is_same = |known: &&mut Decided<'_>| {
            known.outcome == *outcome
                && known.reasons.len() == reasons.len()
                && known.reasons.iter().zip(reasons).all(|(known, new)| known.is_like(new))
        };
        match decided.iter_mut().find(is_same) {
            Some(known) => known.rules.push(rule),
            None => decided.push(Decided { rules: vec![rule], outcome: *outcome, reasons }),
        }
    }
    decided
}

/// The reasons that decide: all missed limits with the note behind them, otherwise the first reason. That
/// everything was met needs none.
fn weightiest(outcome: Outcome, reasons: &[Reason]) -> &[Reason] {
    let misses = reasons.iter().take_while(|reason| reason.code.is_miss()).count();
    let shown = match outcome {
        Outcome::Meets => 0,
        Outcome::Misses if misses > 0 => {
            let has_note = reasons.get(misses).is_some_and(|reason| reason.code.is_of_queue());
            misses + usize::from(has_note)
        }
        _ => 1,
    };
    &reasons[..shown.min(reasons.len())]
}

/// The maximum number of predicted times on the terminal.
const PREDICTED_MAX: usize = 2;

/// The first of the predicted times in one sentence.
fn predicted(predictions: &[Prediction]) -> String {
    let times = predictions
        .iter()
        .take(PREDICTED_MAX)
        .map(|prediction| format!("{} {}", prediction.job.noun(), prediction.time_in_words()));
    format!("{}.", times.collect::<Vec<_>>().join(", "))
}

/// Where `label` ends in `wrapped`, which begins with it, however its words were broken to lines.
fn end_of(label: &str, wrapped: &str) -> usize {
    let is_ink = |c: &char| !c.is_whitespace();
    let length = label.chars().filter(is_ink).count();
    let mut ink = wrapped.char_indices().filter(|(_, c)| is_ink(c));
    ink.nth(length.saturating_sub(1)).map_or(wrapped.len(), |(at, c)| at + c.len_utf8())
}

const fn style_of_outcome(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Meets => GOOD,
        Outcome::Misses => POOR,
        Outcome::Undecided => FAIR,
        Outcome::NotTestable | Outcome::Unknown => BOLD,
    }
}

/// Never bold: an indication is less than a verdict.
const fn style_of_likelihood(likelihood: Likelihood) -> Style {
    match likelihood {
        Likelihood::LikelyMeets => AnsiColor::Green.on_default(),
        Likelihood::LikelyMisses => AnsiColor::Red.on_default(),
        Likelihood::Unclear => AnsiColor::Yellow.on_default(),
    }
}

const fn style_of_grade(grade: Grade) -> Style {
    match grade {
        Grade::Good => GOOD,
        Grade::Fair | Grade::FairOrGood | Grade::PoorOrFair => FAIR,
        Grade::Poor => POOR,
        Grade::Unknown => PLAIN,
    }
}

/// The headings of the table's columns.
const COLUMNS: [&str; 6] = ["", "rate", "interval", "p50", "p99.9", "max"];

/// The column that is missed least.
const P50: usize = 3;

/// The phases as a table of at most `width` columns, which may lack the median; `None` where even
/// that does not fit. A column that holds nothing is left out.
fn fitting_table(rows: &[Row], width: usize) -> Option<String> {
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let is_filled = |column: &usize| {
        *column <= 1 || cells.iter().any(|row| row.get(*column).is_some_and(|it| !it.is_empty()))
    };
    let whole: Vec<usize> = (0..COLUMNS.len()).filter(is_filled).collect();
    let narrow: Vec<usize> = whole.iter().copied().filter(|column| *column != P50).collect();
    let fits = |table: &String| table.lines().all(|line| columns_of(line) <= width);
    [whole, narrow].iter().map(|columns| table(&cells, columns)).find(fits)
}

/// Those `columns` of `cells` as a table of its natural width.
fn table(cells: &[Vec<String>], columns: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|&column| COLUMNS[column]));
    for row in cells {
        let cell = |&column: &usize| row.get(column).cloned().unwrap_or_default();
        table.add_row(columns.iter().map(cell));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 1 }, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn cells(row: &Row) -> Vec<String> {
    let name = if row.is_part { format!("  {}", row.name) } else { row.name.clone() };
    match &row.cells {
        Cells::NotMeasured(_) => vec![name, "not measured".to_owned()],
        Cells::Figures { rate, interval, latency } => {
            let mut cells = vec![name, rate.clone(), interval.clone().unwrap_or_default()];
            cells.extend(latency.iter().flat_map(shown).map(|latency| latency.to_string()));
            cells
        }
    }
}
