//! The table at the end of PiBenchmarks' Storage.sh, which people paste without the log above it.
//!
//! What the script runs is known, as for its log: hdparm with and without the drive's cache, dd in blocks of
//! 4 KiB with the page cache emptied at the end, fio with 64 random operations in flight, iozone in records
//! of 4 KiB. hdparm's MB and iozone's KB are powers of 1024, as these programs print them.

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use super::pibenchmarks::{TOOL, add_score, random};
use crate::ImportError;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::refusals::check_count;
use crate::text::{Quantity, quantities};
use crate::view::{Beginnings, View};

/// The rows, by the words before their results.
const ROWS: [(&str, Row); 9] = [
    ("HDParm Disk Read ", Row::DiskRead),
    ("HDParm Cached Disk Read ", Row::CachedRead),
    ("DD Disk Write ", Row::DiskWrite),
    ("FIO 4k random read ", Row::Random(OpName::Read)),
    ("FIO 4k random write ", Row::Random(OpName::Write)),
    ("IOZone 4k read ", Row::File(OpName::Read, PatternName::Sequential)),
    ("IOZone 4k write ", Row::File(OpName::Write, PatternName::Sequential)),
    ("IOZone 4k random read ", Row::File(OpName::Read, PatternName::Random)),
    ("IOZone 4k random write ", Row::File(OpName::Write, PatternName::Random)),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    DiskRead,
    CachedRead,
    DiskWrite,
    Random(OpName),
    File(OpName, PatternName),
}

/// The row that a line is, and its result.
fn row_in(view: &View) -> Option<(Row, String)> {
    const TOOLS: Beginnings = Beginnings::new(&["HDParm ", "DD ", "FIO ", "IOZone "]);
    if !TOOLS.begin(view.text) {
        return None;
    }
    let text = view.text.split_whitespace().collect::<Vec<_>>().join(" ");
    ROWS.iter().find_map(|(words, row)| {
        let result = text.strip_prefix(words)?;
        let is_result = result == "-" || result.starts_with(|c: char| c.is_ascii_digit());
        is_result.then(|| (*row, result.to_owned()))
    })
}

pub(super) fn is_sign(view: &View) -> bool {
    row_in(view).is_some()
}

/// Whether a line without a figure of storage is of a table all the same: its heading or its score.
pub(crate) fn is_part(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&["Category", "Score:"]);
    if !STARTS.begin(text) {
        return false;
    }
    let mut words = text.split_whitespace();
    match words.next() {
        Some("Category") => words.next() == Some("Test") && words.next() == Some("Result"),
        Some("Score:") => {
            words.next().is_some_and(|score| score.bytes().all(|it| it.is_ascii_digit()))
        }
        _ => false,
    }
}

/// Whether a table begins with `view`.
pub(crate) fn is_start(view: &View) -> bool {
    row_in(view).is_some_and(|(row, _)| row == Row::DiskRead)
}

/// The phases of a table, by what measured them.
#[derive(Debug, Default)]
struct Table {
    timings: Vec<PhaseDraft>,
    writes: Vec<PhaseDraft>,
    random: Vec<PhaseDraft>,
    files: Vec<PhaseDraft>,
    figures: Vec<Printed>,
}

/// The record of a table.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut table = Table::default();
    let mut score = None;
    for line in lines {
        check_count(table.count())?;
        let view = line.view();
        if let Some((row, result)) = row_in(&view) {
            line.claim();
            if result != "-" && table.add(row, &result).is_none() {
                let expected =
                    "a result with its unit, as in '41.90 MB/s' and '964 IOPS (3859 KB/s)'";
                return Err(ImportError::unexpected(TOOL, line.number, expected, &line.text));
            }
        } else if let Some(printed) = view.text.strip_prefix("Score:") {
            line.claim();
            score = quantities(printed).first().map(|it| it.value);
        } else if is_part(view.text) {
            line.claim();
        }
    }
    if table.count() == 0 {
        let expected = "a row with a figure".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    // The score takes fio's writes first.
    table.random.sort_by_key(|phase| phase.op == OpName::Read);
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.target.engine = "libaio".into();
    add_score(&mut draft, &table.writes, &table.random, &table.files, score);
    draft.phases = [table.timings, table.writes, table.random, table.files].concat();
    draft.figures.extend(table.figures);
    Ok(draft)
}

impl Table {
    const fn count(&self) -> usize {
        let phases = self.timings.len() + self.writes.len() + self.random.len() + self.files.len();
        phases + self.figures.len()
    }

    /// Takes over a row; nothing where its result has another form.
    fn add(&mut self, row: Row, result: &str) -> Option<()> {
        if let Row::Random(op) = row {
            self.random.push(random(op, result)?);
            return Some(());
        }
        let [rate]: [Quantity<'_>; 1] = quantities(result).try_into().ok()?;
        let unit = unit_of(row, rate.unit)?;
        let phase = |name: &str, phase: PhaseDraft| {
            let printed = Printed::new(name, rate.value, rate.unit).in_bytes_per_s(unit);
            phase.at(rate.value * unit, printed)
        };
        match row {
            Row::DiskRead => self.timings.push(phase("O_DIRECT disk reads", disk_read())),
            Row::CachedRead => {
                let printed = Printed::new("O_DIRECT cached reads", rate.value, rate.unit);
                self.figures.push(printed.in_bytes_per_s(unit));
            }
            Row::DiskWrite => self.writes.push(phase("rate", disk_write())),
            Row::File(op, pattern) => {
                self.files.push(phase(name_of(op, pattern), file(op, pattern)));
            }
            Row::Random(_) => {}
        }
        Some(())
    }
}

/// One of the unit called `unit` in a row, in bytes a second.
fn unit_of(row: Row, unit: &str) -> Option<f64> {
    match (row, unit) {
        (Row::DiskRead | Row::CachedRead, "MB/s" | "MB/sec") => Some(1_048_576.0),
        (Row::DiskRead | Row::CachedRead | Row::File(..), "kB/s" | "KB/s" | "kB/sec") => {
            Some(1024.0)
        }
        (Row::DiskRead | Row::CachedRead, "GB/s" | "GB/sec") => Some(1_073_741_824.0),
        (Row::DiskWrite, "kB/s" | "KB/s") => Some(1e3),
        (Row::DiskWrite, "MB/s") => Some(1e6),
        (Row::DiskWrite, "GB/s") => Some(1e9),
        _ => None,
    }
}

/// iozone's name of a column.
const fn name_of(op: OpName, pattern: PatternName) -> &'static str {
    match (op, pattern) {
        (OpName::Read, PatternName::Random) => "random read",
        (OpName::Read, _) => "read",
        (_, PatternName::Random) => "random write",
        _ => "write",
    }
}

fn disk_read() -> PhaseDraft {
    let block = Bytes::mib(2);
    PhaseDraft { block, depth: 1, ..PhaseDraft::new(OpName::Read, PatternName::Sequential) }
}

fn disk_write() -> PhaseDraft {
    PhaseDraft {
        block: Bytes::kib(4),
        depth: 1,
        sync: Sync::AtEnd,
        cache: Cache::Used(
            "dd wrote through the page cache, and its figure includes the time to empty it; direct writes may differ",
        ),
        ..PhaseDraft::new(OpName::Write, PatternName::Sequential)
    }
}

fn file(op: OpName, pattern: PatternName) -> PhaseDraft {
    let sync = if op == OpName::Write { Sync::AtEnd } else { Sync::None };
    PhaseDraft { block: Bytes::kib(4), depth: 1, sync, ..PhaseDraft::new(op, pattern) }
}
