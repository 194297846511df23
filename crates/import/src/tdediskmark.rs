//! `TDEDiskMark`'s text report, which has `KDiskMark`'s form.

use super::draft::RecordDraft;
use super::lines::Line;
use super::view::View;
use super::{ForeignTool, ImportError, kdiskmark};

pub(super) fn is_sign(view: &View) -> bool {
    let name = view.text.get(..13);
    name.is_some_and(|name| name.eq_ignore_ascii_case("tdediskmark ("))
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    kdiskmark::read_as(ForeignTool::TdeDiskMark, lines)
}
