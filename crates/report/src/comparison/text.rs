//! The comparison for a terminal: plain tables that fit its width.

use anstyle::Style;
use cardproof_rating::compare::{Comparison, Use};

use super::sections::{Section, sections};
use crate::wrap::wrap_into;

const BOLD: Style = Style::new().bold();

/// Lines are at least and at most so wide.
const WIDTHS: (usize, usize) = (40, 100);

/// A card's name keeps at least so many columns.
const NAME_MIN: usize = 12;

/// The comparison for a terminal of `width` columns (40 to 100 are used), ending in a newline; of
/// the uses only `only`, where it is given. With `styled`, headings are bold.
#[must_use]
pub fn comparison_text(
    comparison: &Comparison,
    only: Option<Use>,
    width: u16,
    styled: bool,
) -> String {
    let width = usize::from(width).clamp(WIDTHS.0, WIDTHS.1);
    let mut out = String::with_capacity(4096);
    for section in sections(comparison, only) {
        if !out.is_empty() {
            out.push('\n');
        }
        heading(&mut out, &section.heading, styled);
        for paragraph in &section.about {
            wrap_into(&mut out, "  ", paragraph, "  ", width);
        }
        table(&mut out, &section, width);
        for note in &section.notes {
            wrap_into(&mut out, "  ", note, "  ", width);
        }
    }
    out
}

fn heading(out: &mut String, text: &str, styled: bool) {
    if styled {
        out.push_str(&format!("{BOLD}{text}{BOLD:#}\n"));
    } else {
        out.push_str(text);
        out.push('\n');
    }
}

/// The table, its first column cut to what the others leave.
fn table(out: &mut String, section: &Section, width: usize) {
    let headings: Vec<String> = section.columns.iter().map(|&column| column.to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&headings).chain(&section.rows).collect();
    let columns = section.columns.len();
    let widest = |column: usize| {
        let cells = lines.iter().filter(|line| line.len() > 2 || column == 0);
        cells.filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
    let room = width.saturating_sub(2 + others).max(NAME_MIN);
    let first = widths.first().copied().unwrap_or(0).min(room);
    for line in lines {
        let mut text = format!("  {:<first$}", cut(line.first().map_or("", String::as_str), first));
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// `text` in at most `width` columns, its middle left out where it is longer: names differ at both
/// ends.
fn cut(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= width {
        return text.to_owned();
    }
    let front = (width - 1) / 2;
    let back = letters.len() - (width - 1 - front);
    letters[..front].iter().chain(&['…']).chain(&letters[back..]).collect()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(cut("sandisk-extreme-a1", 9), "sand…e-a1");
        assert_eq!(cut("short", 9), "short");
    }
}
