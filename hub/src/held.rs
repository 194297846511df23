//! The database's file as it was opened, which nobody may put another in the place of.

use std::fs::metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, fstatvfs, open};

use crate::error::Error;

/// A file that is open, and its path. Connections that were opened before it was removed write on into what nobody
/// finds again.
#[derive(Debug)]
pub(crate) struct HeldFile {
    path: PathBuf,
    /// Keeps the number of the file from being given to another. It is opened as a path alone: to close it ends none of
    /// SQLite's locks.
    file: OwnedFd,
    /// The device and the number of the file there.
    identity: (u64, u64),
}

impl HeldFile {
    /// The file at `path`.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn at(path: &Path) -> Result<Self, Error> {
        let failed =
            |error: rustix::io::Errno| Error::File(path.display().to_string(), error.into());
        let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let found = fstat(&file).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, identity: (found.st_dev, found.st_ino) })
    }

    /// The room on its disk; none where that cannot be asked.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let found = fstatvfs(&self.file).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// # Errors
    /// There is none or another one at its path.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let found = metadata(&self.path).map(|it| (it.dev(), it.ino())).ok();
        if found == Some(self.identity) { Ok(()) } else { Err(Error::DataGone) }
    }
}
