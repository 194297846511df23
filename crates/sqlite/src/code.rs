//! SQLite's own errors, as reasons for a measurement.

use rusqlite::ffi;

use crate::DatabaseError;

impl DatabaseError {
    /// What `error` means for a measurement.
    pub(crate) fn from_sqlite(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, said) => {
                let is_harmless = |said: &String| !said.contains('/');
                let said = said.filter(is_harmless).unwrap_or_else(|| failure.to_string());
                Self::of_failure(failure, said)
            }
            other => Self::Refused(other.to_string()),
        }
    }

    fn of_failure(failure: ffi::Error, said: String) -> Self {
        match failure.code {
            rusqlite::ErrorCode::DiskFull => Self::Full,
            rusqlite::ErrorCode::SystemIoFailure
            | rusqlite::ErrorCode::DatabaseCorrupt
            | rusqlite::ErrorCode::NotADatabase
            | rusqlite::ErrorCode::CannotOpen
            | rusqlite::ErrorCode::ReadOnly => {
                let is_io = failure.code == rusqlite::ErrorCode::SystemIoFailure;
                Self::Storage { code: name(failure.extended_code), said, is_io }
            }
            _ => Self::Refused(said),
        }
    }
}

/// SQLite's name for the failure `code`, by what it was doing ("Result and Error Codes").
const fn name(code: i32) -> &'static str {
    match code {
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ => "SQLITE_IOERR_READ",
        ffi::SQLITE_IOERR_WRITE => "SQLITE_IOERR_WRITE",
        ffi::SQLITE_IOERR_FSYNC => "SQLITE_IOERR_FSYNC",
        ffi::SQLITE_IOERR_DIR_FSYNC => "SQLITE_IOERR_DIR_FSYNC",
        ffi::SQLITE_IOERR_TRUNCATE => "SQLITE_IOERR_TRUNCATE",
        ffi::SQLITE_IOERR_DELETE => "SQLITE_IOERR_DELETE",
        ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP => {
            "SQLITE_IOERR_SHM"
        }
        _ => match code & 0xff {
            ffi::SQLITE_IOERR => "SQLITE_IOERR",
            ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
            ffi::SQLITE_NOTADB => "SQLITE_NOTADB",
            ffi::SQLITE_CANTOPEN => "SQLITE_CANTOPEN",
            ffi::SQLITE_READONLY => "SQLITE_READONLY",
            _ => "another failure",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> DatabaseError {
        let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        DatabaseError::from_sqlite(failure)
    }

    #[test]
    fn a_full_storage_and_a_broken_one_are_told_apart() {
        assert!(matches!(failure(ffi::SQLITE_FULL), DatabaseError::Full));
        let cases = [
            (ffi::SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"),
            (ffi::SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE"),
            (ffi::SQLITE_IOERR_UNLOCK, "SQLITE_IOERR"),
            (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT"),
            (ffi::SQLITE_READONLY, "SQLITE_READONLY"),
        ];
        for (code, name) in cases {
            assert!(failure(code).to_string().contains(name), "{}", failure(code));
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_from_what_makes_no_database() {
        let is_io = |code| matches!(failure(code), DatabaseError::Storage { is_io: true, .. });
        assert!(is_io(ffi::SQLITE_IOERR) && is_io(ffi::SQLITE_IOERR_READ));
        assert!(!is_io(ffi::SQLITE_CORRUPT) && !is_io(ffi::SQLITE_CANTOPEN));
    }

    #[test]
    fn no_word_names_a_path() {
        let said = Some("unable to open database file: /home/ann/card/database".to_owned());
        let failure = ffi::Error::new(ffi::SQLITE_CANTOPEN);
        let error =
            DatabaseError::from_sqlite(rusqlite::Error::SqliteFailure(failure, said)).to_string();
        assert!(!error.contains("ann") && error.contains("SQLITE_CANTOPEN"), "{error}");
    }

    #[test]
    fn what_is_our_own_fault_is_called_that() {
        assert!(failure(ffi::SQLITE_CONSTRAINT).to_string().contains("fault of cardproof"));
        let error = DatabaseError::from_sqlite(rusqlite::Error::InvalidQuery);
        assert!(matches!(error, DatabaseError::Refused(_)));
    }
}
