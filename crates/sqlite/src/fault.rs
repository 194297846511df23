//! Why there is no database, or no figure, in words that say what to do.
//!
//! The words go into records and so hold no path; SQLite's own do where it cannot open a file.

use std::io;

use cardproof_units::in_words;

/// Why a database cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The storage has no room.
    #[error("there is no room for the database; free some space on the storage")]
    Full,
    /// The storage failed.
    #[error(
        "the storage failed: SQLite says '{said}' ({code}); the kernel log (`dmesg`) may tell more"
    )]
    Storage {
        /// SQLite's name for what failed, such as `SQLITE_IOERR_FSYNC`.
        code: &'static str,
        /// What it says.
        said: String,
        /// Whether a read or a write failed, rather than that what was read makes no database.
        is_io: bool,
    },
    /// The file system cannot do what the setting needs.
    #[error(
        "this file system does not carry the journal mode {wanted}: SQLite stays with '{found}'"
    )]
    NoSuchMode {
        /// The mode asked for.
        wanted: &'static str,
        /// The mode that it keeps.
        found: String,
    },
    /// The directory was moved or replaced between two looks.
    #[error(
        "the database's directory was moved or replaced by another program; nothing more is written \
         there"
    )]
    Strayed,
    /// A file of the database cannot be made or removed.
    #[error("cannot {doing} a file of the database: {}", in_words(error))]
    File {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// Anything else that SQLite refuses: a fault of this program.
    #[error("SQLite refuses: {0}; please report it as a fault of cardproof")]
    Refused(String),
    /// There is none in this build.
    #[error("this cardproof is built without `sqlite`; build it with its default features")]
    BuiltWithout,
    /// It was asked to stop before there was a database.
    #[error("stopped before the database was laid out")]
    Stopped,
}

impl DatabaseError {
    /// The error for a file that could not be had, where `doing` was tried.
    pub(crate) fn file(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full,
            _ => Self::File { doing, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_had_has_one_cause() {
        let error = DatabaseError::file("make")(io::Error::from_raw_os_error(5));
        assert_eq!(error.to_string(), "cannot make a file of the database: Input/output error");
        assert!(error.source().is_none());
    }
}
