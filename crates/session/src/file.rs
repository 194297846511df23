//! Files that are replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Why a block device is refused.
pub const BLOCK_DEVICE: &str = "it is a block device, and what is on it would be overwritten";

/// Whether `path` leads to a block device, which holds somebody's data.
pub fn is_block_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Puts `contents` in the place of `path` in one step: a reader, or a crash, finds the old file or the
/// new one, never half of one.
///
/// # Errors
/// It cannot be written, or is a block device.
pub fn replace(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
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

/// The directory in which `path` lies.
#[must_use]
pub fn directory_of(path: &Path) -> &Path {
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
}
