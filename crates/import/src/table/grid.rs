//! The figures of a grid of cells: a device a row, a device a column, or one device in all of them.

use cardproof_units::Bytes;

use super::metric::{self, Header, Metric};
use super::numbers::Marks;
use super::units::{self, RateUnit};
use super::{Entry, Measured};
use crate::labels;

/// The devices in `rows`, the first of which is the heading. `around` tells the unit that a sentence
/// around the table names.
pub(super) fn entries(rows: &[Vec<String>], around: &dyn Fn() -> Option<RateUnit>) -> Vec<Entry> {
    let Some((heading, rows)) = rows.split_first() else { return Vec::new() };
    let rows: Vec<&Vec<String>> = rows.iter().filter(|row| row.len() == heading.len()).collect();
    if rows.is_empty() || heading.len() < 2 || heading.iter().any(|cell| is_figure(cell)) {
        return Vec::new();
    }
    let columns: Vec<Header> = heading.iter().map(|cell| metric::header(cell)).collect();
    let cells = || rows.iter().flat_map(|row| row[1..].iter().map(String::as_str));
    let marks = Marks::of(cells());
    let aspects = aspects(&columns, &rows);
    let grid = Grid { heading, columns: &columns, aspects: &aspects, marks, around: around() };
    let has_figures = |header: &&Header| matches!(header, Header::Metric(it) if it.has_direction());
    let has_metric = |header: &Header| matches!(header, Header::Metric(_));
    if !aspects.is_empty() && columns[1..].iter().any(has_metric) {
        return grid.devices_of_aspects(&rows);
    }
    if aspects.contains(&0) {
        return grid.device_a_column(&rows);
    }
    if columns.iter().filter(has_figures).count() == 0 || matches!(columns[0], Header::Aspect(_)) {
        return Vec::new();
    }
    rows.iter().map(|row| grid.device_of_row(row)).collect()
}

/// The columns that say what the figures of their rows are: sizes of requests, names of tests.
fn aspects(columns: &[Header], rows: &[&Vec<String>]) -> Vec<usize> {
    let is_named = columns.contains(&Header::Name);
    let is_aspect = |index: &usize| {
        let read = |row: &&Vec<String>| metric::aspect_of(&row[*index], None).is_some();
        match columns[*index] {
            Header::Aspect(unit) => {
                let mut known =
                    rows.iter().map(|row| metric::aspect_of(&row[*index], unit).is_some());
                if *index > 0 || is_named { known.any(|it| it) } else { known.all(|it| it) }
            }
            Header::Other if *index > 0 || is_named => rows.iter().all(read),
            Header::Other | Header::Name if *index == 0 => rows.iter().all(read),
            _ => false,
        }
    };
    (0..columns.len()).filter(is_aspect).collect()
}

/// Whether a cell of the heading is a figure, so that there is no heading.
pub(super) fn is_figure(cell: &str) -> bool {
    let rest = cell.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
    rest.len() < cell.len() && (rest.is_empty() || units::unit_at(rest.trim_start()).is_some())
}

/// A table's headings and what holds for all of its cells.
struct Grid<'g> {
    heading: &'g [String],
    columns: &'g [Header],
    /// The columns that say what the figures of their rows are.
    aspects: &'g [usize],
    marks: Marks,
    around: Option<RateUnit>,
}

impl Grid<'_> {
    /// The device that a row is about.
    fn device_of_row(&self, row: &[String]) -> Entry {
        let mut entry = Entry::default();
        let mut capacity = None;
        for (index, (header, cell)) in self.columns.iter().zip(row).enumerate() {
            match header {
                Header::Metric(metric) => {
                    entry.figures.extend(self.measured(*metric, &self.heading[index], cell));
                }
                Header::Name if entry.name.is_none() => entry.name = name(cell),
                Header::Model => entry.model = name(cell),
                Header::Host => entry.board = name(cell),
                Header::Capacity(unit) => capacity = capacity_of(cell, *unit),
                Header::Name | Header::Other | Header::Aspect(_) => {}
            }
        }
        // Without a heading that says so, the first column names the device.
        let first = || name(row.first()?).filter(|_| self.columns[0] == Header::Other);
        entry.name = entry.name.or_else(first);
        if let Some((bytes, text)) = capacity {
            entry.capacity_bytes = Some(bytes);
            entry.name = entry.name.map(|name| with_capacity(&name, &text));
        }
        let is_class = entry.name.as_deref().is_some_and(is_class);
        if is_class || entry.name.is_none() && entry.model.is_none() {
            entry.figures.clear();
        }
        entry
    }

    /// A device for each column whose heading is a name, or one without a name below `Result`.
    fn device_a_column(&self, rows: &[&Vec<String>]) -> Vec<Entry> {
        let columns = (1..self.columns.len()).filter(|column| !self.is_aspect(*column));
        columns
            .map(|column| {
                let heading = &self.heading[column];
                let is_result = RESULTS.iter().any(|word| heading.eq_ignore_ascii_case(word));
                let name = name(heading).filter(|name| !is_result && !is_class(name));
                let mut entry = Entry { name, ..Entry::default() };
                if entry.name.is_none() && !is_result {
                    return entry;
                }
                for row in rows {
                    let words: Vec<&str> =
                        self.aspects.iter().map(|at| row[*at].as_str()).collect();
                    if let Some(metric) = self.aspect(row) {
                        let figures = self.measured(metric, &words.join(" "), &row[column]);
                        entry.figures.extend(figures);
                    }
                }
                entry
            })
            .collect()
    }

    /// The devices of rows of which each says what its figures are. Rows below each other are of one
    /// device where all their other cells are the same and no figure comes twice.
    fn devices_of_aspects(&self, rows: &[&Vec<String>]) -> Vec<Entry> {
        let is_of_device = |index: &usize| {
            !matches!(self.columns[*index], Header::Metric(_)) && !self.is_aspect(*index)
        };
        let places: Vec<usize> = (0..self.columns.len()).filter(is_of_device).collect();
        let mut found: Vec<(Vec<&String>, Entry)> = Vec::new();
        for row in rows {
            let Some(aspect) = self.aspect(row) else { continue };
            let figures = self.figures_of_aspect(row, aspect);
            let device: Vec<&String> = places.iter().map(|place| &row[*place]).collect();
            let repeats = |entry: &Entry| !device.is_empty() && repeats(&entry.figures, &figures);
            match found.last_mut() {
                Some((known, entry)) if *known == device && !repeats(entry) => {
                    entry.figures.extend(figures);
                }
                _ => {
                    let mut entry = Entry::default();
                    if !places.is_empty() {
                        entry = self.device_of_row(row);
                        let has_name = entry.name.as_deref().is_some_and(|name| !is_class(name));
                        if !has_name && entry.model.is_none() {
                            continue;
                        }
                    }
                    found.push((device, Entry { figures, ..entry }));
                }
            }
        }
        found.into_iter().map(|(_, entry)| entry).collect()
    }

    fn is_aspect(&self, index: usize) -> bool {
        self.aspects.contains(&index)
    }

    /// What a row says of its figures; nothing where a cell is not understood or two contradict each other.
    fn aspect(&self, row: &[String]) -> Option<Metric> {
        self.aspects.iter().try_fold(Metric::default(), |known, index| {
            let unit = match self.columns[*index] {
                Header::Aspect(unit) => unit,
                _ => None,
            };
            known.with(metric::aspect_of(&row[*index], unit)?)
        })
    }

    /// The figures of a row that says of itself what they are.
    fn figures_of_aspect(&self, row: &[String], aspect: Metric) -> Vec<Measured> {
        let words: Vec<&str> = self.aspects.iter().map(|index| row[*index].as_str()).collect();
        let mut figures = Vec::new();
        for (index, header) in self.columns.iter().enumerate() {
            let Header::Metric(of_column) = header else { continue };
            let Some(metric) = aspect.with(*of_column).filter(|_| !self.is_aspect(index)) else {
                continue;
            };
            let heading = format!("{} {}", words.join(" "), self.heading[index]);
            figures.extend(self.measured(metric, &heading, &row[index]));
        }
        figures
    }

    /// The figures in a cell: one, or a pair of reads and writes.
    fn measured(&self, metric: Metric, heading: &str, cell: &str) -> Vec<Measured> {
        let heading =
            heading.trim_matches(|c: char| c.is_whitespace() || "*_`".contains(c)).to_owned();
        let cell = without_marks(cell);
        let cell = cell.trim();
        let make = |direction, (value, unit), second| Measured {
            metric: Metric { directions: [Some(direction), None], ..metric },
            direction,
            heading: heading.clone(),
            value,
            unit,
            second,
            highest: None,
        };
        match metric.directions {
            [Some(direction), None] => {
                if let Some([lowest, highest]) = self.range(cell, metric.unit) {
                    let found = make(direction, lowest, None);
                    return vec![Measured { highest: Some(highest.0), ..found }];
                }
                let found = self.figure(cell, metric.unit);
                found.map(|(first, second)| make(direction, first, second)).into_iter().collect()
            }
            [Some(first), Some(second)] => {
                let Some((left, right)) = cell.split_once('/').filter(|(_, right)| {
                    right.trim_start().starts_with(|c: char| c.is_ascii_digit())
                }) else {
                    return Vec::new();
                };
                // The unit stands behind the second number, if at all.
                let Some((right, None)) = self.figure(right.trim(), metric.unit) else {
                    return Vec::new();
                };
                let Some((left, None)) = self.figure(left.trim(), Some(right.1)) else {
                    return Vec::new();
                };
                vec![make(first, left, None), make(second, right, None)]
            }
            _ => Vec::new(),
        }
    }

    /// The ends of a cell's range with their unit: `58-62 MB/s`, `2.1 – 2.4`, `9 to 12 MB/s`.
    fn range(&self, cell: &str, unit: Option<RateUnit>) -> Option<[(f64, RateUnit); 2]> {
        let end = cell.find(|c: char| !(c.is_ascii_digit() || ".,".contains(c)))?;
        let rest = cell[end..].trim_start();
        let marks =
            ["-", "\u{2013}", "\u{2014}", "\u{2212}", "...", "\u{2026}", "..", "to ", "bis "];
        let high = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
        let (high, None) = self.figure(high.trim_start(), unit)? else { return None };
        let is_count = high.1 == RateUnit::Iops;
        let low = self.marks.number(cell, is_count).filter(|low| low.length == end)?;
        (low.value < high.0).then_some([(low.value, high.1), high])
    }

    /// The number of a cell with its unit, and the same in the other unit in brackets.
    #[expect(clippy::type_complexity, reason = "a number and a unit, twice")]
    fn figure(
        &self,
        cell: &str,
        unit: Option<RateUnit>,
    ) -> Option<((f64, RateUnit), Option<(f64, RateUnit)>)> {
        let is_count = unit == Some(RateUnit::Iops) || cell.contains("IOPS");
        let number = self.marks.number(cell, is_count)?;
        let rest = without_spread(cell[number.length..].trim(), None);
        let (own, rest) = match units::unit_at(rest) {
            Some((unit, length)) => (Some(unit), rest[length..].trim()),
            None => (None, rest),
        };
        let rest = without_spread(rest, own);
        let second = match rest.strip_prefix(['(', '[']) {
            Some(inner) => Some(self.second(inner, own.or(unit)?, unit)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        let unit = own.or(unit).or(self.around)?;
        Some(((number.value, unit), second))
    }

    /// What stands in brackets behind a figure in the unit `first`: the number in `(6086)` or `(6086 IOPS)`.
    fn second(
        &self,
        inner: &str,
        first: RateUnit,
        unit: Option<RateUnit>,
    ) -> Option<(f64, RateUnit)> {
        let inner = inner.strip_suffix([')', ']'])?.trim();
        let number = self.marks.number(inner, first != RateUnit::Iops)?;
        let rest = inner[number.length..].trim();
        let own = units::unit_at(rest).filter(|(_, length)| *length == rest.len()).map(|it| it.0);
        let unit = if rest.is_empty() { unit } else { own };
        let unit = unit.filter(|unit| (*unit == RateUnit::Iops) != (first == RateUnit::Iops))?;
        Some((number.value, unit))
    }
}

/// `text` without the spread before it, as in `± 0.2`, `+/- 3 %` or `(±0.2)`, which may have the `unit`.
fn without_spread(text: &str, unit: Option<RateUnit>) -> &str {
    let inner = text.strip_prefix('(').unwrap_or(text);
    let Some(spread) = ["\u{b1}", "+/-", "+-"].iter().find_map(|mark| inner.strip_prefix(mark))
    else {
        return text;
    };
    let spread = spread.trim_start();
    let rest = spread.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
    if rest.len() == spread.len() {
        return text;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('%').unwrap_or(rest);
    let rest = match units::unit_at(rest) {
        Some((again, length)) if unit == Some(again) => &rest[length..],
        _ => rest,
    };
    let is_closed = inner.len() == text.len() || rest.starts_with(')');
    if is_closed { rest.trim_start_matches(')').trim_start() } else { text }
}

/// Whether one of `new` is a figure that is among `known`.
fn repeats(known: &[Measured], new: &[Measured]) -> bool {
    new.iter().any(|it| {
        known.iter().any(|other| {
            (other.metric, other.direction, other.unit) == (it.metric, it.direction, it.unit)
        })
    })
}

/// Whether `name` is that of a speed class, whose row holds limits and no measurement: `A1`, `V30`, `Class 10`,
/// `UHS-I U3`.
fn is_class(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let mut words = upper.split([' ', '-', '/', ',']).filter(|word| !word.is_empty()).peekable();
    let is_known = |word: &str| {
        let rest = word.strip_prefix(['A', 'C', 'U', 'V', 'E']).unwrap_or(word);
        let is_number = (1..=3).contains(&rest.len()) && rest.bytes().all(|it| it.is_ascii_digit());
        is_number || ["CLASS", "SPEED", "UHS", "I", "II", "III", "VIDEO", "APP"].contains(&word)
    };
    let has_letter = upper.contains(['A', 'C', 'U', 'V', 'E']);
    words.peek().is_some() && has_letter && words.all(is_known)
}

/// Headings of a column of figures that name no device.
const RESULTS: [&str; 6] = ["result", "results", "value", "values", "score", "figure"];

/// Where paths begin.
const ROOTS: [&str; 9] = ["home", "media", "mnt", "dev", "users", "tmp", "var", "root", "run"];

/// A cell as a name. A number of a model may hold a slash, which in a sentence is that of a path.
fn name(cell: &str) -> Option<String> {
    let is_model = |word: &str| {
        let mut parts = word.split('/');
        let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) else {
            return !word.contains('/');
        };
        let is_root = ROOTS.contains(&first.to_ascii_lowercase().as_str());
        !first.is_empty() && !second.is_empty() && !is_root
    };
    if !cell.contains('/') || !cell.split_whitespace().all(is_model) {
        return labels::name(cell);
    }
    labels::name(&cell.replace('/', "\u{2044}")).map(|name| name.replace('\u{2044}', "/"))
}

/// The capacity in a cell: `32`, `32 GB`.
fn capacity_of(cell: &str, unit: Option<u64>) -> Option<(Bytes, String)> {
    let end = cell.find(|c: char| !c.is_ascii_digit()).unwrap_or(cell.len());
    let number: u64 = cell[..end].parse().ok().filter(|number| *number > 0)?;
    let own = match cell[end..].trim().to_ascii_uppercase().as_str() {
        "" => unit,
        "GB" | "G" => Some(1_000_000_000),
        "GIB" => Some(1 << 30),
        "TB" => Some(1_000_000_000_000),
        _ => None,
    };
    let unit = own?;
    let name = match unit {
        1_000_000_000 => "GB",
        1_000_000_000_000 => "TB",
        _ => "GiB",
    };
    Some((Bytes(number.checked_mul(unit)?), format!("{number} {name}")))
}

/// `name` with its capacity, where it has none yet.
fn with_capacity(name: &str, capacity: &str) -> String {
    let compact: String =
        name.to_ascii_uppercase().chars().filter(|c| !c.is_whitespace()).collect();
    let own: String =
        capacity.to_ascii_uppercase().chars().filter(|c| !c.is_whitespace()).collect();
    if compact.contains(&own) { name.to_owned() } else { format!("{name} {capacity}") }
}

/// `cell` without Markdown's marks. One between two digits stays: no number is joined over it.
fn without_marks(cell: &str) -> String {
    let mut kept = String::with_capacity(cell.len());
    let mut chars = cell.chars().peekable();
    while let Some(c) = chars.next() {
        let is_within = kept.ends_with(|c: char| c.is_ascii_digit())
            && chars.peek().is_some_and(char::is_ascii_digit);
        if !matches!(c, '*' | '`') || is_within {
            kept.push(c);
        }
    }
    kept
}
