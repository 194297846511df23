//! fio's three outputs: JSON, terse, and the one for people.
//!
//! fio's KB/s are KiB/s in all of them (its `kb_base` is 1024 unless told otherwise). JSON tells
//! the most, with the job's options; terse tells rates and latencies but not what the job did; the
//! plain output tells what it did but not whether it passed the page cache by, which only a pasted
//! command line says.
//!
//! One run can print several of them (`--output-format=normal,json`): the one that tells most counts.

mod damaged;
mod human;
mod json;
mod shared;
mod terse;

use std::collections::HashMap;

use cardproof_record::WarningCode;
use cardproof_units::Nanos;

use crate::ImportError;
use crate::draft::{PhaseDraft, RecordDraft};
use crate::lines::Line;
use crate::text::is_near;
use crate::view::View;
use shared::TOOL;

/// What recognises a form of output, and what reads it.
type Form = (fn(&View) -> bool, fn(&[Line]) -> Result<RecordDraft, ImportError>);

/// fio's three forms of output, the one that tells most of a job first.
const FORMS: [Form; 3] =
    [(json::is_sign, json::read), (human::is_sign, human::read), (terse::is_sign, terse::read)];

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

/// Whether a line is a command of fio.
pub(crate) fn is_command(view: &View) -> bool {
    shared::is_command(view)
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
        let view = line.view();
        for (is_found, (is_sign, _)) in are_found.iter_mut().zip(FORMS) {
            *is_found = *is_found || is_sign(&view);
        }
        if shared::is_ended_by_signal(&view) {
            ended.push(line);
        }
    }
    for (_, (_, read)) in are_found.iter().zip(FORMS).filter(|(is_found, _)| **is_found) {
        let mut form = match read(lines) {
            // A heading of a job stands before its JSON, too.
            Err(ImportError::Ends { .. }) if !draft.phases.is_empty() => continue,
            form => form?,
        };
        leave_out_repeated(&mut form.phases, &draft.phases);
        draft.absorb(form);
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

/// Leaves out of `phases` what `known` holds in another form of output. fio prints the same time in
/// all of them, to a millisecond, and the same figures, rounded to a few digits.
fn leave_out_repeated(phases: &mut Vec<PhaseDraft>, known: &[PhaseDraft]) {
    let mut by_time: HashMap<Nanos, Vec<&PhaseDraft>> = HashMap::new();
    for phase in known.iter().rev() {
        by_time.entry(phase.duration).or_default().push(phase);
    }
    phases.retain(|phase| {
        let Some(left) = by_time.get_mut(&phase.duration) else { return true };
        let found = left.iter().rposition(|known| is_same_run(phase, known));
        found.map(|index| left.remove(index)).is_none()
    });
}

/// Whether two phases of one duration have the same figures.
fn is_same_run(phase: &PhaseDraft, known: &PhaseDraft) -> bool {
    let figures = |phase: &PhaseDraft| {
        let stated = &phase.stated;
        let rate = stated.throughput_bytes_per_s.map_or(0.0, |rate| rate.0);
        (stated.iops.map_or(0.0, |iops| iops.0), rate)
    };
    let ((iops, rate), (known_iops, known_rate)) = (figures(phase), figures(known));
    // Printed are three digits, or whole operations and KiB of each direction.
    is_near(iops, known_iops, 0.006, 2.0) && is_near(rate, known_rate, 0.006, 2048.0)
}
