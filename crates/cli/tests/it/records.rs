//! Reading what the program saved, and holding it against the published schema.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_record::{Outcome, PhaseState, Record};
use cardproof_testkit::{LabError, schema_faults};

/// The record at `path`.
pub(crate) fn read(path: &Path) -> Record {
    let text = fs::read_to_string(path).unwrap();
    Record::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The record in `text`.
pub(crate) fn parse(text: &str) -> Record {
    Record::from_json(text).unwrap_or_else(|error| panic!("{error}\n{text:.500}"))
}

/// Fails where one of `documents` is not valid by the schema that is published.
pub(crate) fn assert_valid<P: AsRef<Path>>(documents: &[P]) -> Result<(), LabError> {
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/record-v1.schema.json");
    let faults = schema_faults(&schema, documents)?;
    assert_eq!(faults, "", "documents that the schema refuses");
    Ok(())
}

/// The causes of the phases that were not measured.
pub(crate) fn causes(record: &Record) -> Vec<&str> {
    record
        .phases
        .iter()
        .filter_map(|phase| match &phase.state {
            PhaseState::NotMeasured { cause } => Some(&**cause),
            PhaseState::Measured | PhaseState::Partial | PhaseState::Unknown => None,
        })
        .collect()
}

/// Fails where `record` gives a rating: where there is any verdict that says yes or no.
pub(crate) fn assert_no_rating(record: &Record) {
    for verdict in record.verdicts.iter().flatten() {
        assert!(
            matches!(verdict.outcome, Outcome::NotTestable | Outcome::Undecided),
            "{verdict:?}"
        );
    }
}
