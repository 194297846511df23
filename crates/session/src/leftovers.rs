//! What killed processes of ours have left in the directory for temporary files.
//!
//! A directory there begins as ours do and ends in the number of the process that made it. It is taken
//! away only when that process is no more, it is this user's, and nobody holds its lock; or when it is a
//! mount whose server is dead. And it is taken away only by ways that remove nothing of others: an
//! unmounting, the removal of an empty directory.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use rustix::process::Pid;

/// A directory for temporary files that is ours, locked so that no sweep takes it.
#[derive(Debug)]
pub struct Held {
    /// Where it is.
    pub path: PathBuf,
    /// Holds the lock.
    _lock: Option<File>,
}

/// Makes the directory `prefix` and our number in the directory for temporary files.
///
/// # Errors
/// It cannot be made.
pub fn make(prefix: &str) -> std::io::Result<Held> {
    let path = std::env::temp_dir().join(format!("{prefix}{}", std::process::id()));
    fs::create_dir(&path)?;
    let lock = File::open(&path).ok();
    // Where there are no locks, a sweep has the process to go by.
    let _ = lock.as_ref().map(|lock| rustix::fs::flock(lock, EXCLUSIVE));
    Ok(Held { path, _lock: lock })
}

const EXCLUSIVE: FlockOperation = FlockOperation::NonBlockingLockExclusive;

/// Takes away, by `take_away`, what processes that are no more have left under names that begin with
/// `prefix` and end in their number.
pub fn sweep(prefix: &str, take_away: impl Fn(&Path)) {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| process_in(name, prefix));
        let path = entry.path();
        if process.is_some_and(is_gone) && (is_dead_mount(&path) || is_ours_and_free(&path)) {
            take_away(&path);
        }
    }
}

/// The process whose number follows the last hyphen of `name`, which begins with `prefix`.
fn process_in(name: &str, prefix: &str) -> Option<Pid> {
    let rest = name.strip_prefix(prefix)?;
    let number = rest.rsplit_once('-').map_or(rest, |(_, number)| number);
    number.parse().ok().and_then(Pid::from_raw)
}

/// Whether there is no such process any more.
pub(crate) fn is_gone(process: Pid) -> bool {
    rustix::process::test_kill_process(process) == Err(Errno::SRCH)
}

/// Whether `path` is a FUSE mount that nobody serves any more. The kernel lets nobody look into it.
pub fn is_dead_mount(path: &Path) -> bool {
    let looked = fs::symlink_metadata(path);
    looked.is_err_and(|error| Errno::from_io_error(&error) == Some(Errno::NOTCONN))
}

/// A process in another container has another number there, and the lock tells of it.
fn is_ours_and_free(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let is_ours = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && (found.uid() == user || user == 0));
    is_ours && File::open(path).is_ok_and(|file| rustix::fs::flock(&file, EXCLUSIVE).is_ok())
}

/// Unmounts what is at `place`, which may wait for its last user, and removes the empty directory.
pub(crate) fn unmount(place: &Path) {
    // What is not mounted cannot be unmounted.
    let _ = rustix::mount::unmount(place, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
    let _ = fs::remove_dir(place);
}

/// Removes the directory at `place` if it is empty.
pub fn remove_empty(place: &Path) {
    let _ = fs::remove_dir(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_ended_processes_go() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let prefix = format!("cardproof-leftovers-{}-", std::process::id());
        let at = |end: &str| std::env::temp_dir().join(format!("{prefix}{end}"));
        let (dead, other) = (at(&child.id().to_string()), at("1x"));
        let named = at(&format!("my-card.toml-{}", child.id()));
        let full = at(&format!("0{}", child.id()));
        let held = make(&prefix).unwrap();
        for place in [&dead, &named, &other, &full] {
            fs::create_dir(place).unwrap();
        }
        fs::write(full.join("photo.jpg"), "mine").unwrap();
        sweep(&prefix, remove_empty);
        assert!(!dead.exists() && !named.exists() && other.exists() && held.path.exists());
        assert!(full.join("photo.jpg").exists());
        for place in [other, full, held.path] {
            fs::remove_dir_all(place).unwrap();
        }
    }
}
