//! Removing what killed runs have left.
//!
//! A directory is swept only if everything says that it is ours and dead: the name, the owner,
//! the lock that nobody holds, and the marker or its being empty. Anything else stays and is
//! reported, for deleting too little costs space and deleting too much costs somebody's data.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::Dir;
use rustix::io::Errno;

use super::mount_id::on_one_mount;
use super::private::{self, Entry, Marking, Remains};
use super::{ScratchError, open_users_directory};

/// What was found from runs that were killed, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many directories were removed.
    pub removed: u32,
    /// How many belong to runs that are still alive.
    pub in_use: u32,
    /// Directories of our kind that stay, with the reason.
    pub left: Vec<LeftDirectory>,
}

/// A directory with a name of ours that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftDirectory {
    /// Its name in the directory that was swept.
    pub name: String,
    /// Why it stays, in words.
    pub reason: String,
}

impl fmt::Display for LeftDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; look into it and delete it by hand", self.name, self.reason)
    }
}

impl Swept {
    /// Adds what another sweep of the same directory found. What that one could remove the first
    /// had left, and the runs in use were counted by both.
    pub(super) fn append(&mut self, later: Self) {
        self.removed += later.removed;
        self.left = later.left;
    }
}

/// What is to become of one directory.
enum Fate {
    Removed,
    InUse,
    Left(String),
    /// It is none of ours, or gone by itself.
    Nothing,
}

/// Removes what killed runs of this user have left in `directory`.
///
/// # Errors
/// The directory cannot be read.
pub fn sweep(directory: &Path) -> Result<Swept, ScratchError> {
    let open = open_users_directory(directory)?;
    sweep_open(directory, &open, rustix::process::geteuid().as_raw())
}

/// Sweeps the directory open as `parent` of what belongs to the user `owner`.
pub(super) fn sweep_open(
    directory: &Path,
    parent: &OwnedFd,
    owner: u32,
) -> Result<Swept, ScratchError> {
    let names = our_names(parent).map_err(ScratchError::failed("list", directory))?;
    let mut swept = Swept::default();
    for name in names {
        match sweep_one(parent, &name, owner) {
            Ok(Fate::Removed) => swept.removed += 1,
            Ok(Fate::InUse) => swept.in_use += 1,
            Ok(Fate::Left(reason)) => swept.left.push(LeftDirectory { name, reason }),
            Ok(Fate::Nothing) => {}
            Err(errno) => {
                let reason = Remains::from(errno).to_string();
                swept.left.push(LeftDirectory { name, reason });
            }
        }
    }
    Ok(swept)
}

/// The names of our kind in the directory open as `parent`, in order.
fn our_names(parent: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(parent)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && private::is_name(name)
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn sweep_one(parent: &OwnedFd, name: &str, owner: u32) -> Result<Fate, Errno> {
    let directory = match private::open(parent.as_fd(), name) {
        Err(Errno::NOENT) => return Ok(Fate::Nothing),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return Ok(Fate::Left("has a name of ours but is no directory".to_owned()));
        }
        Err(Errno::ACCESS) => return Ok(Fate::Left("belongs to another user".to_owned())),
        opened => opened?,
    };
    let status = rustix::fs::fstat(&directory)?;
    if !on_one_mount(parent, &directory) {
        return Ok(Fate::Left("has a directory or a file system mounted on it".to_owned()));
    }
    if status.st_uid != owner {
        return Ok(Fate::Left("belongs to another user".to_owned()));
    }
    if !private::lock(&directory)? {
        return Ok(Fate::InUse);
    }
    let fate = sweep_locked(parent, name, &directory);
    private::unlock(&directory);
    fate
}

/// Sweeps a directory whose lock is held: if it is empty or has our marker.
fn sweep_locked(parent: &OwnedFd, name: &str, directory: &OwnedFd) -> Result<Fate, Errno> {
    if !private::leads_to(parent, name, directory) {
        return Ok(Fate::Nothing);
    }
    let entries = private::entries(directory)?;
    let is_ours = match private::marking(directory)? {
        Marking::Ours => true,
        Marking::CutShort => entries.iter().all(Entry::is_of_our_names),
        Marking::None => entries.is_empty(),
    };
    if !is_ours {
        return Ok(Fate::Left("has files but not cardproof's marker".to_owned()));
    }
    match private::clear(parent, name, directory) {
        Ok(()) => Ok(Fate::Removed),
        Err(Remains::Moved) => Ok(Fate::Nothing),
        Err(remains) => Ok(Fate::Left(remains.to_string())),
    }
}
