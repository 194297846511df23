//! Files of our own below our own directory, for jobs that use a file system as programs do.
//!
//! Everything is reached from the scratch directory's descriptor. A path is taken part by part, each
//! directory opened from the one above it without following links, and the last part used from the
//! descriptor of its directory: nothing renamed or linked meanwhile can lead an operation elsewhere.
//! A file is made only where none is, and a path with `..` is refused. What lies in the tree is ours
//! from beginning to end, so it is removed as a whole.
//!
//! The time is the machine's monotonic clock.

mod directories;
mod error;
mod file;
mod traffic;

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

use cardproof_units::Nanos;
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::clock;
use directories::Directories;

pub use error::FileFault;
pub use file::TreeFile;
pub use traffic::{read_from_storage, written_for_storage};

/// How a file of the tree is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// It is made, and must not be there.
    Create,
    /// It is made where it is not there; writes go to its end.
    Append,
    /// It is there, and is written to.
    Update,
    /// It is there, and is only read.
    Read,
    /// The same, and the kernel is asked to read nothing ahead.
    ReadPieces,
}

impl FileUse {
    fn flags(self) -> OFlags {
        let what = match self {
            Self::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Self::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
            Self::Update => OFlags::RDWR,
            Self::Read | Self::ReadPieces => OFlags::RDONLY,
        };
        what | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }
}

/// A tree of files in our scratch directory; made by
/// [`Scratch::create_tree`](crate::scratch::Scratch::create_tree).
#[derive(Debug)]
pub struct FileTree {
    directories: Directories,
}

impl FileTree {
    /// The tree below the open directory `root`.
    pub(crate) const fn new(root: OwnedFd) -> Self {
        Self { directories: Directories::new(root) }
    }

    /// The time on the clock by which its operations are to be measured.
    #[must_use]
    pub fn now(&self) -> Nanos {
        clock::monotonic()
    }

    /// A path that leads to the tree by its descriptor, for a library that opens files by path and
    /// nothing else. It holds as long as the tree is open, and needs `/proc`.
    #[must_use]
    pub fn path_by_handle(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.directories.root().as_raw_fd()))
    }

    /// Makes the directory `path`, which is not there.
    ///
    /// # Errors
    /// The system's answer; so for all operations.
    pub fn make_dir(&mut self, path: &str) -> Result<(), FileFault> {
        let (parent, name) =
            self.directories.of(path).map_err(FileFault::to("make a directory"))?;
        rustix::fs::mkdirat(parent, name, Mode::RWXU).map_err(FileFault::to("make a directory"))
    }

    /// Removes the empty directory `path`.
    ///
    /// # Errors
    /// The system's answer, also where it is not empty.
    pub fn remove_dir(&mut self, path: &str) -> Result<(), FileFault> {
        self.directories.forget(path);
        let failed = FileFault::to("remove a directory");
        let (parent, name) =
            self.directories.of(path).map_err(FileFault::to("find a directory"))?;
        rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(failed)
    }

    /// Makes the entries of the directory `path` durable.
    ///
    /// # Errors
    /// The system's answer.
    pub fn sync_dir(&mut self, path: &str) -> Result<(), FileFault> {
        let directory = self.directories.at(path).map_err(FileFault::to("open a directory"))?;
        rustix::fs::fsync(directory).map_err(FileFault::to("sync a directory"))
    }

    /// How many entries the directory `path` has.
    ///
    /// # Errors
    /// The system's answer.
    pub fn list(&mut self, path: &str) -> Result<usize, FileFault> {
        let failed = || FileFault::to("list a directory");
        let directory = self.directories.at(path).map_err(failed())?;
        let mut entries = Dir::read_from(directory).map_err(failed())?;
        // `.` and `..` are no entries of anybody's.
        let count = entries.try_fold(0_usize, |count, entry| entry.map(|_| count + 1));
        count.map(|count| count.saturating_sub(2)).map_err(failed())
    }

    /// Opens the file `path`.
    ///
    /// # Errors
    /// The system's answer.
    pub fn open(&mut self, path: &str, how: FileUse) -> Result<TreeFile, FileFault> {
        let doing = if how == FileUse::Create { "make a file" } else { "open a file" };
        let (parent, name) = self.directories.of(path).map_err(FileFault::to(doing))?;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(parent, name, how.flags(), mode);
        let file = TreeFile::new(file.map_err(FileFault::to(doing))?);
        if how == FileUse::ReadPieces {
            file.read_nothing_ahead();
        }
        Ok(file)
    }

    /// Renames the file `from` to `to`, over a file that is there. Directories are not renamed.
    ///
    /// # Errors
    /// The system's answer.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), FileFault> {
        let failed = || FileFault::to("rename a file");
        let ((old, name), (new, new_name)) = self.directories.of_both(from, to).map_err(failed())?;
        rustix::fs::renameat(old, name, new, new_name).map_err(failed())
    }

    /// Gives the file `existing` the second name `new`, which is free.
    ///
    /// # Errors
    /// The system's answer; FAT and exFAT know no second names, and the fault says so.
    pub fn link(&mut self, existing: &str, new: &str) -> Result<(), FileFault> {
        let failed = || FileFault::to("link a file");
        let ((old, name), (directory, new_name)) =
            self.directories.of_both(existing, new).map_err(failed())?;
        let linked = rustix::fs::linkat(old, name, directory, new_name, AtFlags::empty());
        linked.map_err(unsupported).map_err(failed())
    }

    /// Makes a symbolic link at `path`, which is free. It leads to nothing.
    ///
    /// # Errors
    /// The system's answer; FAT and exFAT know no links, and the fault says so.
    pub fn symlink(&mut self, path: &str) -> Result<(), FileFault> {
        let failed = || FileFault::to("make a symbolic link");
        let (parent, name) = self.directories.of(path).map_err(failed())?;
        rustix::fs::symlinkat("nothing", parent, name).map_err(unsupported).map_err(failed())
    }

    /// Removes the name `path` of a file or a symbolic link.
    ///
    /// # Errors
    /// The system's answer.
    pub fn unlink(&mut self, path: &str) -> Result<(), FileFault> {
        let failed = || FileFault::to("remove a file");
        let (parent, name) = self.directories.of(path).map_err(failed())?;
        rustix::fs::unlinkat(parent, name, AtFlags::empty()).map_err(failed())
    }

    /// Whether anything is called `path`. A link is not followed.
    ///
    /// # Errors
    /// The system's answer, unless it is that nothing is there.
    pub fn is_there(&mut self, path: &str) -> Result<bool, FileFault> {
        let failed = || FileFault::to("look at a file");
        let (parent, name) = match self.directories.of(path) {
            Err(Errno::NOENT) => return Ok(false),
            found => found.map_err(failed())?,
        };
        match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(failed()(errno)),
        }
    }

    /// Makes everything on the tree's file system durable, other programs' files as well.
    ///
    /// # Errors
    /// The system's answer.
    pub fn sync_all(&self) -> Result<(), FileFault> {
        let root = self.directories.root();
        rustix::fs::syncfs(root.as_fd()).map_err(FileFault::to("sync the file system"))
    }
}

/// What a file system without links answers (link(2), symlink(2)), by its own name.
fn unsupported(errno: Errno) -> Errno {
    if errno == Errno::PERM { Errno::OPNOTSUPP } else { errno }
}
