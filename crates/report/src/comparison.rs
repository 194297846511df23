//! A comparison for people and for spreadsheets: terminal, Markdown, one HTML file, CSV.
//!
//! All but CSV are made from one set of sections, so that they never say different things.

mod csv;
mod page;
mod sections;
mod text;

use std::fmt::Write;

use cardproof_rating::compare::{Comparison, Use};

use crate::clean::Markdown;
use sections::{Section, sections};

pub use csv::comparison_csv;
pub use page::comparison_html;
pub use text::comparison_text;

/// The comparison in Markdown, ending in a newline; of the uses only `only`, where it is given.
/// Text from a record cannot make markup.
#[must_use]
pub fn comparison_markdown(comparison: &Comparison, only: Option<Use>) -> String {
    let mut out = String::from("# Comparison\n");
    // Writing to a string cannot fail.
    for section in sections(comparison, only) {
        let _ = write_section(&mut out, &section);
    }
    out
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
