//! iozone's table: a row for each file and record size, a column for each test.
//!
//! The columns' widths differ from version to version, and tests that were not run leave theirs
//! empty, so the numbers of a row are told apart by the tests that the command line asked for, and
//! only without one by how many there are. iozone's kB are KiB (its source counts 1024 bytes), and
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

/// A run: what its banner tells of how it measured.
#[derive(Clone, Debug, Default)]
struct Run {
    is_direct: bool,
    is_flushed: bool,
    is_synced: bool,
    tests: Option<Vec<u8>>,
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
    line.contains("Iozone: Performance Test") || is_header(line)
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb"))
        && words.next() == Some("reclen")
}

/// The record of one or several runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let found = find(lines)?;
    let mut draft = RecordDraft::new(TOOL);
    (draft.version, draft.began) = (found.version, found.began);
    (draft.phases, draft.figures) = (found.phases, found.figures);
    Ok(draft)
}

/// All runs in `lines`, which may hold other things before and after them.
pub(super) fn find(lines: &[Line]) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let mut run = Run::default();
    let mut rest = lines.iter();
    let mut runs = 0;
    while let Some(line) = rest.next() {
        read_banner(&line.text, &mut run, &mut found);
        refuse_other_units(line)?;
        if is_header(&line.text) {
            read_rows(&mut rest, &run, &mut found, lines)?;
            run = Run::default();
            runs += 1;
        }
    }
    if runs == 0 {
        return Err(ends(lines, "the table with 'kB reclen write rewrite'"));
    }
    Ok(found)
}

fn ends(lines: &[Line], expected: &str) -> ImportError {
    ImportError::Ends { tool: TOOL, line: last_number(lines), expected: expected.to_owned() }
}

fn read_banner(line: &str, run: &mut Run, found: &mut Found) {
    let text = line.trim();
    if let Some(version) = text.strip_prefix("Version $Revision:") {
        found.version = version.trim_end_matches('$').trim().to_owned().into();
    } else if let Some(began) = text.strip_prefix("Run began:") {
        found.began = found.began.take().or(Some(began.trim().to_owned()));
    } else if let Some(command) = text.strip_prefix("Command line used:") {
        run.tests = Some(tests_of(command));
    } else if text == "O_DIRECT feature enabled" {
        run.is_direct = true;
    } else if text == "Include fsync in write timing" {
        run.is_flushed = true;
    } else if text.starts_with("SYNC Mode") {
        run.is_synced = true;
    }
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

/// The rows below a header, up to the run's end.
fn read_rows<'l>(
    rest: &mut impl Iterator<Item = &'l Line<'l>>,
    run: &Run,
    found: &mut Found,
    lines: &[Line],
) -> Result<(), ImportError> {
    let mut rows = 0;
    for line in rest {
        let text = line.text.trim();
        if text == END {
            return if rows > 0 { Ok(()) } else { Err(row_expected(line)) };
        }
        if text.is_empty() {
            continue;
        }
        read_row(line, run, found)?;
        rows += 1;
    }
    Err(ends(lines, "'iozone test complete.'"))
}

fn row_expected(line: &Line) -> ImportError {
    let expected = "a row of the file size, the record size and a rate for each test";
    ImportError::unexpected(TOOL, line.number, expected, &line.text)
}

fn read_row(line: &Line, run: &Run, found: &mut Found) -> Result<(), ImportError> {
    let numbers: Option<Vec<u64>> = line.text.split_whitespace().map(whole).collect();
    let numbers = numbers.ok_or_else(|| row_expected(line))?;
    let [file_kib, record_kib, rates @ ..] = numbers.as_slice() else {
        return Err(row_expected(line));
    };
    let columns = columns(run, rates.len()).ok_or_else(|| row_expected(line))?;
    let is_sane = *record_kib > 0 && file_kib >= record_kib && *file_kib < 1 << 40;
    if !is_sane {
        return Err(row_expected(line));
    }
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
    Ok(())
}

/// The columns of a row with so many rates; nothing where that does not fit the tests.
fn columns(run: &Run, count: usize) -> Option<Vec<Column>> {
    let of_tests = |tests: &[u8]| -> Vec<Column> {
        let asked = TESTS.iter().filter(|(test, _)| tests.contains(test));
        asked.flat_map(|(_, columns)| columns.iter().copied()).collect()
    };
    let guesses: [&[u8]; 4] = [&[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3, 4, 5, 6, 7]];
    let columns = match &run.tests {
        Some(tests) => of_tests(tests),
        None => guesses.into_iter().map(of_tests).find(|columns| columns.len() == count)?,
    };
    (columns.len() == count).then_some(columns)
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
    let cache = if run.is_direct {
        Cache::Bypassed
    } else {
        Cache::Used("iozone ran without -I, through the page cache")
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
