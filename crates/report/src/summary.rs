//! The record in words for a terminal.
//!
//! Everything is said in text; colour only repeats it. A table that does not fit the terminal
//! becomes a list, so that nothing is cut off and nothing wraps inside a column.

use anstyle::{AnsiColor, Style};
use cardproof_rating::{Grade, wording};
use cardproof_record::{Outcome, Record, Verdict};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::contents::{Contents, MEANING_NOTE, PREDICTION_NOTE, Ruling, VERDICT_NOTE};
use crate::rows::{Cells, Row, shown};
use crate::wrap::wrap_into;

/// Lines longer than this are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 100;

/// Below this there is no room for words.
const WIDTH_MIN: usize = 20;

const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const FAIR: Style = AnsiColor::Yellow.on_default().bold();
const POOR: Style = AnsiColor::Red.on_default().bold();
const PLAIN: Style = Style::new();

/// The record in words for a terminal of `width` columns (20 to 100 are used), ending in a
/// newline. With `styled`, headings, outcomes and grades are set in ANSI styles; without, there
/// is no escape sequence in the text. Nothing of the record can bring one in.
#[must_use]
pub fn summary(record: &Record, verdicts: &[Verdict], width: u16, styled: bool) -> String {
    let contents = Contents::of(record, verdicts);
    let width = usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX);
    let mut page = Page { out: String::with_capacity(4096), width, styled };
    page.heading(&contents.title);
    if !contents.headline.is_empty() {
        wrap_into(&mut page.out, "  ", &contents.headline, "  ", width);
    }
    page.conditions(&contents);
    page.list(crate::jobs::HEADING, &contents.jobs);
    page.phases(&contents);
    page.list(crate::replays::HEADING, &contents.replays);
    page.list(crate::figures::HEADING, &contents.figures);
    page.list("Changes and runs", &contents.course);
    page.verdicts(&contents);
    page.daily_use(&contents);
    page.predictions(&contents);
    page.list("What limited", &contents.limits);
    page.list("Doubts", &contents.doubts);
    page.list("What next", &contents.steps);
    page.in_short(&contents);
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

    fn conditions(&mut self, contents: &Contents) {
        self.heading("Conditions");
        for fact in &contents.facts {
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
        let heading = match &contents.confidence {
            Some(confidence) => format!("Measured, with {confidence} intervals"),
            None => "Measured".to_owned(),
        };
        self.heading(&heading);
        let table = table(&contents.rows);
        if table.lines().all(|line| line.trim_end().chars().count() <= self.width) {
            for line in table.lines() {
                self.out.push_str(line.trim_end());
                self.out.push('\n');
            }
        } else {
            contents.rows.iter().for_each(|row| self.row(row));
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
        if contents.verdicts.is_empty() && contents.recording.is_none() {
            return;
        }
        self.heading("Verdicts");
        for Ruling { rule, outcome, reasons } in &contents.verdicts {
            let (style, words) = (style_of_outcome(*outcome), wording::outcome(*outcome));
            self.labelled(&format!("{rule}: {words}"), style, "", "  ");
            for reason in reasons {
                wrap_into(&mut self.out, "    - ", reason, "      ", self.width);
            }
        }
        self.recording(contents);
        for claim in &contents.claims {
            wrap_into(&mut self.out, "  ", claim, "    ", self.width);
        }
        wrap_into(&mut self.out, "  ", VERDICT_NOTE, "  ", self.width);
    }

    /// The recording classes in a line; the other reports have each of them.
    fn recording(&mut self, contents: &Contents) {
        if let Some(recording) = &contents.recording {
            self.labelled(&recording.text, BOLD, "", "  ");
        }
    }

    fn daily_use(&mut self, contents: &Contents) {
        if contents.is_jobs_only {
            return;
        }
        self.heading("In daily use");
        for meaning in &contents.meanings {
            let label = format!("{}: {}.", meaning.topic, meaning.grade.word());
            let style = style_of_grade(meaning.grade);
            self.labelled(&label, style, &meaning.text, "  ");
        }
        wrap_into(&mut self.out, "  ", MEANING_NOTE, "  ", self.width);
    }

    fn predictions(&mut self, contents: &Contents) {
        self.list("How long jobs would take", &contents.predictions);
        if !contents.predictions.is_empty() {
            wrap_into(&mut self.out, "  ", PREDICTION_NOTE, "  ", self.width);
        }
    }

    /// The end, which is what a terminal still shows when all is said.
    fn in_short(&mut self, contents: &Contents) {
        self.heading("In short");
        if contents.is_jobs_only {
            wrap_into(&mut self.out, "  ", &contents.headline, "  ", self.width);
            return;
        }
        for Ruling { rule, outcome, .. } in &contents.verdicts {
            let (style, words) = (style_of_outcome(*outcome), wording::outcome(*outcome));
            self.labelled(&format!("{rule}: {words}"), style, "", "  ");
        }
        self.recording(contents);
        for meaning in &contents.meanings {
            let line = format!("{}: {}", meaning.topic, meaning.grade.word());
            self.labelled(&line, style_of_grade(meaning.grade), "", "  ");
        }
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
        Outcome::NotTestable => BOLD,
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

/// The phases as a table of its natural width.
fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "rate", "between", "p50", "p99.9", "max"]);
    for row in rows {
        table.add_row(cells(row));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 1 }, 1));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
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
