//! The comparison for a terminal: the answer and its table first, details where they are asked for.

use anstyle::Style;
use cardproof_rating::compare::Comparison;

use super::View;
use super::names::cut_apart;
use super::overview::{Grid, Overview, overview};
use super::sections::{Section, sections};
use crate::columns::{columns_of, left, right};
use crate::wrap::wrap_into;

const BOLD: Style = Style::new().bold();

/// Lines are at least and at most so wide.
const WIDTHS: (usize, usize) = (40, 100);

/// A card's name keeps at least so many columns.
const NAME_MIN: usize = 12;

/// With less than this for names, columns that the use does not weigh are left out.
const NAME_WANTED: usize = 16;

/// The place, before the name.
const PLACE_WIDTH: usize = 3;

/// The comparison for a terminal of `width` columns (40 to 100 are used), ending in a newline. With
/// `styled`, headings are bold.
#[must_use]
pub fn comparison_text(comparison: &Comparison, view: View, width: u16, styled: bool) -> String {
    let width = usize::from(width).clamp(WIDTHS.0, WIDTHS.1);
    let mut page = Page { out: String::with_capacity(4096), width, styled };
    page.overview(&overview(comparison, view.wanted));
    if view.has_details {
        sections(comparison, view.wanted).iter().for_each(|section| page.section(section));
    } else {
        page.out.push('\n');
        wrap_into(
            &mut page.out,
            "",
            "How it was weighed, every figure and its interval: --details",
            "",
            width,
        );
    }
    page.out
}

struct Page {
    out: String,
    width: usize,
    styled: bool,
}

impl Page {
    fn heading(&mut self, text: &str) {
        let start = self.out.len();
        wrap_into(&mut self.out, "", text, "  ", self.width);
        if self.styled {
            self.out.insert_str(start, &BOLD.to_string());
            let end = self.out.len() - 1;
            self.out.insert_str(end, &format!("{BOLD:#}"));
        }
    }

    fn overview(&mut self, overview: &Overview) {
        self.heading(&overview.heading);
        for sentence in &overview.answer {
            wrap_into(&mut self.out, "  ", sentence, "  ", self.width);
        }
        for grid in &overview.grids {
            if let Some(heading) = &grid.heading {
                self.out.push('\n');
                self.heading(heading);
            }
            let left_out = grid_into(&mut self.out, grid, self.width);
            if !left_out.is_empty() {
                let note = format!("No room for: {}. --details has all.", left_out.join("; "));
                wrap_into(&mut self.out, "  ", &note, "  ", self.width);
            }
        }
        for note in &overview.notes {
            wrap_into(&mut self.out, "  ", note, "  ", self.width);
        }
    }

    fn section(&mut self, section: &Section) {
        self.out.push('\n');
        self.heading(&section.heading);
        for paragraph in &section.about {
            wrap_into(&mut self.out, "  ", paragraph, "  ", self.width);
        }
        table(&mut self.out, section, self.width);
        for note in &section.notes {
            wrap_into(&mut self.out, "  ", note, "  ", self.width);
        }
    }
}

/// The grid, its names cut to what the figures leave, and columns that matter less left out where the
/// names would be cut to nothing; the titles of these.
fn grid_into(out: &mut String, grid: &Grid, width: usize) -> Vec<String> {
    let widest = |column: usize| {
        let headings = grid.columns[column].heading.iter().map(|word| columns_of(word));
        let cells = grid.rows.iter().map(|row| columns_of(&row[column]));
        headings.chain(cells).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..grid.columns.len()).map(widest).collect();
    let mut shown: Vec<usize> = (2..grid.columns.len()).collect();
    let mut left_out = Vec::new();
    let room = |shown: &[usize]| {
        let figures: usize = shown.iter().map(|&column| widths[column] + 2).sum();
        width.saturating_sub(2 + PLACE_WIDTH + 1 + figures)
    };
    while room(&shown) < NAME_WANTED.min(widths[1]) {
        let Some(at) = shown.iter().rposition(|&column| grid.columns[column].is_spare) else {
            break;
        };
        left_out.insert(0, grid.columns[shown.remove(at)].title());
    }
    let name_width = widths[1].min(room(&shown).max(NAME_MIN));
    let names: Vec<&str> = grid.rows.iter().map(|row| row[1].as_str()).collect();
    let mut line = |place: &str, name: &str, cells: &dyn Fn(usize) -> String| {
        let mut text = format!("  {place:>PLACE_WIDTH$} {}", left(name, name_width));
        for &column in &shown {
            text.push_str(&format!("  {}", right(&cells(column), widths[column])));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    for at in 0..3 {
        let heading = |column: usize| grid.columns[column].heading[at].to_owned();
        if grid.columns.iter().any(|column| !column.heading[at].is_empty()) {
            line("", grid.columns[1].heading[at], &heading);
        }
    }
    for (row, name) in grid.rows.iter().zip(cut_apart(&names, name_width)) {
        line(&row[0], &name, &|column| row[column].clone());
    }
    left_out
}

/// The table, its first column cut to what the others leave.
fn table(out: &mut String, section: &Section, width: usize) {
    let headings: Vec<String> = section.columns.iter().map(|&column| column.to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&headings).chain(&section.rows).collect();
    let columns = section.columns.len();
    let widest = |column: usize| {
        let cells = lines.iter().filter(|line| line.len() > 2 || column == 0);
        cells.filter_map(|line| line.get(column)).map(|cell| columns_of(cell)).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
    let room = width.saturating_sub(2 + others).max(NAME_MIN);
    let first = widths.first().copied().unwrap_or(0).min(room);
    let names: Vec<&str> =
        lines.iter().map(|line| line.first().map_or("", String::as_str)).collect();
    for (line, name) in lines.iter().zip(cut_apart(&names, first)) {
        let mut text = format!("  {}", left(&name, first));
        for (cell, &width) in line.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {}", right(cell, width)));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}
