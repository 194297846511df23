//! A table of figures with their targets, and whether they were met.

use std::fmt;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// One, give or take this.
    OneWithin(f64),
    /// Anything: shown for information.
    None,
}

impl Target {
    /// Whether `value` is as it should be.
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
            Self::OneWithin(margin) => (value - 1.0).abs() <= margin,
            Self::None => true,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(f, ">= {limit}"),
            Self::AtMost(limit) => write!(f, "<= {limit}"),
            Self::OneWithin(margin) => write!(f, "1 +- {margin}"),
            Self::None => Ok(()),
        }
    }
}

/// One line of a table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What was compared or measured.
    pub(super) name: String,
    /// The other's figure, with its unit; empty where there is none.
    pub(super) other: String,
    /// Our figure, with its unit.
    pub(super) ours: String,
    /// The figure that has the target: the median ratio, or our figure itself.
    pub(super) value: f64,
    /// The lowest and the highest of the values whose median is taken.
    pub(super) range: Option<(f64, f64)>,
    /// What it should be.
    pub(super) target: Target,
}

impl Row {
    /// The cells of the row.
    fn cells(&self) -> [String; 6] {
        let range = self.range.map_or(String::new(), |(low, high)| format!("{low:.3}..{high:.3}"));
        let verdict = match self.target {
            Target::None => "",
            target if target.is_met(self.value) => "met",
            _ => "MISSED",
        };
        [
            self.name.clone(),
            self.other.clone(),
            self.ours.clone(),
            format!("{:.3}", self.value),
            range,
            format!("{} {verdict}", self.target).trim().to_owned(),
        ]
    }
}

/// A titled table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    title: &'static str,
    headings: [&'static str; 6],
    rows: Vec<Row>,
}

impl Table {
    /// A table of paired ratios, ours to the other's.
    pub(super) const fn of_ratios(title: &'static str) -> Self {
        let headings = ["case", "fio", "cardproof", "ratio", "lowest..highest", "target"];
        Self { title, headings, rows: Vec::new() }
    }

    /// A table of paired ratios of ours to ours without something.
    pub(super) const fn of_own_ratios(title: &'static str) -> Self {
        let headings = ["case", "without", "with", "ratio", "lowest..highest", "target"];
        Self { title, headings, rows: Vec::new() }
    }

    /// A table of paired ratios, ours to that of the tool that each row names.
    pub(super) const fn of_tools(title: &'static str) -> Self {
        let headings = ["figure", "tool", "cardproof", "ratio", "lowest..highest", "target"];
        Self { title, headings, rows: Vec::new() }
    }

    /// A table of plain figures.
    pub(super) const fn of_figures(title: &'static str) -> Self {
        let headings = ["what", "", "measured", "figure", "lowest..highest", "target"];
        Self { title, headings, rows: Vec::new() }
    }

    /// Adds a row, and shows it at once, since the next one may take a while.
    pub(super) fn add(&mut self, row: Row) {
        eprintln!("  {}", row.cells().join("  "));
        self.rows.push(row);
    }

    /// Whether every target was met.
    pub(super) fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.target.is_met(row.value))
    }
}

/// The first column to the left, the others to the right, in Markdown's form.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.headings.map(str::to_owned)];
        lines.extend(self.rows.iter().map(Row::cells));
        let widths: [usize; 6] = std::array::from_fn(|column| {
            lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0)
        });
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String; 6]| {
            write!(f, "| {:<width$} |", cells[0], width = widths[0])?;
            for (cell, width) in cells.iter().zip(widths).skip(1) {
                write!(f, " {cell:>width$} |")?;
            }
            writeln!(f)
        };
        writeln!(f, "\n{}\n", self.title)?;
        line(f, &lines[0])?;
        let rule = |column: usize| "-".repeat(widths[column].max(3));
        line(f, &std::array::from_fn(rule))?;
        lines[1..].iter().try_for_each(|cells| line(f, cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, target: Target) -> Row {
        Row {
            name: "4k".to_owned(),
            other: "100".to_owned(),
            ours: "99".to_owned(),
            value,
            range: Some((0.98, 1.0)),
            target,
        }
    }

    #[test]
    fn targets_are_met_at_their_edges_and_missed_beyond() {
        let cases = [
            (Target::AtLeast(2.0), 2.0, 1.99),
            (Target::AtMost(0.5), 0.5, 0.51),
            (Target::OneWithin(0.02), 0.981, 1.021),
        ];
        for (target, good, bad) in cases {
            assert!(target.is_met(good), "{target}");
            assert!(!target.is_met(bad), "{target}");
            assert!(!target.is_met(f64::NAN), "{target}");
        }
    }

    #[test]
    fn one_miss_spoils_the_table_and_shows() {
        let mut table = Table::of_ratios("t");
        table.add(row(1.0, Target::OneWithin(0.02)));
        assert!(table.is_good());
        table.add(row(0.9, Target::OneWithin(0.02)));
        assert!(!table.is_good());
        let text = table.to_string();
        assert!(text.contains("1 +- 0.02 met") && text.contains("1 +- 0.02 MISSED"), "{text}");
    }
}
