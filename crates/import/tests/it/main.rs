//! Other tools' outputs, as they printed them and as they come when something went wrong.
//!
//! The outputs are in `tests/import`, with a note on how each was made.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod asked;
mod compact;
mod defects;
mod devices;
mod failures;
mod fio;
mod fixtures;
mod forms;
mod mangled;
mod parted;
mod pasted;
mod pastes;
mod real_logs;
mod refusals;
mod typed;
mod typed_by_hand;
mod units;

use std::fs;
use std::path::PathBuf;

use cardproof_import::{ForeignTool, ImportError, Imported, Origin, import};
use cardproof_record::Record;

/// Where the outputs are.
fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import")
}

/// The text of the output called `name`.
fn fixture(name: &str) -> String {
    fs::read_to_string(directory().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names of all outputs, in order.
fn fixture_names() -> Vec<String> {
    let entries = fs::read_dir(directory()).unwrap();
    let files = entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_file());
    let names = files.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
}

fn origin() -> Origin {
    Origin { id: "20260101T000000Z-0000".to_owned(), read_at: "2026-01-01T00:00:00Z".to_owned() }
}

/// All that is in `text`.
fn all_of(text: &str) -> Result<Imported, ImportError> {
    import(text, None, &origin())
}

/// The only record in `text`.
fn imported(text: &str) -> Result<Record, ImportError> {
    all_of(text).map(the_only)
}

fn imported_as(text: &str, tool: ForeignTool) -> Result<Record, ImportError> {
    import(text, Some(tool), &origin()).map(the_only)
}

fn the_only(found: Imported) -> Record {
    assert_eq!(found.records.len(), 1, "{:?}", found.refused);
    found.records.into_iter().next().unwrap()
}
