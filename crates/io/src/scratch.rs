//! A safe place for our own file in a directory of the user's.
//!
//! Measuring a file system means writing to it, next to somebody's photographs. So everything
//! happens in a fresh subdirectory, `.cardproof-` and eight digits, which is entered once and
//! then used by its descriptor: no later renaming or linking can lead a write elsewhere. A marker
//! in it says whose it is, a lock on it says that the run is alive. What a killed run leaves is a
//! directory with our marker, or an empty one, without a lock; the next run finds and removes it.
//!
//! Nothing is ever overwritten, no link is followed, and only files of names that this module
//! gives, in directories that it has marked, are removed; and the tree of files that a job has made
//! there, as a whole. Nothing is removed across a mount that somebody has put there.

mod error;
mod mount_id;
mod named;
mod private;
mod space;
mod sweep;
mod tree;
mod users_directory;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, StatVfsMountFlags};
use rustix::io::Errno;

pub use error::{LeftBehind, ScratchError};
pub use named::{LeftNames, NamedFiles};
pub use space::{Allowance, SIZE_MIN, Space};
pub use sweep::{LeftDirectory, Swept, sweep};
pub use users_directory::UsersDirectory;

use mount_id::on_one_mount;
use private::{Claim, MARKER, MARKER_TEXT, TEST_FILE, TREE};

use crate::files::FileTree;

/// How often a fresh name is tried: each loss means that another run took the same name, or
/// swept the directory in the instant before it was locked.
const CLAIMS_MAX: u32 = 64;

/// Our subdirectory in a directory of the user's, locked, and removed with the value.
#[derive(Debug)]
pub struct Scratch {
    /// The user's directory, as given.
    directory: PathBuf,
    /// The user's directory, open.
    parent: OwnedFd,
    /// The subdirectory's name.
    name: String,
    /// The subdirectory, open and locked.
    own: OwnedFd,
    swept: Swept,
    is_removed: bool,
}

impl Scratch {
    /// Makes a fresh subdirectory in `directory`, after removing what killed runs have left
    /// there.
    ///
    /// With `expected_device`, the directory must be on the file system with that number
    /// (`st_dev`). File systems over several devices, such as btrfs, have numbers of their own:
    /// none is to be expected there.
    ///
    /// # Errors
    /// The directory does not serve; nothing was left in it.
    pub fn create(directory: &Path, expected_device: Option<u64>) -> Result<Self, ScratchError> {
        Self::create_in(UsersDirectory::open(directory)?, expected_device)
    }

    /// The same in a directory that is open already.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_in(
        directory: UsersDirectory,
        expected_device: Option<u64>,
    ) -> Result<Self, ScratchError> {
        Self::create_if(directory, expected_device, |_| Ok(())).map(|(scratch, ())| scratch)
    }

    /// The same, for a test file of `wanted`, and how large that may be. With
    /// `requested_by_user` it may be all that is wanted or nothing.
    ///
    /// # Errors
    /// As for [`create`](Self::create), or there is too little space; nothing was made.
    pub fn create_for(
        directory: &Path,
        expected_device: Option<u64>,
        wanted: Bytes,
        requested_by_user: bool,
    ) -> Result<(Self, Allowance), ScratchError> {
        Self::create_if(UsersDirectory::open(directory)?, expected_device, |parent| {
            let allowance = allowance_in(parent, directory, Some(wanted), requested_by_user)?;
            if requested_by_user && allowance.is_reduced {
                let path = directory.to_owned();
                let Allowance { size: most, free, .. } = allowance;
                return Err(ScratchError::LessThanWanted { path, wanted, most, free });
            }
            Ok(allowance)
        })
    }

    /// Makes the subdirectory if the user's directory passes `check` after the sweep.
    fn create_if<T>(
        directory: UsersDirectory,
        expected_device: Option<u64>,
        check: impl FnOnce(&OwnedFd) -> Result<T, ScratchError>,
    ) -> Result<(Self, T), ScratchError> {
        let UsersDirectory { path: directory, open: parent } = directory;
        let status = check_users_directory(&directory, &parent, expected_device)?;
        let user = rustix::process::geteuid().as_raw();
        let swept = sweep::sweep_open(&directory, &parent, user)?;
        let checked = check(&parent)?;
        let (name, own) = claim(&directory, &parent)?;
        let mut scratch = Self { directory, parent, name, own, swept, is_removed: false };
        let owner = scratch.mark(&status)?;
        if owner != user {
            // On FAT files belong to whoever the mount names, and so do those that we left.
            let also = sweep::sweep_open(&scratch.directory, &scratch.parent, owner)?;
            scratch.swept.append(also);
        }
        Ok((scratch, checked))
    }

    /// What was found from runs that were killed, and what became of it.
    #[must_use]
    pub const fn swept(&self) -> &Swept {
        &self.swept
    }

    /// Where the subdirectory is, for messages: its files are reached by descriptor only.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// How large the test file may be where `wanted` is asked for (`None`: as much as allowed).
    ///
    /// At most a tenth of the free space, or, where the user named the size, all of it
    /// but a margin.
    ///
    /// # Errors
    /// Even the smallest useful size is too much, or the size asked for is zero.
    pub fn allowance(
        &self,
        wanted: Option<Bytes>,
        requested_by_user: bool,
    ) -> Result<Allowance, ScratchError> {
        allowance_in(&self.own, &self.directory, wanted, requested_by_user)
    }

    /// Makes the test file, empty, open for reading and writing.
    ///
    /// # Errors
    /// It was made before, or the file system will not have it.
    pub fn create_file(&self) -> Result<File, ScratchError> {
        let failed = ScratchError::in_directory("create the test file in", &self.directory);
        self.create_named(TEST_FILE).map_err(failed)
    }

    /// Makes a test file that has no name any more, so that its space is free again as soon as this
    /// process ends, however it ends.
    ///
    /// # Errors
    /// A test file was made before, or the file system will not have it.
    pub fn create_nameless_file(&self) -> Result<File, ScratchError> {
        let file = self.create_file()?;
        let failed =
            ScratchError::in_directory("take the name of the test file in", &self.directory);
        rustix::fs::unlinkat(&self.own, TEST_FILE, AtFlags::empty()).map_err(failed)?;
        Ok(file)
    }

    /// The size of the file system, and how much of it this user may still fill.
    ///
    /// # Errors
    /// The file system does not tell.
    pub fn space(&self) -> Result<Space, ScratchError> {
        space_in(&self.own, &self.directory)
    }

    /// Makes the directory for a job's files, empty.
    ///
    /// # Errors
    /// It was made before, or the file system will not have it.
    pub fn create_tree(&self) -> Result<FileTree, ScratchError> {
        let failed = || ScratchError::in_directory("make a directory in", &self.directory);
        rustix::fs::mkdirat(&self.own, TREE, Mode::RWXU).map_err(failed())?;
        private::open(self.own.as_fd(), TREE).map(FileTree::new).map_err(failed())
    }

    /// Removes the subdirectory and what we made in it.
    ///
    /// # Errors
    /// Something stays: what others put there, or what could not be removed.
    pub fn remove(mut self) -> Result<(), LeftBehind> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), LeftBehind> {
        self.is_removed = true;
        let cleared = private::clear(&self.parent, &self.name, &self.own);
        private::unlock(&self.own);
        cleared.map_err(|remains| LeftBehind { path: self.path(), remains })
    }

    /// Writes the marker and returns the user that the file system says it belongs to.
    fn mark(&self, users_directory: &Stat) -> Result<u32, ScratchError> {
        let failed = || ScratchError::in_directory("mark a directory in", &self.directory);
        let status = rustix::fs::fstat(&self.own).map_err(failed())?;
        if status.st_dev != users_directory.st_dev || !on_one_mount(&self.parent, &self.own) {
            return Err(ScratchError::Strayed { path: self.path() });
        }
        let mut marker = self.create_named(MARKER).map_err(failed())?;
        marker
            .write_all(MARKER_TEXT)
            .map_err(|source| failed()(Errno::from_io_error(&source).unwrap_or(Errno::IO)))?;
        Ok(status.st_uid)
    }

    fn create_named(&self, name: &str) -> Result<File, Errno> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.own, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_removed {
            // A drop has nobody to tell; what stays is found by the next run.
            let _ = self.clear();
        }
    }
}

/// How large a file may be on the file system of `open`.
fn allowance_in(
    open: &OwnedFd,
    directory: &Path,
    wanted: Option<Bytes>,
    requested_by_user: bool,
) -> Result<Allowance, ScratchError> {
    let Space { free, .. } = space_in(open, directory)?;
    space::allow(directory, free, wanted, requested_by_user)
}

/// The space of the file system of `open`.
fn space_in(open: &OwnedFd, directory: &Path) -> Result<Space, ScratchError> {
    let found = rustix::fs::fstatvfs(open)
        .map_err(ScratchError::failed("read the free space of", directory))?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(found.f_frsize));
    Ok(Space { size: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

/// Opens the directory that the user named, if it is one and not a link to one.
fn open_users_directory(directory: &Path) -> Result<OwnedFd, ScratchError> {
    // A trailing slash would have the kernel follow a link after all.
    let path: PathBuf = directory.components().collect();
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|errno| {
        let status = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
        let is_link = status
            .is_ok_and(|status| rustix::fs::FileType::from_raw_mode(status.st_mode).is_symlink());
        ScratchError::from_opening(directory, errno, is_link)
    })
}

/// Checks that the open directory is where it should be and may be written to.
fn check_users_directory(
    directory: &Path,
    open: &OwnedFd,
    expected_device: Option<u64>,
) -> Result<Stat, ScratchError> {
    let failed = || ScratchError::failed("read the status of", directory);
    let status = rustix::fs::fstat(open).map_err(failed())?;
    if let Some(expected) = expected_device
        && expected != status.st_dev
    {
        return Err(ScratchError::other_device(directory, status.st_dev, expected));
    }
    let filesystem = rustix::fs::fstatvfs(open).map_err(failed())?;
    if filesystem.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(ScratchError::ReadOnly { path: directory.to_owned() });
    }
    Ok(status)
}

/// Makes a directory under a name that is free, and locks it.
fn claim(directory: &Path, parent: &OwnedFd) -> Result<(String, OwnedFd), ScratchError> {
    let failed = ScratchError::in_directory("create a directory in", directory);
    for attempt in 0..CLAIMS_MAX {
        let name = private::name(std::process::id(), attempt);
        match private::claim(parent.as_fd(), &name) {
            Ok(Claim::Ours(own)) => return Ok((name, own)),
            Ok(Claim::Lost) => {}
            Err(errno) => return Err(failed(errno)),
        }
    }
    Err(failed(Errno::EXIST))
}
