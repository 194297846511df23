//! JSON documents against a JSON schema, by a validator that is not ours.
//!
//! Debian's `python3-jsonschema` judges, so the schema is read by a program that shares nothing
//! with the one that wrote it.

use std::path::Path;
use std::process::Command;

use crate::LabError;
use crate::command::run_command;

/// Prints one line for each fault of each document; takes pairs of a schema and a document.
const SCRIPT: &str = "\
import json, sys
from jsonschema import Draft202012Validator as Validator
validators = {}
for schema, path in zip(sys.argv[1::2], sys.argv[2::2]):
    if schema not in validators:
        with open(schema) as file:
            text = json.load(file)
        Validator.check_schema(text)
        validators[schema] = Validator(text)
    with open(path) as file:
        document = json.load(file)
    for fault in validators[schema].iter_errors(document):
        print(path, fault.json_path, fault.message[:300], sep=': ')
";

/// The faults of `documents` by the schema at `schema`, one line each; empty where all are valid.
///
/// # Errors
/// [`LabError::Unavailable`] without Python's jsonschema; [`LabError::Command`] where a document
/// is no JSON or the schema no schema.
pub fn schema_faults<P: AsRef<Path>>(schema: &Path, documents: &[P]) -> Result<String, LabError> {
    let pairs: Vec<_> = documents.iter().map(|document| (schema, document.as_ref())).collect();
    schema_faults_of_pairs(&pairs)
}

/// As [`schema_faults`], of documents each with its own schema. The validator is started once, which takes longer
/// than what it does.
///
/// # Errors
/// As those of [`schema_faults`].
pub fn schema_faults_of_pairs(pairs: &[(&Path, &Path)]) -> Result<String, LabError> {
    let mut command = Command::new(python()?);
    command.args(["-c", SCRIPT]);
    command.args(pairs.iter().flat_map(|&(schema, document)| [schema, document]));
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
