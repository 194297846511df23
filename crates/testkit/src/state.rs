//! What a device or a directory tree held at one moment, to show that nothing was touched.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::LabError;

/// The length of the pieces in which contents are compared.
const PIECE_BYTES: u64 = 1 << 20;

/// The contents of a file or device, as one hash for each MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pieces: Vec<u64>,
}

impl Contents {
    /// Reads all of `path`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let mut file = File::open(path).map_err(LabError::file("open", path))?;
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        loop {
            piece.clear();
            (&mut file)
                .take(PIECE_BYTES)
                .read_to_end(&mut piece)
                .map_err(LabError::file("read", path))?;
            if piece.is_empty() {
                return Ok(Self { pieces });
            }
            let mut hasher = DefaultHasher::new();
            piece.hash(&mut hasher);
            pieces.push(hasher.finish());
        }
    }

    /// The numbers of the MiB that differ, or are in only one of the two.
    #[must_use]
    pub fn differing_mib(&self, other: &Self) -> Vec<usize> {
        (0..self.pieces.len().max(other.pieces.len()))
            .filter(|&index| self.pieces.get(index) != other.pieces.get(index))
            .collect()
    }
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Directory { mode: u32, modified_ns: i128 },
    File { mode: u32, modified_ns: i128, contents: Contents },
    Link { to: PathBuf },
    Other { mode: u32 },
}

/// A directory and everything below it: names, kinds, modes, times of change, contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
}

impl Tree {
    /// Reads the whole tree under `root`. Symbolic links are not followed.
    ///
    /// # Errors
    /// Something in it cannot be read.
    pub fn read(root: &Path) -> Result<Self, LabError> {
        let mut tree = Self { entries: BTreeMap::new() };
        tree.add(root, Path::new(""))?;
        Ok(tree)
    }

    /// Sets every time of change in the tree under `root` to a moment long past, then reads it:
    /// the clock of a file system is coarse, and without this a change within the same tick
    /// could pass unseen.
    ///
    /// # Errors
    /// Something in it cannot be read or set.
    pub fn of_settled(root: &Path) -> Result<Self, LabError> {
        settle(root)?;
        Self::read(root)
    }

    /// The user's part of the tree under `root`: everything but entries of the root whose names
    /// begin with `.cardproof-`, and without the root's own time of change, which those move.
    ///
    /// # Errors
    /// Something in it cannot be read.
    pub fn of_user(root: &Path) -> Result<Self, LabError> {
        let mut tree = Self { entries: BTreeMap::new() };
        for name in names(root)? {
            if !name.to_string_lossy().starts_with(".cardproof-") {
                tree.add(root, &name)?;
            }
        }
        Ok(tree)
    }

    /// Adds the entry `name`, relative to `root`, and what is below it.
    fn add(&mut self, root: &Path, name: &Path) -> Result<(), LabError> {
        let path = root.join(name);
        let metadata = fs::symlink_metadata(&path).map_err(LabError::file("look at", &path))?;
        let mode = metadata.mode();
        let modified_ns =
            i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        let kind = metadata.file_type();
        let entry = if kind.is_dir() {
            for below in names(&path)? {
                self.add(root, &name.join(below))?;
            }
            Entry::Directory { mode, modified_ns }
        } else if kind.is_symlink() {
            Entry::Link { to: fs::read_link(&path).map_err(LabError::file("read", &path))? }
        } else if kind.is_file() {
            Entry::File { mode, modified_ns, contents: Contents::read(&path)? }
        } else {
            Entry::Other { mode }
        };
        self.entries.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Whether nothing is in the tree, but perhaps the root itself.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.keys().all(|name| name.as_os_str().is_empty())
    }

    /// How `after` differs from this, one line for each entry; empty where it does not.
    #[must_use]
    pub fn changes(&self, after: &Self) -> String {
        let mut names: Vec<_> = self.entries.keys().chain(after.entries.keys()).collect();
        names.sort();
        names.dedup();
        let mut changes = String::new();
        for name in names {
            let (old, new) = (self.entries.get(name), after.entries.get(name));
            if old != new {
                changes +=
                    &format!("{}: {} -> {}\n", name.display(), ShownEntry(old), ShownEntry(new));
            }
        }
        changes
    }
}

/// An entry in a few words.
struct ShownEntry<'entry>(Option<&'entry Entry>);

impl fmt::Display for ShownEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("nothing"),
            Some(Entry::Directory { mode, modified_ns }) => {
                write!(f, "directory {mode:o} changed at {modified_ns}")
            }
            Some(Entry::File { mode, modified_ns, contents }) => {
                let mib = contents.pieces.len();
                write!(f, "file {mode:o} of up to {mib} MiB changed at {modified_ns}")
            }
            Some(Entry::Link { to }) => write!(f, "link to {}", to.display()),
            Some(Entry::Other { mode }) => write!(f, "special file {mode:o}"),
        }
    }
}

/// The names in the directory `path`.
fn names(path: &Path) -> Result<Vec<PathBuf>, LabError> {
    let failed = || LabError::file("list", path);
    fs::read_dir(path)
        .map_err(failed())?
        .map(|entry| entry.map(|entry| entry.file_name().into()).map_err(failed()))
        .collect()
}

/// Sets the times of change of `path` and all below it to one day after the epoch.
fn settle(path: &Path) -> Result<(), LabError> {
    let metadata = fs::symlink_metadata(path).map_err(LabError::file("look at", path))?;
    if metadata.is_dir() {
        for below in names(path)? {
            settle(&path.join(below))?;
        }
    }
    if metadata.is_dir() || metadata.is_file() {
        let long_past = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
        File::open(path)
            .and_then(|file| file.set_modified(long_past))
            .map_err(LabError::file("set the time of", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_byte_is_found_in_its_mib() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        let mut bytes = vec![7_u8; 3 * PIECE_BYTES as usize + 5];
        fs::write(&path, &bytes).unwrap();
        let before = Contents::read(&path).unwrap();
        bytes[PIECE_BYTES as usize] = 8;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(before.differing_mib(&Contents::read(&path).unwrap()), [1]);
        bytes.truncate(3 * PIECE_BYTES as usize);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(before.differing_mib(&Contents::read(&path).unwrap()), [1, 3]);
    }

    /// One way in which a tree can change.
    type Change = fn(&Path);

    #[test]
    fn every_kind_of_change_is_seen() {
        let cases: [(&str, Change); 6] = [
            ("a new file", |root| fs::write(root.join("new"), "").unwrap()),
            ("a file gone", |root| fs::remove_file(root.join("dir/file")).unwrap()),
            ("other contents", |root| fs::write(root.join("dir/file"), "b").unwrap()),
            ("another mode", |root| {
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                fs::set_permissions(root.join("dir/file"), open).unwrap();
            }),
            ("a link bent", |root| {
                fs::remove_file(root.join("link")).unwrap();
                std::os::unix::fs::symlink("elsewhere", root.join("link")).unwrap();
            }),
            ("come and gone", |root| {
                fs::write(root.join("dir/brief"), "").unwrap();
                fs::remove_file(root.join("dir/brief")).unwrap();
            }),
        ];
        for (name, change) in cases {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("dir")).unwrap();
            fs::write(root.path().join("dir/file"), "a").unwrap();
            std::os::unix::fs::symlink("dir/file", root.path().join("link")).unwrap();
            let before = Tree::of_settled(root.path()).unwrap();
            assert_eq!(before.changes(&Tree::read(root.path()).unwrap()), "");
            change(root.path());
            assert_ne!(before.changes(&Tree::read(root.path()).unwrap()), "", "{name}");
        }
    }

    #[test]
    fn our_own_directory_is_no_part_of_the_users_tree() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "a").unwrap();
        let before = Tree::of_user(root.path()).unwrap();
        fs::create_dir(root.path().join(".cardproof-12345678")).unwrap();
        assert_eq!(before, Tree::of_user(root.path()).unwrap());
        assert_ne!(before, Tree::read(root.path()).unwrap());
    }
}
