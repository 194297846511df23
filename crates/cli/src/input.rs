//! Files and standard input that are read whole, up to a length that is said.
//!
//! A wrong name may lead to a pipe to which nobody writes, a device or a disk image, and a board with 512 MB must not be filled
//! with it: what is longer than anything of its kind is an error that says so, never cut off.

use std::io::{self, Read};
use std::path::Path;

use cardproof_session::open_regular;
use cardproof_units::Bytes;

use crate::output::Sink;

/// The bytes that `path` names, standard input for `-`.
///
/// # Errors
/// It cannot be read, or is longer than `length_max`.
pub(crate) fn read(path: &Path, length_max: Bytes) -> io::Result<Vec<u8>> {
    match Sink::from_path(path) {
        Sink::Stdout => up_to(io::stdin().lock(), length_max),
        Sink::File(path) => up_to(open_regular(&path)?, length_max),
    }
}

/// The text that `path` names, standard input for `-`.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub(crate) fn read_text(path: &Path, length_max: Bytes) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8");
    String::from_utf8(read(path, length_max)?).map_err(not_text)
}

fn up_to(source: impl Read, length_max: Bytes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(length_max.get().saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > length_max.get() {
        let message = format!("it is longer than {length_max}, the most that is read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_and_not_cut_off() {
        let error = up_to(io::repeat(0), Bytes::kib(64)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("longer than 64 KiB"), "{error}");
    }

    #[test]
    fn what_is_just_as_long_as_may_be_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read_text(&path, Bytes(4)).unwrap(), "1234");
        assert!(read_text(&path, Bytes(3)).is_err());
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, Bytes(3)).unwrap_err().to_string().contains("UTF-8"));
    }
}
