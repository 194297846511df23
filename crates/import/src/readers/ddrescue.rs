//! GNU ddrescue's state: how often reading failed, and how much could not be read.
//!
//! Its screen is written again and again, so a paste may hold it several times; the last one counts. Up to
//! version 1.19 it has `errors` and `errsize`, later ones `bad areas`, `bad-sector` and `read errors`.

use cardproof_record::{ErrorCause, OpName};

use super::failed::{io_errors, nothing_in};
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::text::{kernel_name, whole};
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Ddrescue;

/// The fields that count, the most telling first.
const COUNTS: [&str; 3] = ["read errors:", "bad areas:", "errors:"];

/// Two fields that stand in one line of no other tool.
const SIGNS: [[Needle; 2]; 4] = [
    [Needle::new("rescued:"), Needle::new("bad areas:")],
    [Needle::new("pct rescued:"), Needle::new("read errors:")],
    [Needle::new("non-tried:"), Needle::new("bad-sector:")],
    [Needle::new("rescued:"), Needle::new("errsize:")],
];

pub(super) fn is_sign(view: &View) -> bool {
    SIGNS.iter().any(|pair| pair.iter().all(|needle| view.holds(needle)))
}

/// The number behind the field `name` in a line.
fn count_in(view: &View, name: &str) -> Option<u64> {
    let (before, after) = view.text.split_once(name)?;
    let is_whole_name = before.is_empty() || before.ends_with([' ', ',', '\t']);
    let number = after.trim_start().split([',', ' ']).next()?;
    whole(number).filter(|_| is_whole_name)
}

/// The record of a run.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    const COMMAND: Needle = Needle::new("ddrescue ");
    let mut draft = RecordDraft::new(TOOL);
    let mut last = [None; COUNTS.len()];
    for line in lines {
        let view = line.view();
        if view.holds(&COMMAND) {
            let device = view.text.split_whitespace().find_map(kernel_name);
            draft.conditions.device.name = draft.conditions.device.name.or(device);
        }
        for (name, last) in COUNTS.iter().zip(&mut last) {
            if let Some(count) = count_in(&view, name) {
                line.claim();
                *last = Some((line, count));
            }
        }
        if is_sign(&view) {
            line.claim();
        }
    }
    let told = || last.iter().copied().flatten();
    match told().find(|(_, count)| *count > 0) {
        Some((line, count)) => {
            draft.find(line, io_errors(OpName::Read, count, ErrorCause::Io));
            Ok(draft)
        }
        None if told().next().is_some() => Err(ImportError::NoFault { tool: TOOL }),
        None => Err(nothing_in(TOOL, lines, "'read errors: N' or 'errors: N'")),
    }
}
