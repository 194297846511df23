//! A published table: lines of commas below a line of headings, with the source above.
//!
//! Our own files have no quotes and no commas within a value, so no more of the format is read.

/// A table with its source.
pub(super) struct Table {
    /// The lines above it, in one.
    pub(super) about: String,
    headings: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'t> {
    headings: &'t [&'static str],
    values: &'t [&'static str],
}

impl Table {
    pub(super) fn read(text: &'static str) -> Self {
        let about: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim).collect();
        let mut lines = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(',').collect());
        let headings = lines.next().unwrap_or_default();
        Self { about: about.join(" "), headings, rows: lines.collect() }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row { headings: &self.headings, values })
    }
}

impl Row<'_> {
    /// The text under `heading`, where there is any and it is known.
    pub(super) fn text(self, heading: &str) -> Option<&'static str> {
        let column = self.headings.iter().position(|known| *known == heading)?;
        let text = self.values.get(column)?.trim();
        (!text.is_empty() && text != "unknown").then_some(text)
    }

    /// The number under `heading`.
    pub(super) fn number(self, heading: &str) -> Option<f64> {
        self.text(heading)?.parse().ok()
    }
}
