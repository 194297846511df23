//! The answer as JSON, for scripts: its fields stay as they are.

use cardproof_evidence::capacity::{Exclusion, MissingPart};
use cardproof_record::{CapacityAnswer, CapacityBounds, CapacityExclusion, VERIFY_SCHEMA};
use cardproof_units::{Bytes, Nanos};

use super::Answer;
use crate::exit::Failure;

/// `answer` as one JSON document that ends in a newline.
pub(super) fn json(answer: &Answer, advice: &str) -> Result<String, Failure> {
    let (planned_write_bytes, planned_read_bytes, planned_time) = answer.planned;
    let (low, high) = answer.found.real_size;
    let document = CapacityAnswer {
        schema: VERIFY_SCHEMA,
        verdict: answer.found.verdict,
        kind: answer.found.kind,
        probability: answer.found.probability,
        announced_size_bytes: answer.found.announced,
        real_size_bytes: CapacityBounds { low, high },
        excluded_hidden_store_bytes: answer.found.excluded_store,
        excluded_fakes: answer.found.exclusions.iter().map(exclusion).collect(),
        excluded_bad_share: answer.found.excluded_share,
        bytes_written: answer.written,
        bytes_read: answer.read,
        planned_write_bytes,
        planned_read_bytes,
        planned_seconds: planned_time.map(Nanos::as_secs_f64),
        seconds: answer.time.map(Nanos::as_secs_f64),
        reconnected: answer.is_reconnected,
        damaged_ranges_bytes: &answer.found.damaged_ranges,
        reasons: &answer.found.reasons_in_words(),
        advice,
        record: &answer.record,
    };
    let text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the answer cannot be put into JSON"))?;
    Ok(text + "\n")
}

const fn exclusion(found: &Exclusion) -> CapacityExclusion {
    CapacityExclusion {
        missing_share: found.missing_share,
        is_at_end: matches!(found.part, MissingPart::End),
        hidden_store_bytes: Bytes(found.store_bytes),
    }
}
