//! Over which part of the storage a record's figures were measured, in words.

use cardproof_record::Record;

use crate::scope::{Range, least, range};

/// What a test of a file says of the storage.
pub(crate) const OF_A_FILE: &str = "A file was tested, and a file has no capacity of its own. Name the card itself, such \
                                    as /dev/mmcblk0, or a directory on it.";

/// A test range in few words, such as ` (tested on the first 256 MiB)`.
pub(super) fn in_short(range: &Range) -> String {
    match range {
        Range { is_file: true, measured, .. } => format!(" (tested in a file of {measured})"),
        Range { measured, .. } => format!(" (tested on the first {measured})"),
    }
}

/// The test range in words, such as `test range: the first 256 MiB of 29.7 GiB`; `None` if it is the
/// whole storage, or if the record does not tell.
#[must_use]
pub fn scope(record: &Record) -> Option<String> {
    let Range { is_file, measured, size } = range(record)?;
    let each = match least(record) {
        Some(least) if least < measured => format!(", at least {least} in each test"),
        _ => String::new(),
    };
    Some(if is_file {
        format!("test range: a file of {measured} on a device of {size}{each}")
    } else {
        format!("test range: the first {measured} of {size}{each}")
    })
}
