//! A line of several figures, each behind its name: `4k read- 9.32 MB/s 4k write- 2.96 MB/s`.
//!
//! Sheets of data name a single figure a line and no block size; a line counts only where it holds two
//! figures or more, at least one of them with a block size or a tool, and nothing that is not understood.

use super::metric::{self, Header};
use super::numbers::Marks;
use super::units;
use super::{Entry, Measured};
use crate::labels;
use crate::lines::Line;
use crate::view::Needle;

/// No such line is longer, in bytes.
const LENGTH_MAX: usize = 400;

/// Whether `text` may be such a line: it has the ends of two units.
pub(super) fn is_candidate(line: &Line) -> bool {
    const ENDS: [Needle; 3] = [Needle::new("b/s"), Needle::new("iops"), Needle::new("bps")];
    let (text, view) = (&*line.text, line.view());
    if text.len() > LENGTH_MAX || !ENDS.iter().any(|end| view.may_hold_in_any_case(end)) {
        return false;
    }
    let bytes = text.as_bytes();
    let ends_unit = |at: usize| {
        let before = &bytes[..at];
        match bytes[at] {
            b's' => [b"B/".as_slice(), b"b/", b"iop", b"IOP", b"Bp"]
                .iter()
                .any(|it| before.ends_with(it)),
            b'S' => before.ends_with(b"IOP") || before.ends_with(b"BP"),
            _ => false,
        }
    };
    (1..bytes.len()).filter(|at| ends_unit(*at)).take(2).count() == 2
}

/// The figures of the line, under the name that it may begin with.
pub(super) fn entry(text: &str) -> Option<Entry> {
    let marks = Marks::of([text]);
    let (name, mut rest) = bracketed_name(text);
    let mut entry = Entry { name, ..Entry::default() };
    while !rest.trim_matches(|c: char| c.is_whitespace() || ".,;".contains(c)).is_empty() {
        let (words, number, unit, after) = next(rest, marks)?;
        let words = words.trim_matches(|c: char| c.is_whitespace() || "-:=,;.~–—".contains(c));
        let is_first = entry.figures.is_empty();
        let (name, words) = match metric::header(words) {
            Header::Metric(_) => (None, words),
            _ if is_first => split_name(words)?,
            _ => return None,
        };
        entry.name = entry.name.or(name);
        let Header::Metric(metric) = metric::header(words) else { return None };
        let [Some(direction), None] = metric.directions else { return None };
        if metric.unit.is_some() {
            return None;
        }
        let heading = words.to_owned();
        entry.figures.push(Measured {
            metric,
            direction,
            heading,
            value: number,
            unit,
            second: None,
            highest: None,
        });
        rest = after;
    }
    let is_test = |it: &Measured| it.metric.block.is_some() || it.metric.source.is_some();
    (entry.figures.len() >= 2 && entry.figures.iter().any(is_test)).then_some(entry)
}

/// The name that stands in brackets at the end of a line, and what stands before it.
fn bracketed_name(text: &str) -> (Option<String>, &str) {
    let parts = text.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    match parts {
        Some((before, name)) if !name.contains("/s") => (labels::name(name), before),
        _ => (None, text),
    }
}

/// The words before the next figure, the figure with its unit, and what follows.
fn next(text: &str, marks: Marks) -> Option<(&str, f64, units::RateUnit, &str)> {
    let mut from = 0;
    // A number without a unit is part of the words, as in `4k`.
    while let Some(at) = text[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + at;
        let tail = &text[start..];
        let digits = tail
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
            .unwrap_or(tail.len());
        let behind = tail[digits..].trim_start();
        if let Some((unit, length)) = units::unit_at(behind) {
            let number = marks.number(tail, unit == units::RateUnit::Iops)?;
            if number.length != digits || text[..start].ends_with(['~', '<', '>']) {
                return None;
            }
            return Some((&text[..start], number.value, unit, &behind[length..]));
        }
        from = start + digits;
    }
    None
}

/// The name before the first figure's words, parted by a colon or a dash.
fn split_name(words: &str) -> Option<(Option<String>, &str)> {
    let parts = words.match_indices([':', '–', '—']).chain(words.match_indices(" - "));
    let mut at: Vec<(usize, &str)> = parts.collect();
    at.sort_by_key(|(at, _)| *at);
    at.into_iter().find_map(|(at, mark)| {
        let tail = words[at + mark.len()..].trim();
        let is_metric = matches!(metric::header(tail), Header::Metric(_));
        is_metric.then(|| (labels::name(&words[..at]), tail))
    })
}
