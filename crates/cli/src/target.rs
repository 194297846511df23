//! What every command takes for a target: one meaning of a name in all of them.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

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
