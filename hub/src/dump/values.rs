//! What the columns of both tables are declared with: values of a record in the forms that a table has.

use std::borrow::Cow;

use cardproof_units::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::sheet::{Column, Of};

pub(super) const fn column<Row>(
    name: &'static str,
    value: Of<Row>,
    about: &'static str,
) -> Column<Row> {
    Column { name, about, value }
}

/// `text` as the value of a column.
pub(super) fn some(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|text| Cow::Borrowed(text.as_str()))
}

/// The word of `value` in a record's JSON.
pub(super) fn word(value: &impl Serialize) -> Option<Cow<'static, str>> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(Cow::Owned(word)),
        Ok(Value::Object(fields)) => {
            fields.get("state").and_then(Value::as_str).map(|word| Cow::Owned(word.to_owned()))
        }
        _ => None,
    }
}

pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn bytes(bytes: Option<Bytes>) -> Option<i64> {
    bytes.map(|bytes| whole(bytes.get()))
}
