//! Structured logs: one JSON object a line on standard error, without anything that leads to a person.
//!
//! A line names a route by its pattern and never by what was asked, and holds no address, no header, no body.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;

use serde_json::{Map, Value};

use crate::clock;

/// Writes one line, by one call: the process that makes the dump writes to the same place. A log that cannot be
/// written stops nothing.
pub fn event(name: &str, fields: &[(&str, Value)]) {
    let mut line = Map::new();
    line.insert("time".to_owned(), Value::from(clock::rfc3339(clock::now_ms())));
    line.insert("event".to_owned(), Value::from(name));
    line.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let line = format!("{}\n", Value::Object(line));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Whether standard output goes where the log goes, and that is no terminal: to the journal, or to one file for both.
#[must_use]
pub fn has_standard_output() -> bool {
    let place = |stream: &dyn AsFd| rustix::fs::fstat(stream).map(|it| (it.st_dev, it.st_ino)).ok();
    let (output, log) = (std::io::stdout(), std::io::stderr());
    !output.is_terminal() && place(&output) == place(&log)
}
