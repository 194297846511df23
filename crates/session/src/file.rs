//! Files that are replaced whole or not at all, and files that are opened without waiting for anybody.

use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::process::Pid;

use crate::destination::Destination;
use crate::failure::Failure;
use crate::leftovers::is_gone;
use crate::owner;
use crate::paths::directory_of;

/// Held while a file is replaced.
static TURN: Mutex<()> = Mutex::new(());

/// Why a block device is refused.
pub const BLOCK_DEVICE: &str = "it is a block device, and what is on it would be overwritten";

/// Whether `path` leads to a block device, which holds somebody's data.
pub fn is_block_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// What everybody may read, such as the user that Prometheus' exporter runs as.
const FOR_EVERYBODY: u32 = 0o644;

/// Lets everybody read the file that was written at `path`; the next one in its place keeps that. What is no regular
/// file stays as it is.
///
/// # Errors
/// It is somebody else's.
pub fn let_everybody_read(path: &Path) -> Result<(), Failure> {
    let found = fs::metadata(path).ok().filter(Metadata::is_file);
    if found.is_none_or(|it| it.permissions().mode() & 0o777 == FOR_EVERYBODY) {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(FOR_EVERYBODY))
        .map_err(Failure::because(format!("cannot let everybody read {}", path.display())))
}

/// Opens the regular file at `path` for reading.
///
/// A pipe would be waited for, a device may be endless: neither is opened. The kernel's logs, such as
/// `/proc/kmsg`, pass for regular files; a read of them does not wait for the next line.
///
/// # Errors
/// It is no regular file, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file =
        open_kind(path, FileType::is_file, "it is no regular file; `-` reads standard input")?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
    Ok(file)
}

/// Opens the regular file or block device at `path` for reading.
///
/// # Errors
/// It is neither, or cannot be opened.
pub(crate) fn open_storage_file(path: &Path) -> io::Result<File> {
    let is_storage = |kind: &FileType| kind.is_file() || kind.is_block_device();
    open_kind(
        path,
        is_storage,
        "it is neither a directory, a regular file nor a block device; name one of these",
    )
}

fn open_kind(path: &Path, is_wanted: impl Fn(&FileType) -> bool, else_: &str) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, else_);
    if !is_wanted(&fs::metadata(path)?.file_type()) {
        return Err(refused());
    }
    // It may have become a pipe since.
    let file = open_at_once(path, OpenOptions::new().read(true))?;
    if is_wanted(&file.metadata()?.file_type()) { Ok(file) } else { Err(refused()) }
}

/// Opens `path` as `options` say without waiting for the other end of a pipe.
pub(crate) fn open_at_once(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Removes from `directory`, which is ours, the files that [`replace`] began in processes that are no
/// more. What cannot be removed hinders nobody.
pub(crate) fn sweep(directory: &Path) {
    sweep_if(directory, |_| true);
}

/// The same of the files that were to become one whose name `is_wanted`.
fn sweep_if(directory: &Path, is_wanted: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let user = rustix::process::geteuid().as_raw();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some((of, process)) = name.to_str().and_then(begun) else { continue };
        let is_ours = entry.metadata().is_ok_and(|found| found.is_file() && found.uid() == user);
        if is_wanted(of) && is_ours && is_gone(process) && is_unlocked(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What the temporary file `name` was to become and the process that made it: `.NAME.PROCESS.tmp`, or
/// `.probe.PROCESS`.
fn begun(name: &str) -> Option<(&str, Pid)> {
    let begun = name.strip_prefix('.')?;
    let (of, process) = match begun.strip_suffix(".tmp") {
        Some(begun) => begun.rsplit_once('.').filter(|(of, _)| !of.is_empty())?,
        None => ("probe", begun.strip_prefix("probe.")?),
    };
    Some((of, process.parse().ok().and_then(Pid::from_raw)?))
}

/// Whether nobody writes to the file: a process in another container has another number there.
fn is_unlocked(path: &Path) -> bool {
    let Ok(file) = open_kind(path, FileType::is_file, "") else { return false };
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Puts `contents` in the place of `path` in one step: a reader, or a crash, finds the old file or the
/// new one, never half of one. What a killed process has begun to put there goes. A file that was there
/// keeps its owner and its permissions, and a link to it stays. A descriptor of this process, a pipe and
/// `/dev/null` are written to as they are.
///
/// # Errors
/// It cannot be written, or is nothing that an output goes to ([`Unwritable`](crate::Unwritable)).
pub fn replace(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let destination = Destination::new(path)?;
    if let Destination::File(path) = &destination
        && let Some(name) = path.file_name().and_then(|name| name.to_str())
    {
        sweep_if(directory_of(path), |of| of == name);
    }
    put_at(&destination, contents.as_ref())
}

/// Puts `contents` in the place of `path` as [`replace`] does, in a directory that was swept.
pub(crate) fn put(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    put_at(&Destination::new(path)?, contents.as_ref())
}

fn put_at(destination: &Destination, contents: &[u8]) -> io::Result<()> {
    if let Some(mut stream) = destination.open()? {
        return match stream.write_all(contents) {
            // A reader that has gone away wanted no more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        };
    }
    match destination {
        Destination::File(path) => put_file(path, contents),
        Destination::Descriptor(_) | Destination::Stream(_) => Ok(()),
    }
}

/// Replaces the file at `path`, or makes it; `path` is no link.
fn put_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    let directory = directory_of(path);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let before = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    // Two threads may replace the same file, such as the records of cards that are tested at once.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let temporary = directory.join(begun_name(&name));
    let written = write_through(&temporary, contents, before.as_ref());
    if before.is_some() && written.as_ref().is_err_and(is_not_permitted) {
        // The file is somebody else's, or its directory is: it is this user's to write, not to replace.
        let _ = fs::remove_file(&temporary);
        return overwrite(path, contents);
    }
    let written = written
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| File::open(directory)?.sync_all());
    if written.is_err() {
        // The first error is the one to tell of.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn is_not_permitted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Writes the file at `path` anew where it is.
fn overwrite(path: &Path, contents: &[u8]) -> io::Result<()> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let mut file = File::options().write(true).truncate(true).custom_flags(flags).open(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// Puts every one of `files`, names with their contents, into `directory`, as [`replace`] does with one:
/// a full disk leaves no part of them, and the files that were there.
///
/// # Errors
/// One cannot be written, or its name is that of something else than a file.
pub fn replace_all(directory: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    sweep_if(directory, |of| files.iter().any(|(name, _)| name == of));
    let begun: Vec<(PathBuf, PathBuf)> = files
        .iter()
        .map(|(name, _)| (directory.join(begun_name(name)), directory.join(name)))
        .collect();
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let written = put_all(directory, files, &begun);
    if written.is_err() {
        for (temporary, _) in &begun {
            // The first error is the one to tell of.
            let _ = fs::remove_file(temporary);
        }
    }
    written
}

/// Writes `files` at their temporary places, and moves them when all are there.
fn put_all(
    directory: &Path,
    files: &[(String, Vec<u8>)],
    begun: &[(PathBuf, PathBuf)],
) -> io::Result<()> {
    for ((temporary, path), (name, contents)) in begun.iter().zip(files) {
        let before = fs::symlink_metadata(path).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            let fault = format!("what is called {name} there is no file");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, fault));
        }
        write_through(temporary, contents, before.as_ref())?;
    }
    begun.iter().try_for_each(|(temporary, path)| fs::rename(temporary, path))?;
    File::open(directory)?.sync_all()
}

/// The name under which this process begins the file `name`.
fn begun_name(name: &str) -> String {
    format!(".{name}.{}.tmp", std::process::id())
}

/// Writes a new file, which gets the owner and the permissions of the file that was there `before`. Its
/// name can be guessed, and where others may write too, somebody may have put a link there that leads to
/// a file of ours: no link is followed.
fn write_through(path: &Path, contents: &[u8], before: Option<&Metadata>) -> io::Result<()> {
    // Nobody reads of a private file while it is written.
    let mode = if before.is_some() { 0o600 } else { 0o666 };
    let create = || File::options().write(true).create_new(true).mode(mode).open(path);
    let mut file = match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create()?
        }
        created => created?,
    };
    // Where there are no locks, a sweep has the process to go by.
    let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
    match before {
        Some(before) => resemble(&file, before)?,
        None => owner::give(&file, directory_of(path))?,
    }
    file.write_all(contents)?;
    file.sync_all()
}

/// Gives `file` the owner and the permissions of the file that it replaces.
fn resemble(file: &File, before: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        owner::give_to(file, before)?;
    }
    if own.mode() & 0o777 != before.mode() & 0o777 {
        rustix::fs::fchmod(file, Mode::from_raw_mode(before.mode() & 0o777))?;
    }
    Ok(())
}

/// Whether `letter` means nothing to a shell, a terminal or a file system.
pub(crate) fn is_plain(letter: &char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.".contains(*letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_may_be_read_by_everybody() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("facts");
        fs::write(&path, "1").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let_everybody_read(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        // A pipe or a directory is nobody's file of facts.
        let closed = fs::metadata(place.path()).unwrap().permissions();
        let_everybody_read(place.path()).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().permissions(), closed);
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.json");
        replace(&path, "old").unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_set_of_files_comes_whole_or_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let set = |contents: &str| {
            ["a.svg", "a.png", "b.svg"].map(|name| (name.to_owned(), contents.into()))
        };
        replace_all(directory.path(), &set("old")).unwrap();
        fs::remove_file(at("b.svg")).unwrap();
        fs::create_dir(at("b.svg")).unwrap();
        let error = replace_all(directory.path(), &set("new")).unwrap_err();
        assert!(error.to_string().contains("b.svg"), "{error}");
        assert_eq!(fs::read_to_string(at("a.svg")).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
        fs::remove_dir(at("b.svg")).unwrap();
        replace_all(directory.path(), &set("new")).unwrap();
        assert_eq!(fs::read_to_string(at("a.svg")).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
    }

    /// A process that has ended, and been waited for.
    fn dead() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn what_a_killed_process_began_goes_and_all_else_stays() {
        let directory = tempfile::tempdir().unwrap();
        let put = |name: &str| fs::write(directory.path().join(name), "{").unwrap();
        let (dead, alive) = (dead(), std::process::id());
        for name in [format!(".r.json.{dead}.tmp"), format!(".probe.{dead}")] {
            put(&name);
        }
        let stay = [
            ".1.tmp".to_owned(),
            ".r.json.tmp".to_owned(),
            format!(".probe.{alive}"),
            format!(".r.json.{alive}.tmp"),
            format!("r.json.{dead}.tmp"),
            "r.json".to_owned(),
        ];
        stay.iter().for_each(|name| put(name));
        let locked = format!(".locked.json.{dead}.tmp");
        put(&locked);
        let held = File::open(directory.path().join(&locked)).unwrap();
        rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
        sweep(directory.path());
        let mut left: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut wanted: Vec<_> = stay.into_iter().chain([locked]).collect();
        wanted.sort();
        assert_eq!(left, wanted);
    }

    #[test]
    fn what_a_killed_process_began_beside_a_file_goes_when_that_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: String| directory.path().join(name);
        let dead = dead();
        let begun = at(format!(".page.html.{dead}.tmp"));
        let others = [at(format!(".other.html.{dead}.tmp")), at(format!(".probe.{dead}"))];
        for path in others.iter().chain([&begun]) {
            fs::write(path, "{").unwrap();
        }
        replace(&at("page.html".to_owned()), "new").unwrap();
        assert!(!begun.exists());
        assert!(others.iter().all(|path| path.exists()));
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions_and_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.json");
        replace(&path, "old").unwrap();
        let mode = |mode: u32| Permissions::from_mode(mode);
        for permissions in [0o600, 0o640, 0o444] {
            fs::set_permissions(&path, mode(permissions)).unwrap();
            if rustix::process::geteuid().is_root() {
                std::os::unix::fs::chown(&path, Some(1000), Some(1001)).unwrap();
            }
            let before = fs::metadata(&path).unwrap();
            replace(&path, "new").unwrap();
            let after = fs::metadata(&path).unwrap();
            assert_eq!(after.mode() & 0o777, permissions);
            assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        }
    }

    #[test]
    fn a_link_stays_and_the_file_that_it_names_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/file"), "old").unwrap();
        std::os::unix::fs::symlink("elsewhere/file", at("link")).unwrap();
        replace(&at("link"), "new").unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("elsewhere/file")).unwrap(), "new");
        let set = [("link".to_owned(), b"new".to_vec())];
        assert!(replace_all(directory.path(), &set).is_err(), "no chart replaces a link");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(open_regular(&pipe).is_err());
        assert!(open_storage_file(&pipe).is_err());
        assert!(replace(&pipe, "nobody reads").is_err());
        assert!(open_regular(Path::new("/dev/zero")).is_err());
        assert!(open_storage_file(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn a_link_laid_where_the_file_is_begun_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("r.json"), directory.path().join("somebody's"));
        fs::write(&other, "kept").unwrap();
        let begun = directory.path().join(format!(".r.json.{}.tmp", std::process::id()));
        std::os::unix::fs::symlink(&other, begun).unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
