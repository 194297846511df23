//! The document that a person shares with a hub, made from a record by an allowlist of typed fields.
//!
//! What is not in the allowlist is dropped, in the command line tool before it sends and on the hub before
//! it keeps, by the same code: a field of a later version, a serial number that somebody put into a record,
//! a host name. Free text passes only where it names a product, and not where it looks like a path, an
//! address or a serial number. Messages and causes are replaced by the fixed words of their kind. This crate
//! opens no file and no connection, and an input can make it allocate no more than the allowlist has room for.

mod allowlist;
mod counts;
mod filter;
mod shared;
mod text;
mod trim;

use cardproof_record::{
    CapacityBounds, CapacityVerdict, Phase, PhaseState, ReadError, Record, State, Trial,
};
use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use allowlist::paths;
pub use shared::{Queued, SHARED_SCHEMA, Shared, SharedDocument, SharedRecord};
pub use trim::{BUCKETS_MAX, INTERVALS_MAX};

/// The name and version of the document.
pub const SCHEMA: &str = "cardproof.submission/1";

/// The licence of every document, by its SPDX name: no rights reserved.
pub const LICENCE: &str = "CC0-1.0";

/// The longest document that a hub takes, in bytes of JSON.
pub const LENGTH_MAX: usize = 256 << 10;

/// The most characters of a label.
pub const LABEL_CHARACTERS_MAX: usize = 64;

/// The fields of a document in which its submitter says something beside what was measured. Documents that differ in
/// nothing else are of one record.
pub const BESIDE: [&str; 2] = ["label", "price"];

/// What a card cost, where and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The amount, at least 0.01.
    pub amount: f64,
    /// The currency by its ISO 4217 name, such as `EUR`.
    pub currency: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
}

/// What a test of the capacity has found. Its journal, from which this follows, is not shared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The verdict.
    pub verdict: CapacityVerdict,
    /// The kind of card, such as `wrap`; `unknown` where none was determined.
    pub kind: String,
    /// The probability of the verdict, 0 to 1.
    pub probability: f64,
    /// What the device announces.
    pub announced_size_bytes: Bytes,
    /// How much it really holds.
    pub real_size_bytes: CapacityBounds,
    /// A hidden store of up to so many bytes would have been found.
    pub excluded_hidden_store_bytes: Bytes,
    /// A larger share of bad places, 0 to 1, would have been found with 99 % confidence.
    pub excluded_bad_share: f64,
    /// What was written in all.
    pub bytes_written: Bytes,
    /// What was read in all.
    pub bytes_read: Bytes,
}

/// What is shared beside a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Additions {
    /// The record's label, where it is to be shared.
    pub label: Option<String>,
    /// What the card cost.
    pub price: Option<Price>,
    /// What its capacity test has found, where it has one.
    pub capacity: Option<Capacity>,
}

/// A document that a hub may keep: nothing is in it but what the allowlist knows.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The document.
    pub document: Value,
    /// The record in it.
    pub record: Record,
    /// What its capacity test has found.
    pub capacity: Option<Capacity>,
}

/// Why a document is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not JSON, nested too deeply, or a field of another type than the allowlist has.
    #[error("the document cannot be read: {0}")]
    Malformed(serde_json::Error),
    /// Longer than [`LENGTH_MAX`].
    #[error("the document has {0} bytes; at most {LENGTH_MAX} are taken")]
    TooLong(usize),
    /// Of another form.
    #[error("the document's schema is '{0}'; this program takes '{SCHEMA}'")]
    OtherSchema(String),
    /// Not under the licence.
    #[error("the document must say \"licence\": \"{LICENCE}\", since it will be public")]
    OtherLicence,
    /// There is no record in it.
    #[error("the document has no object \"record\"")]
    NoRecord,
    /// The record is not of its form, or has a number that no storage can have.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// Nothing was measured.
    #[error(
        "the record holds no result that can be shared; share a record of `cardproof run`, `verify`, `endure`, \
         `powercut`, `compare-setups` or `replay run`"
    )]
    NothingMeasured,
    /// The run did not end.
    #[error("the record's run has not ended; share it when it has")]
    StillRunning,
    /// The label or the price cannot be kept.
    #[error("{0}")]
    Addition(&'static str),
}

// Its words hold those of the cause, which is therefore no source.
impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

/// The document to share for `record`: allowed fields, long series trimmed, under [`LICENCE`].
///
/// # Errors
/// The record is not worth sharing or cannot be; the message says why.
pub fn document(record: &Record, additions: &Additions) -> Result<Accepted, Refusal> {
    // Through text: the code that makes a value of a record would be in the program for this.
    let record: Value = serde_json::from_str(&trim::trimmed(record).to_json()?)?;
    let mut document = json!({ "schema": SCHEMA, "licence": LICENCE, "record": record });
    if let Some(label) = &additions.label {
        document["label"] = Value::from(label.as_str());
    }
    if let Some(price) = &additions.price {
        document["price"] = serde_json::to_value(price)?;
    }
    if let Some(capacity) = &additions.capacity {
        document["capacity"] = serde_json::to_value(capacity)?;
    }
    let bytes = serde_json::to_vec(&document)?;
    // Through text here too; the hub, which reads many, takes the fields as they are.
    accepted(&bytes, |fields| Record::from_json(&serde_json::to_string(fields)?))
}

/// The document that `bytes` hold, without any field outside the allowlist.
///
/// # Errors
/// It is no document that a hub may keep; the message names the cause.
pub fn accept(bytes: &[u8]) -> Result<Accepted, Refusal> {
    accepted(bytes, Record::from_fields)
}

fn accepted(
    bytes: &[u8],
    read: impl FnOnce(&Map<String, Value>) -> Result<Record, ReadError>,
) -> Result<Accepted, Refusal> {
    if bytes.len() > LENGTH_MAX {
        return Err(Refusal::TooLong(bytes.len()));
    }
    let document = filter::filtered(bytes, &allowlist::DOCUMENT)?;
    let word = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    if word("schema") != SCHEMA {
        return Err(Refusal::OtherSchema(word("schema").to_owned()));
    }
    if word("licence") != LICENCE {
        return Err(Refusal::OtherLicence);
    }
    check_price(&document)?;
    let record = document.get("record").and_then(Value::as_object).ok_or(Refusal::NoRecord)?;
    let record = read(record)?;
    let capacity = capacity_of(&document)?;
    check_measured(&record, capacity.is_some())?;
    if !counts::are_possible(&record) {
        return Err(Refusal::Addition("a test in the record has counts that no test gives"));
    }
    Ok(Accepted { document, record, capacity })
}

/// What a document that was accepted says of the card's capacity; none where it says nothing.
///
/// # Errors
/// The verdict is not whole, or has figures that no test gives.
pub fn capacity_of(document: &Value) -> Result<Option<Capacity>, Refusal> {
    let Some(fields) = document.get("capacity") else { return Ok(None) };
    let wrong = Refusal::Addition("the verdict on the capacity has figures that no test gives");
    let Ok(found) = serde_json::from_value::<Capacity>(fields.clone()) else { return Err(wrong) };
    let CapacityBounds { low, high } = found.real_size_bytes;
    let shares = [found.probability, found.excluded_bad_share];
    let is_possible = low <= high
        && high <= found.announced_size_bytes
        && found.announced_size_bytes > Bytes::ZERO
        && shares.iter().all(|share| (0.0..=1.0).contains(share));
    if is_possible { Ok(Some(found)) } else { Err(wrong) }
}

/// The record in a document that was accepted before, under the name `id`.
///
/// # Errors
/// `document` was never accepted.
pub fn record_of(document: &Value, id: &str) -> Result<Record, Refusal> {
    let fields = document.get("record").and_then(Value::as_object).ok_or(Refusal::NoRecord)?;
    let mut record = Record::from_fields(fields)?;
    id.clone_into(&mut record.id);
    if let Some(label) = document.get("label").and_then(Value::as_str) {
        record.label = Some(label.to_owned());
    }
    Ok(record)
}

/// The published schema of the document, JSON Schema draft 2020-12.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = allowlist::DOCUMENT.schema(&mut Vec::new());
    schema["$schema"] = Value::from("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = Value::from("A record shared with a hub");
    schema["required"] = json!(["schema", "licence", "record"]);
    schema["properties"]["schema"] = json!({"const": SCHEMA});
    schema["properties"]["licence"] = json!({"const": LICENCE});
    schema
}

fn check_measured(record: &Record, has_capacity: bool) -> Result<(), Refusal> {
    if record.state == State::Running {
        return Err(Refusal::StillRunning);
    }
    let measured = |state: &PhaseState| *state == PhaseState::Measured;
    let is_worth_sharing = record.phases.iter().any(Phase::is_measured)
        || record.job_runs.iter().any(|job| measured(&job.state))
        || record.replays.iter().any(|replay| measured(&replay.state))
        || !record.jobs.is_empty()
        || has_capacity
        || record.trial.as_ref().is_some_and(is_result);
    if is_worth_sharing { Ok(()) } else { Err(Refusal::NothingMeasured) }
}

/// Whether `trial` is a result by itself.
fn is_result(trial: &Trial) -> bool {
    match trial {
        Trial::Setups(setups) => setups.has_figures(),
        Trial::Endurance(_) | Trial::PowerCuts(_) | Trial::Integrity(_) => true,
        // Their results stand beside them: the verdict on the capacity, and the replays.
        Trial::Capacity(_) | Trial::Layout(_) => false,
    }
}

fn check_price(document: &Value) -> Result<(), Refusal> {
    let Some(price) = document.get("price") else { return Ok(()) };
    let Ok(price) = serde_json::from_value::<Price>(price.clone()) else {
        return Err(Refusal::Addition("a price needs an amount, a currency and a date"));
    };
    if !(price.amount >= 0.01 && price.amount < 1e7) {
        return Err(Refusal::Addition("a price is at least 0.01 and below 10,000,000"));
    }
    if price.currency.len() != 3 || !price.currency.bytes().all(|c| c.is_ascii_uppercase()) {
        return Err(Refusal::Addition("a currency is three capital letters, such as EUR"));
    }
    if !text::is_date(&price.date) {
        return Err(Refusal::Addition("the date of a price has the form 2026-01-31"));
    }
    Ok(())
}
