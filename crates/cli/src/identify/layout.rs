//! Sections of labelled lines, broken between words to the width of the terminal.

use anstyle::Style;
use cardproof_report::wrap_into;

const HEADING: Style = Style::new().bold();

/// How wide the column of labels is, the blanks on both sides included.
const LABEL_WIDTH: usize = 21;

/// A heading with rows.
#[derive(Debug)]
pub(super) struct Section {
    title: &'static str,
    rows: Vec<(String, String)>,
}

impl Section {
    pub(super) fn new(title: &'static str) -> Self {
        Self { title, rows: Vec::new() }
    }

    /// Adds `text` under `label`; an empty label continues the row above.
    pub(super) fn row(&mut self, label: &str, text: impl Into<String>) {
        self.rows.push((label.to_owned(), text.into()));
    }

    /// The same, if there is anything to say.
    pub(super) fn some(&mut self, label: &str, text: Option<impl Into<String>>) {
        if let Some(text) = text {
            self.row(label, text);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Sections one below the other.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    width: usize,
    is_styled: bool,
}

impl Page {
    pub(super) fn new(width: u16, is_styled: bool) -> Self {
        Self { text: String::new(), width: usize::from(width.max(40)), is_styled }
    }

    /// Adds `section`, unless it has nothing to say.
    pub(super) fn add(&mut self, section: &Section) {
        if section.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let heading = if self.is_styled {
            format!("{HEADING}{}{HEADING:#}\n", section.title)
        } else {
            format!("{}\n", section.title)
        };
        self.text.push_str(&heading);
        let indent = " ".repeat(LABEL_WIDTH);
        for (label, text) in &section.rows {
            let mut first = format!("  {label:<width$} ", width = LABEL_WIDTH - 3);
            // Two blanks are between a label and its text.
            if label.chars().count() > LABEL_WIDTH - 4 {
                // A long label has a line of its own.
                wrap_into(&mut self.text, "  ", label, "    ", self.width);
                first.clone_from(&indent);
            }
            wrap_into(&mut self.text, &first, &printable(text), &indent, self.width);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// `text` on one line and without what a terminal would obey: names come from the devices.
fn printable(text: &str) -> String {
    text.chars().map(|c| if cardproof_report::steers(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_to_the_width_and_obey_nobody() {
        let mut section = Section::new("Card");
        section
            .row("Product", "one two three four five six seven eight nine \u{1b}[2J t\u{202e}en");
        let mut page = Page::new(44, false);
        page.add(&section);
        page.add(&Section::new("Empty"));
        let text = page.into_text();
        assert!(text.lines().all(|line| line.chars().count() <= 44), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("Empty"), "{text}");
    }
}
