//! badblocks' last line: `Pass completed, 3 bad blocks found. (3/0/0 errors)`.
//!
//! The three numbers count blocks that could not be read, that could not be written, and that read back as
//! something else (e2fsprogs, `badblocks -v`). Old versions print none of them.

use cardproof_record::{ErrorCause, FindingKind, OpName};

use super::failed::{io_errors, nothing_in};
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::text::{kernel_name, whole};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Badblocks;

const BEGINNINGS: Beginnings = Beginnings::new(&["Pass completed, "]);

/// What the last line tells: blocks that failed to be read, failed to be written, were wrong, and of which it does not
/// say what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Blocks {
    unread: u64,
    unwritten: u64,
    wrong: u64,
    untold: u64,
}

pub(super) fn is_sign(view: &View) -> bool {
    blocks_in(view).is_some()
}

fn blocks_in(view: &View) -> Option<Blocks> {
    if !BEGINNINGS.begin(view.text) {
        return None;
    }
    let (count, counts) = view.text.split_once(" bad blocks found.")?;
    if counts.is_empty() {
        let untold = whole(count.rsplit(' ').next()?)?;
        return Some(Blocks { untold, ..Blocks::default() });
    }
    let counts = counts.strip_prefix(" (")?.strip_suffix(" errors)")?;
    let mut counts = counts.split('/').map(whole);
    let [unread, unwritten, wrong] = [counts.next()??, counts.next()??, counts.next()??];
    counts.next().is_none().then_some(Blocks { unread, unwritten, wrong, untold: 0 })
}

/// The device of the command that stands in a line.
fn device_in(view: &View) -> Option<String> {
    const NAME: Needle = Needle::new("badblocks ");
    if !view.holds(&NAME) {
        return None;
    }
    view.text.split_whitespace().find_map(kernel_name)
}

/// The record of one or several passes.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut is_complete = false;
    for line in lines {
        let view = line.view();
        if let Some(device) = device_in(&view) {
            line.claim();
            draft.conditions.device.name.get_or_insert(device);
        }
        let Some(blocks) = blocks_in(&view) else { continue };
        line.claim();
        is_complete = true;
        for (op, count) in [
            (OpName::Read, blocks.unread),
            (OpName::Write, blocks.unwritten),
            (OpName::Unknown, blocks.untold),
        ] {
            if count > 0 {
                draft.find(line, io_errors(op, count, ErrorCause::Io));
            }
        }
        if blocks.wrong > 0 {
            draft.find(line, FindingKind::Damaged);
        }
    }
    if draft.findings.is_empty() && is_complete {
        return Err(ImportError::NoFault { tool: TOOL });
    }
    if draft.findings.is_empty() {
        return Err(nothing_in(
            TOOL,
            lines,
            "'Pass completed, N bad blocks found. (N/N/N errors)'",
        ));
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_has_three_counts() {
        let told = |text| {
            let blocks = blocks_in(&View::of(text))?;
            Some([blocks.unread, blocks.unwritten, blocks.wrong, blocks.untold])
        };
        let line = "Pass completed, 6 bad blocks found. (3/1/2 errors)";
        assert_eq!(told(line), Some([3, 1, 2, 0]));
        assert_eq!(told("Pass completed, 6 bad blocks found."), Some([0, 0, 0, 6]));
        for text in [
            "Pass completed, 6 bad blocks found. (3/1 errors)",
            "Pass completed, 6 bad blocks found. (3/1/2/4 errors)",
            "1 pass completed, 6 bad blocks found. (3/1/2 errors)",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
