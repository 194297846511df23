//! Numbers that no storage can have, found in a record before anything is computed from it.
//!
//! A record may come from anywhere. Whatever lies outside of what is physically possible is refused
//! with the name of its field, so that no ratio of it becomes endless and no sum overflows.

use serde_json::Value;

/// A number outside of its range.
#[derive(Debug, thiserror::Error)]
#[error("{field} is {number}; it must lie between {least:e} and {most:e}")]
pub struct RangeError {
    /// The way to the field, such as `phases.3.iops.high`.
    pub field: String,
    /// What it holds.
    pub number: f64,
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
}

/// No storage does more operations a second.
pub(crate) const IOPS_MOST: f64 = 1e12;

/// No storage moves more bytes a second.
pub(crate) const BYTES_PER_S_MOST: f64 = 1e15;

/// A name that the way to a field holds, and the range of the numbers below it.
const RANGES: [(&str, f64, f64); 10] = [
    // By how much one read takes longer than another.
    ("difference_ns", -6.4e18, 6.4e18),
    ("confidence", 0.0, 1.0),
    ("read_percent", 0.0, 100.0),
    ("iops", 0.0, IOPS_MOST),
    ("bytes_per_s", 0.0, BYTES_PER_S_MOST),
    ("celsius", -273.15, 1e4),
    // Two hundred years.
    ("_ns", 0.0, 6.4e18),
    ("_hz", 0.0, 1e12),
    // Eight exbibytes, so that two of them can be added.
    ("bytes", 0.0, 9.3e18),
    ("ops", 0.0, 9.3e18),
];

/// Everything else.
const ANYTHING: (f64, f64) = (-1e19, 1.9e19);

/// Whether every number of `record` lies within its range.
///
/// # Errors
/// The first that does not.
pub(crate) fn check(record: &Value) -> Result<(), RangeError> {
    walk(record, &mut Vec::new())
}

fn walk(value: &Value, way: &mut Vec<String>) -> Result<(), RangeError> {
    let mut deeper = |name: String, item: &Value| {
        way.push(name);
        let checked = walk(item, way);
        way.pop();
        checked
    };
    match value {
        Value::Object(fields) => {
            fields.iter().try_for_each(|(name, item)| deeper(name.clone(), item))
        }
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(at, item)| deeper(at.to_string(), item))
        }
        Value::Number(number) => check_number(number.as_f64().unwrap_or(f64::INFINITY), way),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn check_number(number: f64, way: &[String]) -> Result<(), RangeError> {
    // The nearest name decides: of `iops.confidence` the second.
    let of_name = |name: &String| RANGES.iter().find(|(part, ..)| name.contains(part));
    let range = way.iter().rev().find_map(of_name).map(|(_, least, most)| (*least, *most));
    let (least, most) = range.unwrap_or(ANYTHING);
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(RangeError { field: way.join("."), number, least, most })
}
