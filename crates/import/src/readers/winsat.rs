//! `winsat disk` of Windows: random reads of 16 KiB, sequential reads and writes of 64 KiB.
//!
//! It does not document what its MB are; they are read as 10^6 bytes, and the record says so.

use cardproof_record::{OpName, PatternName, WarningCode};
use cardproof_units::Bytes;

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Winsat;

/// The rows that are read.
const ROWS: [(&str, OpName, PatternName, u64); 4] = [
    ("Random 16.0 Read", OpName::Read, PatternName::Random, 16),
    ("Random 16.0 Write", OpName::Write, PatternName::Random, 16),
    ("Sequential 64.0 Read", OpName::Read, PatternName::Sequential, 64),
    ("Sequential 64.0 Write", OpName::Write, PatternName::Sequential, 64),
];

pub(super) fn is_sign(view: &View) -> bool {
    const DISK: Needle = Needle::new("Disk ");
    view.holds(&DISK) && row(view.text).is_some()
}

/// The row that a line is, and what stands behind its name.
fn row(text: &str) -> Option<(usize, &str)> {
    let text = text.trim_start_matches(['>', ' ']);
    let rest = text.strip_prefix("Disk ")?.trim_start();
    let (index, figure) = ROWS
        .iter()
        .enumerate()
        .find_map(|(index, (name, ..))| Some((index, rest.strip_prefix(name)?)))?;
    figure.contains("MB/s").then_some((index, figure))
}

/// The record of one assessment.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    for line in lines {
        draft.check_count()?;
        let view = line.view();
        let Some((index, figure)) = row(view.text) else { continue };
        let numbers = quantities(figure);
        let Some(rate) = numbers.first().filter(|rate| rate.unit == "MB/s") else { continue };
        line.claim();
        let (name, op, pattern, kib) = ROWS[index];
        let printed = Printed::new(name, rate.value, "MB/s").in_bytes_per_s(1e6);
        let cache = Cache::Unknown("winsat does not tell whether it used the cache of Windows");
        let block = Bytes::kib(kib);
        let phase = PhaseDraft { block, cache, ..PhaseDraft::new(op, pattern) };
        draft.phases.push(phase.at(rate.value * 1e6, printed));
    }
    if draft.phases.is_empty() {
        let expected = "'Disk  Random 16.0 Read N MB/s'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    draft.warn(
        WarningCode::Other,
        "winsat does not tell whether its MB are 10^6 or 2^20 bytes; they are read as 10^6, which may be \
         4.9 % too little",
    );
    Ok(draft)
}
