//! What is made in a data directory belongs to whom the directory belongs to, also where root makes it: an operator's
//! command leaves nothing behind that the service, which runs as another user, cannot read or replace.
//!
//! Only what was just made is given away, and never by its path, which the service's user could lead elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// The file at `path` for writing, made with `options` where it is not there.
pub(crate) fn kept(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.write(true).truncate(false);
    match options.create_new(true).open(path) {
        Ok(file) => give(&file, path).map(|()| file),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            options.create_new(false).open(path)
        }
        Err(error) => Err(error),
    }
}

/// A new, empty file at `path`, in the place of what was there.
pub(crate) fn anew(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = options.write(true).create_new(true).open(path)?;
    give(&file, path).map(|()| file)
}

/// The directory at `path`, made where it is not there.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            give(&open(path, flags, Mode::empty())?, path)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives `made` to the owner of the directory that it was made in at `path`.
fn give(made: impl AsFd, path: &Path) -> io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let owner = parent.unwrap_or(Path::new(".")).metadata()?;
    fchown(made, Some(owner.uid()), Some(owner.gid()))
}
