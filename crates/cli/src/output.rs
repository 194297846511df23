//! Data to stdout or to a file: whole or not at all.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cardproof_session::{BLOCK_DEVICE, directory_of};
pub(crate) use cardproof_session::{is_block_device, replace};

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
        Sink::File(path) => write_file(path, text),
    }
}

/// Writes `contents` to the file at `path`.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    replace(path, contents).map_err(|error| {
        Failure::incomplete(format!(
            "cannot write {}: {error}; name another file, or make room if the disk is full",
            path.display()
        ))
    })
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
        return Err(Failure::incomplete(format!(
            "cannot write {}: its directory cannot be written by you; name another file",
            path.display()
        )));
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("cannot write {}: {fault}; name another file", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let directory = tempfile::tempdir().unwrap();
        let missing = Sink::File(directory.path().join("missing/report.html"));
        assert!(check(&missing).is_err());
        assert!(check(&Sink::File(directory.path().to_owned())).is_err());
        assert!(check(&Sink::File(directory.path().join("report.html"))).is_ok());
    }
}
