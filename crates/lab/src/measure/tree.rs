//! The trees of packages as short texts: which directories, how many files of which size in each,
//! and no names.
//!
//! Directories are numbered in the order in which they are first met, from 1; 0 is the root. A
//! text is a row of groups, one for each run of entries in one directory. A group begins with
//! `+P`, a directory not met before, in directory P; `^P`, the same, but the system had it before
//! any of the packages; or `=N`, directory N again. Letters follow, one a file, each a class of
//! size, with a `!` before it for a setting; `@` is a link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::deb::{Entry, Kind};

/// How many classes of size there are: one for each letter.
pub(super) const CLASSES: usize = 52;

/// The upper end of one class: files up to it take a single block of most file systems.
const BLOCK_BYTES: f64 = 4096.0;

/// The number of that class, from 0.
const BLOCK_CLASS: f64 = 16.0;

/// By how much the upper ends of neighbouring classes differ: the smallest is near 34 bytes, the
/// largest near 150 MB.
const STEP: f64 = 1.35;

/// The letters of the classes, the smallest first.
pub(super) const LETTERS: &[u8; CLASSES] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Where settings lie; packaging tools make conffiles of all files there (debhelper).
const SETTINGS: &str = "etc/";

/// Files of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// Writes trees down, one package after the other.
#[derive(Debug)]
pub(super) struct Trees {
    numbers: BTreeMap<String, usize>,
    had_before: BTreeSet<String>,
    /// The files met so far, by class.
    pub(super) classes: [Class; CLASSES],
    /// How many names of files have which length.
    pub(super) file_names: BTreeMap<usize, u64>,
    /// How many names of directories have which length.
    pub(super) directory_names: BTreeMap<usize, u64>,
}

impl Trees {
    /// On a system that has the directories `had_before`.
    pub(super) fn new(had_before: BTreeSet<String>) -> Self {
        Self {
            numbers: BTreeMap::from([(String::new(), 0)]),
            had_before,
            classes: [Class::default(); CLASSES],
            file_names: BTreeMap::new(),
            directory_names: BTreeMap::new(),
        }
    }

    /// The text of a package's tree.
    pub(super) fn text(&mut self, entries: &[Entry]) -> String {
        let mut out = String::new();
        let mut current: Option<&str> = None;
        for entry in entries {
            let (parent, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
            let letter = match entry.kind {
                Kind::Directory => {
                    // One that another package has brought is named where something is put in it.
                    if !self.numbers.contains_key(&entry.path) {
                        self.open(&entry.path, &mut out);
                        current = Some(&entry.path);
                    }
                    continue;
                }
                Kind::File(bytes) => self.class(bytes),
                Kind::Link => '@',
            };
            *self.file_names.entry(name.len()).or_default() += 1;
            if current != Some(parent) {
                self.open(parent, &mut out);
                current = Some(parent);
            }
            if matches!(entry.kind, Kind::File(_)) && entry.path.starts_with(SETTINGS) {
                out.push('!');
            }
            out.push(letter);
        }
        out
    }

    /// Begins the group of the directory `path`.
    fn open(&mut self, path: &str, out: &mut String) {
        if let Some(number) = self.numbers.get(path) {
            let _ = write!(out, "={number}");
            return;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !self.numbers.contains_key(parent) {
            self.open(parent, out);
        }
        let above = self.numbers.get(parent).copied().unwrap_or_default();
        let mark = if self.had_before.contains(path) { '^' } else { '+' };
        let _ = write!(out, "{mark}{above}");
        let number = self.numbers.len();
        self.numbers.insert(path.to_owned(), number);
        *self.directory_names.entry(name.len()).or_default() += 1;
    }

    /// The letter of a file of `bytes`, which is counted.
    fn class(&mut self, bytes: u64) -> char {
        let index = class_of(bytes);
        self.classes[index].files += 1;
        self.classes[index].bytes += bytes;
        LETTERS[index].into()
    }
}

/// The class of a file of `bytes`.
fn class_of(bytes: u64) -> usize {
    let steps = BLOCK_CLASS + (bytes as f64 / BLOCK_BYTES).ln() / STEP.ln();
    (steps.ceil().max(0.0) as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, kind: Kind) -> Entry {
        Entry { path: path.to_owned(), kind }
    }

    #[test]
    fn directories_are_numbered_and_found_again() {
        let mut trees = Trees::new(BTreeSet::from(["usr".to_owned()]));
        let first = [
            entry("usr", Kind::Directory),
            entry("usr/a", Kind::Directory),
            entry("usr/a/x", Kind::File(1)),
            entry("usr/a/y", Kind::File(40)),
            entry("usr/z", Kind::Link),
        ];
        assert_eq!(trees.text(&first), "^0+1AB=1@");
        let second = [
            entry("usr", Kind::Directory),
            entry("usr/a", Kind::Directory),
            entry("usr/a/b", Kind::Directory),
            entry("usr/a/w", Kind::File(1)),
        ];
        assert_eq!(trees.text(&second), "+2=2A");
        assert_eq!(trees.classes[0], Class { files: 2, bytes: 2 });
        assert_eq!(trees.file_names, BTreeMap::from([(1, 4)]));
        assert_eq!(trees.directory_names, BTreeMap::from([(1, 2), (3, 1)]));
    }

    #[test]
    fn a_directory_that_the_archive_does_not_name_is_named_all_the_same() {
        let mut trees = Trees::new(BTreeSet::new());
        assert_eq!(trees.text(&[entry("a/b/c", Kind::File(0))]), "+0+1A");
        let setting = [entry("etc/x", Kind::File(0)), entry("etc/y", Kind::Link)];
        assert_eq!(trees.text(&setting), "+0!A@");
    }

    #[test]
    fn classes_cover_every_size() {
        for (bytes, class) in [(0, 0), (33, 0), (34, 1), (4096, 16), (4097, 17), (u64::MAX, 51)] {
            assert_eq!(class_of(bytes), class, "{bytes}");
        }
        assert!(class_of(100 << 20) < CLASSES - 1);
    }
}
