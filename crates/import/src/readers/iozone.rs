//! iozone's table: a row for each file and record size, a column for each test.
//!
//! The columns' widths differ from version to version, and tests that were not run leave theirs
//! empty, so the numbers of a row are told apart by the tests that the command line asked for; without
//! one by where they stand below the heading, and only then by how many there are. A table is mostly
//! pasted without its banner, and then whether the page cache was in use is not known. iozone's kB are
//! KiB (its source counts 1024 bytes), and so are its sizes; with `-O` its rates are operations. Each test passes over the file once, one operation at a time. Tests that have
//! no like here (backwards, strided, through stdio) are kept as the tool's own figures.

mod command;

use cardproof_units::{Bytes, Iops};

use self::command::{Command, all_tests, columns_of, command_in};
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::refusals::check_count;
use crate::text::whole;
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName};

const TOOL: ForeignTool = ForeignTool::Iozone;

/// What ends a run.
const END: &str = "iozone test complete.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    Other(&'static str),
}

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::Reread => "reread",
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            Self::Other(name) => name,
        }
    }

    /// What it measures, and what sets it apart; nothing for what has no like here.
    const fn shape(self) -> Option<(OpName, PatternName, &'static str)> {
        match self {
            Self::Write => Some((OpName::Write, PatternName::Sequential, "")),
            Self::Rewrite => Some((OpName::Write, PatternName::Sequential, "again")),
            Self::Read => Some((OpName::Read, PatternName::Sequential, "")),
            Self::Reread => Some((OpName::Read, PatternName::Sequential, "again")),
            Self::RandomRead => Some((OpName::Read, PatternName::Random, "")),
            Self::RandomWrite => Some((OpName::Write, PatternName::Random, "")),
            Self::Other(_) => None,
        }
    }
}

/// What the numbers of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    /// KiB a second.
    #[default]
    Kibibytes,
    /// Operations a second (`-O`).
    Operations,
    /// Times, or the sums of several processes: no table that is read.
    Other,
}

/// What stands before their names.
const CONTRIBUTORS: Needle = Needle::new("Contributors:");

/// So many lines a banner takes at most for those who contributed.
const NAMES_MAX: usize = 16;

/// A run: what its banner or its command line tells of how it measured.
#[derive(Clone, Debug, Default)]
struct Run {
    is_direct: Option<bool>,
    is_flushed: bool,
    is_synced: bool,
    unit: Unit,
    tests: Option<Vec<u8>>,
    /// Whether the tests are those that iozone's own banner repeats.
    are_tests_certain: bool,
    /// Where the heading's names of columns end, if it stands as iozone printed it.
    column_ends: Vec<usize>,
}

/// What a text holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) version: Option<String>,
    pub(super) began: Option<String>,
    pub(super) phases: Vec<PhaseDraft>,
    pub(super) figures: Vec<Printed>,
}

pub(super) fn is_sign(view: &View) -> bool {
    is_banner(view) || is_header(view.text)
}

fn is_header(text: &str) -> bool {
    // People turn tables into those of Markdown.
    if !text.starts_with(['k', 'K', '|']) {
        return false;
    }
    let mut words = text.split_whitespace().filter(|word| *word != "|");
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb"))
        && words.next() == Some("reclen")
}

/// Whether `text` rules off the heading of a table of Markdown.
fn is_rule(text: &str) -> bool {
    text.starts_with("|") && text.contains("--") && text.chars().all(|c| "|:- ".contains(c))
}

/// Whether a line begins a banner, which goes on until the table.
pub(crate) fn is_banner(view: &View) -> bool {
    const BANNER: Needle = Needle::new("Iozone: Performance Test");
    view.holds(&BANNER)
}

/// Whether a line is a command of iozone.
pub(crate) fn is_command(view: &View) -> bool {
    command_in(view).is_some()
}

/// Whether `text` is one of a banner, which says what comes and names no card.
pub(crate) fn is_of_banner(text: &str) -> bool {
    is_talk(text) || option_told(text).is_some()
}

fn is_talk(text: &str) -> bool {
    const TALK: Beginnings = Beginnings::new(&[
        "Iozone: Performance Test",
        "Version $Revision:",
        "Compiled for ",
        "Build: ",
        "Contributors:",
        "Run began:",
        "Command line used:",
        "Auto Mode",
        "File size set to",
        "Record Size",
        "Output is in",
        "Time Resolution",
        "Processor cache",
        "File stride size",
        "Using minimum",
        "Using maximum",
        "Excel chart generation",
    ]);
    TALK.begin(text)
}

/// What a line of a banner says of the way of measuring.
#[derive(Clone, Copy, Debug)]
enum Told {
    Direct,
    Flushed,
    Synced,
    Unit(Unit),
}

fn option_told(text: &str) -> Option<Told> {
    const OPTIONS: Beginnings = Beginnings::new(&[
        "O_DIRECT feature enabled",
        "Include fsync in write timing",
        "SYNC Mode",
        "OPS Mode",
        "Output is in",
        "Microseconds/op Mode",
        "Throughput test with",
    ]);
    if !OPTIONS.begin(text) {
        return None;
    }
    let is_rate = |text: &str| text.to_ascii_lowercase().contains("kbytes/sec");
    match text {
        "O_DIRECT feature enabled" => Some(Told::Direct),
        "Include fsync in write timing" => Some(Told::Flushed),
        _ if text.starts_with("SYNC Mode") => Some(Told::Synced),
        _ if text.starts_with("OPS Mode") => Some(Told::Unit(Unit::Operations)),
        _ if text.starts_with("Output is in ops/sec") => Some(Told::Unit(Unit::Operations)),
        _ if text.starts_with("Microseconds/op Mode")
            || text.starts_with("Throughput test with")
            || text.starts_with("Output is in") && !is_rate(text) =>
        {
            Some(Told::Unit(Unit::Other))
        }
        _ => None,
    }
}

/// The record of one or several runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let found = find(lines)?;
    let mut draft = RecordDraft::new(TOOL);
    (draft.version, draft.began) = (found.version, found.began);
    (draft.phases, draft.figures) = (found.phases, found.figures);
    Ok(draft)
}

/// All runs in `lines`, which may hold other things before, between and after them.
pub(super) fn find(lines: &[Line]) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let mut run = Run::default();
    let mut is_table = false;
    let mut rows = 0;
    // How many lines of names may follow those who contributed.
    let mut names = 0;
    for line in lines {
        check_count(found.phases.len() + found.figures.len())?;
        let view = line.view();
        names = if view.holds(&CONTRIBUTORS) { NAMES_MAX } else { names.saturating_sub(1) };
        if is_header(view.text) {
            line.claim();
            run.column_ends = column_ends(&line.text);
            is_table = true;
        } else if is_table && is_rule(view.text) {
            line.claim();
        } else if is_table && read_row(line, &run, &mut found) {
            line.claim();
            rows += 1;
        } else if read_banner(&view, &mut run, &mut found) {
            line.claim();
            is_table = false;
            names = if names == NAMES_MAX { names } else { 0 };
        } else if names > 0 && line.text.contains([',', '.']) {
            line.claim();
        }
    }
    if rows == 0 {
        let expected = "a row of the file size, the record size and rates below 'kB reclen …'";
        let line = last_number(lines);
        return Err(ImportError::Ends { tool: TOOL, line, expected: expected.to_owned() });
    }
    Ok(found)
}

/// Reads a line of a banner or a command, or says that it is none.
fn read_banner(view: &View, run: &mut Run, found: &mut Found) -> bool {
    let text = view.text;
    if is_banner(view) {
        *run = Run { is_direct: Some(false), ..Run::default() };
    } else if let Some(told) = option_told(text) {
        match told {
            Told::Direct => run.is_direct = Some(true),
            Told::Flushed => run.is_flushed = true,
            Told::Synced => run.is_synced = true,
            Told::Unit(unit) => run.unit = unit,
        }
    } else if let Some(version) = text.strip_prefix("Version $Revision:") {
        found.version = version.trim_end_matches('$').trim().to_owned().into();
    } else if let Some(began) = text.strip_prefix("Run began:") {
        found.began = found.began.take().or(Some(began.trim().to_owned()));
    } else if let Some(line) = text.strip_prefix("Command line used:") {
        let said = command::of_line(line);
        run.is_direct = Some(run.is_direct == Some(true) || said.is_direct);
        (run.tests, run.are_tests_certain) = (Some(said.tests), true);
    } else if let Some(said) = command_in(view) {
        *run = Run::of(said);
    } else if text == END {
        // Whatever comes next may be another run, of which nothing is known.
        *run = Run::default();
    } else {
        return is_talk(text) || text.starts_with("random") && text.matches("random").count() == 2;
    }
    true
}

impl Run {
    /// What a command behind a prompt or in a sentence asks for.
    fn of(said: Command) -> Self {
        Self {
            is_direct: Some(said.is_direct),
            is_flushed: said.is_flushed,
            is_synced: said.is_synced,
            unit: said.unit,
            tests: Some(said.tests),
            ..Self::default()
        }
    }
}

/// Where the names of a heading's columns end, from that of the first test on.
fn column_ends(header: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut is_word = false;
    for (at, c) in header.chars().chain([' ']).enumerate() {
        if is_word && c == ' ' {
            ends.push(at);
        }
        is_word = c != ' ';
    }
    if header.contains(['\t', '|']) { Vec::new() } else { ends.split_off(2.min(ends.len())) }
}

/// No row has more numbers: its two sizes, and a rate of each test.
const NUMBERS_MAX: usize = 16;

/// The numbers of a row, or one too many; nothing where the line is none. In a table of Markdown no cell
/// may be empty.
fn numbers_of(row: &str) -> Option<Vec<u64>> {
    // Markdown ends a line in a backslash where it is to break.
    let text = row.trim().trim_end_matches('\\').trim_matches('|').trim();
    if !text.contains('|') {
        return text.split_whitespace().map(whole).take(NUMBERS_MAX + 1).collect();
    }
    text.split('|').map(|cell| whole(cell.trim())).take(NUMBERS_MAX + 1).collect()
}

/// Reads a row of a table, or says that the line is none.
fn read_row(line: &Line, run: &Run, found: &mut Found) -> bool {
    let numbers = numbers_of(&line.text).filter(|_| run.unit != Unit::Other);
    let Some([file_kib, record_kib, rates @ ..]) = numbers.as_deref() else { return false };
    // Other programs print rows of whole numbers as well, such as vmstat.
    let is_record = record_kib.is_power_of_two() || *record_kib > 0 && record_kib.is_multiple_of(4);
    let is_sane = is_record && file_kib >= record_kib && *file_kib < 1 << 40;
    let Some(columns) = columns(run, &line.text, rates.len()).filter(|_| is_sane) else {
        return false;
    };
    for (column, rate) in columns.into_iter().zip(rates) {
        let figure = match run.unit {
            Unit::Operations => Printed::new(column.name(), *rate as f64, "ops/s"),
            _ => Printed::new(column.name(), *rate as f64, "kB/s").in_bytes_per_s(1024.0),
        };
        match column.shape() {
            // A test that iozone left out, such as a retest under -+n, has a rate of zero.
            Some(_) if *rate == 0 => {}
            Some(shape) => {
                let draft = pass(shape, run, Bytes::kib(*file_kib), Bytes::kib(*record_kib));
                found.phases.push(stated(draft, run.unit, *rate as f64, figure));
            }
            None => found.figures.push(Printed {
                name: format!("{} {record_kib}k of {file_kib}k", figure.name),
                ..figure
            }),
        }
    }
    true
}

fn stated(mut draft: PhaseDraft, unit: Unit, rate: f64, figure: Printed) -> PhaseDraft {
    if unit == Unit::Operations {
        draft.stated.iops = Some(Iops(rate));
        draft.figures.push(figure);
        return draft;
    }
    draft.at(rate * 1024.0, figure)
}

/// The columns of a row with so many rates; nothing where that does not fit the tests.
fn columns(run: &Run, row: &str, count: usize) -> Option<Vec<Column>> {
    if let Some(tests) = &run.tests {
        let columns = Some(columns_of(tests)).filter(|columns| columns.len() == count);
        // A command in the text need not be the one that printed this table.
        if columns.is_some() || run.are_tests_certain {
            return columns;
        }
    }
    if let Some(columns) = columns_by_place(&run.column_ends, row, &columns_of(&all_tests()), count)
    {
        return Some(columns);
    }
    let guesses: [&[u8]; 4] = [&[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3, 4, 5, 6, 7]];
    guesses.into_iter().map(columns_of).find(|columns| columns.len() == count)
}

/// How far a number may end from its column's name: the names are not all set flush right.
const PLACE_TOLERANCE: usize = 3;

/// The columns under whose names the numbers of `row` end.
fn columns_by_place(
    ends: &[usize],
    row: &str,
    all: &[Column],
    count: usize,
) -> Option<Vec<Column>> {
    let is_indented = row.starts_with(' ') && !row.contains(['\t', '|']);
    if !is_indented || ends.len() > all.len() {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    let mut from = 0;
    for end in column_ends(row) {
        let at = (from..ends.len()).find(|&at| ends[at].abs_diff(end) <= PLACE_TOLERANCE)?;
        found.push(all[at]);
        from = at + 1;
    }
    (found.len() == count).then_some(found)
}

fn pass(
    (op, pattern, note): (OpName, PatternName, &'static str),
    run: &Run,
    file: Bytes,
    record: Bytes,
) -> PhaseDraft {
    let sync = match op {
        OpName::Write if run.is_synced => Sync::Every(1),
        OpName::Write if run.is_flushed => Sync::AtEnd,
        _ => Sync::None,
    };
    let cache = match run.is_direct {
        Some(true) => Cache::Bypassed,
        Some(false) => Cache::Used("iozone ran without -I, through the page cache"),
        None => Cache::Unknown("the table alone does not tell whether the page cache was in use"),
    };
    PhaseDraft {
        note: note.into(),
        block: record,
        span: file,
        bytes: file,
        depth: 1,
        sync,
        cache,
        ..PhaseDraft::new(op, pattern)
    }
}
