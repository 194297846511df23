//! The database: SQLite in the data directory, or PostgreSQL by its address; the same migrations and queries.
//!
//! SQLite allows one writer at a time, so all writes go through a pool of one connection and wait there rather
//! than fail. A write is acknowledged when it is durable on both databases.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use sqlx::any::{AnyPoolOptions, install_default_drivers};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, Executor, Row};

use crate::error::Error;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file in the data directory.
    Sqlite,
    /// A server.
    Postgres,
}

/// The changes that make the database what this version needs, oldest first. A published one never changes.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "submissions", include_str!("../migrations/001-submissions.sql")),
    (2, "dump", include_str!("../migrations/002-dump.sql")),
    (3, "growth", include_str!("../migrations/003-growth.sql")),
];

/// How long a request waits for a connection.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// An open database.
#[derive(Clone, Debug)]
pub struct Db {
    kind: Kind,
    readers: AnyPool,
    writers: AnyPool,
}

impl Db {
    /// Opens the SQLite file at `path`, which is made where it does not exist.
    ///
    /// # Errors
    /// It cannot be opened, or a newer hub has written it.
    pub async fn sqlite(path: &Path) -> Result<Self, Error> {
        let path = path
            .to_str()
            .ok_or_else(|| Error::Setup("the data directory's name must be UTF-8".into()))?;
        if path.contains(['?', '#', '%']) {
            return Err(Error::Setup(
                "the data directory's name must not contain ?, # or %".into(),
            ));
        }
        Self::open(Kind::Sqlite, &format!("sqlite://{path}?mode=rwc"), 4, 1).await
    }

    /// Opens the PostgreSQL database at `url`, such as `postgres://hub@localhost/hub`.
    ///
    /// # Errors
    /// It cannot be reached, or a newer hub has written it.
    pub async fn postgres(url: &str) -> Result<Self, Error> {
        Self::open(Kind::Postgres, url, 8, 8).await
    }

    async fn open(kind: Kind, url: &str, readers: u32, writers: u32) -> Result<Self, Error> {
        install_default_drivers();
        let pool = |connections: u32| {
            AnyPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(WAIT_MAX)
                .after_connect(move |connection, _| {
                    Box::pin(async move {
                        for setting in settings(kind) {
                            connection.execute(*setting).await?;
                        }
                        Ok(())
                    })
                })
        };
        let writers = pool(writers).connect(url).await?;
        migrate(kind, &writers).await?;
        let readers = pool(readers).connect(url).await?;
        Ok(Self { kind, readers, writers })
    }

    /// Which database it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Where to read.
    #[must_use]
    pub const fn readers(&self) -> &AnyPool {
        &self.readers
    }

    /// A transaction that writes.
    ///
    /// # Errors
    /// The database is absent or busy.
    pub async fn write(&self) -> Result<Step, Error> {
        // SQLite: the right to write at once, rather than when it may be too late for it.
        let begin: &[&str] = match self.kind {
            Kind::Sqlite => &["BEGIN IMMEDIATE"],
            Kind::Postgres => &["BEGIN"],
        };
        Step::begin(&self.writers, begin).await
    }

    /// A transaction that sees the database as it is now, however long it reads, and holds up no writer.
    ///
    /// # Errors
    /// The database is absent.
    pub async fn snapshot(&self) -> Result<Step, Error> {
        let begin: &[&str] = match self.kind {
            Kind::Sqlite => &["BEGIN"],
            Kind::Postgres => &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
        };
        Step::begin(&self.readers, begin).await
    }

    /// Whether the database answers.
    pub async fn is_ready(&self) -> bool {
        let asked = sqlx::query("SELECT 1").execute(&self.readers);
        matches!(tokio::time::timeout(WAIT_MAX, asked).await, Ok(Ok(_)))
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

/// A transaction, used as the connection that it is on.
///
/// One that is neither committed nor undone takes its connection with it. So no connection is used again whose
/// state is not known: after a failed commit a transaction may still be open, and what is written "after" it would
/// be acknowledged and never kept. (The transactions of the library count their depth beside the database, and go
/// wrong where SQLite ends one by itself, as on a full disk.)
#[derive(Debug)]
pub struct Step {
    connection: PoolConnection<Any>,
    is_open: bool,
}

impl Step {
    async fn begin(pool: &AnyPool, statements: &[&'static str]) -> Result<Self, Error> {
        let mut step = Self { connection: pool.acquire().await?, is_open: true };
        for statement in statements {
            step.connection.execute(*statement).await?;
        }
        Ok(step)
    }

    /// Makes everything that was written in it durable.
    ///
    /// # Errors
    /// The database does not, or does not say so.
    pub async fn commit(mut self) -> Result<(), Error> {
        self.connection.execute("COMMIT").await?;
        self.is_open = false;
        Ok(())
    }

    /// Undoes everything that was written in it.
    ///
    /// # Errors
    /// The database does not answer; nothing is kept in that case either.
    pub async fn rollback(mut self) -> Result<(), Error> {
        self.connection.execute("ROLLBACK").await?;
        self.is_open = false;
        Ok(())
    }

    /// Goes on where `result` is good; else undoes everything and keeps the connection.
    ///
    /// # Errors
    /// The error of `result`.
    pub async fn or_undo<T>(self, result: Result<T, Error>) -> Result<(Self, T), Error> {
        match result {
            Ok(value) => Ok((self, value)),
            Err(error) => {
                // What cannot be undone goes with the connection.
                let _ = self.rollback().await;
                Err(error)
            }
        }
    }
}

impl Deref for Step {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.connection
    }
}

impl DerefMut for Step {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if self.is_open {
            self.connection.close_on_drop();
        }
    }
}

/// What each connection is told first.
const fn settings(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Sqlite => &[
            "PRAGMA busy_timeout = 5000",
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA secure_delete = ON",
            "PRAGMA cache_size = -8000",
        ],
        Kind::Postgres => &["SET statement_timeout = '10s'", "SET lock_timeout = '5s'"],
    }
}

/// Brings the database to this version's form; nothing is done where it has it already.
async fn migrate(kind: Kind, writers: &AnyPool) -> Result<(), Error> {
    let mut step = Step::begin(writers, &["BEGIN"]).await?;
    if kind == Kind::Postgres {
        // Two hubs that start together must not both migrate.
        step.execute("SELECT pg_advisory_xact_lock(4720231)").await?;
    }
    step.execute("CREATE TABLE IF NOT EXISTS migrations (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
        .await?;
    let newest: i64 = sqlx::query("SELECT COALESCE(MAX(version), 0) AS newest FROM migrations")
        .fetch_one(&mut *step)
        .await?
        .try_get("newest")?;
    let known = MIGRATIONS.last().map_or(0, |(version, ..)| *version);
    if newest > known {
        return Err(Error::Setup(format!(
            "the database has form {newest}, and this hub knows forms up to {known}; use a newer hub"
        )));
    }
    // The type of bytes, and the order of texts by their bytes, which is SQLite's own.
    let (bytes, bytewise) =
        if kind == Kind::Sqlite { ("BLOB", "") } else { ("BYTEA", "COLLATE \"C\"") };
    for (version, name, statements) in MIGRATIONS.iter().filter(|(version, ..)| *version > newest) {
        for statement in statements.split(';').map(str::trim).filter(|it| !it.is_empty()) {
            // The text is this program's own, and only these two words are put into it.
            let statement = statement.replace("{BYTES}", bytes).replace("{BYTEWISE}", bytewise);
            step.execute(AssertSqlSafe(statement)).await?;
        }
        sqlx::query("INSERT INTO migrations (version, name) VALUES ($1, $2)")
            .bind(*version)
            .bind(*name)
            .execute(&mut *step)
            .await?;
    }
    step.commit().await?;
    Ok(())
}
