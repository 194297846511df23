//! JSON documents against a JSON schema, by a validator that is not ours.
//!
//! Debian's `python3-jsonschema` judges, so the schema is read by a program that shares nothing
//! with the one that wrote it.

use std::path::Path;
use std::process::Command;

use crate::LabError;
use crate::command::run_command;

/// Prints one line for each fault of each document; takes the schema and the documents.
const SCRIPT: &str = "\
import json, sys
from jsonschema import Draft202012Validator as Validator
with open(sys.argv[1]) as file:
    schema = json.load(file)
Validator.check_schema(schema)
validator = Validator(schema)
for path in sys.argv[2:]:
    with open(path) as file:
        document = json.load(file)
    for fault in validator.iter_errors(document):
        print(path, fault.json_path, fault.message[:300], sep=': ')
";

/// The faults of `documents` by the schema at `schema`, one line each; empty where all are valid.
///
/// # Errors
/// [`LabError::Unavailable`] without Python's jsonschema; [`LabError::Command`] where a document
/// is no JSON or the schema no schema.
pub fn schema_faults<P: AsRef<Path>>(schema: &Path, documents: &[P]) -> Result<String, LabError> {
    let python = python()?;
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).arg(schema);
    command.args(documents.iter().map(AsRef::as_ref));
    run_command(command)
}

/// A Python that has jsonschema: the first in the path or the system's own.
fn python() -> Result<&'static str, LabError> {
    let has_it = |python: &&str| {
        let mut command = Command::new(python);
        command.args(["-c", "from jsonschema import Draft202012Validator"]);
        run_command(command).is_ok()
    };
    ["python3", "/usr/bin/python3"].into_iter().find(has_it).ok_or_else(|| {
        LabError::unavailable("no Python with jsonschema (Debian: python3-jsonschema)")
    })
}
