//! The database: SQLite in the data directory, or PostgreSQL by its address; the same migrations and queries.
//!
//! SQLite allows one writer at a time, so all writes go through a pool of one connection and wait there rather
//! than fail. A write is acknowledged when it is durable on both databases.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Connection, Executor, Row};

use crate::error::Error;
use crate::held::HeldFile;
use crate::owner;
use crate::room::{self, Room};
use crate::step::Step;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file in the data directory.
    Sqlite,
    /// A server.
    Postgres,
}

/// The changes that make the database what this version needs, oldest first. A published one never changes.
const MIGRATIONS: &[(i64, &str, &str)] = &[(1, "hub", include_str!("../migrations/001-hub.sql"))];

/// How long a request waits for a connection.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// What may be done to a database that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is made where there is none, and brought to the form of this hub.
    Make,
    /// It is there, and has the form of this hub.
    Existing,
    /// The same of a file that `backup` has written: it is only read, and nothing is made beside it.
    Backup,
}

/// An open database.
#[derive(Clone, Debug)]
pub struct Db {
    kind: Kind,
    /// The file that it is, with SQLite.
    file: Option<Arc<HeldFile>>,
    readers: AnyPool,
    writers: AnyPool,
    /// What a server has last said of its room.
    room: Arc<Room>,
}

impl Db {
    /// Opens the SQLite file at `path`; one that is made can be read by its owner alone, as what SQLite puts beside it.
    ///
    /// # Errors
    /// It cannot be opened, is not there, or has another form.
    pub async fn sqlite(path: &Path, opening: Opening) -> Result<Self, Error> {
        if opening == Opening::Make {
            let made = owner::kept(path, OpenOptions::new().mode(0o600));
            made.map_err(|error| Error::File(format!("cannot write {}", path.display()), error))?;
        }
        let failed = |error| Error::File(format!("cannot open {}", path.display()), error);
        // What SQLite opens, and beside which it puts the rest.
        let real = path.canonicalize().map_err(failed)?;
        let mut beside = real.clone().into_os_string();
        beside.push("-wal");
        let beside = PathBuf::from(beside);
        let how = match opening {
            Opening::Make | Opening::Existing => "mode=rw",
            Opening::Backup if beside.metadata().is_ok_and(|it| it.len() > 0) => {
                return Err(Error::Setup(format!(
                    "{} holds changes that are not in it yet, so it is a hub's own database; name a file that \
                     `backup` has made of that hub",
                    beside.display()
                )));
            }
            // SQLite makes nothing beside it, also where it could not.
            Opening::Backup => "mode=ro&immutable=true",
        };
        let file = Arc::new(HeldFile::at(path)?);
        Self::open(Kind::Sqlite, options_of(&real, how)?, Some(file), opening).await
    }

    /// Opens the PostgreSQL database at `url`, such as `postgres://hub@localhost/hub`.
    ///
    /// # Errors
    /// It cannot be reached, or has another form.
    pub async fn postgres(url: &str, opening: Opening) -> Result<Self, Error> {
        Self::open(Kind::Postgres, url.parse()?, None, opening).await
    }

    async fn open(
        kind: Kind,
        options: AnyConnectOptions,
        file: Option<Arc<HeldFile>>,
        opening: Opening,
    ) -> Result<Self, Error> {
        install_default_drivers();
        // A pool would say no more than that there was no connection in time.
        let mut first = AnyConnection::connect_with(&options).await?;
        set(kind, opening, &mut first).await?;
        first.close().await?;
        // SQLite: one writer; readers wait for the disk more than for a processor.
        // PostgreSQL: one that keeps new submissions, others that delete.
        let (readers, writers) = if kind == Kind::Sqlite { (8, 1) } else { (8, 8) };
        let pool_of = |connections| pool(kind, opening, options.clone(), connections);
        let (readers, writers) = (pool_of(readers), pool_of(writers));
        let db = Self { kind, file, readers, writers, room: Arc::default() };
        match opening {
            Opening::Make => migrate(kind, &db.writers).await?,
            Opening::Existing | Opening::Backup => db.check_form().await?,
        }
        Ok(db)
    }

    /// # Errors
    /// The database has another form than this hub's.
    async fn check_form(&self) -> Result<(), Error> {
        let found = sqlx::query("SELECT MAX(version) AS newest FROM migrations")
            .fetch_one(&self.readers)
            .await
            .and_then(|row| row.try_get::<i64, _>("newest"));
        match found {
            Ok(form) if form == newest_form() => Ok(()),
            Ok(form) => Err(Error::Setup(format!(
                "the database has form {form}, and this hub form {}; start `serve` of the newer hub once, it brings \
                 the database to its form",
                newest_form()
            ))),
            Err(_) => Err(Error::Setup("there is no hub in this database".to_owned())),
        }
    }

    /// # Errors
    /// Pages of the SQLite file are missing or damaged.
    pub async fn check_pages(&self) -> Result<(), Error> {
        let row = sqlx::query("PRAGMA quick_check(1)").fetch_one(&self.readers).await?;
        let found: String = row.try_get(0)?;
        if found == "ok" { Ok(()) } else { Err(Error::Setup(format!("it is damaged: {found}"))) }
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
        Step::begin(&self.writers, self.file.clone(), begin).await
    }

    /// A transaction that changes submissions and what is counted of them.
    ///
    /// One at a time in the whole database: all of them count in the same rows, where PostgreSQL would let them wait
    /// for each other in any order, and end some of those that wait in a circle.
    ///
    /// # Errors
    /// The database is absent or busy.
    pub async fn change(&self) -> Result<Step, Error> {
        let begin: &[&str] = match self.kind {
            Kind::Sqlite => &["BEGIN IMMEDIATE"],
            Kind::Postgres => &["BEGIN", "SELECT pg_advisory_xact_lock(4720232)"],
        };
        Step::begin(&self.writers, self.file.clone(), begin).await
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
        Step::begin(&self.readers, self.file.clone(), begin).await
    }

    /// # Errors
    /// Its file was removed, or another was put in its place.
    pub fn check_place(&self) -> Result<(), Error> {
        self.file.iter().try_for_each(|file| file.check())
    }

    /// # Errors
    /// The disk of its file has no room for another record. A server says so itself.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        let is_there = self.file.as_deref().is_none_or(room::is_on_disk_of);
        if is_there { Ok(()) } else { Err(Error::DiskFull) }
    }

    /// Whether it has room for another record, as far as that can be known before one comes.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.check_room().is_ok() && (self.file.is_some() || self.room.is_there())
    }

    /// Notes what came of keeping records.
    pub(crate) fn note_room<T>(&self, kept: &Result<T, Error>) {
        match kept {
            Ok(_) => self.room.note(true),
            Err(Error::DiskFull) => self.room.note(false),
            Err(_) => {}
        }
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

/// What opens the SQLite file at `path`, which is absolute and without links, in the way `how`.
///
/// A connection that may be to either database takes an address and nothing else. So every byte of the path that an
/// address could read in another way is written by its number, and what the address is read as must be the path.
///
/// # Errors
/// The path is not UTF-8, which the library for SQLite cannot take.
fn options_of(path: &Path, how: &str) -> Result<AnyConnectOptions, Error> {
    let foreign = || {
        Error::Setup(format!(
            "cannot open {}: the path to a database must be UTF-8",
            path.display()
        ))
    };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
    let text: String = path
        .to_str()
        .ok_or_else(foreign)?
        .bytes()
        .map(|byte| if plain(&byte) { char::from(byte).into() } else { format!("%{byte:02X}") })
        .collect();
    let options = AnyConnectOptions::from_str(&format!("sqlite://{text}?{how}"))?;
    let read = SqliteConnectOptions::try_from(&options)?;
    if read.get_filename() == path { Ok(options) } else { Err(foreign()) }
}

/// At most `connections` to the database of `options`; nothing is connected before it is needed.
fn pool(kind: Kind, opening: Opening, options: AnyConnectOptions, connections: u32) -> AnyPool {
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(WAIT_MAX)
        .after_connect(move |connection, _| Box::pin(set(kind, opening, connection)))
        .connect_lazy_with(options)
}

/// The lock of a database on a server: whoever has it serves the database or fills it.
#[derive(Debug)]
pub struct Claim(AnyConnection);

impl Claim {
    /// The lock in the PostgreSQL database at `url`; none where another has it.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn of(url: &str) -> Result<Option<Self>, Error> {
        install_default_drivers();
        let mut connection = AnyConnection::connect(url).await?;
        let asked = sqlx::query("SELECT pg_try_advisory_lock(4720233) AS is_held");
        let is_held: bool = asked.fetch_one(&mut connection).await?.try_get("is_held")?;
        Ok(is_held.then_some(Self(connection)))
    }

    /// Whether its connection, with which it ends, is still there.
    pub async fn is_there(&mut self) -> bool {
        self.0.ping().await.is_ok()
    }
}

/// Tells `connection` the settings of its kind.
async fn set(
    kind: Kind,
    opening: Opening,
    connection: &mut AnyConnection,
) -> Result<(), sqlx::Error> {
    for setting in settings(kind, opening) {
        connection.execute(*setting).await?;
    }
    Ok(())
}

/// What each connection is told first.
const fn settings(kind: Kind, opening: Opening) -> &'static [&'static str] {
    match (kind, opening) {
        (Kind::Sqlite, Opening::Backup) => &["PRAGMA cache_size = -6000"],
        (Kind::Sqlite, _) => &[
            "PRAGMA busy_timeout = 5000",
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA secure_delete = ON",
            "PRAGMA cache_size = -6000",
        ],
        (Kind::Postgres, _) => &["SET statement_timeout = '10s'", "SET lock_timeout = '5s'"],
    }
}

/// Lets `step` take as long as it needs: it changes or reads the database as a whole, and PostgreSQL counts against
/// the limit of a statement how long its rows are being read.
pub(crate) async fn without_limits(kind: Kind, step: &mut Step) -> Result<(), Error> {
    if kind == Kind::Postgres {
        step.execute("SET LOCAL statement_timeout = 0").await?;
        step.execute("SET LOCAL lock_timeout = 0").await?;
    }
    Ok(())
}

/// The form that this hub's database has.
fn newest_form() -> i64 {
    MIGRATIONS.last().map_or(0, |(version, ..)| *version)
}

/// Brings the database to the form of this hub; nothing is done where it has it already.
async fn migrate(kind: Kind, writers: &AnyPool) -> Result<(), Error> {
    let mut step = Step::begin(writers, None, &["BEGIN"]).await?;
    without_limits(kind, &mut step).await?;
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
    if newest > newest_form() {
        return Err(Error::Setup(format!(
            "the database has form {newest}, and this hub knows forms up to {}; use a newer hub",
            newest_form()
        )));
    }
    for (version, name, statements) in MIGRATIONS.iter().filter(|(version, ..)| *version > newest) {
        for statement in statements.split(';').map(str::trim).filter(|it| !it.is_empty()) {
            let Some(statement) = of_kind(statement, kind) else { continue };
            // The text is this program's own, and only words of its own are put into it.
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

/// `statement` as a database of the kind `kind` takes it; none where it is for the other kind.
fn of_kind(statement: &str, kind: Kind) -> Option<String> {
    // The type of bytes, and the order of texts by their bytes, which is SQLite's own.
    let (bytes, bytewise) = match kind {
        Kind::Sqlite => ("BLOB", ""),
        Kind::Postgres => ("BYTEA", "COLLATE \"C\""),
    };
    let statement = match (statement.strip_prefix("{POSTGRES}"), kind) {
        (Some(_), Kind::Sqlite) => return None,
        (Some(rest), Kind::Postgres) => rest,
        (None, _) => statement,
    };
    let words = [("{BYTES}", bytes), ("{BYTEWISE}", bytewise)];
    Some(words.iter().fold(statement.to_owned(), |text, (mark, word)| text.replace(mark, word)))
}
