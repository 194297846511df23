//! The files of a machine held in memory, as a dump holds them.
//!
//! Links are followed as the kernel follows them, but never out of the tree. Directories exist
//! where something is in them. What could not be read where the dump was made is kept as such, so
//! that a reader can tell "not there" from "not permitted".

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// More links than the kernel follows in one path.
const LINKS_MAX: usize = 40;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file with its bytes.
    File(Vec<u8>),
    /// A link to another path below the root.
    Link(PathBuf),
    /// A file that was there and could not be read by the user who made the dump.
    Denied,
    /// Something whose content nobody asked for.
    Present,
}

/// Paths below the root, without links in their directories, and what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
}

impl Tree {
    /// Puts `entry` at `path`. What is known already is kept where `entry` says less.
    pub(crate) fn insert(&mut self, path: PathBuf, entry: Entry) {
        let says_less = entry == Entry::Present && self.entries.contains_key(&path);
        if !says_less {
            self.entries.insert(path, entry);
        }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    /// The bytes of the file at `path`.
    pub(crate) fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.resolve(path).ok_or(io::ErrorKind::NotFound)?;
        match self.entries.get(&path) {
            Some(Entry::File(bytes)) => Ok(bytes.clone()),
            Some(Entry::Denied) => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The names in the directory at `path`, in order.
    pub(crate) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let path = self.resolve(path).ok_or(io::ErrorKind::NotFound)?;
        let depth = path.components().count();
        let mut names: Vec<String> = self
            .below(&path)
            .filter_map(|below| below.components().nth(depth)?.as_os_str().to_str())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The path to which all links in `path` lead, if anything is there.
    pub(crate) fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut here = PathBuf::new();
        let mut to_go = parts_reversed(path);
        let mut links = 0;
        while let Some(part) = to_go.pop() {
            if part == ".." {
                here.pop().then_some(())?;
                continue;
            }
            here.push(part);
            if let Some(Entry::Link(target)) = self.entries.get(&here) {
                links += 1;
                (links <= LINKS_MAX).then_some(())?;
                here = PathBuf::new();
                to_go.extend(parts_reversed(target));
            }
        }
        let is_there = self.entries.contains_key(&here) || self.below(&here).next().is_some();
        is_there.then_some(here)
    }

    /// The paths below the directory `path`.
    fn below(&self, path: &Path) -> impl Iterator<Item = &Path> {
        let from = self.entries.range(path.to_owned()..).map(|(path, _)| path.as_path());
        let within = path.to_owned();
        from.take_while(move |path| path.starts_with(&within))
            .filter(move |below| below.components().count() > path.components().count())
    }
}

/// The names in `path`, last first.
fn parts_reversed(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, Entry)]) -> Tree {
        let mut tree = Tree::default();
        for (path, entry) in entries {
            tree.insert(PathBuf::from(path), entry.clone());
        }
        tree
    }

    fn file(text: &str) -> Entry {
        Entry::File(text.as_bytes().to_vec())
    }

    #[test]
    fn links_are_followed_on_the_way_and_at_the_end() {
        let tree = tree(&[
            ("sys/devices/a/size", file("8")),
            ("sys/devices/a-b/size", file("9")),
            ("sys/block/a", Entry::Link("sys/devices/a".into())),
            ("out", Entry::Link("../../etc/passwd".into())),
            ("circle", Entry::Link("circle".into())),
        ]);
        let root = Path::new("sys/block/a");
        assert_eq!(tree.bytes(&root.join("size")).unwrap(), b"8");
        assert_eq!(tree.resolve(root), Some("sys/devices/a".into()));
        assert_eq!(tree.list(root).unwrap(), ["size"]);
        assert_eq!(tree.list(Path::new("sys/devices")).unwrap(), ["a", "a-b"]);
        for nowhere in ["out", "circle", "sys/block/b", "../x"] {
            assert_eq!(tree.resolve(Path::new(nowhere)), None, "{nowhere}");
        }
    }

    #[test]
    fn not_permitted_is_not_missing() {
        let tree = tree(&[("secret", Entry::Denied)]);
        let kind = |path: &str| tree.bytes(Path::new(path)).unwrap_err().kind();
        assert_eq!(kind("secret"), io::ErrorKind::PermissionDenied);
        assert_eq!(kind("missing"), io::ErrorKind::NotFound);
    }
}
