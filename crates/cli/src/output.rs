//! Data to stdout or to a file: whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Where data goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// `-`: standard output.
    Stdout,
    /// A file, replaced if it exists.
    File(PathBuf),
}

impl Sink {
    /// The sink, or the source, that `path` names.
    pub(crate) fn of(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdout } else { Self::File(path.to_owned()) }
    }
}

/// A name need not be text.
impl From<OsString> for Sink {
    fn from(name: OsString) -> Self {
        Self::of(Path::new(&name))
    }
}

/// Writes `text` where `sink` says.
///
/// A reader of standard output that has gone away wanted no more; that is no failure.
pub(crate) fn write(sink: &Sink, text: &str) -> Result<(), Failure> {
    match sink {
        Sink::Stdout => hand_on(text).map(drop),
        Sink::File(path) => replace(path, text).map_err(|error| {
            Failure::incomplete(format!(
                "cannot write {}: {error}; name another file or make room",
                path.display()
            ))
        }),
    }
}

/// Writes `text` to standard output; `false` where its reader has gone away.
pub(crate) fn hand_on(text: &str) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::incomplete(format!("cannot write to standard output: {error}"))),
    }
}

/// Whether `sink` can be written, found out before an hour is spent on what goes there.
pub(crate) fn check(sink: &Sink) -> Result<(), Failure> {
    let Sink::File(path) = sink else { return Ok(()) };
    if path == Path::new("-") {
        return Err(Failure::usage("a page of HTML goes to a file; name one, such as report.html"));
    }
    let directory = directory_of(path);
    let fault = if path.is_dir() {
        "it is a directory"
    } else if is_block_device(path) {
        BLOCK_DEVICE
    } else if !directory.is_dir() {
        "its directory does not exist"
    } else if rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_err() {
        "its directory cannot be written by you"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("cannot write {}: {fault}; name another file", path.display())))
}

/// Why a block device is refused.
const BLOCK_DEVICE: &str = "it is a block device, and what is on it would be overwritten";

/// Whether `path` leads to a block device, which holds somebody's data.
pub(crate) fn is_block_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Puts `contents` in the place of `path` in one step: a reader, or a crash, finds the old file or the
/// new one, never half of one.
///
/// # Errors
/// It cannot be written, or is a block device.
pub(crate) fn replace(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    if is_block_device(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, BLOCK_DEVICE));
    }
    // A terminal, /dev/null or a pipe is written to, not replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, contents);
    }
    let directory = directory_of(path);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = write_through(&temporary, contents.as_ref())
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| File::open(directory)?.sync_all());
    if written.is_err() {
        // The first error is the one to tell of.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a new file. Its name can be guessed, and where others may write too, somebody may have put
/// a link there that leads to a file of ours: no link is followed.
fn write_through(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)?
        }
        created => created?,
    };
    file.write_all(contents)?;
    file.sync_all()
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let directory = tempfile::tempdir().unwrap();
        let missing = Sink::File(directory.path().join("missing/report.html"));
        assert!(check(&missing).is_err());
        assert!(check(&Sink::File(directory.path().to_owned())).is_err());
        assert!(check(&Sink::File(directory.path().join("report.html"))).is_ok());
    }
}
