//! disk-benchmark.sh: fio's sequential read, then iozone's random tests, in one output.
//!
//! The script asks fio for direct reads of 1 MiB, four jobs of 64 operations, and iozone for direct
//! access (`-I`), which the plain output of fio does not repeat.

use super::microsd_benchmarks::found;
use super::{fio, iozone};
use crate::draft::{Cache, RecordDraft};
use crate::lines::{Line, last_number};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::DiskBenchmark;

pub(super) fn is_sign(view: &View) -> bool {
    const SIGNS: Beginnings = Beginnings::new(&[
        "Running fio sequential read test",
        "Running iozone 1024K random read and write tests",
    ]);
    SIGNS.begin(view.text) || view.text == "Disk benchmark complete!"
}

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let has_fio = lines.iter().any(|line| fio::is_sign(&line.view()));
    if has_fio && let Some(sequential) = found(fio::read(lines))? {
        draft.absorb(sequential);
    }
    if let Some(files) = found(iozone::find(lines))? {
        draft.began = files.began;
        draft.phases.extend(files.phases);
        draft.figures.extend(files.figures);
    }
    for phase in &mut draft.phases {
        if matches!(phase.cache, Cache::Unknown(_)) {
            phase.cache = Cache::Bypassed;
        }
    }
    draft.tools = vec![TOOL];
    if draft.phases.is_empty() {
        let expected = "fio's report or iozone's table".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}
