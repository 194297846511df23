//! The directory that the user named, opened once and used by its descriptor.
//!
//! A path can lead elsewhere a moment later. Whoever looks into a directory and then writes to it opens it once and
//! does both by the same value.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::{ScratchError, open_users_directory};

/// A directory of the user's, open. It is no link.
#[derive(Debug)]
pub struct UsersDirectory {
    /// As given, for messages.
    pub(super) path: PathBuf,
    pub(super) open: OwnedFd,
}

impl UsersDirectory {
    /// Opens `path`, which must not be a link.
    ///
    /// # Errors
    /// There is no such directory, or it may not be read.
    pub fn open(path: &Path) -> Result<Self, ScratchError> {
        Ok(Self { path: path.to_owned(), open: open_users_directory(path)? })
    }

    /// The same directory, open a second time.
    ///
    /// # Errors
    /// The system's answer.
    pub fn again(&self) -> Result<Self, ScratchError> {
        let failed = ScratchError::failed("use", &self.path);
        Ok(Self { path: self.path.clone(), open: rustix::io::dup(&self.open).map_err(failed)? })
    }

    /// A path that leads to this very directory as long as the value lives, for what takes nothing but a path.
    #[must_use]
    pub fn lasting_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.open.as_raw_fd()))
    }
}
