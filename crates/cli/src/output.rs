//! Data to stdout or to a file: whole or not at all.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cardproof_session::{Unwritable, check_output};
pub(crate) use cardproof_session::{is_block_device, note_descriptors, replace};

use cardproof_units::in_words;

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
    pub(crate) fn from_path(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdout } else { Self::File(path.to_owned()) }
    }
}

/// Other names of standard output. Data that goes there takes the place of the text that would.
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Where an option sends its data. A name need not be text.
impl From<OsString> for Sink {
    fn from(name: OsString) -> Self {
        let path = Path::new(&name);
        let is_stdout = STDOUT.iter().any(|stdout| path == Path::new(stdout));
        if is_stdout { Self::Stdout } else { Self::from_path(path) }
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
    replace(path, contents).map_err(|error| not_written(path, &error, "name another file"))
}

/// That `path` was not written because of `error`; `instead` is what may be named in its place.
pub(crate) fn not_written(path: &Path, error: &io::Error, instead: &str) -> Failure {
    let room = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ", or make room there",
        _ => "",
    };
    let (path, error) = (path.display(), in_words(error));
    Failure::incomplete(format!("cannot write {path}: {error}; {instead}{room}"))
}

/// Writes `text` to standard output; `false` where its reader has gone away.
pub(crate) fn hand_on(text: &str) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::incomplete(format!(
            "cannot write to standard output: {error}",
            error = in_words(&error)
        ))),
    }
}

/// Whether `sink` can be written, found out before an hour is spent on what goes there.
pub(crate) fn check(sink: &Sink) -> Result<(), Failure> {
    let Sink::File(path) = sink else { return Ok(()) };
    if path == Path::new("-") {
        return Err(Failure::usage("a page of HTML goes to a file; name one, such as report.html"));
    }
    check_output(path).map_err(|fault| {
        let message = format!("cannot write {}: {fault}; name another file", path.display(),);
        match fault {
            Unwritable::Forbidden | Unwritable::Unreachable(_) => Failure::incomplete(message),
            _ => Failure::usage(message),
        }
    })
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
