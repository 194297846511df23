//! What readers share of operations that failed: the finding, and the error of a text without any.

use cardproof_record::{ErrorCause, FindingKind, OpName};

use crate::lines::{Line, last_number};
use crate::{ForeignTool, ImportError};

/// `count` operations that failed; zero where it is not told how many.
pub(crate) const fn io_errors(op: OpName, count: u64, cause: ErrorCause) -> FindingKind {
    FindingKind::IoErrors {
        op,
        count,
        cause,
        files: Vec::new(),
        after_bytes: None,
        offset_bytes: None,
    }
}

/// That `lines` of `tool` hold nothing of what is `expected`.
pub(super) fn nothing_in(tool: ForeignTool, lines: &[Line], expected: &str) -> ImportError {
    ImportError::Ends { tool, line: last_number(lines), expected: expected.to_owned() }
}
