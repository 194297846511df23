//! The scratch directory: what it refuses, what it leaves alone, what it clears up.

mod mounts;
mod neighbours;

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_io::scratch::Scratch;
use tempfile::TempDir;

const MARKER: &str = "cardproof-marker";
const TEST_FILE: &str = "test-file";
const LEFT: &str = ".cardproof-00c0ffee";

/// The text of a marker, taken from a real one.
fn marker_text() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    fs::read(scratch.path().join(MARKER)).unwrap()
}

/// What a killed run leaves in `directory`, as [`LEFT`].
fn leave(directory: &Path) -> PathBuf {
    let left = directory.join(LEFT);
    fs::create_dir(&left).unwrap();
    fs::write(left.join(MARKER), marker_text()).unwrap();
    fs::write(left.join(TEST_FILE), [7; 5000]).unwrap();
    left
}

/// A directory with a user's file in it.
fn users_directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("photo.jpg"), "a photograph").unwrap();
    directory
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
