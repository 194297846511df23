//! Where the files of a database lie, and that they lie there still.
//!
//! SQLite opens its files by path, and when it opens a database it resolves every link on the way,
//! `/proc/self/fd/N` too. So the directory's handle alone cannot hold it to the directory, as it
//! does for all other files of ours. Instead the database itself is made through the directory that
//! the caller gives (which is a handle's path) and never over anything; SQLite follows no link in
//! the last part of a name (`O_NOFOLLOW`); and before each use it is checked that the resolved
//! path still leads to the same directory and the same file. What could come between the look and
//! the use is a program that may rename our directory, and could then as well delete what is in it.

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::DatabaseError;

/// The name of the database; SQLite adds to it for its other files.
const NAME: &str = "database";

/// What it adds: the journal, the log and the log's index.
const SUFFIXES: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// A directory for one database.
#[derive(Debug)]
pub(crate) struct DatabaseDirectory {
    /// The directory as given, such as `/proc/self/fd/7`.
    given: PathBuf,
    /// Where that leads, by which SQLite knows it.
    resolved: PathBuf,
    directory: (u64, u64),
    database: (u64, u64),
}

impl DatabaseDirectory {
    /// Makes an empty file for the database in `directory`, where there was none.
    pub(crate) fn make(directory: &Path) -> Result<Self, DatabaseError> {
        let cannot_look = || DatabaseError::file("look at the directory of");
        let resolved = fs::canonicalize(directory).map_err(cannot_look())?;
        let found = fs::metadata(directory).map_err(cannot_look())?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(directory.join(NAME))
            .map_err(DatabaseError::file("make"))?;
        let database = identity(&file.metadata().map_err(DatabaseError::file("look at"))?);
        let given = directory.to_owned();
        Ok(Self { given, resolved, directory: identity(&found), database })
    }

    /// The path for SQLite, if it leads to our file still.
    pub(crate) fn checked_path(&self) -> Result<PathBuf, DatabaseError> {
        let path = self.resolved.join(NAME);
        let is = |path: &Path, wanted| {
            fs::symlink_metadata(path).is_ok_and(|found| identity(&found) == wanted)
        };
        if is(&self.resolved, self.directory) && is(&path, self.database) {
            Ok(path)
        } else {
            Err(DatabaseError::Strayed)
        }
    }

    /// Removes every file that SQLite makes, by the directory as given.
    pub(crate) fn clear(&self) -> Result<(), DatabaseError> {
        for suffix in SUFFIXES {
            let removed = fs::remove_file(self.given.join(format!("{NAME}{suffix}")));
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(DatabaseError::file("remove")(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// By what a file is known on this system.
fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(NAME), "somebody's").unwrap();
        assert!(matches!(
            DatabaseDirectory::make(directory.path()),
            Err(DatabaseError::File { .. })
        ));
        assert_eq!(fs::read(directory.path().join(NAME)).unwrap(), b"somebody's");
    }

    #[test]
    fn a_directory_put_in_the_place_of_ours_is_noticed() {
        let around = tempfile::tempdir().unwrap();
        let ours = around.path().join("ours");
        fs::create_dir(&ours).unwrap();
        let place = DatabaseDirectory::make(&ours).unwrap();
        assert!(place.checked_path().is_ok());

        fs::rename(&ours, around.path().join("moved")).unwrap();
        assert!(matches!(place.checked_path(), Err(DatabaseError::Strayed)));
        std::os::unix::fs::symlink(around.path().join("moved"), &ours).unwrap();
        assert!(matches!(place.checked_path(), Err(DatabaseError::Strayed)));
    }

    #[test]
    fn only_the_database_is_cleared() {
        let directory = tempfile::tempdir().unwrap();
        let place = DatabaseDirectory::make(directory.path()).unwrap();
        fs::write(directory.path().join("database-wal"), "").unwrap();
        fs::write(directory.path().join("other"), "").unwrap();
        place.clear().unwrap();
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap()).collect();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].file_name(), "other");
        place.clear().unwrap();
    }
}
