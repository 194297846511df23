//! One window as one JSON document on one line.

use cardproof_rating::limits::in_words;
use cardproof_record::{Activity, LimitedBy};
use serde::Serialize;

use super::source::Sample;
use crate::exit::Failure;

/// The name and version of the document's form.
const SCHEMA: &str = "cardproof.watch/1";

#[derive(Serialize)]
struct Document<'sample> {
    schema: &'static str,
    time: &'sample str,
    limited_by: &'sample LimitedBy,
    words: String,
    #[serde(flatten)]
    activity: &'sample Activity,
}

/// The line of `sample`, with its end.
pub(super) fn line(sample: &Sample) -> Result<String, Failure> {
    let document = Document {
        schema: SCHEMA,
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
