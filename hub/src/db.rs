//! The database: SQLite in the data directory, or PostgreSQL by its address; the same migrations and queries.
//!
//! SQLite allows one writer at a time, so all writes go through a pool of one connection and wait there rather
//! than fail. A write is acknowledged when it is durable on both databases.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use sqlx::any::{AnyPoolOptions, install_default_drivers};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Connection, Executor, Row};

use crate::error::Error;
use crate::log;
use crate::step::Step;
use crate::store::again;

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
    (RESULTS, "results", include_str!("../migrations/004-results.sql")),
    (5, "neighbours", include_str!("../migrations/005-neighbours.sql")),
    (PUBLIC_NAMES, "public names", include_str!("../migrations/006-public-names.sql")),
];

/// The change that keeps the figures of a submission in one row; they are made again from the documents when the last
/// change has given the row its form.
const RESULTS: i64 = 4;

/// The change after which public submissions alone are counted and give models and hosts their names. Hidden ones are
/// found by their own index, so that it takes time by them and by the models, not by all submissions.
const PUBLIC_NAMES: i64 = 6;

/// How long a request waits for a connection.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// How often a hub with several addresses looks whether its database still takes writes.
const FOLLOW_EVERY: Duration = Duration::from_millis(500);

/// How long a server may take to say whether it takes writes.
const ASKED_MAX: Duration = Duration::from_secs(2);

/// An open database.
#[derive(Clone, Debug)]
pub struct Db {
    kind: Kind,
    /// Of PostgreSQL the addresses of a primary and its replicas; one of them takes writes.
    urls: Arc<[String]>,
    /// Which of them is used.
    at: Arc<AtomicUsize>,
    pools: Arc<RwLock<Pools>>,
}

/// The connections to one address.
#[derive(Clone, Debug)]
struct Pools {
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
        Self::open(Kind::Sqlite, &format!("sqlite://{path}?mode=rwc")).await
    }

    /// Opens the PostgreSQL database at `url`, such as `postgres://hub@localhost/hub`. Of several addresses with commas
    /// between, the first that takes writes: a primary and its replicas.
    ///
    /// # Errors
    /// It cannot be reached, or a newer hub has written it.
    pub async fn postgres(url: &str) -> Result<Self, Error> {
        Self::open(Kind::Postgres, url).await
    }

    async fn open(kind: Kind, address: &str) -> Result<Self, Error> {
        install_default_drivers();
        let urls: Vec<String> = match kind {
            Kind::Sqlite => vec![address.to_owned()],
            Kind::Postgres => address.split(',').map(|url| url.trim().to_owned()).collect(),
        };
        let mut at = 0;
        if urls.len() > 1 {
            at = which_takes_writes(&urls).await.unwrap_or(0);
        }
        let url = &urls[at];
        // A pool would say no more than that there was no connection in time.
        AnyConnection::connect(url).await?.close().await?;
        let pools = Pools::new(kind, url)?;
        migrate(kind, &pools.writers, MIGRATIONS).await?;
        let at = Arc::new(AtomicUsize::new(at));
        Ok(Self { kind, urls: urls.into(), at, pools: Arc::new(RwLock::new(pools)) })
    }

    /// Goes over to the address that takes writes whenever the one that did no longer does. Ends never, and at once
    /// where there is one address.
    pub async fn follow(&self) {
        if self.urls.len() < 2 {
            return;
        }
        loop {
            tokio::time::sleep(FOLLOW_EVERY).await;
            let at = self.at.load(Ordering::Relaxed);
            if takes_writes(&self.urls[at]).await {
                continue;
            }
            if let Some(other) = which_takes_writes(&self.urls).await
                && other != at
                && let Ok(fresh) = Pools::new(self.kind, &self.urls[other])
            {
                log::event("database", &[("address", other.into())]);
                self.at.store(other, Ordering::Relaxed);
                let old = std::mem::replace(&mut *self.locked(), fresh);
                // Who still waits for the old one is told so in time.
                tokio::spawn(async move { old.close().await });
            }
        }
    }

    fn pools(&self) -> Pools {
        self.pools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn locked(&self) -> RwLockWriteGuard<'_, Pools> {
        self.pools.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which database it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Where to read.
    #[must_use]
    pub fn readers(&self) -> AnyPool {
        self.pools().readers
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
        Step::begin(&self.pools().writers, begin).await
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
        Step::begin(&self.pools().writers, begin).await
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
        Step::begin(&self.pools().readers, begin).await
    }

    /// Whether the database answers.
    pub async fn is_ready(&self) -> bool {
        let readers = self.readers();
        let asked = sqlx::query("SELECT 1").execute(&readers);
        matches!(tokio::time::timeout(WAIT_MAX, asked).await, Ok(Ok(_)))
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.pools().close().await;
    }
}

impl Pools {
    /// To the database at `url`; nothing is connected before it is needed.
    fn new(kind: Kind, url: &str) -> Result<Self, Error> {
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
                .connect_lazy(url)
        };
        // SQLite: one writer; readers wait for the disk more than for a processor.
        // PostgreSQL: one that keeps new submissions, others that delete and count.
        let (readers, writers) = if kind == Kind::Sqlite { (8, 1) } else { (8, 8) };
        Ok(Self { readers: pool(readers)?, writers: pool(writers)? })
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

/// Whether a server is a primary.
const WRITES: &str =
    "SELECT CAST(CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END AS BIGINT) AS writes";

/// Whether PostgreSQL at `url` takes writes: it answers in time, and is no replica.
async fn takes_writes(url: &str) -> bool {
    let asked = async {
        let mut connection = AnyConnection::connect(url).await?;
        let row = sqlx::query(WRITES).fetch_one(&mut connection).await?;
        row.try_get::<i64, _>("writes")
    };
    matches!(tokio::time::timeout(ASKED_MAX, asked).await, Ok(Ok(1)))
}

/// The first of `urls` that takes writes.
async fn which_takes_writes(urls: &[String]) -> Option<usize> {
    for (at, url) in urls.iter().enumerate() {
        if takes_writes(url).await {
            return Some(at);
        }
    }
    None
}

/// What each connection is told first.
const fn settings(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Sqlite => &[
            "PRAGMA busy_timeout = 5000",
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA secure_delete = ON",
            "PRAGMA cache_size = -6000",
        ],
        Kind::Postgres => &["SET statement_timeout = '10s'", "SET lock_timeout = '5s'"],
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

/// Brings the database to the form that `changes` end with; nothing is done where it has it already.
async fn migrate(
    kind: Kind,
    writers: &AnyPool,
    changes: &[(i64, &str, &str)],
) -> Result<(), Error> {
    let mut step = Step::begin(writers, &["BEGIN"]).await?;
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
    let known = changes.last().map_or(0, |(version, ..)| *version);
    if newest > known {
        return Err(Error::Setup(format!(
            "the database has form {newest}, and this hub knows forms up to {known}; use a newer hub"
        )));
    }
    // The type of bytes, and the order of texts by their bytes, which is SQLite's own.
    let (bytes, bytewise) =
        if kind == Kind::Sqlite { ("BLOB", "") } else { ("BYTEA", "COLLATE \"C\"") };
    for (version, name, statements) in changes.iter().filter(|(version, ..)| *version > newest) {
        for statement in statements.split(';').map(str::trim).filter(|it| !it.is_empty()) {
            let Some(statement) = of_kind(statement, kind) else { continue };
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
    if newest < RESULTS && known >= RESULTS {
        again::results(&mut step).await?;
    }
    if newest < PUBLIC_NAMES && known >= PUBLIC_NAMES {
        again::names(&mut step).await?;
        again::hosts(&mut step).await?;
    }
    step.commit().await?;
    Ok(())
}

/// `statement` where it is one for a database of the kind `kind`, without the mark of its kind.
fn of_kind(statement: &str, kind: Kind) -> Option<&str> {
    let marks = [("{SQLITE}", Kind::Sqlite), ("{POSTGRES}", Kind::Postgres)];
    for (mark, marked) in marks {
        if let Some(statement) = statement.strip_prefix(mark) {
            return (marked == kind).then_some(statement);
        }
    }
    Some(statement)
}

#[cfg(test)]
mod tests {
    use cardproof_submission::accept;

    use super::*;
    use crate::store::catalogue::Catalogue;
    use crate::store::draft::Draft;
    use crate::store::find;
    use crate::store::rows::{Fresh, insert};

    const DOCUMENT: &str = include_str!("../seed/v30-a2.json");

    #[tokio::test]
    async fn an_older_database_gets_its_figures_from_its_documents() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("hub.sqlite");
        install_default_drivers();
        let url = format!("sqlite://{}?mode=rwc", path.display());
        let pools = Pools::new(Kind::Sqlite, &url).unwrap();
        let before = &MIGRATIONS[..3];
        migrate(Kind::Sqlite, &pools.writers, before).await.unwrap();
        let draft = Draft::of(&accept(DOCUMENT.as_bytes()).unwrap(), None).unwrap();
        let summary = draft.summary();
        let row =
            Fresh { id: "old", created_ms: 7, draft: &draft, token_hash: "hash", key_hash: None };
        let mut step = Step::begin(&pools.writers, &["BEGIN"]).await.unwrap();
        insert(&mut step, "submissions", &[row.submission()], "").await.unwrap();
        sqlx::query("INSERT INTO models (model, name, submissions, grams) VALUES ($1, $2, 1, 9)")
            .bind(&summary.model.key)
            .bind(&summary.model.name)
            .execute(&mut *step)
            .await
            .unwrap();
        step.commit().await.unwrap();
        pools.close().await;
        let db = Db::sqlite(&path).await.unwrap();
        let figures = find::figures(&db, &summary.model.key, None).await.unwrap();
        assert_eq!(figures.len(), summary.figures.len());
        for (found, expected) in figures.iter().zip(&summary.figures) {
            assert_eq!((&*found.submission, &found.basis), ("old", &summary.basis));
            assert_eq!(found.figure.quantity, expected.quantity);
            assert!((found.figure.rate / expected.rate - 1.0).abs() < 1e-6);
        }
        let found = Catalogue::default().search(&db, &summary.model.name).await.unwrap();
        assert_eq!(found.len(), 1);
        db.close().await;
    }
}
