//! One window as one JSON document on one line.

use cardproof_rating::limits::{WATCH_SCHEMA, WatchDocument};
use cardproof_rating::words::limits::in_words;

use super::source::Sample;
use crate::exit::Failure;

/// The line of `sample`, with its end.
pub(super) fn line(sample: &Sample) -> Result<String, Failure> {
    let document = WatchDocument {
        schema: WATCH_SCHEMA,
        time: &sample.time,
        limited_by: &sample.limited_by,
        words: in_words(&sample.limited_by),
        activity: &sample.activity,
    };
    let mut text = serde_json::to_string(&document)
        .map_err(Failure::because("the window cannot be put into JSON"))?;
    text.push('\n');
    Ok(text)
}
