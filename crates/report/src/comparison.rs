//! A comparison for people and for spreadsheets: terminal, Markdown, one HTML file, CSV.
//!
//! All but CSV are made from one set of sections, so that they never say different things.

mod bars;
mod csv;
mod disturbed;
mod names;
mod no_order;
mod notes;
mod one_card;
mod overview;
mod page;
mod pictures;
mod save;
mod sections;
mod text;
mod words;

use std::fmt::Write;

use cardproof_rating::compare::{Comparison, Use};

use crate::clean::Markdown;
use overview::{GridColumn, Overview, overview};
use sections::{Section, sections};

pub(crate) use names::cut_apart;

pub use csv::comparison_csv;
pub use page::{comparison_charts, comparison_html, comparison_page};
pub use text::comparison_text;

/// How a comparison is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The use by which the cards are ranked.
    pub wanted: Use,
    /// Whether every figure with its ratios follows the answer.
    pub has_details: bool,
}

/// The comparison in Markdown, ending in a newline. Text from a record cannot make markup.
#[must_use]
pub fn comparison_markdown(comparison: &Comparison, view: View) -> String {
    let mut out = String::from("# Comparison\n");
    // Writing to a string cannot fail.
    let _ = write_overview(&mut out, &overview(comparison, view.wanted));
    if view.has_details {
        for section in sections(comparison, view.wanted) {
            let _ = write_section(&mut out, &section);
        }
    }
    out
}

fn write_overview(out: &mut String, overview: &Overview) -> std::fmt::Result {
    writeln!(out, "\n## {}\n", Markdown(&overview.heading))?;
    for sentence in &overview.answer {
        writeln!(out, "**{}**\n", Markdown(sentence))?;
    }
    for grid in &overview.grids {
        if let Some(heading) = &grid.heading {
            writeln!(out, "\n### {}", Markdown(heading))?;
        }
        let titles: Vec<String> = grid.columns.iter().map(GridColumn::title).collect();
        writeln!(out, "\n| {} |", titles.join(" | "))?;
        let lines: Vec<&str> =
            (0..titles.len()).map(|at| if at == 1 { "---" } else { "---:" }).collect();
        writeln!(out, "| {} |", lines.join(" | "))?;
        for row in &grid.rows {
            let cells: Vec<String> = row.iter().map(|cell| Markdown(cell).to_string()).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
    }
    if !overview.notes.is_empty() {
        out.push('\n');
    }
    overview.notes.iter().try_for_each(|note| writeln!(out, "- {}", Markdown(note)))
}

fn write_section(out: &mut String, section: &Section) -> std::fmt::Result {
    writeln!(out, "\n## {}\n", Markdown(&section.heading))?;
    for paragraph in &section.about {
        writeln!(out, "{}\n", Markdown(paragraph))?;
    }
    writeln!(out, "| {} |", section.columns.join(" | "))?;
    let lines = section.columns.iter().enumerate();
    let lines: Vec<&str> = lines.map(|(at, _)| if at == 0 { "---" } else { "---:" }).collect();
    writeln!(out, "| {} |", lines.join(" | "))?;
    for row in &section.rows {
        let cells: Vec<String> = row.iter().map(|cell| Markdown(cell).to_string()).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    if !section.notes.is_empty() {
        out.push('\n');
    }
    section.notes.iter().try_for_each(|note| writeln!(out, "- {}", Markdown(note)))
}
