//! Whose the files are that root makes: those of the directory's owner.
//!
//! With `sudo` the home directory is often still the user's. A record that root left there could not be
//! removed or written again by the user, so what root makes in somebody's directory is given to that
//! person. In a directory of root nothing changes.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Gid, OFlags, Uid};

use crate::paths::directory_of;

/// Makes `directory` and those above it that are not there. What root makes gets the owner of the
/// directory that it is made in.
///
/// # Errors
/// One cannot be made, or something else has its name.
pub fn make_directories(directory: &Path) -> io::Result<()> {
    make_with_mode(directory, 0o777)
}

/// As [`make_directories`], for what only its owner may read.
///
/// # Errors
/// One cannot be made, or something else has its name.
pub fn make_private_directories(directory: &Path) -> io::Result<()> {
    make_with_mode(directory, 0o700)
}

fn make_with_mode(directory: &Path, mode: u32) -> io::Result<()> {
    let mut missing: Vec<&Path> = directory.ancestors().take_while(|it| !it.exists()).collect();
    // The last ancestor of a relative path is empty: the current directory.
    missing.retain(|it| *it != Path::new(""));
    for directory in missing.into_iter().rev() {
        match fs::DirBuilder::new().mode(mode).create(directory) {
            Ok(()) => give_directory(directory)?,
            // Another process may be doing the same.
            Err(_) if directory.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    if directory.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Gives the directory at `path`, which was just made, to the owner of the one above it.
fn give_directory(path: &Path) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    // A link that came in its place meanwhile is not followed.
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let made = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    give(&made, directory_of(path))
}

/// Gives `file`, which was just made in `directory`, to the owner of the directory if root has made it.
///
/// # Errors
/// The directory cannot be looked at. A file system without owners refuses, which is no error.
pub(crate) fn give(file: impl AsFd, directory: &Path) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let around = fs::metadata(directory)?;
    if around.uid() != 0 {
        // FAT and its like keep no owner.
        let _ = give_to(file, &around);
    }
    Ok(())
}

/// Gives `file` the owner and the group that `metadata` has.
///
/// # Errors
/// Only root may give a file away, and not every file system keeps owners.
pub(crate) fn give_to(file: impl AsFd, metadata: &Metadata) -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
    rustix::fs::fchown(file, Some(user), Some(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As with `sudo cardproof` where the home directory stays the user's.
    #[test]
    fn what_root_makes_in_somebodys_directory_is_theirs() {
        if !rustix::process::geteuid().is_root() {
            cardproof_testkit::skip(cardproof_testkit::test_name!(), "only root gives files away");
            return;
        }
        let home = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(home.path(), Some(1000), Some(1000)).unwrap();
        let deep = home.path().join(".local/share/cardproof/records");
        make_directories(&deep).unwrap();
        make_directories(&deep).unwrap();
        crate::file::replace(&deep.join("record.json"), "{}").unwrap();
        for path in [&deep, deep.parent().unwrap(), &deep.join("record.json")] {
            let found = fs::metadata(path).unwrap();
            assert_eq!((found.uid(), found.gid()), (1000, 1000), "{}", path.display());
        }
    }

    #[test]
    fn directories_that_cannot_be_made_are_an_error() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [&file, &file.join("below"), Path::new("/proc/cardproof/records")] {
            assert!(make_directories(path).is_err(), "{}", path.display());
        }
        make_directories(place.path()).unwrap();
    }
}
