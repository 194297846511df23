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

use crate::ImportError;
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::view::View;
use shared::TOOL;

/// What recognises a form of output, and what reads it.
type Form = (fn(&View) -> bool, fn(&[Line]) -> Result<RecordDraft, ImportError>);

/// fio's three forms of output.
const FORMS: [Form; 3] =
    [(json::is_sign, json::read), (terse::is_sign, terse::read), (human::is_sign, human::read)];

pub(super) fn is_sign(view: &View) -> bool {
    FORMS.iter().any(|(is_sign, _)| is_sign(view))
}

/// Whether an output begins with a line, so that one of another run ends before it.
pub(super) fn is_start(view: &View) -> bool {
    json::is_sign(view) || terse::is_sign(view) || human::is_announcement(view)
}

/// The device that the command of fio in a line works on, where it is one.
pub(crate) fn device_in(view: &View) -> Option<String> {
    shared::device_in(view)
}

/// Whether a line is one of an output and names no card.
pub(crate) fn is_part(view: &View) -> bool {
    human::is_of_output(view)
}

/// The record of all runs in any of fio's forms.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let (mut are_found, mut ended) = ([false; FORMS.len()], Vec::new());
    for line in lines {
        let view = View::of(&line.text);
        for (is_found, (is_sign, _)) in are_found.iter_mut().zip(FORMS) {
            *is_found = *is_found || is_sign(&view);
        }
        if shared::is_ended_by_signal(&view) {
            ended.push(line);
        }
    }
    for (_, (_, read)) in are_found.iter().zip(FORMS).filter(|(is_found, _)| **is_found) {
        draft.absorb(read(lines)?);
    }
    for line in ended {
        line.claim();
        draft.is_partial = true;
        draft.warn(
            WarningCode::Other,
            "a signal ended fio before its time: the figures are of a shorter run than was asked for",
        );
    }
    Ok(draft)
}
