//! Our own directory: its name, its marker, how it is claimed, and how it is cleared.
//!
//! Everything is done relative to open directories, so that what was checked is what is used.
//! The lock is the one thing on which runs agree: who holds it may fill or clear the directory.
//! It is taken after the directory is made, so in between another run may find it empty and
//! sweep it; hence a claim holds only when, with the lock held, the name still leads to it.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cardproof_units::in_words;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::mount_id::on_one_mount;
use super::tree;

/// How our directories' names begin; eight hexadecimal digits follow.
const PREFIX: &str = ".cardproof-";
const DIGITS: usize = 8;

/// The file that says whose the directory is.
pub(super) const MARKER: &str = "cardproof-marker";

/// What is in it.
pub(super) const MARKER_TEXT: &[u8] =
    b"cardproof: scratch directory of a measurement; the next run removes it if this one cannot\n";

/// The file that is measured on.
pub(super) const TEST_FILE: &str = "test-file";

/// The directory of a job's files. Whatever is below it is ours.
pub(super) const TREE: &str = "test-tree";

/// A name for the `attempt`th try of the process `process`. Runs of one machine differ in the
/// process, so tries rarely collide, and colliding costs only another try.
pub(super) fn name(process: u32, attempt: u32) -> String {
    // An odd factor near 2^32 / phi, as in Knuth's multiplicative hashing: tries lie far apart.
    let number = process.wrapping_add(attempt.wrapping_mul(0x9e37_79b1));
    format!("{PREFIX}{number:08x}")
}

/// Whether `name` is one that [`name`] gives.
pub(super) fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|digits| {
        digits.len() == DIGITS
            && digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
    })
}

/// What came of trying to make a directory.
pub(super) enum Claim {
    /// It is made, open and locked.
    Ours(OwnedFd),
    /// The name was taken, or somebody swept it at once.
    Lost,
}

/// Makes the directory `name` in `parent` and locks it.
pub(super) fn claim(parent: BorrowedFd<'_>, name: &str) -> Result<Claim, Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::RWXU) {
        Err(Errno::EXIST) => return Ok(Claim::Lost),
        made => made?,
    }
    let own = match open(parent, name) {
        Err(Errno::NOENT) => return Ok(Claim::Lost),
        opened => opened?,
    };
    hold(parent, name, own).inspect_err(|_| {
        // Without locks nobody else can have taken it; if it stays it is empty.
        let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
    })
}

/// Locks `own`, just opened as `name` in `parent`, if it has not been swept in between.
fn hold(parent: BorrowedFd<'_>, name: &str, own: OwnedFd) -> Result<Claim, Errno> {
    let is_ours = lock(&own)? && leads_to(parent, name, &own);
    Ok(if is_ours { Claim::Ours(own) } else { Claim::Lost })
}

/// Opens the directory `name` in `parent`; a link is not followed.
pub(super) fn open(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Locks `directory` until it is closed; false where another run has it.
pub(super) fn lock(directory: impl AsFd) -> Result<bool, Errno> {
    match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        locked => locked.map(|()| true),
    }
}

/// Gives the lock of `directory` back. Closing it would do, but for a process forked meanwhile,
/// which shares the lock until it becomes another program.
pub(super) fn unlock(directory: impl AsFd) {
    // The descriptor is open and unlocking does not block, so this cannot fail.
    let _ = rustix::fs::flock(directory, FlockOperation::Unlock);
}

/// Whether `name` in `parent` still is the open `directory`.
pub(super) fn leads_to(parent: impl AsFd, name: &str, directory: impl AsFd) -> bool {
    let named = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    let open = rustix::fs::fstat(directory);
    matches!((named, open), (Ok(named), Ok(open))
        if (named.st_dev, named.st_ino) == (open.st_dev, open.st_ino))
}

/// What stays in a directory that was to be cleared.
#[derive(Debug, thiserror::Error)]
pub(super) enum Remains {
    /// Things that we did not make, by name.
    #[error("holds what cardproof did not make ({})", .0.join(", "))]
    Foreign(Vec<String>),
    /// Somebody renamed or replaced the directory.
    #[error("was moved or replaced by another program")]
    Moved,
    /// Somebody mounted something in it, by name.
    #[error("has something mounted in it ({}), which stays; unmount that", .0.join(", "))]
    Mounted(Vec<String>),
    /// The file system would not remove something.
    #[error("cannot be removed ({})", in_words(&io::Error::from(*.0)))]
    Failed(Errno),
}

impl From<Errno> for Remains {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// Removes what we made in `directory`, which is `name` in `parent`, and then itself.
///
/// Where there is anything else in it that stays, and the marker stays with it, so that a later
/// run can finish when it is gone. The caller holds the lock.
pub(super) fn clear(parent: &OwnedFd, name: &str, directory: &OwnedFd) -> Result<(), Remains> {
    if !on_one_mount(parent, directory) {
        return Err(Remains::Mounted(vec![name.to_owned()]));
    }
    remove_file(directory, TEST_FILE)?;
    let mounted = tree::remove(directory.as_fd(), TREE)?;
    if !mounted.is_empty() {
        return Err(Remains::Mounted(mounted));
    }
    let foreign: Vec<_> =
        entries(directory)?.into_iter().filter(|entry| !entry.is_marker()).collect();
    if !foreign.is_empty() {
        return Err(Remains::Foreign(foreign.iter().map(ToString::to_string).collect()));
    }
    remove_file(directory, MARKER)?;
    if !leads_to(parent, name, directory) {
        return Err(Remains::Moved);
    }
    match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        Err(Errno::BUSY) => Err(Remains::Mounted(vec![name.to_owned()])),
        removed => Ok(removed?),
    }
}

/// Removes `name` in `directory` if it is a regular file: we make no other, so a link or a
/// directory of that name is somebody else's.
fn remove_file(directory: &OwnedFd, name: &str) -> Result<(), Remains> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Ok(status) if !FileType::from_raw_mode(status.st_mode).is_file() => Ok(()),
        // The kernel does not remove what something is mounted on.
        Ok(_) => match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
            Err(Errno::BUSY) => Err(Remains::Mounted(vec![name.to_owned()])),
            removed => Ok(removed?),
        },
        Err(errno) => Err(errno.into()),
    }
}

/// Something in a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    is_file: bool,
    is_directory: bool,
}

impl Entry {
    /// Whether it is a file of the marker's name.
    pub(super) fn is_marker(&self) -> bool {
        self.is_file && self.name == MARKER.as_bytes()
    }

    /// Whether it is of a name that we give, and of its kind.
    pub(super) fn is_of_our_names(&self) -> bool {
        self.is_marker()
            || (self.is_file && self.name == TEST_FILE.as_bytes())
            || (self.is_directory && self.name == TREE.as_bytes())
    }
}

/// Its name, with what a terminal could take for commands replaced.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(&self.name);
        name.chars().try_for_each(|c| write!(f, "{}", if c.is_control() { '?' } else { c }))
    }
}

/// All that is in `directory`, without `.` and `..`, in no order.
pub(super) fn entries(directory: &OwnedFd) -> Result<Vec<Entry>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let status = rustix::fs::statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
        let kind =
            status.map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode));
        let (is_file, is_directory) = (kind.is_file(), kind.is_dir());
        entries.push(Entry { name: name.to_vec(), is_file, is_directory });
    }
    Ok(entries)
}

/// What the marker in a directory says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marking {
    /// The directory is ours.
    Ours,
    /// As far as there is a marker it is as we write it, but it is cut short, perhaps to
    /// nothing: the power failed before it reached the medium.
    CutShort,
    /// There is none, or another.
    None,
}

/// Reads the marker in `directory`.
pub(super) fn marking(directory: &OwnedFd) -> Result<Marking, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let marker = match rustix::fs::openat(directory, MARKER, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP) => return Ok(Marking::None),
        opened => opened?,
    };
    if !FileType::from_raw_mode(rustix::fs::fstat(&marker)?.st_mode).is_file() {
        return Ok(Marking::None);
    }
    let mut text = vec![0; MARKER_TEXT.len() + 1];
    let length = rustix::io::pread(&marker, &mut text, 0)?;
    text.truncate(length);
    Ok(if text == MARKER_TEXT {
        Marking::Ours
    } else if MARKER_TEXT.starts_with(&text) {
        Marking::CutShort
    } else {
        Marking::None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_and_no_others() {
        for attempt in 0..100 {
            assert!(is_name(&name(u32::MAX - 7, attempt)));
        }
        for other in [
            "",
            ".cardproof-",
            ".cardproof-1234567",
            ".cardproof-123456789",
            ".cardproof-1234567g",
            ".cardproof-1234567A",
            "cardproof-12345678",
            ".cardproof_12345678",
            ".cardproof-12345678.bak",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_removed_says_why_in_words() {
        let said = Remains::from(Errno::ROFS).to_string();
        assert_eq!(said, "cannot be removed (Read-only file system)");
    }

    #[test]
    fn tries_do_not_repeat() {
        let names: std::collections::HashSet<_> = (0..64).map(|attempt| name(1, attempt)).collect();
        assert_eq!(names.len(), 64);
    }

    /// What another run's sweep can do between the making of a directory and its locking.
    #[test]
    fn a_directory_swept_before_it_was_locked_is_lost() {
        let around = tempfile::tempdir().unwrap();
        let parent = OwnedFd::from(std::fs::File::open(around.path()).unwrap());
        let made = |name: &str| {
            std::fs::create_dir(around.path().join(name)).unwrap();
            open(parent.as_fd(), name).unwrap()
        };
        let is_held = |name: &str, own: OwnedFd| {
            matches!(hold(parent.as_fd(), name, own), Ok(Claim::Ours(_)))
        };
        let own = made("kept");
        assert!(is_held("kept", own));

        let own = made("swept");
        std::fs::remove_dir(around.path().join("swept")).unwrap();
        assert!(!is_held("swept", own));

        let own = made("made-anew");
        std::fs::remove_dir(around.path().join("made-anew")).unwrap();
        let _another = made("made-anew");
        assert!(!is_held("made-anew", own));

        let own = made("being-swept");
        let sweeper = open(parent.as_fd(), "being-swept").unwrap();
        assert!(lock(&sweeper).unwrap());
        assert!(!is_held("being-swept", own));
    }
}
