//! What the path of an output leads to, and whether cardproof writes there.
//!
//! A file is replaced as a whole. A descriptor of this process (`/dev/stdout`, `/dev/fd/3`), a pipe and
//! `/dev/null` are written to as they are. All else is refused: a block device holds somebody's data,
//! another device does what it likes with the bytes, and below `/dev`, `/proc` and `/sys` no file is ever
//! made or replaced. A link is followed to the file that it names, and stays.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cardproof_units::in_words;
use rustix::fs::Access;

use crate::file::{BLOCK_DEVICE, open_at_once};
use crate::paths::directory_of;

/// The most links that are followed, as many as Linux follows.
const LINKS_MAX: usize = 40;

/// Where no file is made or replaced, but for `/dev/shm`, which is an ordinary directory in memory.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];
const MEMORY: &str = "/dev/shm";

/// The descriptors that this process was started with.
static INHERITED: OnceLock<Vec<i32>> = OnceLock::new();

/// Notes which descriptors are open. To be called when the program begins: what it opens later is its own,
/// and no output goes there.
pub fn note_descriptors() {
    INHERITED.get_or_init(|| {
        let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().filter_map(Result::ok);
        let open: Vec<i32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        // The directory itself was open while it was read, under a number that is free by now.
        open.into_iter().filter(|number| cardproof_io::duplicate(*number).is_ok()).collect()
    });
}

/// Why nothing is written to a path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unwritable {
    /// It is a block device.
    #[error("{BLOCK_DEVICE}")]
    BlockDevice,
    /// It is a character device other than `/dev/null`.
    #[error("it is a device and no file")]
    Device,
    /// It is a directory.
    #[error("it is a directory")]
    Directory,
    /// It is a socket.
    #[error("it is a socket")]
    Socket,
    /// The directory that it would lie in is not there.
    #[error("its directory does not exist")]
    NoDirectory,
    /// It lies where the system shows devices and processes.
    #[error("no file is made or replaced below {0}")]
    System(&'static str),
    /// It is a link that leads nowhere.
    #[error("it is a link that leads nowhere")]
    DanglingLink,
    /// It is somebody else's link in a directory where everybody may write.
    #[error("it is a link that somebody else has put where everybody may write")]
    ForeignLink,
    /// It stands for a descriptor that this process was not started with.
    #[error("the descriptor {0} is not open")]
    NotOpen(i32),
    /// This user may write neither in its directory nor to the file.
    #[error("this user may not write to its directory")]
    Forbidden,
    /// It cannot be looked at.
    #[error("{}", in_words(.0))]
    Unreachable(io::Error),
}

impl From<Unwritable> for io::Error {
    fn from(fault: Unwritable) -> Self {
        match fault {
            Unwritable::Unreachable(error) => error,
            Unwritable::Forbidden => Self::new(io::ErrorKind::PermissionDenied, fault),
            _ => Self::new(io::ErrorKind::InvalidInput, fault),
        }
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A file, or the place for one. The path has no link at its end.
    File(PathBuf),
    /// A descriptor that this process was started with.
    Descriptor(i32),
    /// A pipe with a name, or `/dev/null`.
    Stream(PathBuf),
}

impl Destination {
    /// What `path` leads to. Nothing is opened for it.
    pub(crate) fn new(path: &Path) -> Result<Self, Unwritable> {
        let mut path = path.to_owned();
        for links in 0..=LINKS_MAX {
            let directory = fs::canonicalize(directory_of(&path)).map_err(directory_fault)?;
            let name = path.file_name().ok_or(Unwritable::Directory)?;
            let here = directory.join(name);
            if let Some(number) = descriptor(&directory, &here) {
                return inherited(number).map(Self::Descriptor);
            }
            let found = match fs::symlink_metadata(&here) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let is_new = links == 0;
                    return if is_new {
                        Self::new_file(here)
                    } else {
                        Err(Unwritable::DanglingLink)
                    };
                }
                found => found.map_err(Unwritable::Unreachable)?,
            };
            if !found.is_symlink() {
                return Self::found(here, &found.file_type(), found.rdev());
            }
            // There a link stands for an open file of another process, or for a device.
            if let Some(system) = ["/proc", "/sys"].into_iter().find(|it| here.starts_with(it)) {
                return Err(Unwritable::System(system));
            }
            check_link(&directory, &found)?;
            path = directory.join(fs::read_link(&here).map_err(Unwritable::Unreachable)?);
        }
        Err(Unwritable::DanglingLink)
    }

    fn new_file(path: PathBuf) -> Result<Self, Unwritable> {
        check_place(&path)?;
        check_writable(&path, false)?;
        Ok(Self::File(path))
    }

    fn found(path: PathBuf, kind: &FileType, number: u64) -> Result<Self, Unwritable> {
        if kind.is_file() {
            check_place(&path)?;
            check_writable(&path, true)?;
            return Ok(Self::File(path));
        }
        let is_null = kind.is_char_device() && number == rustix::fs::makedev(1, 3);
        if kind.is_fifo() || is_null {
            return Ok(Self::Stream(path));
        }
        Err(kind_fault(kind))
    }

    /// Opens what is written to as it is; `None` for a file.
    pub(crate) fn open(&self) -> io::Result<Option<File>> {
        match self {
            Self::File(_) => Ok(None),
            Self::Descriptor(number) => cardproof_io::duplicate(*number).map(Some),
            Self::Stream(path) => open_at_once(path, OpenOptions::new().write(true)).map(Some),
        }
    }
}

/// Whether an output can go to `path`, found out before an hour is spent on what goes there.
///
/// # Errors
/// It cannot, and why.
pub fn check_output(path: &Path) -> Result<(), Unwritable> {
    if path.is_dir() {
        return Err(Unwritable::Directory);
    }
    Destination::new(path).map(drop)
}

fn directory_fault(error: io::Error) -> Unwritable {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unwritable::NoDirectory,
        _ => Unwritable::Unreachable(error),
    }
}

fn kind_fault(kind: &FileType) -> Unwritable {
    if kind.is_block_device() {
        Unwritable::BlockDevice
    } else if kind.is_dir() {
        Unwritable::Directory
    } else if kind.is_socket() {
        Unwritable::Socket
    } else {
        Unwritable::Device
    }
}

/// The number of the descriptor of this process that `path`, in `directory`, stands for.
fn descriptor(directory: &Path, path: &Path) -> Option<i32> {
    let is_ours = ["/proc/self/fd", "/proc/thread-self/fd"]
        .iter()
        .any(|ours| fs::canonicalize(ours).is_ok_and(|ours| ours == *directory));
    if !is_ours {
        return None;
    }
    path.file_name()?.to_str()?.parse().ok()
}

/// `number`, if this process was started with it and it is no block device.
fn inherited(number: i32) -> Result<i32, Unwritable> {
    let is_known = INHERITED.get().map_or((0..=2).contains(&number), |all| all.contains(&number));
    if !is_known {
        return Err(Unwritable::NotOpen(number));
    }
    let file = cardproof_io::duplicate(number).map_err(|_| Unwritable::NotOpen(number))?;
    let is_block = file.metadata().is_ok_and(|found| found.file_type().is_block_device());
    if is_block { Err(Unwritable::BlockDevice) } else { Ok(number) }
}

/// Refuses to follow a link that another user has put into a directory where everybody may write. The
/// rule is that of `fs.protected_symlinks` in Documentation/admin-guide/sysctl/fs.rst.
fn check_link(directory: &Path, link: &Metadata) -> Result<(), Unwritable> {
    const STICKY_AND_OPEN: u32 = 0o1002;
    let around = fs::metadata(directory).map_err(Unwritable::Unreachable)?;
    let is_open = around.mode() & STICKY_AND_OPEN == STICKY_AND_OPEN;
    let owner = link.uid();
    let is_trusted = owner == rustix::process::geteuid().as_raw() || owner == around.uid();
    if is_open && !is_trusted { Err(Unwritable::ForeignLink) } else { Ok(()) }
}

/// Refuses a file below the system's own directories.
fn check_place(path: &Path) -> Result<(), Unwritable> {
    let system = SYSTEM.into_iter().find(|system| path.starts_with(system));
    match system.filter(|_| !path.starts_with(MEMORY)) {
        Some(system) => Err(Unwritable::System(system)),
        None => Ok(()),
    }
}

/// Whether the directory of `path` may be written, or at least the file that is there.
fn check_writable(path: &Path, is_there: bool) -> Result<(), Unwritable> {
    let may_write = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
    if may_write(directory_of(path)) || is_there && may_write(path) {
        return Ok(());
    }
    Err(Unwritable::Forbidden)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_descriptor_is_written_to_under_each_of_its_names() {
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
            assert_eq!(Destination::new(Path::new(name)).unwrap(), Destination::Descriptor(1));
        }
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        assert_eq!(Destination::new(&link).unwrap(), Destination::Descriptor(1));
    }

    #[test]
    fn what_the_program_has_opened_itself_is_no_destination() {
        let own = tempfile::tempfile().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&own);
        let path = format!("/dev/fd/{number}");
        assert!(matches!(check_output(Path::new(&path)), Err(Unwritable::NotOpen(_))));
    }

    #[test]
    fn no_file_is_made_or_replaced_where_the_system_shows_itself() {
        for (path, fault) in [
            ("/dev/cardproof.json", "below /dev"),
            ("/proc/cardproof.json", "below /proc"),
            ("/proc/self/comm", "below /proc"),
            ("/proc/1/exe", "below /proc"),
            ("/sys/power/state", "below /sys"),
            ("/dev/zero", "device"),
            ("/dev/full", "device"),
            ("/dev/kmsg", "device"),
        ] {
            match check_output(Path::new(path)) {
                Err(Unwritable::Unreachable(_) | Unwritable::System(_)) => {}
                Err(found) => assert!(found.to_string().contains(fault), "{path}: {found}"),
                Ok(()) => panic!("{path} is taken"),
            }
        }
        assert!(check_output(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn a_link_is_followed_to_the_file_and_never_to_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "old").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("link", at("further")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        symlink("round", at("round")).unwrap();
        let file = fs::canonicalize(at("file")).unwrap();
        for name in ["file", "link", "further"] {
            assert_eq!(Destination::new(&at(name)).unwrap(), Destination::File(file.clone()));
        }
        for name in ["dangling", "round"] {
            assert!(matches!(check_output(&at(name)), Err(Unwritable::DanglingLink)), "{name}");
        }
    }

    #[test]
    fn a_link_of_another_user_where_everybody_may_write_is_not_followed() {
        if !rustix::process::geteuid().is_root() {
            cardproof_testkit::skip(cardproof_testkit::test_name!(), "only root has two users");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        fs::set_permissions(directory.path(), open).unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "kept").unwrap();
        symlink(&file, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(1000), Some(1000)).unwrap();
        assert!(matches!(check_output(&link), Err(Unwritable::ForeignLink)));
    }
}
