//! iozone's table: a row for each file and record size, a column for each test.
//!
//! The columns' widths differ from version to version, and tests that were not run leave theirs
//! empty, so the numbers of a row are told apart by the tests that the command line asked for; without
//! one by where they stand below the heading, and only then by how many there are. A table is mostly
//! pasted without its banner, and then whether the page cache was in use is not known. iozone's kB are KiB (its source counts 1024 bytes), and
//! so are its sizes. Each test passes over the file once, one operation at a time. Tests that have
//! no like here (backwards, strided, through stdio) are kept as the tool's own figures.

use cardproof_units::Bytes;

use super::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use super::text::{Line, last_number, whole};
use super::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName};

const TOOL: ForeignTool = ForeignTool::Iozone;

/// What ends a run.
const END: &str = "iozone test complete.";

/// A test's columns, in the order of the table.
const TESTS: [(u8, &[Column]); 8] = [
    (0, &[Column::Write, Column::Rewrite]),
    (1, &[Column::Read, Column::Reread]),
    (2, &[Column::RandomRead, Column::RandomWrite]),
    (3, &[Column::Other("backward read")]),
    (4, &[Column::Other("record rewrite")]),
    (5, &[Column::Other("stride read")]),
    (6, &[Column::Other("fwrite"), Column::Other("frewrite")]),
    (7, &[Column::Other("fread"), Column::Other("freread")]),
];

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

/// A run: what its banner or its command line tells of how it measured.
#[derive(Clone, Debug, Default)]
struct Run {
    is_direct: Option<bool>,
    is_flushed: bool,
    is_synced: bool,
    tests: Option<Vec<u8>>,
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

pub(super) fn is_sign(line: &str) -> bool {
    is_banner(line) || is_header(line)
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb"))
        && words.next() == Some("reclen")
}

/// Whether `line` begins a banner, which goes on until the table.
pub(super) fn is_banner(line: &str) -> bool {
    line.contains("Iozone: Performance Test")
}

/// Whether another run begins with `line`.
pub(super) fn is_start(line: &str) -> bool {
    is_header(line) || is_banner(line)
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
    for line in lines {
        if is_header(&line.text) {
            line.claim();
            run.column_ends = column_ends(&line.text);
            is_table = true;
        } else if is_table && read_row(line, &run, &mut found) {
            line.claim();
            rows += 1;
        } else if read_banner(line, &mut run, &mut found)? {
            line.claim();
            is_table = false;
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
fn read_banner(line: &Line, run: &mut Run, found: &mut Found) -> Result<bool, ImportError> {
    const TALK: [&str; 12] = [
        "Compiled for ",
        "Build:",
        "Contributors:",
        "Auto Mode",
        "File size set to",
        "Record Size",
        "Output is in",
        "Time Resolution",
        "Processor cache",
        "File stride size",
        "Using minimum",
        "Excel",
    ];
    let text = line.text.trim();
    refuse_other_units(line)?;
    if text.contains("Iozone: Performance Test") {
        *run = Run { is_direct: Some(false), ..Run::default() };
    } else if let Some(version) = text.strip_prefix("Version $Revision:") {
        found.version = version.trim_end_matches('$').trim().to_owned().into();
    } else if let Some(began) = text.strip_prefix("Run began:") {
        found.began = found.began.take().or(Some(began.trim().to_owned()));
    } else if let Some(command) = text.strip_prefix("Command line used:") {
        run.tests = Some(tests_of(command));
        run.is_direct = Some(run.is_direct == Some(true) || has_option(command, 'I'));
    } else if text == "O_DIRECT feature enabled" {
        run.is_direct = Some(true);
    } else if text == "Include fsync in write timing" {
        run.is_flushed = true;
    } else if text.starts_with("SYNC Mode") {
        run.is_synced = true;
    } else if let Some(command) = command_in(text) {
        *run = Run {
            is_direct: Some(has_option(command, 'I')),
            is_flushed: has_option(command, 'e'),
            is_synced: has_option(command, 'o'),
            tests: Some(tests_of(command)),
            column_ends: Vec::new(),
        };
    } else if text == END {
        // Whatever comes next may be another run, of which nothing is known.
        *run = Run::default();
    } else {
        let is_columns = text.starts_with("random") && text.matches("random").count() == 2;
        return Ok(is_columns || TALK.iter().any(|talk| text.starts_with(talk)));
    }
    Ok(true)
}

/// The options of an iozone command behind a prompt.
fn command_in(text: &str) -> Option<&str> {
    let at = text.find("iozone")?;
    let options = text[at..].split_once(' ')?.1;
    let is_command = !text[..at].trim_end().ends_with(|c: char| c.is_alphanumeric())
        || text[..at].trim_end().ends_with("sudo")
        || text[..at].trim_end().ends_with("time");
    (is_command && options.starts_with('-')).then_some(options)
}

/// Whether a command's options hold `letter`, alone or among others that take no value.
fn has_option(command: &str, letter: char) -> bool {
    let is_flags = |word: &str| {
        word.strip_prefix('-').is_some_and(|flags| {
            flags.contains(letter) && flags.chars().all(|flag| "aeIocwpRSz".contains(flag))
        })
    };
    command.split_whitespace().any(is_flags)
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
    if header.contains('\t') { Vec::new() } else { ends.split_off(2.min(ends.len())) }
}

/// The numbers after `-i` in a command line; all where it names none.
fn tests_of(command: &str) -> Vec<u8> {
    let mut tests = Vec::new();
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        if let Some(glued) = word.strip_prefix("-i") {
            let number = if glued.is_empty() { words.next().unwrap_or_default() } else { glued };
            tests.extend(number.parse::<u8>().ok().filter(|test| *test < 8));
        }
    }
    if tests.is_empty() { TESTS.map(|(test, _)| test).to_vec() } else { tests }
}

/// iozone can print operations or microseconds in the same table; those are not rates in kB/s.
fn refuse_other_units(line: &Line) -> Result<(), ImportError> {
    let text = line.text.trim();
    let is_other = text.starts_with("Output is in")
        && !text.to_ascii_lowercase().contains("kbytes/sec")
        || text.starts_with("OPS Mode")
        || text.starts_with("Microseconds/op Mode")
        || text.contains("Children see throughput");
    if is_other {
        let expected = "a table in kBytes/sec, without -O, -N and -t";
        return Err(ImportError::unexpected(TOOL, line.number, expected, text));
    }
    Ok(())
}

/// Reads a row of a table, or says that the line is none.
fn read_row(line: &Line, run: &Run, found: &mut Found) -> bool {
    let numbers: Option<Vec<u64>> = line.text.split_whitespace().map(whole).collect();
    let Some([file_kib, record_kib, rates @ ..]) = numbers.as_deref() else { return false };
    let is_sane = *record_kib > 0 && file_kib >= record_kib && *file_kib < 1 << 40;
    let Some(columns) = columns(run, &line.text, rates.len()).filter(|_| is_sane) else {
        return false;
    };
    for (column, rate) in columns.into_iter().zip(rates) {
        let figure = Printed::new(column.name(), *rate as f64, "kB/s").in_bytes_per_s(1024.0);
        match column.shape() {
            Some(shape) => {
                let draft = pass(shape, run, Bytes::kib(*file_kib), Bytes::kib(*record_kib));
                // A test that iozone left out, such as a retest under -+n, has a rate of zero.
                if *rate > 0 {
                    found.phases.push(draft.at(*rate as f64 * 1024.0, figure));
                }
            }
            None => found.figures.push(Printed {
                name: format!("{} {record_kib}k of {file_kib}k", figure.name),
                ..figure
            }),
        }
    }
    true
}

/// The columns of a row with so many rates; nothing where that does not fit the tests.
fn columns(run: &Run, row: &str, count: usize) -> Option<Vec<Column>> {
    let of_tests = |tests: &[u8]| -> Vec<Column> {
        let asked = TESTS.iter().filter(|(test, _)| tests.contains(test));
        asked.flat_map(|(_, columns)| columns.iter().copied()).collect()
    };
    if let Some(tests) = &run.tests {
        return Some(of_tests(tests)).filter(|columns| columns.len() == count);
    }
    let all = of_tests(&[0, 1, 2, 3, 4, 5, 6, 7]);
    if let Some(columns) = columns_by_place(&run.column_ends, row, &all, count) {
        return Some(columns);
    }
    let guesses: [&[u8]; 4] = [&[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3, 4, 5, 6, 7]];
    guesses.into_iter().map(of_tests).find(|columns| columns.len() == count)
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
    let is_indented = row.starts_with(' ') && !row.contains('\t');
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
