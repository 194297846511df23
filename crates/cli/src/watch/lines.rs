//! A window as plain lines, for pipes, files and `--once`.

use cardproof_rating::words::limits::in_words;

use super::columns::{DEVICE_HEADINGS, device_row, system};
use super::source::Sample;

/// The lines of `sample`, with an empty one after them.
pub(super) fn block(sample: &Sample) -> String {
    let mut lines = vec![sample.time.clone()];
    if !sample.activity.devices.is_empty() {
        lines.push(DEVICE_HEADINGS.to_owned());
        lines.extend(sample.activity.devices.iter().map(device_row));
    }
    lines.push(system(&sample.activity).join("; "));
    lines.push(in_words(&sample.limited_by));
    let text = lines.iter().fold(String::new(), |text, line| text + line + "\n") + "\n";
    crate::talk::paged(&text).into_owned()
}
