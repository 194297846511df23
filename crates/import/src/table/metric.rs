//! What the heading of a column or row says: which figure, in which unit, or what else the column holds.

mod words;

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use super::units::{RateUnit, without_unit};
use words::{FILLERS, HOSTS, NAMES, RANDOM, READ, SEQUENTIAL, WRITE};

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl Direction {
    /// The operation of a phase.
    pub(super) const fn op(self) -> OpName {
        match self {
            Self::Read => OpName::Read,
            Self::Write => OpName::Write,
        }
    }
}

/// A tool that a heading names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// hdparm -t.
    Hdparm,
    /// dd.
    Dd,
    /// iozone.
    Iozone,
    /// fio.
    Fio,
}

impl Source {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hdparm => "hdparm",
            Self::Dd => "dd",
            Self::Iozone => "iozone",
            Self::Fio => "fio",
        }
    }
}

/// What a heading says of figures. What it does not say is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Metric {
    /// Reads or writes; both in their order for a column of pairs.
    pub(super) directions: [Option<Direction>; 2],
    pub(super) pattern: Option<PatternName>,
    pub(super) block: Option<Bytes>,
    pub(super) depth: Option<u16>,
    pub(super) unit: Option<RateUnit>,
    pub(super) source: Option<Source>,
    /// What was written or read already: iozone's rewrite and reread.
    pub(super) is_again: bool,
}

impl Metric {
    /// Whether it says which figure is meant.
    pub(super) const fn has_direction(&self) -> bool {
        self.directions[0].is_some()
    }

    /// Both together; nothing where they contradict each other.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        let directions = match (self.directions[0], other.directions[0]) {
            (Some(_), None) => self.directions,
            (None, _) => other.directions,
            (Some(_), Some(_)) if self.directions == other.directions => self.directions,
            (Some(_), Some(_)) => return None,
        };
        Some(Self {
            directions,
            pattern: either(self.pattern, other.pattern)?,
            block: either(self.block, other.block)?,
            depth: either(self.depth, other.depth)?,
            unit: either(self.unit, other.unit)?,
            source: either(self.source, other.source)?,
            is_again: self.is_again || other.is_again,
        })
    }
}

/// The one that is known; nothing where both are and differ.
fn either<T: PartialEq>(first: Option<T>, second: Option<T>) -> Option<Option<T>> {
    match (first, second) {
        (Some(first), Some(second)) if first != second => None,
        (first, second) => Some(first.or(second)),
    }
}

/// What a column or row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// Figures.
    Metric(Metric),
    /// Names of what was measured.
    Name,
    /// What each row's figures are: a size of requests in this many bytes where the cell names no unit, or
    /// the name of a test.
    Aspect(Option<u64>),
    /// The maker's number of the model.
    Model,
    /// Capacities in this many bytes.
    Capacity(Option<u64>),
    /// Names of computers.
    Host,
    /// Anything else.
    Other,
}

/// What the heading `text` says.
pub(super) fn header(text: &str) -> Header {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_`|:".contains(c));
    let Some((unit, rest)) = without_unit(text) else { return Header::Other };
    let words = words_of(&rest);
    if let Some(attribute) = attribute(&words, unit) {
        return attribute;
    }
    let mut metric = Metric { unit, ..Metric::default() };
    let mut letters = (false, false);
    let mut iter = words.iter().peekable();
    while let Some(word) = iter.next() {
        // A number and its unit may stand apart: `4 KiB`.
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let with_next = iter.peek().filter(|_| is_number).map(|next| format!("{word}{next}"));
        if let Some(block) = with_next.and_then(|size| block_of(&size)) {
            metric.block = Some(block);
            iter.next();
            continue;
        }
        match &**word {
            "r" => letters.0 = true,
            "w" => letters.1 = true,
            word if !note(word, &mut metric) => return Header::Other,
            _ => {}
        }
    }
    match letters {
        (true, true) if metric.directions == [None, None] => {
            metric.directions = [Some(Direction::Read), Some(Direction::Write)];
        }
        (false, false) => {}
        _ => return Header::Other,
    }
    if metric.source == Some(Source::Hdparm) {
        if metric.directions == [Some(Direction::Write), None] {
            return Header::Other;
        }
        metric.directions = [Some(Direction::Read), None];
        metric.pattern = Some(PatternName::Sequential);
    }
    if metric == Metric::default() { Header::Other } else { Header::Metric(metric) }
}

/// The parts of a word such as `seqread`, `rndwr` or `4krd`.
fn parts(word: &str) -> Option<(&str, &str)> {
    let is_op = |rest: &str| ["read", "write", "rd", "wr"].contains(&rest);
    let of_pattern = ["seq", "rand", "rnd"].iter().find_map(|pattern| word.strip_prefix(pattern));
    let of_block = || {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.strip_prefix(['k', 'm']).filter(|_| digits.len() < word.len())
    };
    let rest = of_pattern.or_else(of_block).filter(|rest| is_op(rest))?;
    Some(word.split_at(word.len() - rest.len()))
}

/// Takes over what a word says; whether it is understood.
fn note(word: &str, metric: &mut Metric) -> bool {
    if let Some((first, rest)) = parts(word) {
        return note(first, metric) && note(rest, metric);
    }
    if let Some(again) = ["re", "reread", "rewrite"].iter().find(|again| **again == word) {
        metric.is_again = true;
        return *again == "re" || note(&again[2..], metric);
    }
    if READ.contains(&word) {
        return direct(metric, Direction::Read);
    }
    if WRITE.contains(&word) {
        return direct(metric, Direction::Write);
    }
    if SEQUENTIAL.contains(&word) || RANDOM.contains(&word) {
        let pattern =
            if RANDOM.contains(&word) { PatternName::Random } else { PatternName::Sequential };
        let is_other = metric.pattern.is_some_and(|known| known != pattern);
        metric.pattern = Some(pattern);
        return !is_other;
    }
    let source = match word {
        "hdparm" => Some(Source::Hdparm),
        "dd" => Some(Source::Dd),
        "iozone" => Some(Source::Iozone),
        "fio" => Some(Source::Fio),
        _ => None,
    };
    if source.is_some() {
        metric.source = source;
        return true;
    }
    if let Some(block) = block_of(word) {
        let is_other = metric.block.is_some_and(|known| known != block);
        metric.block = Some(block);
        return !is_other;
    }
    if let Some(depth) = depth_of(word) {
        metric.depth = Some(depth);
        return true;
    }
    FILLERS.contains(&word)
}

/// Adds reads or writes, in their order; whether that is possible.
fn direct(metric: &mut Metric, direction: Direction) -> bool {
    match &mut metric.directions {
        [first @ None, _] => *first = Some(direction),
        [Some(first), second @ None] if *first != direction => *second = Some(direction),
        [Some(first), None] if *first == direction => {}
        _ => return false,
    }
    true
}

/// What a column without figures holds.
fn attribute(words: &[String], unit: Option<RateUnit>) -> Option<Header> {
    if unit.is_some() {
        return None;
    }
    let all =
        |known: &[&str]| !words.is_empty() && words.iter().all(|word| known.contains(&&**word));
    if words.is_empty() {
        return Some(Header::Name);
    }
    if let Some(aspect) = aspect(words) {
        return Some(aspect);
    }
    if all(&["capacity", "size", "gb", "gib", "tb", "in"]) {
        let has = |unit: &str| words.iter().any(|word| word == unit);
        let unit = match (has("gb"), has("gib"), has("tb")) {
            (true, false, false) => Some(1_000_000_000),
            (false, true, false) => Some(1 << 30),
            (false, false, true) => Some(1_000_000_000_000),
            _ => None,
        };
        return Some(Header::Capacity(unit));
    }
    if all(&["model", "part", "number", "no", "sku"]) {
        return Some(Header::Model);
    }
    if all(&HOSTS) {
        return Some(Header::Host);
    }
    all(&NAMES).then_some(Header::Name)
}

/// Words of a heading over the sizes of requests, of which `size` alone is a capacity.
const BLOCKS: [&str; 17] = [
    "block",
    "blocks",
    "blocksize",
    "bs",
    "record",
    "recordsize",
    "reclen",
    "transfer",
    "request",
    "io",
    "i",
    "o",
    "size",
    "in",
    "length",
    "chunk",
    "xfer",
];

/// Words of a heading over the names of tests.
const TESTS: [&str; 8] =
    ["test", "tests", "pattern", "operation", "workload", "benchmark", "access", "job"];

/// Whether the heading of `words` is one over sizes of requests or names of tests.
fn aspect(words: &[String]) -> Option<Header> {
    if words.iter().all(|word| TESTS.contains(&&**word)) {
        return Some(Header::Aspect(None));
    }
    let unit_of = |word: &str| match word {
        "b" | "byte" | "bytes" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        _ => None,
    };
    let mut unit = words.iter().find_map(|word| unit_of(word));
    let mut own = words.iter().filter(|word| unit_of(word).is_none());
    if !own.clone().all(|word| BLOCKS.contains(&&**word)) || own.clone().all(|it| it == "size") {
        return None;
    }
    // iozone's own heading, whose unit is known.
    if own.any(|word| word == "reclen") {
        unit = unit.or(Some(1 << 10));
    }
    Some(Header::Aspect(unit))
}

/// What the cell of a column of aspects says of its row's figures; `unit` is that of a bare number.
pub(super) fn aspect_of(cell: &str, unit: Option<u64>) -> Option<Metric> {
    let bare: Option<u64> = cell.trim().parse().ok();
    if let Some(number) = bare {
        let bytes = number.checked_mul(unit?)?;
        let block = (512..=1 << 30).contains(&bytes).then_some(Bytes(bytes))?;
        return Some(Metric { block: Some(block), ..Metric::default() });
    }
    match header(cell) {
        Header::Metric(metric) => Some(metric),
        _ => None,
    }
}

/// The words of a heading in small letters; numbers with their units stay together: `rand4k` is `rand`
/// and `4k`.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_decimal =
            c == '.' && before.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit);
        if !c.is_alphanumeric() && !is_decimal {
            before = ' ';
            continue;
        }
        let starts =
            before == ' ' || (c.is_ascii_digit() && before.is_alphabetic() && !is_depth(&words));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

/// Whether the last word is the beginning of a queue depth: `qd`, `q8t`.
fn is_depth(words: &[String]) -> bool {
    words.last().is_some_and(|word| {
        word == "qd" || word == "q" || word == "t" || word.starts_with('q') && word.ends_with('t')
    })
}

/// A size such as `4k`, `16kib`, `1m`, `512b`, `0.5kb`.
fn block_of(word: &str) -> Option<Bytes> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = word[..end].parse().ok().filter(|number| (0.5..1e6).contains(number))?;
    let unit = match &word[end..] {
        "b" | "byte" | "bytes" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1_048_576.0,
        // `GB` would rather be a capacity.
        "g" => 1_073_741_824.0,
        _ => return None,
    };
    let bytes = number * unit;
    let is_block = (512.0..=1_073_741_824.0).contains(&bytes) && bytes.fract() == 0.0;
    is_block.then_some(Bytes(bytes as u64))
}

/// A queue depth such as `qd32`, `q8t1`.
fn depth_of(word: &str) -> Option<u16> {
    let rest = word.strip_prefix("qd").or_else(|| word.strip_prefix('q'))?;
    let (depth, threads) = rest.split_once('t').unwrap_or((rest, "1"));
    let depth: u16 = depth.parse().ok()?;
    let threads: u16 = threads.parse().ok()?;
    depth.checked_mul(threads).filter(|depth| (1..=1024).contains(depth))
}
