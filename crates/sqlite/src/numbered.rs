//! Numbered records in a database, one transaction for each, whose promise a power cut tests.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use crate::{DatabaseError, Journal};

/// The table. A record replaces the one in its slot.
const SCHEMA: &str = "CREATE TABLE records (slot INTEGER PRIMARY KEY, record BLOB NOT NULL)";
const INSERT: &str = "INSERT OR REPLACE INTO records (slot, record) VALUES (?1, ?2)";
const SELECT: &str = "SELECT slot, record FROM records ORDER BY slot";

/// A database of numbered records. Its files stay when this is dropped.
#[derive(Debug)]
pub struct Numbered {
    connection: Connection,
}

impl Numbered {
    /// Makes a database at `path`, where no file is yet, that waits until each transaction is durable.
    ///
    /// With a rollback journal that takes `synchronous = EXTRA`: with `FULL` the deletion of the
    /// journal, which commits, may be undone by a power cut ("PRAGMA synchronous" in SQLite's
    /// documentation).
    ///
    /// # Errors
    /// The storage has no room, fails, or does not carry the journal mode.
    pub fn make(path: &Path, journal: Journal) -> Result<Self, DatabaseError> {
        let connection = open(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        let (wanted, synchronous) = match journal {
            Journal::Wal => ("wal", "FULL"),
            _ => ("delete", "EXTRA"),
        };
        let found: String = connection
            .query_row(&format!("PRAGMA journal_mode = {wanted}"), [], |row| row.get(0))
            .map_err(DatabaseError::from_sqlite)?;
        if !found.eq_ignore_ascii_case(wanted) {
            return Err(DatabaseError::NoSuchMode { wanted, found });
        }
        let batch = |sql: &str| connection.execute_batch(sql).map_err(DatabaseError::from_sqlite);
        batch(&format!("PRAGMA synchronous = {synchronous}"))?;
        batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// Opens the database at `path`, which takes back what was not committed.
    ///
    /// # Errors
    /// It is not there, is no database, or the storage fails.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        Ok(Self { connection: open(path, OpenFlags::empty())? })
    }

    /// Puts `record` into `slot` and waits until that is durable.
    ///
    /// # Errors
    /// The storage has no room or fails.
    pub fn commit(&mut self, slot: u64, record: &[u8]) -> Result<(), DatabaseError> {
        let mut insert =
            self.connection.prepare_cached(INSERT).map_err(DatabaseError::from_sqlite)?;
        insert.execute(params![slot.cast_signed(), record]).map_err(DatabaseError::from_sqlite)?;
        Ok(())
    }

    /// Hands each record with its slot to `each`, in the order of the slots.
    ///
    /// # Errors
    /// The storage fails or the database is damaged; what came before was handed out.
    pub fn read(&self, mut each: impl FnMut(u64, &[u8])) -> Result<(), DatabaseError> {
        let mut select = self.connection.prepare(SELECT).map_err(DatabaseError::from_sqlite)?;
        let mut rows = select.query([]).map_err(DatabaseError::from_sqlite)?;
        while let Some(row) = rows.next().map_err(DatabaseError::from_sqlite)? {
            let slot: i64 = row.get(0).map_err(DatabaseError::from_sqlite)?;
            let record = row.get_ref(1).map_err(DatabaseError::from_sqlite)?;
            each(slot.cast_unsigned(), record.as_blob().unwrap_or_default());
        }
        Ok(())
    }
}

fn open(path: &Path, more: OpenFlags) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    Connection::open_with_flags(path, flags).map_err(DatabaseError::from_sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_again_after_an_end_without_closing() {
        for journal in [Journal::Delete, Journal::Wal] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("records");
            let mut database = Numbered::make(&path, journal).unwrap();
            for (slot, record) in [(1, b"one"), (0, b"old"), (0, b"new")] {
                database.commit(slot, record).unwrap();
            }
            // A process that is killed closes nothing.
            std::mem::forget(database);
            let mut found = Vec::new();
            let again = Numbered::open(&path).unwrap();
            again.read(|slot, record| found.push((slot, record.to_vec()))).unwrap();
            assert_eq!(found, [(0, b"new".to_vec()), (1, b"one".to_vec())]);
        }
    }

    #[test]
    fn what_is_no_database_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records");
        std::fs::write(&path, [7; 8192]).unwrap();
        let read = Numbered::open(&path).and_then(|database| database.read(|_, _| ()));
        assert!(matches!(read, Err(DatabaseError::Storage { .. })), "{read:?}");
    }
}
