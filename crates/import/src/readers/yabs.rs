//! The tables "fio Disk Speed Tests" of YABS: mixed random reads and writes in four block sizes.
//!
//! YABS runs fio with half reads and half writes at random, two jobs of 64 operations each, direct (its
//! script). A cell holds a rate and the operations a second, both rounded; its MB/s are fio's KiB/s
//! divided by 1000, so the operations times the block size give the rate.

use cardproof_record::{OpName, PatternName, Stated};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::draft::{PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::{is_near, quantities};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Yabs;

/// What stands over a table.
const TITLE: Needle = Needle::new("fio Disk Speed Tests");

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&TITLE) || is_header(view.text)
}

/// Whether another table begins with a line.
pub(super) fn is_start(view: &View) -> bool {
    view.holds(&TITLE)
}

fn is_header(text: &str) -> bool {
    const START: Beginnings = Beginnings::new(&["Block Size"]);
    START.begin(text) && text.contains("(IOPS)") && text.contains('|')
}

/// A column: its block size, and its cells by now.
#[derive(Clone, Copy, Debug)]
struct Column {
    block: Bytes,
    read: Option<Cell>,
}

/// A rate and the operations a second, as printed and as they are.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mb_per_s: f64,
    unit_bytes_per_s: f64,
    iops: f64,
    iops_printed: f64,
    is_thousand: bool,
}

/// The record of all tables.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    draft.conditions.target.engine = "libaio".into();
    let mut columns: Vec<Column> = Vec::new();
    for line in lines {
        draft.check_count()?;
        let text = line.shown().trim_start_matches('|').trim();
        let cells = text.split('|').skip(1);
        if line.text.contains("fio Disk Speed Tests") {
            line.claim();
        } else if is_header(text) {
            line.claim();
            columns = cells.filter_map(column).collect();
        } else if text.starts_with("------") || text.starts_with("Total") || is_blank(&line.text) {
            line.claim();
        } else if text.starts_with("Read") && text.contains('|') {
            line.claim();
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.read = cell_of(cell);
            }
        } else if text.starts_with("Write") && text.contains('|') {
            line.claim();
            for (column, cell) in columns.iter().zip(cells) {
                if let Some((read, write)) = column.read.zip(cell_of(cell)) {
                    draft.phases.push(phase(line, column.block, read, write)?);
                }
            }
        }
    }
    if draft.phases.is_empty() {
        let expected = "'Read | N MB/s (N) | …' and 'Write | …' below 'Block Size'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// Whether `line` is a row of empty cells.
fn is_blank(line: &str) -> bool {
    line.contains('|') && line.chars().all(|c| c == '|' || c == ' ')
}

/// A column's heading, such as `4k (IOPS)`.
fn column(heading: &str) -> Option<Column> {
    let numbers = quantities(heading);
    let size = numbers.first()?;
    let count = Some(size.value as u64).filter(|count| (1..1 << 20).contains(count))?;
    let block = match size.unit {
        "k" | "K" => Bytes::kib(count),
        "m" | "M" => Bytes::mib(count),
        _ => return None,
    };
    Some(Column { block, read: None })
}

/// A cell such as `150.95 MB/s  (37.7k)`.
fn cell_of(cell: &str) -> Option<Cell> {
    let numbers = quantities(cell);
    let [rate, iops] = numbers.as_slice() else { return None };
    // fio's KiB/s are divided by 1000 for each step.
    let unit_bytes_per_s = match rate.unit {
        "KB/s" => 1024.0,
        "MB/s" => 1_024_000.0,
        "GB/s" => 1_024_000_000.0,
        _ => return None,
    };
    let is_thousand = iops.unit == "k";
    let scale = if is_thousand { 1000.0 } else { 1.0 };
    Some(Cell {
        mb_per_s: rate.value,
        unit_bytes_per_s,
        iops: iops.value * scale,
        iops_printed: iops.value,
        is_thousand,
    })
}

fn phase(line: &Line, block: Bytes, read: Cell, write: Cell) -> Result<PhaseDraft, ImportError> {
    for cell in [read, write] {
        let by_iops = cell.iops * block.as_f64();
        let rounding = block.as_f64() * if cell.is_thousand { 100.0 } else { 1.5 };
        let printed = cell.mb_per_s * cell.unit_bytes_per_s;
        if !is_near(by_iops, printed, 0.04, rounding) {
            let what =
                format!("{} operations of {block} a second are not {}", cell.iops, cell.mb_per_s);
            return Err(ImportError::Contradiction { tool: TOOL, line: line.number, what });
        }
    }
    let mut phase = PhaseDraft {
        read_percent: 50,
        block,
        // Two jobs beside each other, summed.
        depth: 128,
        ..PhaseDraft::new(OpName::Mixed, PatternName::Random)
    };
    let rate = |cell: Cell| cell.mb_per_s * cell.unit_bytes_per_s;
    phase.stated = Stated {
        iops: Some(Iops(read.iops + write.iops)),
        throughput_bytes_per_s: Some(Throughput(rate(read) + rate(write))),
        read_iops: Some(Iops(read.iops)),
        write_iops: Some(Iops(write.iops)),
    };
    for (name, cell) in [("read", read), ("write", write)] {
        let unit = if cell.is_thousand { "k IOPS" } else { "IOPS" };
        let megabytes = match cell.unit_bytes_per_s {
            1024.0 => "KB/s",
            1_024_000.0 => "MB/s",
            _ => "GB/s",
        };
        phase.figures.push(
            Printed::new(&format!("{name} rate"), cell.mb_per_s, megabytes)
                .in_bytes_per_s(cell.unit_bytes_per_s),
        );
        phase.figures.push(Printed::new(&format!("{name} iops"), cell.iops_printed, unit));
    }
    Ok(phase)
}
