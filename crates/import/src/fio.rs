//! fio's three outputs: JSON, terse, and the one for people.
//!
//! fio's KB/s are KiB/s in all of them (its `kb_base` is 1024 unless told otherwise). JSON tells
//! the most, with the job's options; terse tells rates and latencies but not what the job did; the
//! plain output tells what it did but not whether it passed the page cache by, which only a pasted
//! command line says.

mod damaged;
mod human;
mod json;
mod shared;
mod terse;

use cardproof_record::WarningCode;

use super::ImportError;
use super::draft::RecordDraft;
use super::text::Line;
use shared::TOOL;

/// What recognises a form of output, and what reads it.
type Form = (fn(&str) -> bool, fn(&[Line]) -> Result<RecordDraft, ImportError>);

pub(super) fn is_sign(line: &str) -> bool {
    json::is_sign(line) || terse::is_sign(line) || human::is_sign(line)
}

/// Whether an output begins with `line`, so that one of another run ends before it.
pub(super) fn is_start(line: &str) -> bool {
    json::is_sign(line) || terse::is_sign(line) || human::is_announcement(line)
}

/// The device that the command of fio in `line` works on, where it is one.
pub(super) fn device_in(line: &str) -> Option<String> {
    shared::device_in(line)
}

/// Whether `line` is one of an output and names no card.
pub(super) fn is_part(line: &str) -> bool {
    human::is_of_output(line)
}

/// The record of all runs in any of fio's forms.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let forms: [Form; 3] =
        [(json::is_sign, json::read), (terse::is_sign, terse::read), (human::is_sign, human::read)];
    let mut draft = RecordDraft::new(TOOL);
    for (_, read) in forms.iter().filter(|(is, _)| lines.iter().any(|line| is(&line.text))) {
        draft.absorb(read(lines)?);
    }
    for line in lines.iter().filter(|line| shared::is_ended_by_signal(&line.text)) {
        line.claim();
        draft.is_partial = true;
        draft.warn(
            WarningCode::Other,
            "a signal ended fio before its time: the figures are of a shorter run than was asked for",
        );
    }
    Ok(draft)
}
