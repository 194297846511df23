//! What is read of a text as a whole, before it is cut into the outputs of tools: the kernel's messages,
//! health reports of drives, figures of programs with windows, and tables that people typed. Each tells of its
//! devices by itself.

mod apps;
mod drives;
mod imager;
mod kernel;
mod repeats;

use super::draft::RecordDraft;
use super::lines::Line;
use super::readers::Marks;
use super::{ForeignTool, ImportError, table};

/// The records in `lines` of `text`, with the index of the line at which each begins. Lines that a reader
/// knows by `marks` belong to that reader. Only those of `tool`, where one is named.
///
/// # Errors
/// There are more measurements than a text may hold.
pub(super) fn read(
    text: &str,
    lines: &[Line],
    marks: &[Marks],
    tool: Option<ForeignTool>,
) -> Result<Vec<(usize, RecordDraft)>, ImportError> {
    let is_asked = |own: ForeignTool| tool.is_none_or(|tool| tool == own);
    let mut found = Vec::new();
    if is_asked(ForeignTool::KernelLog) {
        found.extend(kernel::read(text, lines));
    }
    // A script's output holds the outputs of others, which are its own.
    let all = marks.iter().copied().fold(Marks::default(), Marks::with);
    if all.are_of_script() {
        return Ok(found);
    }
    if is_asked(ForeignTool::Smartctl) || is_asked(ForeignTool::Nvme) {
        found.extend(drives::read(lines, tool));
    }
    let is_free = |index: usize| marks[index].is_empty() && !lines[index].is_claimed();
    if is_asked(ForeignTool::RpiImager) {
        found.extend(imager::read(lines));
    }
    let apps = apps::read(lines, &is_free)?;
    found.extend(apps.into_iter().filter(|(_, draft)| draft.tools.iter().all(|it| is_asked(*it))));
    if is_asked(ForeignTool::Table) {
        found.extend(table::read(lines, &is_free)?);
    }
    repeats::leave_out(&mut found);
    for (_, draft) in &mut found {
        if let [tool] = draft.tools[..] {
            draft.sign(tool);
        }
    }
    found.sort_by_key(|(index, _)| *index);
    Ok(found)
}

/// The index of the line called `number`.
fn index_of(lines: &[Line], number: usize) -> usize {
    lines.partition_point(|line| line.number < number)
}
