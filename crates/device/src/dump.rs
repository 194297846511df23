//! Dumps: the files that identification read on one machine, for another to look at.
//!
//! A dump holds what was read and nothing else: the root keeps a journal while it is read. On the
//! way out serial numbers, names of hosts, users and volumes, and paths are taken away, and of the
//! kernel log and the boot configuration only the lines that say something of storage are kept.

mod format;
mod tree;

use std::io;
use std::path::PathBuf;

pub(crate) use tree::{Entry, Tree};

/// A file in every dump that says that serial numbers were taken away, so that a zero in their
/// place is not taken for a card's.
pub(crate) const SERIALS_REMOVED: &str = "cardproof/serials_removed";

/// Where a dump keeps the lines of the kernel log.
pub(crate) const KERNEL_LOG: &str = "dmesg";

/// Why a dump cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The file cannot be read.
    #[error("cannot read {path}; name a directory that holds sys and proc, or a file made with --dump", path = path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is some other file.
    #[error(
        "this is no dump: its first line is not '# cardproof dump 1'; make one with cardproof identify --dump FILE"
    )]
    NoDump,
    /// A line in it is broken.
    #[error("line {line} of the dump is broken; make it again, or take the line out")]
    Malformed {
        /// The line, from 1.
        line: usize,
    },
}

/// The tree in the text of a dump.
pub(crate) fn parse(text: &str) -> Result<Tree, DumpError> {
    format::parse(text)
}

/// The text of a dump of `tree`.
pub(crate) fn write(tree: &Tree) -> String {
    format::write(tree)
}
