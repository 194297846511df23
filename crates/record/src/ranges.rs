//! Numbers that no storage can have, found in a record before anything is computed from it.
//!
//! A record may come from anywhere. Whatever lies outside of what is physically possible is refused
//! with the name of its field, so that no ratio of it becomes endless and no sum overflows.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

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
const ANYTHING: Range = (-1e19, 1.9e19);

/// A part of the way to a field.
#[derive(Clone, Copy)]
enum Step<'r> {
    Name(&'r str),
    At(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::At(at) => at.fmt(f),
        }
    }
}

/// Whether every number of `record` lies within its range.
///
/// # Errors
/// The first that does not.
pub(crate) fn check(record: &Map<String, Value>) -> Result<(), RangeError> {
    Walk::default().fields(record, ANYTHING)
}

/// The range of a field's numbers, or of those below it.
type Range = (f64, f64);

/// A walk over all fields of a record.
#[derive(Default)]
struct Walk<'r> {
    /// The way to the field that is looked at.
    way: Vec<Step<'r>>,
    /// The range that each name tells, where it tells one: thousands of fields share some hundred names.
    known: HashMap<&'r str, Option<Range>>,
}

impl<'r> Walk<'r> {
    /// `range` is that of the nearest name on the way that has one: of `iops.confidence` the second decides.
    fn value(&mut self, value: &'r Value, range: Range) -> Result<(), RangeError> {
        match value {
            Value::Object(fields) => self.fields(fields, range),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(at, item)| {
                self.way.push(Step::At(at));
                let checked = self.value(item, range);
                self.way.pop();
                checked
            }),
            Value::Number(number) => {
                check_number(number.as_f64().unwrap_or(f64::INFINITY), range, &self.way)
            }
            Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        }
    }

    fn fields(&mut self, fields: &'r Map<String, Value>, range: Range) -> Result<(), RangeError> {
        for (name, item) in fields {
            if matches!(item, Value::Null | Value::Bool(_) | Value::String(_)) {
                continue;
            }
            let own = *self.known.entry(name).or_insert_with(|| of_name(name));
            self.way.push(Step::Name(name));
            self.value(item, own.unwrap_or(range))?;
            self.way.pop();
        }
        Ok(())
    }
}

/// The range of the numbers below the field `name`, where the name tells one.
fn of_name(name: &str) -> Option<Range> {
    let holds = |part: &str| name.as_bytes().windows(part.len()).any(|it| it == part.as_bytes());
    RANGES.iter().find(|(part, ..)| holds(part)).map(|(_, least, most)| (*least, *most))
}

fn check_number(number: f64, (least, most): Range, way: &[Step<'_>]) -> Result<(), RangeError> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    let names: Vec<String> = way.iter().map(ToString::to_string).collect();
    Err(RangeError { field: names.join("."), number, least, most })
}
