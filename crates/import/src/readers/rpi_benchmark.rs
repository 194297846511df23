//! rpi-benchmark: hdparm and dd among tests of processor, memory and network.
//!
//! Its dd writes zeros in blocks of 1 MiB through the page cache and waits for them at the end, and then
//! reads them after it has emptied the page cache; the sentence before each says which.

use cardproof_record::OpName;
use cardproof_units::Bytes;

use super::microsd_benchmarks::found;
use super::{dd, hdparm};
use crate::draft::{RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::RpiBenchmark;

const WRITES: &str = "Running DD WRITE test";
const READS: &str = "Running DD READ test";

pub(super) fn is_sign(view: &View) -> bool {
    const SIGNS: Beginnings =
        Beginnings::new(&[WRITES, READS, "Running HDPARM test", "Raspberry Pi Benchmark Test"]);
    SIGNS.begin(view.text)
}

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    if let Some(timings) = found(hdparm::find(lines, &mut Err))? {
        draft.conditions.device.name = timings.device;
        draft.phases.extend(timings.phases);
        draft.figures.extend(timings.figures);
    }
    let at = |start: &str| lines.iter().position(|line| line.shown().starts_with(start));
    let (writes, reads) = (at(WRITES), at(READS));
    let end_of = |start: usize, other: Option<usize>| {
        other.filter(|other| *other > start).unwrap_or(lines.len())
    };
    let commands = [(writes, reads, OpName::Write), (reads, writes, OpName::Read)];
    for (start, other, op) in commands {
        let Some(start) = start else { continue };
        let sync = if op == OpName::Write { Sync::AtEnd } else { Sync::None };
        let command =
            dd::Command { op, sync, is_told: true, block: Bytes::mib(1), ..dd::Command::default() };
        let part = &lines[start..end_of(start, other)];
        draft.phases.extend(found(dd::find(part, command, &mut Err))?.unwrap_or_default());
    }
    if draft.phases.is_empty() {
        let expected = "hdparm's or dd's figures".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}
