//! The files of a directory whose outputs are to be imported, in the order of their names.
//!
//! Hidden files, links and what is larger than any output are left out: a directory of logs often lies
//! beside disk images.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_units::{Bytes, in_words};

use crate::exit::Failure;

/// Directories are followed so far down and no further.
const DEPTH_MAX: usize = 8;

/// All regular files of at most `length_max` below `directory`.
///
/// # Errors
/// A directory cannot be read, or holds no file at all.
pub(super) fn below(directory: &Path, length_max: Bytes) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    add(directory, length_max, DEPTH_MAX, &mut files)?;
    if files.is_empty() {
        let name = directory.display();
        return Err(Failure::usage(format!("{name} holds no file that could be imported")));
    }
    Ok(files)
}

fn add(
    directory: &Path,
    length_max: Bytes,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::incomplete(format!(
            "cannot read the directory {}: {error}",
            directory.display(),
            error = in_words(&error)
        ))
    };
    let entries: Result<Vec<_>, _> = fs::read_dir(directory).map_err(failed)?.collect();
    let mut entries = entries.map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // What goes away while it is looked at is not there.
        let Ok(kind) = entry.metadata() else { continue };
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_hidden || is_link {
            continue;
        }
        if kind.is_dir() && depth > 0 {
            add(&entry.path(), length_max, depth - 1, files)?;
        } else if kind.is_file() && kind.len() <= length_max.get() {
            files.push(entry.path());
        }
    }
    Ok(())
}
