//! What e2fsck and its like say of blocks that they could not read or write:
//! `Error reading block 131072 (Input/output error).`

use cardproof_record::{ErrorCause, OpName};

use super::dd::cause_of;
use super::failed::{io_errors, nothing_in};
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::text::{kernel_name, whole};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::E2fsck;

const BEGINNINGS: [(&str, OpName); 2] =
    [("Error reading block ", OpName::Read), ("Error writing block ", OpName::Write)];

const SIGNS: Beginnings = Beginnings::new(&["Error reading block ", "Error writing block "]);

pub(super) fn is_sign(view: &View) -> bool {
    failure_in(view).is_some()
}

/// What failed in a line, and why.
fn failure_in(view: &View) -> Option<(OpName, ErrorCause)> {
    if !SIGNS.begin(view.text) {
        return None;
    }
    let (rest, op) =
        BEGINNINGS.iter().find_map(|(start, op)| Some((view.text.strip_prefix(start)?, *op)))?;
    let (block, rest) = rest.split_once(" (")?;
    whole(block)?;
    Some((op, cause_of(rest.split(')').next()?)?))
}

/// The partition in the beginning of a line such as `/dev/mmcblk0p2: recovering journal`.
fn device_in(view: &View) -> Option<String> {
    let (path, _) = view.text.split_once(": ")?;
    kernel_name(path)
}

/// The record of a check.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut failed: Vec<(&Line, (OpName, ErrorCause), u64)> = Vec::new();
    for line in lines {
        let view = line.view();
        let Some(what) = failure_in(&view) else {
            if let Some(device) = device_in(&view) {
                line.claim();
                draft.conditions.device.name.get_or_insert(device);
            }
            continue;
        };
        line.claim();
        match failed.iter_mut().find(|(_, known, _)| *known == what) {
            Some((_, _, count)) => *count += 1,
            None => failed.push((line, what, 1)),
        }
    }
    if failed.is_empty() {
        return Err(nothing_in(TOOL, lines, "'Error reading block N (Input/output error)'"));
    }
    for (line, (op, cause), count) in failed {
        draft.find(line, io_errors(op, count, cause));
    }
    Ok(draft)
}
