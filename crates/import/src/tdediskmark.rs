//! `TDEDiskMark`'s text report, which has `KDiskMark`'s form.

use super::draft::RecordDraft;
use super::text::Line;
use super::{ForeignTool, ImportError, kdiskmark};

pub(super) fn is_sign(line: &str) -> bool {
    let name = line.trim_start().get(..13);
    name.is_some_and(|name| name.eq_ignore_ascii_case("tdediskmark ("))
}

/// Whether another report begins with `line`.
pub(super) fn is_start(line: &str) -> bool {
    is_sign(line)
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    kdiskmark::read_as(ForeignTool::TdeDiskMark, lines)
}
