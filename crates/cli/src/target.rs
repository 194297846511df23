//! What every command takes for a target: one meaning of a name in all of them.

use std::path::{Path, PathBuf};

use cardproof_device::{Sysroot, look_at_path};
use cardproof_session::NoStorage;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::exit::Failure;
use crate::output::is_block_device;

/// The parser of a target on the command line: a path, a block device with or without `/dev/`, or `sim:NAME`.
pub(crate) fn parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(named)
}

/// `word` itself where it is there; else the block device that the kernel calls so.
fn named(word: PathBuf) -> PathBuf {
    if word.is_absolute() || word.symlink_metadata().is_ok() {
        return word;
    }
    let node = Path::new("/dev").join(&word);
    if is_block_device(&node) { node } else { word }
}

/// Refuses a directory whose files are in memory, or are made up by the kernel: nothing can be said of a storage there.
pub(crate) fn refuse_no_storage(directory: &Path) -> Result<(), Failure> {
    let surroundings = look_at_path(&Sysroot::default(), directory).unwrap_or_default();
    match NoStorage::find(&surroundings).filter(|_| directory.is_dir()) {
        Some(nothing) => Err(nothing.refusal(directory).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_there_stays_itself() {
        for path in [".", "/dev/null", "/nowhere", "sim:intenso-class-4", "no such thing"] {
            assert_eq!(named(PathBuf::from(path)), Path::new(path));
        }
    }

    #[test]
    fn only_a_block_device_is_found_below_dev() {
        // A terminal and a directory are there on every system.
        for word in ["null", "pts", "../etc"] {
            assert_eq!(named(PathBuf::from(word)), Path::new(word));
        }
        let names = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        for name in names.map(|entry| PathBuf::from(entry.file_name())) {
            let node = Path::new("/dev").join(&name);
            if is_block_device(&node) {
                assert_eq!(named(name), node);
            }
        }
    }
}
