//! The answer as JSON, for scripts: its fields stay as they are.

use cardproof_units::Bytes;
use serde::Serialize;

use super::Answer;
use crate::exit::Failure;

/// The form's name and version.
const SCHEMA: &str = "cardproof.verify/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    verdict: &'a str,
    kind: &'a str,
    probability: f64,
    announced_size_bytes: Bytes,
    real_size_bytes: Bounds,
    excluded_hidden_store_bytes: Bytes,
    excluded_bad_share: f64,
    bytes_written: Bytes,
    bytes_read: Bytes,
    damaged_ranges_bytes: &'a [(u64, u64)],
    reasons: &'a [String],
    record: &'a str,
}

#[derive(Serialize)]
struct Bounds {
    low: Bytes,
    high: Bytes,
}

/// `answer` as one JSON document that ends in a newline.
pub(super) fn json(answer: &Answer) -> Result<String, Failure> {
    let document = Document {
        schema: SCHEMA,
        verdict: answer.verdict,
        kind: answer.kind,
        probability: answer.probability,
        announced_size_bytes: answer.announced,
        real_size_bytes: Bounds { low: answer.real_size.0, high: answer.real_size.1 },
        excluded_hidden_store_bytes: answer.excluded_store,
        excluded_bad_share: answer.excluded_share,
        bytes_written: answer.written,
        bytes_read: answer.read,
        damaged_ranges_bytes: &answer.damaged_ranges,
        reasons: &answer.reasons,
        record: &answer.record,
    };
    let text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the answer cannot be put into JSON"))?;
    Ok(text + "\n")
}
