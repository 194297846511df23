//! The open directories of a tree.
//!
//! A program finds its directories in the kernel's cache of names; we find them in a few open
//! descriptors. Each was opened from the one above it, by one name, without following a link.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// So many directories stay open at a time; the rest are opened again.
const OPEN_MAX: usize = 48;

/// A directory that is open.
#[derive(Debug)]
struct Open {
    path: String,
    directory: OwnedFd,
    /// When it was used last, counted in uses.
    used: u64,
}

/// The directories of a tree, as far as they are open.
#[derive(Debug)]
pub(super) struct Directories {
    root: OwnedFd,
    open: Vec<Open>,
    uses: u64,
}

/// The last part of a path and the directory that it is in.
type Parent<'a> = (BorrowedFd<'a>, &'a str);

impl Directories {
    pub(super) const fn new(root: OwnedFd) -> Self {
        Self { root, open: Vec::new(), uses: 0 }
    }

    pub(super) const fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// The directory of `path`, and what it is called in it.
    pub(super) fn of<'a>(&'a mut self, path: &'a str) -> Result<Parent<'a>, Errno> {
        let (directory, name) = parts(path)?;
        let index = self.opened(directory)?;
        Ok((self.by_index(index), name))
    }

    /// The same of two paths at once.
    pub(super) fn of_both<'a>(
        &'a mut self,
        one: &'a str,
        other: &'a str,
    ) -> Result<(Parent<'a>, Parent<'a>), Errno> {
        let ((directory, name), (other_directory, other_name)) = (parts(one)?, parts(other)?);
        self.opened(directory)?;
        let second = self.opened(other_directory)?;
        // Opening the second may have closed another, but never the one used just before.
        let first = self.opened(directory)?;
        Ok(((self.by_index(first), name), (self.by_index(second), other_name)))
    }

    /// The directory `path`; the root for an empty path.
    pub(super) fn at(&mut self, path: &str) -> Result<BorrowedFd<'_>, Errno> {
        let index = self.opened(path)?;
        Ok(self.by_index(index))
    }

    /// Closes the directory `path`.
    pub(super) fn forget(&mut self, path: &str) {
        self.open.retain(|open| open.path != path);
    }

    fn by_index(&self, index: Option<usize>) -> BorrowedFd<'_> {
        index
            .and_then(|index| self.open.get(index))
            .map_or(self.root.as_fd(), |open| open.directory.as_fd())
    }

    /// Where the directory `path` is among those that are open; none is the root.
    fn opened(&mut self, path: &str) -> Result<Option<usize>, Errno> {
        if path.is_empty() {
            return Ok(None);
        }
        self.uses += 1;
        let uses = self.uses;
        if let Some(index) = self.open.iter().position(|open| open.path == path) {
            self.open[index].used = uses;
            return Ok(Some(index));
        }
        let (above, name) = parts(path)?;
        let above = self.opened(above)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(self.by_index(above), name, flags, Mode::empty())?;
        let opened = Open { path: path.to_owned(), directory, used: self.uses };
        Ok(Some(self.keep(opened)))
    }

    /// Keeps `opened`, in the place of the one that was not used for the longest time if there is
    /// no other.
    fn keep(&mut self, opened: Open) -> usize {
        let oldest = self.open.iter().enumerate().min_by_key(|(_, open)| open.used);
        match oldest {
            Some((index, _)) if self.open.len() >= OPEN_MAX => {
                self.open[index] = opened;
                index
            }
            _ => {
                self.open.push(opened);
                self.open.len() - 1
            }
        }
    }
}

/// A path's directory and its last part, if it leads down and nowhere else.
fn parts(path: &str) -> Result<(&str, &str), Errno> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_absolute = path.starts_with('/');
    if is_absolute || matches!(name, "" | "." | "..") {
        return Err(Errno::INVAL);
    }
    Ok((directory, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leads_down_is_a_path() {
        assert_eq!(parts("a"), Ok(("", "a")));
        assert_eq!(parts("a/b/c"), Ok(("a/b", "c")));
        for path in ["", "/", "/a", ".", "..", "a/", "a/..", "a/."] {
            assert_eq!(parts(path), Err(Errno::INVAL), "{path}");
        }
    }

    #[test]
    fn a_way_with_dots_in_its_middle_is_refused() {
        let around = tempfile::tempdir().unwrap();
        std::fs::create_dir(around.path().join("a")).unwrap();
        let mut directories = Directories::new(std::fs::File::open(around.path()).unwrap().into());
        for path in ["../x/y", "a/../x", "./a/x", "a//x"] {
            assert_eq!(directories.of(path).map(|(_, name)| name), Err(Errno::INVAL), "{path}");
        }
        assert!(directories.of("a/x").is_ok());
    }

    #[test]
    fn more_directories_than_stay_open_are_all_reached() {
        let around = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..2 * OPEN_MAX).map(|number| format!("d{number}")).collect();
        for name in &names {
            std::fs::create_dir_all(around.path().join(name).join("in")).unwrap();
        }
        let mut directories = Directories::new(std::fs::File::open(around.path()).unwrap().into());
        for name in names.iter().chain(names.iter().rev()) {
            let path = format!("{name}/in/x");
            let inode = |status: rustix::fs::Stat| status.st_ino;
            let (directory, _) = directories.of(&path).unwrap();
            let found = inode(rustix::fs::fstat(directory).unwrap());
            let wanted = inode(rustix::fs::stat(around.path().join(name).join("in")).unwrap());
            assert_eq!(found, wanted, "{path}");
        }
        assert!(directories.open.len() <= OPEN_MAX);
    }

    #[test]
    fn both_directories_of_a_rename_are_the_right_ones() {
        let around = tempfile::tempdir().unwrap();
        for number in 0..OPEN_MAX + 3 {
            std::fs::create_dir(around.path().join(format!("d{number}"))).unwrap();
        }
        let mut directories = Directories::new(std::fs::File::open(around.path()).unwrap().into());
        for number in 0..OPEN_MAX + 2 {
            let (one, other) = (format!("d{number}/x"), format!("d{}/y", number + 1));
            let ((first, _), (second, _)) = directories.of_both(&one, &other).unwrap();
            for (open, number) in [(first, number), (second, number + 1)] {
                let wanted = rustix::fs::stat(around.path().join(format!("d{number}"))).unwrap();
                assert_eq!(rustix::fs::fstat(open).unwrap().st_ino, wanted.st_ino);
            }
        }
    }
}
