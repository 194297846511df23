//! One database: laid out once, then used in one setting after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_units::{Bytes, Seed};
use rusqlite::{Connection, OpenFlags, params};

use crate::place::DatabaseDirectory;
use crate::row::{self, Rows};
use crate::{DatabaseError, Setting};

/// How often it is asked whether to stop while rows are laid out.
const ROWS_BETWEEN_LOOKS: u32 = 1000;

/// A database in a directory of our own; its files are removed with it.
#[derive(Debug)]
pub struct Database {
    /// Open until the files go.
    connection: Option<Connection>,
    place: DatabaseDirectory,
    rows: Rows,
}

impl Database {
    /// Lays out a database of `rows` rows, not zero, from `seed` in `directory`, which must be the
    /// caller's own.
    ///
    /// # Errors
    /// The storage has no room or fails, or `stop` was set; nothing of it is left then.
    pub fn lay_out(
        directory: &Path,
        rows: u32,
        seed: Seed,
        stop: &AtomicBool,
    ) -> Result<Self, DatabaseError> {
        let place = DatabaseDirectory::make(directory)?;
        let mut database = Self { connection: None, place, rows: Rows::new(seed) };
        let connection = database.connect()?;
        fill(&connection, rows, &mut database.rows, stop)?;
        database.connection = Some(connection);
        Ok(database)
    }

    /// How much a database of `rows` rows takes at most, its journal and its log included.
    #[must_use]
    pub fn size_max(rows: u32) -> Bytes {
        // A leaf holds at least six rows of 620 bytes; the index takes some 30 bytes for each row.
        let database = u64::from(rows) * (4096 / 6 + 60);
        Bytes(database) + Bytes::mib(8)
    }

    fn connect(&self) -> Result<Connection, DatabaseError> {
        let path = self.place.checked_path()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(DatabaseError::from_sqlite)?;
        self.place.checked_path()?;
        Ok(connection)
    }

    /// Goes over to `setting`, with nothing of the one before left to do.
    pub(crate) fn set(&mut self, setting: Setting) -> Result<(), DatabaseError> {
        self.place.checked_path()?;
        let connection = self.connection()?;
        apply(connection, Setting::DEFAULT)?;
        apply(connection, setting)
    }

    pub(crate) fn connection(&self) -> Result<&Connection, DatabaseError> {
        let closed = || DatabaseError::Refused("the database is closed".to_owned());
        self.connection.as_ref().ok_or_else(closed)
    }

    /// The database and the rows to come.
    pub(crate) fn parts(&mut self) -> Result<(&Connection, &mut Rows), DatabaseError> {
        let closed = || DatabaseError::Refused("the database is closed".to_owned());
        Ok((self.connection.as_ref().ok_or_else(closed)?, &mut self.rows))
    }

    /// Closes the database and removes its files.
    ///
    /// # Errors
    /// A file stays.
    pub fn remove(mut self) -> Result<(), DatabaseError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), DatabaseError> {
        // What closing could still write is not wanted any more.
        drop(self.connection.take());
        self.place.clear()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A drop has nobody to tell; the directory's owner finds what stays.
        let _ = self.clear();
    }
}

/// Makes the table with its first rows in one transaction, whose journal nobody needs.
fn fill(
    connection: &Connection,
    rows: u32,
    from: &mut Rows,
    stop: &AtomicBool,
) -> Result<(), DatabaseError> {
    let batch = |sql: &str| connection.execute_batch(sql).map_err(DatabaseError::from_sqlite);
    batch("PRAGMA page_size = 4096; PRAGMA temp_store = MEMORY; PRAGMA journal_mode = MEMORY;")?;
    batch("BEGIN")?;
    batch(row::SCHEMA)?;
    let mut insert = connection.prepare(row::INSERT).map_err(DatabaseError::from_sqlite)?;
    for number in 0..rows.max(1) {
        if number % ROWS_BETWEEN_LOOKS == 0 && stop.load(Ordering::Relaxed) {
            return Err(DatabaseError::Stopped);
        }
        let row::New { id, device, changed_at, state } = from.add();
        insert
            .execute(params![id, device, changed_at, state])
            .map_err(DatabaseError::from_sqlite)?;
    }
    batch("COMMIT")
}

/// Asks for `setting`, and looks whether it is had: where a file system lacks what a mode needs,
/// SQLite says no word and keeps the old one.
fn apply(connection: &Connection, setting: Setting) -> Result<(), DatabaseError> {
    let wanted = setting.journal_word();
    let found: String = connection
        .query_row(&format!("PRAGMA journal_mode = {wanted}"), [], |row| row.get(0))
        .map_err(DatabaseError::from_sqlite)?;
    if !found.eq_ignore_ascii_case(wanted) {
        return Err(DatabaseError::NoSuchMode { wanted, found });
    }
    let synchronous = format!("PRAGMA synchronous = {}", setting.synchronous_word());
    connection.execute_batch(&synchronous).map_err(DatabaseError::from_sqlite)
}
