//! What the heading of a column or row says: which figure, in which unit, or what else the column holds.

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use super::units::{RateUnit, without_unit};

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
    /// The maker's number of the model.
    Model,
    /// Capacities in this many bytes.
    Capacity(Option<u64>),
    /// Names of computers.
    Host,
    /// Anything else.
    Other,
}

const READ: [&str; 12] = [
    "read",
    "reads",
    "reading",
    "rd",
    "lesen",
    "lesend",
    "lecture",
    "lectura",
    "lettura",
    "leitura",
    "lezen",
    "чтение",
];
const WRITE: [&str; 13] = [
    "write",
    "writes",
    "writing",
    "wr",
    "schreiben",
    "schreibend",
    "ecriture",
    "écriture",
    "escritura",
    "scrittura",
    "escrita",
    "schrijven",
    "запись",
];
const SEQUENTIAL: [&str; 9] = [
    "seq",
    "sequential",
    "sequentially",
    "sequentiell",
    "sequentielles",
    "séquentielle",
    "secuencial",
    "sequenziale",
    "sequencial",
];
const RANDOM: [&str; 8] =
    ["rand", "random", "randomly", "rnd", "zufällig", "aléatoire", "aleatoria", "casuale"];
/// Words that say nothing of what was measured.
const FILLERS: [&str; 34] = [
    "speed",
    "speeds",
    "rate",
    "rates",
    "throughput",
    "test",
    "tests",
    "performance",
    "result",
    "results",
    "benchmark",
    "avg",
    "average",
    "mean",
    "median",
    "access",
    "i",
    "o",
    "io",
    "in",
    "of",
    "by",
    "with",
    "at",
    "the",
    "per",
    "block",
    "blocks",
    "blocksize",
    "size",
    "bs",
    "and",
    "record",
    "records",
];
const NAMES: [&str; 22] = [
    "card",
    "cards",
    "device",
    "storage",
    "product",
    "brand",
    "drive",
    "disk",
    "medium",
    "media",
    "name",
    "microsd",
    "sd",
    "usb",
    "stick",
    "ssd",
    "emmc",
    "karte",
    "test",
    "manufacturer",
    "make",
    "type",
];
const HOSTS: [&str; 8] =
    ["host", "board", "computer", "machine", "sbc", "system", "hardware", "platform"];

/// What the heading `text` says.
pub(super) fn header(text: &str) -> Header {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_`|:".contains(c));
    let Some((unit, rest)) = without_unit(text) else { return Header::Other };
    let words = words(&rest);
    if let Some(attribute) = attribute(&words, unit) {
        return attribute;
    }
    let mut metric = Metric { unit, ..Metric::default() };
    let mut letters = (false, false);
    let mut iter = words.iter().peekable();
    while let Some(word) = iter.next() {
        // A number and its unit may stand apart: `4 KiB`.
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
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

/// Takes over what a word says; whether it is understood.
fn note(word: &str, metric: &mut Metric) -> bool {
    let compounds = [
        ("rand", "read"),
        ("rand", "write"),
        ("seq", "read"),
        ("seq", "write"),
        ("rnd", "rd"),
        ("rnd", "wr"),
    ];
    if let Some((pattern, op)) = compounds
        .iter()
        .find(|(a, b)| word.len() == a.len() + b.len() && word.starts_with(a) && word.ends_with(b))
    {
        return note(pattern, metric) && note(op, metric);
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
    if words.is_empty()
        || all(&["block", "size", "blocksize", "bs", "test", "record"]) && !all(&["size"])
    {
        return Some(Header::Name);
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

/// The words of a heading in small letters; numbers with their units stay together: `rand4k` is `rand`
/// and `4k`.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() {
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

/// A size such as `4k`, `16kib`, `1m`, `512b`.
fn block_of(word: &str) -> Option<Bytes> {
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = word[..end].parse().ok().filter(|number| *number > 0 && *number < 1 << 20)?;
    let unit = match &word[end..] {
        "b" | "byte" | "bytes" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        _ => return None,
    };
    let bytes = number * unit;
    (512..=1 << 30).contains(&bytes).then_some(Bytes(bytes))
}

/// A queue depth such as `qd32`, `q8t1`.
fn depth_of(word: &str) -> Option<u16> {
    let rest = word.strip_prefix("qd").or_else(|| word.strip_prefix('q'))?;
    let (depth, threads) = rest.split_once('t').unwrap_or((rest, "1"));
    let depth: u16 = depth.parse().ok()?;
    let threads: u16 = threads.parse().ok()?;
    depth.checked_mul(threads).filter(|depth| (1..=1024).contains(depth))
}
