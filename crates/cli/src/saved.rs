//! Saved records by the names that a user gives them.

use std::path::{Path, PathBuf};

use cardproof_record::Record;
use cardproof_session::{LATEST, Store};
use cardproof_units::Bytes;

use crate::exit::Failure;
use crate::input;
use crate::inventory;
use crate::output::Sink;
use crate::suggestion::did_you_mean;

/// No record is longer: ten runs of the longest profile take a tenth of it.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// The file of the record that `name` names: itself, or one of those kept, by its id or as the
/// latest.
pub(crate) fn locate(name: &Path) -> Result<PathBuf, Failure> {
    // Where it cannot be told whether there is such a file, reading it tells why.
    if name == Path::new("-") || name.try_exists().unwrap_or(true) {
        return Ok(name.to_owned());
    }
    if let Some(path) = name.to_str().map(Store::find).transpose()?.flatten() {
        return Ok(path);
    }
    let mut labelled = match name.to_str() {
        Some(label) => inventory::labelled(label)?,
        None => Vec::new(),
    };
    if labelled.len() > 1 {
        let ids: Vec<&str> = labelled.iter().map(|(_, record)| record.id.as_str()).collect();
        return Err(Failure::usage(format!(
            "{} records have the label '{}': {}; give one of these ids",
            ids.len(),
            name.display(),
            ids.join(", ")
        )));
    }
    if let Some((path, _)) = labelled.pop() {
        return Ok(path);
    }
    if name == Path::new(LATEST) {
        return Err(Failure::usage(
            "there is no record yet; measure something first: cardproof run",
        ));
    }
    let labels = inventory::labels()?;
    let near =
        did_you_mean(&name.to_string_lossy(), labels.iter().map(String::as_str).chain([LATEST]));
    Err(Failure::usage(format!(
        "there is no file and no record '{}'; {near}name a file, the id or the \
         label of a record, or latest; `cardproof list` shows them",
        name.display()
    )))
}

/// The record in the file at `path`, or on standard input.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let name = || match Sink::from_path(path) {
        Sink::Stdout => "standard input".to_owned(),
        Sink::File(path) => path.display().to_string(),
    };
    let text = input::read_text(path, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!("cannot read {}: {error}; name the file of a record", name()),
        )
    })?;
    Record::from_json(&text).map_err(|error| {
        Failure::usage(format!(
            "{}: {error}; name a file that cardproof saved or printed with --json",
            name()
        ))
    })
}
