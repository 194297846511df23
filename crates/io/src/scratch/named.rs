//! Files of ours under names that others know, beside the user's files.
//!
//! Some files must lie where other tools look for them, such as `1.h2w`, so they have no directory of
//! their own. They are ours by handle: each is made where there was none, or taken by whoever knows that it
//! is ours, and stays open. Nothing is written or removed by a name that could lead to somebody else's file by
//! then: a name is removed only after what it leads to was moved aside into a directory of ours and was found
//! to be the open file; anything else is moved back.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use cardproof_units::in_words;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::mount_id::on_one_mount;
use super::private::{self, leads_to};
use super::{Scratch, ScratchError, Space, Swept, UsersDirectory, claim, space_in};

/// File systems whose numbers of files do not outlive a mount: FAT, exFAT and FUSE (linux/magic.h).
const WITHOUT_LASTING_NUMBERS: [u64; 3] = [0x4d44, 0x2011_bab0, 0x6573_5546];

/// What a file is called while it is aside. Clearing a directory of ours knows no such name, so what stays
/// there is told and not removed.
const ASIDE: &str = "moved-aside";

/// So many files may be open beside ours.
const OPEN_BESIDE: u64 = 64;

/// Files that we made in a directory of the user's; they go with the value unless they are kept.
#[derive(Debug)]
pub struct NamedFiles {
    directory: PathBuf,
    parent: OwnedFd,
    files: Vec<NamedFile>,
}

#[derive(Debug)]
struct NamedFile {
    name: String,
    file: File,
}

/// Names under which something stays that was to be removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot remove {}: {why}; look at them and remove them by hand", names.join(", "))]
pub struct LeftNames {
    names: Vec<String>,
    why: String,
}

impl NamedFiles {
    /// No files yet, in `directory`, which must not be a link.
    ///
    /// # Errors
    /// There is no such directory, or it may not be read.
    pub fn open(directory: &Path) -> Result<Self, ScratchError> {
        Ok(Self::open_in(UsersDirectory::open(directory)?))
    }

    /// The same in a directory that is open already.
    #[must_use]
    pub fn open_in(directory: UsersDirectory) -> Self {
        let UsersDirectory { path: directory, open: parent } = directory;
        Self { directory, parent, files: Vec::new() }
    }

    /// The size of the file system, and what is free.
    ///
    /// # Errors
    /// The system's answer.
    pub fn space(&self) -> Result<Space, ScratchError> {
        space_in(&self.parent, &self.directory)
    }

    /// What is in the directory, in no order.
    ///
    /// # Errors
    /// The system's answer.
    pub fn names(&self) -> Result<Vec<String>, ScratchError> {
        let entries = private::entries(&self.parent)
            .map_err(ScratchError::failed("list", &self.directory))?;
        Ok(entries.into_iter().filter_map(|entry| String::from_utf8(entry.name).ok()).collect())
    }

    /// Whether a file has the same number after the file system was mounted again.
    #[must_use]
    pub fn has_lasting_numbers(&self) -> bool {
        let found = rustix::fs::fstatfs(&self.parent);
        found.is_ok_and(|found| !WITHOUT_LASTING_NUMBERS.contains(&(found.f_type as u64)))
    }

    /// Opens somebody's file for reading. A link is not followed, and a pipe not waited for.
    ///
    /// # Errors
    /// The system's answer; [`io::ErrorKind::InvalidInput`] for what is no regular file.
    pub fn look(&self, name: &str) -> io::Result<File> {
        let file = self.open_plain(name, OFlags::RDONLY)?;
        Ok(file)
    }

    /// Makes a file, where there must be none. Returns by which number it is known here.
    ///
    /// # Errors
    /// The system's answer.
    pub fn make(&mut self, name: &str) -> io::Result<usize> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file = rustix::fs::openat(
            &self.parent,
            name,
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            mode,
        )?;
        Ok(self.keep_open(name, file.into()))
    }

    /// Takes over the file `known`, which the caller has looked at and found to be ours. Returns by which
    /// number it is known here.
    ///
    /// # Errors
    /// The system's answer; [`io::ErrorKind::InvalidInput`] where `name` leads to another file by now, or to
    /// one that has other names or something mounted on it.
    pub fn take(&mut self, name: &str, known: &File) -> io::Result<usize> {
        let file = self.open_plain(name, OFlags::RDWR)?;
        let status = rustix::fs::fstat(&file)?;
        let is_known = leads_to(&self.parent, name, known) && leads_to(&self.parent, name, &file);
        if !is_known || status.st_nlink != 1 || !on_one_mount(&self.parent, &file) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(self.keep_open(name, file))
    }

    fn open_plain(&self, name: &str, how: OFlags) -> io::Result<File> {
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.parent, name, flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            opened => File::from(opened?),
        };
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        if kind.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn keep_open(&mut self, name: &str, file: File) -> usize {
        self.files.push(NamedFile { name: name.to_owned(), file });
        raise_limit(self.files.len() as u64 + OPEN_BESIDE);
        self.files.len() - 1
    }

    /// The open file `number`.
    #[must_use]
    pub fn file(&self, number: usize) -> &File {
        &self.files[number].file
    }

    /// Leaves the files where they are.
    pub fn keep(mut self) {
        self.files.clear();
    }

    /// Removes the files.
    ///
    /// # Errors
    /// What has taken one of the names stays, and what could not be removed.
    pub fn remove(mut self) -> Result<(), LeftNames> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), LeftNames> {
        let mut left = LeftNames { names: Vec::new(), why: String::new() };
        let files = std::mem::take(&mut self.files);
        if files.is_empty() {
            return Ok(());
        }
        for file in &files {
            // What is ours is gone by this, whatever becomes of its name; a full disk has room then.
            let _ = file.file.set_len(0);
        }
        let aside = match self.aside() {
            Ok(aside) => aside,
            Err(error) => {
                left.names.extend(files.into_iter().map(|file| file.name));
                left.why = error.to_string();
                return Err(left);
            }
        };
        for NamedFile { name, file } in files {
            if let Err(errno) = self.remove_one(&aside, &name, file) {
                left.why = in_words(&errno.into());
                left.names.push(name);
            }
        }
        if let Err(error) = aside.remove() {
            left.why = error.to_string();
            left.names.push(error.path.display().to_string());
        }
        if left.names.is_empty() { Ok(()) } else { Err(left) }
    }

    /// A directory of ours beside the files, to which only we have access.
    fn aside(&self) -> Result<Scratch, ScratchError> {
        let failed = || ScratchError::failed("use", &self.directory);
        let parent = rustix::io::dup(&self.parent).map_err(failed())?;
        let status = rustix::fs::fstat(&parent).map_err(failed())?;
        let (name, own) = claim(&self.directory, &parent)?;
        let (directory, swept) = (self.directory.clone(), Swept::default());
        let scratch = Scratch { directory, parent, name, own, swept, is_removed: false };
        match scratch.mark(&status) {
            // On a full disk an empty marker has to do.
            Ok(_) | Err(ScratchError::Full { .. }) => Ok(scratch),
            Err(error) => Err(error),
        }
    }

    /// Removes `name` if it leads to `file`; whatever else has taken the name stays.
    fn remove_one(&self, aside: &Scratch, name: &str, file: File) -> Result<(), Errno> {
        if !leads_to(&self.parent, name, &file) {
            return Ok(());
        }
        match rustix::fs::renameat(&self.parent, name, &aside.own, ASIDE) {
            Err(Errno::NOENT) => return Ok(()),
            moved => moved?,
        }
        if leads_to(&aside.own, ASIDE, &file) {
            // Nobody else can put anything there. A FUSE file system keeps a file that is open under a name
            // of its own (`.fuse_hidden`), so it is closed first.
            drop(file);
            return rustix::fs::unlinkat(&aside.own, ASIDE, AtFlags::empty());
        }
        // Somebody has put something else there in between.
        move_back(aside.own.as_fd(), self.parent.as_fd(), name)
    }
}

/// Moves what was moved aside back to `name`, which must be free.
fn move_back(
    aside: rustix::fd::BorrowedFd<'_>,
    parent: rustix::fd::BorrowedFd<'_>,
    name: &str,
) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    let mut free = name.to_owned();
    for attempt in 1_u32..100 {
        match rustix::fs::renameat_with(aside, ASIDE, parent, &free, flags) {
            // The name is taken again; what was there keeps a name beside it.
            Err(Errno::EXIST) => free = format!("{name}.{attempt}"),
            // A second name does the same where renaming cannot leave alone what is there.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::linkat(aside, ASIDE, parent, &free, AtFlags::empty()) {
                    Err(Errno::EXIST) => free = format!("{name}.{attempt}"),
                    Err(errno) => return Err(errno),
                    Ok(()) => return rustix::fs::unlinkat(aside, ASIDE, AtFlags::empty()),
                }
            }
            moved => return moved,
        }
    }
    Err(Errno::EXIST)
}

impl Drop for NamedFiles {
    fn drop(&mut self) {
        // A drop has nobody to tell; what stays is found by the next run.
        let _ = self.clear();
    }
}

/// Lets this process open `needed` files, as far as the system allows.
fn raise_limit(needed: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        // Where it may not be raised, opening the next file fails and says so.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit { current: limit.maximum.or(Some(needed)), maximum: limit.maximum },
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn our_files_go_and_nothing_that_has_taken_their_names() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let mut files = NamedFiles::open(place.path()).unwrap();
        for name in ["1.h2w", "2.h2w", "3.h2w", "4.h2w"] {
            let number = files.make(name).unwrap();
            files.file(number).write_all(b"test data").unwrap();
        }
        fs::remove_file(at("2.h2w")).unwrap();
        fs::write(at("2.h2w"), "somebody's").unwrap();
        fs::rename(at("3.h2w"), at("moved")).unwrap();
        symlink("2.h2w", at("3.h2w")).unwrap();
        fs::remove_file(at("4.h2w")).unwrap();
        fs::create_dir(at("4.h2w")).unwrap();
        files.remove().unwrap();
        assert_eq!(names(place.path()), ["2.h2w", "3.h2w", "4.h2w", "moved"]);
        assert_eq!(fs::read(at("2.h2w")).unwrap(), b"somebody's");
        assert_eq!(fs::read(at("moved")).unwrap(), b"", "what is ours is emptied wherever it is");
    }

    #[test]
    fn what_is_moved_aside_by_mistake_comes_back_or_keeps_a_name_beside() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("aside")).unwrap();
        let (aside, parent) = (File::open(at("aside")).unwrap(), File::open(place.path()).unwrap());
        for wanted in ["1.h2w", "1.h2w.1", "1.h2w.2"] {
            fs::write(at("aside").join(ASIDE), wanted).unwrap();
            move_back(aside.as_fd(), parent.as_fd(), "1.h2w").unwrap();
            assert_eq!(fs::read_to_string(at(wanted)).unwrap(), wanted);
        }
    }

    #[test]
    fn a_swapped_directory_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (own, other) = (place.path().join("own"), place.path().join("other"));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("1.h2w"), "somebody's").unwrap();
        let mut files = NamedFiles::open(&own).unwrap();
        files.make("1.h2w").unwrap();
        fs::rename(&own, place.path().join("away")).unwrap();
        symlink(&other, &own).unwrap();
        files.make("2.h2w").unwrap();
        drop(files);
        assert_eq!(fs::read(other.join("1.h2w")).unwrap(), b"somebody's");
        assert_eq!((names(&other).len(), names(&place.path().join("away")).len()), (1, 0));
        assert!(NamedFiles::open(&own).is_err(), "a link is not followed");
    }

    #[test]
    fn what_looks_and_what_writes_share_a_directory_that_was_swapped_in_between() {
        let place = tempfile::tempdir().unwrap();
        let (own, other) = (place.path().join("own"), place.path().join("other"));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&other).unwrap();
        let directory = UsersDirectory::open(&own).unwrap();
        let looking = NamedFiles::open_in(directory.again().unwrap());
        assert!(looking.names().unwrap().is_empty());
        let away = place.path().join("away");
        fs::rename(&own, &away).unwrap();
        fs::rename(&other, &own).unwrap();
        assert_eq!(directory.lasting_path().canonicalize().unwrap(), away);
        let scratch = Scratch::create_in(directory, None).unwrap();
        assert_eq!((names(&own).len(), names(&away).len()), (0, 1));
        scratch.remove().unwrap();
        assert!(names(&away).is_empty());
    }

    #[test]
    fn links_pipes_directories_and_second_names_are_not_taken() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("somebody's"), "kept").unwrap();
        symlink("somebody's", at("1.h2w")).unwrap();
        fs::hard_link(at("somebody's"), at("2.h2w")).unwrap();
        fs::create_dir(at("3.h2w")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("4.h2w"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let mut files = NamedFiles::open(place.path()).unwrap();
        for name in ["1.h2w", "2.h2w", "3.h2w", "4.h2w"] {
            let taken = files.look(name).and_then(|known| files.take(name, &known));
            assert!(taken.is_err(), "{name}");
            assert!(files.make(name).is_err(), "{name}");
        }
        drop(files);
        assert_eq!(names(place.path()).len(), 5);
        assert_eq!(fs::read(at("somebody's")).unwrap(), b"kept");
    }

    #[test]
    fn a_file_that_was_swapped_after_the_look_is_not_taken() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("1.h2w"), "ours").unwrap();
        let mut files = NamedFiles::open(place.path()).unwrap();
        let known = files.look("1.h2w").unwrap();
        fs::rename(at("1.h2w"), at("ours")).unwrap();
        fs::write(at("1.h2w"), "somebody's").unwrap();
        assert!(files.take("1.h2w", &known).is_err());
        files.take("ours", &known).unwrap();
        drop(files);
        assert_eq!(names(place.path()), ["1.h2w"]);
        assert_eq!(fs::read(at("1.h2w")).unwrap(), b"somebody's");
    }

    #[test]
    fn kept_files_stay() {
        let place = tempfile::tempdir().unwrap();
        let mut files = NamedFiles::open(place.path()).unwrap();
        files.make("1.h2w").unwrap();
        files.keep();
        assert_eq!(names(place.path()), ["1.h2w"]);
    }
}
