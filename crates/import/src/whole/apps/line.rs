//! A line of figures as people copy it from a window: `RND4K QD64 Read: 8.91 MB/s [2175.3 IOPS]`,
//! `82.4 MB/s write, 91 MB/s read`, or a row below `Read [MB/s]  Write [MB/s]`.

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use crate::text::number;
use crate::view::Words;

/// A unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Iops,
    Kilobytes,
    Megabytes,
    Mebibytes,
    Gigabytes,
}

impl Unit {
    /// The unit that a word is.
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "IOPS" | "iops" => Self::Iops,
            "kB/s" | "KB/s" => Self::Kilobytes,
            "MB/s" | "MBps" | "MB/sec" => Self::Megabytes,
            "MiB/s" => Self::Mebibytes,
            "GB/s" => Self::Gigabytes,
            _ => return None,
        })
    }

    /// As it is printed.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Kilobytes => "kB/s",
            Self::Megabytes => "MB/s",
            Self::Mebibytes => "MiB/s",
            Self::Gigabytes => "GB/s",
        }
    }

    /// One of it in bytes a second; nothing for operations.
    pub(super) const fn bytes_per_s(self) -> Option<f64> {
        match self {
            Self::Iops => None,
            Self::Kilobytes => Some(1e3),
            Self::Megabytes => Some(1e6),
            Self::Mebibytes => Some(1_048_576.0),
            Self::Gigabytes => Some(1e9),
        }
    }
}

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) op: OpName,
    pub(super) pattern: PatternName,
    pub(super) block: Bytes,
    pub(super) depth: u16,
    pub(super) value: f64,
    pub(super) unit: Unit,
}

/// No line has more words.
const WORDS_MAX: usize = 64;

fn words(text: &str) -> Vec<&str> {
    let is_between = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '[' | ']' | '(' | ')' | '{' | '}' | ':' | ';' | '=' | '|' | ',' | '<' | '>'
            )
    };
    let parts = text.split(is_between);
    parts.filter(|word| !word.is_empty()).take(WORDS_MAX).collect()
}

fn op(word: &str) -> Option<OpName> {
    const READ: Words = Words::new(&["read", "reads", "reading", "lesen"]);
    const WRITE: Words = Words::new(&["write", "writes", "writing", "schreiben"]);
    match () {
        () if READ.have_in_any_case(word) => Some(OpName::Read),
        () if WRITE.have_in_any_case(word) => Some(OpName::Write),
        () => None,
    }
}

/// Whether `text` before a colon is the name of a device, and not that of a test or an operation.
pub(super) fn is_label(text: &str) -> bool {
    let mut line = Reading::default();
    let mut is_other = |word: &str| op(word).is_some() || line.is_test(word);
    let words = words(text);
    !words.is_empty() && words.len() <= 8 && !words.iter().any(|word| is_other(word))
}

/// The columns of a heading such as `Read [MB/s]  Write [MB/s]`.
pub(super) fn columns(text: &str) -> Option<Vec<(OpName, Unit)>> {
    let words = words(text);
    if words.iter().any(|word| number(word).is_some()) {
        return None;
    }
    let mut found: Vec<(OpName, Unit)> = Vec::new();
    let mut last = None;
    for word in words {
        match (op(word), Unit::of(word), last) {
            (Some(op), ..) => last = Some(op),
            (None, Some(unit), Some(op)) => {
                found.push((op, unit));
                last = None;
            }
            _ => {}
        }
    }
    (found.len() >= 2 && last.is_none()).then_some(found)
}

/// The figures of a line; nothing where a number in it is not understood, or there is none.
pub(super) fn told(text: &str, columns: &[(OpName, Unit)]) -> Option<Vec<Told>> {
    let mut line = Reading::default();
    let plain = decimal_points(text);
    let words = words(&plain);
    let mut rest = words.as_slice();
    while let [word, tail @ ..] = rest {
        rest = tail;
        if let Some(found) = op(word) {
            line.op(found);
            continue;
        }
        if line.is_test(word) {
            continue;
        }
        // What others promise is no figure.
        if PROMISES.have_in_any_case(word) {
            return None;
        }
        if let Some(depth) = depth_in_two(word, tail.first().copied()) {
            line.depth = depth.unwrap_or(line.depth);
            rest = &tail[1..];
            continue;
        }
        if let Some((value, unit, has_two)) = with_unit(word, tail.first().copied()) {
            rest = &tail[usize::from(has_two)..];
            line.add(value, Some(unit));
        } else if let Some(value) = figure(word) {
            line.add(value, None);
        } else if word.chars().any(|c| c.is_ascii_digit()) {
            return None;
        }
    }
    line.finish(columns)
}

/// Words beside what a seller promises.
static PROMISES: Words =
    Words::new(&["up", "advertised", "claimed", "claims", "promised", "rated"]);

/// The queue depth in `QD = 8`, or nothing of it in `T= 1`, whose count of threads is one.
fn depth_in_two(word: &str, next: Option<&str>) -> Option<Option<u16>> {
    let count: u16 = next?.parse().ok().filter(|count| (1..=1024).contains(count))?;
    match word {
        "qd" | "q" | "QD" | "Q" | "Qd" => Some(Some(count)),
        "t" | "T" if count == 1 => Some(None),
        _ => None,
    }
}

/// `text` with a point for a comma between digits.
fn decimal_points(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
    let point = |(at, c): (usize, &char)| {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let is_decimal = *c == ',' && is_digit(before) && is_digit(chars.get(at + 1));
        if is_decimal { '.' } else { *c }
    };
    chars.iter().enumerate().map(point).collect()
}

/// The number that a word is. What begins with a point has lost its first digits.
fn figure(word: &str) -> Option<f64> {
    number(word).filter(|_| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// A number with its unit, in one word or two, and whether it is two.
fn with_unit(word: &str, next: Option<&str>) -> Option<(f64, Unit, bool)> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(word.len());
    let value = figure(&word[..end])?;
    let has_two = end == word.len();
    let unit = if has_two { next? } else { &word[end..] };
    Some((value, Unit::of(unit)?, has_two))
}

/// A figure whose operation, unit or test may still come.
#[derive(Clone, Copy, Debug)]
struct Open {
    op: Option<OpName>,
    value: f64,
    unit: Option<Unit>,
}

#[derive(Debug, Default)]
struct Reading {
    op: Option<OpName>,
    /// Whether operations stand behind their figures.
    is_behind: bool,
    pattern: Option<PatternName>,
    block: Bytes,
    depth: u16,
    open: Vec<Open>,
}

impl Reading {
    fn op(&mut self, found: OpName) {
        let waiting = self.open.iter().any(|it| it.op.is_none());
        if waiting {
            self.is_behind = true;
            self.open.iter_mut().filter(|it| it.op.is_none()).for_each(|it| it.op = Some(found));
        }
        self.op = if self.is_behind { None } else { Some(found) };
    }

    fn add(&mut self, value: f64, unit: Option<Unit>) {
        self.open.push(Open { op: self.op, value, unit });
    }

    /// Whether a word says which test it is: `SEQ1M`, `RND4K`, `QD64`, `4k`, `random`.
    fn is_test(&mut self, word: &str) -> bool {
        let is_begin =
            |c: char| c.is_ascii_digit() || matches!(c, 's' | 'S' | 'r' | 'R' | 'q' | 'Q');
        if !word.starts_with(is_begin) {
            return false;
        }
        let lower = word.to_ascii_lowercase();
        let patterns = [
            ("sequential", PatternName::Sequential),
            ("seq", PatternName::Sequential),
            ("random", PatternName::Random),
            ("rand", PatternName::Random),
            ("rnd", PatternName::Random),
        ];
        if let Some((name, pattern)) = patterns.iter().find(|(name, _)| lower.starts_with(name)) {
            let rest = &lower[name.len()..];
            let size = size(rest);
            if rest.is_empty() || size.is_some() {
                self.pattern = Some(*pattern);
                self.block = size.unwrap_or(self.block);
                return true;
            }
        }
        if let Some(size) = size(&lower) {
            self.block = size;
            return true;
        }
        let depth = lower.strip_prefix("qd").or_else(|| lower.strip_prefix('q'));
        match depth.and_then(|depth| depth.split('t').next()?.parse().ok()) {
            Some(depth) => {
                self.depth = depth;
                true
            }
            None => false,
        }
    }

    fn finish(self, columns: &[(OpName, Unit)]) -> Option<Vec<Told>> {
        let by_column = self.open.iter().all(|it| it.op.is_none() && it.unit.is_none());
        if self.open.is_empty() || by_column && self.open.len() != columns.len() {
            return None;
        }
        let figure = |(at, open): (usize, &Open)| {
            let (op, unit) = if by_column { columns[at] } else { (open.op?, open.unit?) };
            Some(Told {
                op,
                pattern: self.pattern.unwrap_or(PatternName::Unknown),
                block: self.block,
                depth: self.depth,
                value: open.value,
                unit,
            })
        };
        self.open.iter().enumerate().map(figure).collect()
    }
}

/// A size of blocks, such as `4k`, `1mib`, `4kb`.
fn size(text: &str) -> Option<Bytes> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let count: u64 = text[..end].parse().ok().filter(|count| (1..=1024).contains(count))?;
    match &text[end..] {
        "k" | "kb" | "kib" => Some(Bytes::kib(count)),
        "m" | "mb" | "mib" => Some(Bytes::mib(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(text: &str, columns: &[(OpName, Unit)]) -> Vec<(OpName, f64)> {
        told(text, columns).unwrap_or_default().iter().map(|it| (it.op, it.value)).collect()
    }

    #[test]
    fn operations_stand_before_behind_or_above_their_figures() {
        let (read, write) = (OpName::Read, OpName::Write);
        let expected = [(write, 82.4), (read, 91.0)];
        for text in [
            "Write: 82.4 MB/s, Read: 91.0 MB/s",
            "82.4 MB/s write, 91.0 MB/s read",
            "write 82,4 MB/s read 91,0MB/s",
        ] {
            assert_eq!(rates(text, &[]), expected, "{text}");
        }
        let heading = columns("          Read [MB/s]   Write [MB/s]").unwrap();
        let row = told("RND4K QD64     8.91         3.12", &heading).unwrap();
        assert_eq!((row[1].op, row[1].value, row[1].depth), (write, 3.12, 64));
        assert_eq!((row[0].pattern, row[0].block), (PatternName::Random, Bytes::kib(4)));
    }

    #[test]
    fn a_line_with_a_number_that_is_not_understood_is_none() {
        for text in [
            "version 3.1 (c) 2016-2020",
            "read 5 files at 91 MB/s",
            "SQLite Insert 652.12 TPS",
            "read (.91 MB/s",
            "91.0 MB/s",
            "",
            "read and write",
        ] {
            assert_eq!(told(text, &[]), None, "{text}");
        }
    }
}
