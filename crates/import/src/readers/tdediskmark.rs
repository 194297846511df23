//! `TDEDiskMark`'s text report, which has `KDiskMark`'s form.

use super::kdiskmark;
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::view::View;
use crate::{ForeignTool, ImportError};

pub(super) fn is_sign(view: &View) -> bool {
    let name = view.text.get(..13);
    name.is_some_and(|name| name.eq_ignore_ascii_case("tdediskmark ("))
}

/// The record of a report.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    kdiskmark::read_as(ForeignTool::TdeDiskMark, lines)
}
