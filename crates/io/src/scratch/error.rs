//! Why a directory does not serve, and what could not be removed from it.

use std::io;
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::private::Remains;
use super::space::most_by_name;

/// Why there is no safe place in a directory. Nothing was left in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// There is no such directory.
    #[error("there is no directory {path}; check its spelling, and that the card is mounted", path = path.display())]
    Missing {
        /// The directory as given.
        path: PathBuf,
    },
    /// It is a file or something else.
    #[error("{path} is not a directory; name a directory on the card", path = path.display())]
    NotADirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The user may not list it or write to it.
    #[error("this user may not write to {path}; {remedy}", path = path.display(), remedy = remedy_for(geteuid().is_root()))]
    NotPermitted {
        /// The directory as given.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// It is on a file system that is mounted read-only.
    #[error("{path} is on a file system that is mounted read-only; mount it for writing: mount -o remount,rw MOUNTPOINT; an SD card or its adapter may have a write-protect switch that is on", path = path.display())]
    ReadOnly {
        /// The directory as given.
        path: PathBuf,
    },
    /// A test file of no bytes was asked for.
    #[error("a size of 0 leaves nothing to measure; give --size a size such as 256M")]
    ZeroSize,
    /// It is a symbolic link.
    #[error("refusing to follow the symbolic link {path}; name the directory that it leads to (`realpath` tells)", path = path.display())]
    Symlink {
        /// The path as given.
        path: PathBuf,
    },
    /// It is on another device than was said.
    #[error("refusing to write to {path}: it is on device {found}, not on {expected}: is the card mounted? (`findmnt --target {path}` tells)", path = path.display())]
    OtherDevice {
        /// The directory as given.
        path: PathBuf,
        /// The number of the device that it is on, as `MAJOR:MINOR`.
        found: String,
        /// The number that was expected.
        expected: String,
    },
    /// The fresh subdirectory turned out to be on another file system than its directory.
    #[error("refusing to write to {path}: it is on another file system than the directory around it; name a directory on which nothing else is mounted", path = path.display())]
    Strayed {
        /// The subdirectory.
        path: PathBuf,
    },
    /// Even the smallest useful size is too much.
    #[error("too little space in {path}: {free} free, {needed} needed; {}", remedy(*free), path = path.display())]
    TooLittleSpace {
        /// The directory as given.
        path: PathBuf,
        /// What is free.
        free: Bytes,
        /// What must be free for the smallest useful run.
        needed: Bytes,
    },
    /// The size that the user named is more than there is.
    #[error("too little space in {path} for {wanted}: {free} free, of which at most {most} may be used; ask for less", path = path.display())]
    LessThanWanted {
        /// The directory as given.
        path: PathBuf,
        /// What was asked for.
        wanted: Bytes,
        /// The most that could be had.
        most: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// There is not even room for a directory.
    #[error("the file system of {path} is full, or has no room for more files; free some", path = path.display())]
    Full {
        /// The directory as given.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The kernel or the file system failed.
    #[error("cannot {doing} {path}; the kernel log (`dmesg`) may tell more", path = path.display())]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// The directory as given.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// What helps where `free` is too little: less can be asked for only where anything may be taken at all.
fn remedy(free: Bytes) -> &'static str {
    match most_by_name(free) {
        Bytes::ZERO => "free some",
        _ => "free some, or give a smaller --size",
    }
}

impl ScratchError {
    /// Whether writing was refused for safety.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Symlink { .. }
                | Self::ReadOnly { .. }
                | Self::OtherDevice { .. }
                | Self::Strayed { .. }
                | Self::TooLittleSpace { .. }
                | Self::LessThanWanted { .. }
                | Self::Full { .. }
        )
    }

    /// Whether what the user named is not something that can be used.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NotADirectory { .. } | Self::ZeroSize)
    }

    /// The error for `errno` from opening `directory`.
    pub(super) fn from_opening(directory: &Path, errno: Errno, is_link: bool) -> Self {
        let path = directory.to_owned();
        match errno {
            Errno::LOOP | Errno::NOTDIR if is_link => Self::Symlink { path },
            Errno::NOTDIR => Self::NotADirectory { path },
            Errno::NOENT => Self::Missing { path },
            _ => Self::in_directory("open", directory)(errno),
        }
    }

    /// The error for something that failed in `directory` for any of the usual reasons.
    pub(super) fn in_directory(
        doing: &'static str,
        directory: &Path,
    ) -> impl FnOnce(Errno) -> Self + use<> {
        let path = directory.to_owned();
        move |errno| match errno {
            Errno::ACCESS | Errno::PERM => Self::NotPermitted { path, source: errno.into() },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::Full { path, source: errno.into() },
            _ => Self::Failed { doing, path, source: errno.into() },
        }
    }

    /// The error for something that should not fail.
    pub(super) fn failed(
        doing: &'static str,
        directory: &Path,
    ) -> impl FnOnce(Errno) -> Self + use<> {
        let path = directory.to_owned();
        move |errno| Self::Failed { doing, path, source: errno.into() }
    }

    pub(super) fn other_device(directory: &Path, found: u64, expected: u64) -> Self {
        let number = |raw| format!("{}:{}", rustix::fs::major(raw), rustix::fs::minor(raw));
        Self::OtherDevice {
            path: directory.to_owned(),
            found: number(found),
            expected: number(expected),
        }
    }
}

/// What a run could not remove. It touches nothing of anybody else's, but takes space.
#[derive(Debug, thiserror::Error)]
#[error("{path} stays: it {remains}; look into it and delete it by hand", path = path.display())]
pub struct LeftBehind {
    /// Our subdirectory.
    pub path: PathBuf,
    /// Why it stays.
    pub(super) remains: Remains,
}

/// What to do where a directory may not be written to. Root is refused too, by a network file system for example.
const fn remedy_for(is_root: bool) -> &'static str {
    if is_root {
        "you are root, and its file system or this container does not allow it even so; name another directory on the \
         card"
    } else {
        "name a directory of your own on the card, or run it as root, for example with sudo"
    }
}

#[cfg(test)]
mod tests {
    use super::remedy_for;

    #[test]
    fn root_is_not_told_to_become_root() {
        assert!(!remedy_for(true).contains("as root"));
        assert!(remedy_for(false).contains("as root"));
    }
}
