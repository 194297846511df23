//! The output of microsd-benchmarks.sh: hdparm, dd and iozone one after the other.
//!
//! What the script runs is known, and so is what dd's own output does not tell: it writes zeros in
//! blocks of 8 KiB through the page cache and waits for them at the end.

use cardproof_units::Bytes;

use super::{dd, hdparm, iozone};
use crate::draft::{RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{BusInfo, OpName};

const TOOL: ForeignTool = ForeignTool::MicrosdBenchmarks;

/// What the script says at first.
const BANNER: Needle = Needle::new("Raspberry Pi Dramble microSD benchmarks");

/// What the script says at last.
const END: &str = "microSD card benchmark complete!";

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&BANNER) || view.text == END
}

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let command = dd::Command {
        op: OpName::Write,
        sync: Sync::AtEnd,
        is_told: true,
        block: Bytes::kib(8),
        ..dd::Command::default()
    };
    let mut draft = RecordDraft::new(TOOL);
    if let Some(timings) = found(hdparm::find(lines, &mut Err))? {
        draft.conditions.device.name = timings.device;
        draft.phases.extend(timings.phases);
        draft.figures.extend(timings.figures);
    }
    draft.phases.extend(found(dd::find(lines, command, &mut Err))?.unwrap_or_default());
    if let Some(files) = found(iozone::find(lines))? {
        draft.phases.extend(files.phases);
        draft.figures.extend(files.figures);
        draft.began = files.began;
    }
    if draft.phases.is_empty() {
        let expected = "hdparm's, dd's or iozone's figures".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    draft.conditions.device.bus = clock(lines);
    Ok(draft)
}

/// What was found; nothing where a tool of the script left no figure.
pub(super) fn found<T>(result: Result<T, ImportError>) -> Result<Option<T>, ImportError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(ImportError::Ends { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The clock in `microSD clock: 50.000 MHz`.
fn clock(lines: &[Line]) -> Option<BusInfo> {
    let told = |line: &Line| {
        let (_, clock) = line.text.split_once("microSD clock:")?;
        let numbers = quantities(clock);
        numbers.first().filter(|clock| clock.unit == "MHz").map(|clock| clock.value * 1e6)
    };
    let clock_hz = lines.iter().find_map(told)? as u64;
    Some(BusInfo { clock_hz: Some(clock_hz), source: Some("log".to_owned()), ..BusInfo::default() })
}
