//! A file of the kernel that is kept open and read anew from its start.
//!
//! Opening costs more than reading. A file that goes away, with the device it tells of, is opened
//! again by its path at the next look, for a card may be put back.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::Sysroot;

/// The first room for a file's text: most are far smaller, `/proc/stat` of a large machine grows
/// it once.
const ROOM: usize = 4096;

/// No counter file is longer; `/proc/stat` of a machine with a thousand processors is a tenth.
const LENGTH_MAX: usize = 1 << 20;

/// A file that is read again and again.
#[derive(Debug)]
pub(super) struct Kept {
    /// Where it is; a dump has no files to keep open.
    path: Option<PathBuf>,
    file: Option<File>,
}

impl Kept {
    /// The file at `path` below `root`, there or not.
    pub(super) fn new(root: &Sysroot, path: &str) -> Self {
        let mut kept = Self { path: root.at(path), file: None };
        kept.open();
        kept
    }

    fn open(&mut self) {
        self.file = self.path.as_ref().and_then(|path| File::open(path).ok());
    }

    /// Its text as it is now, in `room`; `None` where it is not there or is not text.
    pub(super) fn read<'room>(&mut self, room: &'room mut Vec<u8>) -> Option<&'room str> {
        if self.file.is_none() {
            self.open();
        }
        let length = read_whole(self.file.as_ref()?, room);
        if length.is_none() {
            self.file = None;
        }
        std::str::from_utf8(room.get(..length?)?).ok()
    }

    /// The number that it holds.
    pub(super) fn number(&mut self, room: &mut Vec<u8>) -> Option<i64> {
        self.read(room)?.trim().parse().ok()
    }
}

/// Reads `file` from its start into `room`, and says how much there was.
fn read_whole(file: &File, room: &mut Vec<u8>) -> Option<usize> {
    if room.is_empty() {
        room.resize(ROOM, 0);
    }
    let mut length = 0;
    loop {
        match file.read_at(room.get_mut(length..)?, length as u64).ok()? {
            0 => return Some(length),
            read => length += read,
        }
        if length == room.len() {
            if length >= LENGTH_MAX {
                return None;
            }
            room.resize(2 * length, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_anew_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let root = Sysroot::new(directory.path());
        let mut room = Vec::new();
        let mut kept = Kept::new(&root, "count");
        assert_eq!(kept.number(&mut room), None);
        std::fs::write(directory.path().join("count"), "7\n").unwrap();
        assert_eq!(kept.number(&mut room), Some(7));
        std::fs::write(directory.path().join("count"), "12\n").unwrap();
        assert_eq!(kept.number(&mut room), Some(12));
    }

    #[test]
    fn a_long_file_is_read_whole() {
        let directory = tempfile::tempdir().unwrap();
        let text = "x".repeat(3 * ROOM + 1);
        std::fs::write(directory.path().join("long"), &text).unwrap();
        let mut kept = Kept::new(&Sysroot::new(directory.path()), "long");
        assert_eq!(kept.read(&mut Vec::new()), Some(text.as_str()));
    }
}
