//! Where a hub's data are: a directory, and a database in it or on a server.
//!
//! The directory notes which kind of database the hub has. So a command with another one, or in a directory without a
//! hub, is an error and never an empty answer. Only what makes a hub makes a database.
//!
//! One process at a time serves a hub or fills its database: it holds a lock on a file in the data directory, and one
//! in PostgreSQL.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::db::{Claim, Db, Kind, Opening};
use crate::error::{Error, of_database};
use crate::owner;

/// The file in the data directory that names the kind of the hub's database.
const NOTE: &str = "database";

/// The file in the data directory that whoever holds the hub has locked.
const LOCK: &str = "lock";

/// How often a lock is tried for, and how long between: one who was killed lets go a moment later.
const TRIES: u32 = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// How often it is looked at whether the lock in PostgreSQL is still there.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A hub's data directory, and its server where it has one.
#[derive(Clone, Debug)]
pub struct Place {
    /// The data directory.
    pub data: PathBuf,
    /// The address of the PostgreSQL database; SQLite in the data directory where there is none.
    pub server: Option<String>,
}

impl Place {
    /// The database, which is made where there is none, in the data directory, which is made too; and the hold on it.
    ///
    /// # Errors
    /// The directory has a hub with a database of the other kind, another process holds it, or the database cannot be
    /// made.
    pub async fn make(&self) -> Result<(Db, Hold), Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.data);
        made.map_err(|error| {
            Error::File(format!("cannot make the data directory {}", self.data.display()), error)
        })?;
        let noted = self.noted()?;
        self.check(noted)?;
        let hold = self.hold().await?;
        let db = self.database(Opening::Make).await?;
        if noted.is_none() {
            self.note()?;
        }
        Ok((db, hold))
    }

    /// Holds the data directory, which is there, and the database on the server.
    ///
    /// # Errors
    /// Another process has it, or the lock cannot be had.
    pub async fn hold(&self) -> Result<Hold, Error> {
        let path = self.data.join(LOCK);
        let failed = |error| Error::File(format!("cannot lock {}", path.display()), error);
        let directory = owner::kept(&path, OpenOptions::new().mode(0o600)).map_err(failed)?;
        for left in (0..TRIES).rev() {
            match directory.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if left == 0 => return Err(in_use()),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(BETWEEN_TRIES).await,
            }
        }
        let server = match &self.server {
            Some(url) => Some((url.clone(), claimed(url).await.map_err(|it| self.named(it))?)),
            None => None,
        };
        Ok(Hold { server, _directory: directory })
    }

    /// The database of the hub that is there.
    ///
    /// # Errors
    /// There is no hub, it has a database of the other kind, or one that does not answer or has another form.
    pub async fn open(&self) -> Result<Db, Error> {
        let noted = self.noted()?;
        if noted.is_none() {
            let data = self.data.display();
            return Err(Error::Setup(format!(
                "there is no hub in {data}; `serve` or `restore` makes one there"
            )));
        }
        self.check(noted)?;
        self.database(Opening::Existing).await
    }

    /// Notes that the hub has its database on a server from now on.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note(&self) -> Result<(), Error> {
        let path = self.data.join(NOTE);
        let failed = |error| Error::File(format!("cannot write {}", path.display()), error);
        let part = path.with_extension("part");
        let written = owner::anew(&part, OpenOptions::new().mode(0o600)).and_then(|mut file| {
            file.write_all(word(self.kind()).as_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&part, &path)).map_err(failed)
    }

    const fn kind(&self) -> Kind {
        if self.server.is_some() { Kind::Postgres } else { Kind::Sqlite }
    }

    /// The database, whatever the directory notes.
    ///
    /// # Errors
    /// It does not answer, or has another form.
    pub async fn database(&self, opening: Opening) -> Result<Db, Error> {
        let opened = match &self.server {
            Some(url) => Db::postgres(url, opening).await,
            None => Db::sqlite(&sqlite_file(&self.data), opening).await,
        };
        opened.map_err(|error| self.named(error))
    }

    /// `error`, which opening the database gave, with the database's kind.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::Database(source) => {
                let (kind, words) = (name(self.kind()), of_database(&source));
                let remedy = if is_not_owner(&source) {
                    "; the role must own the database (createdb --owner=ROLE NAME)"
                } else {
                    ""
                };
                let at = match self.server {
                    Some(_) => String::new(),
                    None => format!(" {}", sqlite_file(&self.data).display()),
                };
                Error::Setup(format!("cannot open the {kind} database{at}: {words}{remedy}"))
            }
            other => other,
        }
    }

    /// The kind of database that the directory's hub has; none where there is no hub.
    fn noted(&self) -> Result<Option<Kind>, Error> {
        let path = self.data.join(NOTE);
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let known = [Kind::Sqlite, Kind::Postgres].into_iter().find(|it| word(*it) == text);
                let foreign = || Error::Setup(format!("{} names no database", path.display()));
                known.ok_or_else(foreign).map(Some)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::File(format!("cannot read {}", path.display()), error)),
        }
    }

    fn check(&self, noted: Option<Kind>) -> Result<(), Error> {
        let remedy = match (noted, self.kind()) {
            (Some(Kind::Postgres), Kind::Sqlite) => {
                "give its address with --database, or the file that has it with --env-file \
                 (/etc/cardproof-hub.env); the way back to SQLite is `backup`, then `restore` into a new data directory"
            }
            (Some(Kind::Sqlite), Kind::Postgres) => {
                "leave --database out, or move it there with `migrate`"
            }
            _ => return Ok(()),
        };
        let of = name(noted.unwrap_or(Kind::Sqlite));
        let data = self.data.display();
        Err(Error::Setup(format!("the hub in {data} keeps its records in {of}; {remedy}")))
    }
}

/// Whether PostgreSQL lets the role look but make no tables (insufficient_privilege).
fn is_not_owner(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|it| it.code().as_deref() == Some("42501"))
}

/// What one process at a time has of a hub: whoever serves it, or fills its database. It ends with the process.
#[derive(Debug)]
pub struct Hold {
    /// The server's address, and the lock there.
    server: Option<(String, Claim)>,
    /// Locked as long as it is open.
    _directory: File,
}

impl Hold {
    /// Ends when another process holds the database: PostgreSQL forgets its locks when it is started again. Without a
    /// server it ends never.
    pub async fn lost(&mut self) {
        let Some((url, claim)) = &mut self.server else { return std::future::pending().await };
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if claim.is_there().await {
                continue;
            }
            match claimed(url).await {
                Ok(again) => *claim = again,
                Err(Error::Setup(_)) => return,
                // A server that is absent gives it to nobody.
                Err(_) => {}
            }
        }
    }
}

/// The lock in the database at `url`.
async fn claimed(url: &str) -> Result<Claim, Error> {
    for _ in 1..TRIES {
        if let Some(claim) = Claim::of(url).await? {
            return Ok(claim);
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    Claim::of(url).await?.ok_or_else(in_use)
}

fn in_use() -> Error {
    Error::Setup("a hub runs on this data directory or this database; stop it first".to_owned())
}

/// The SQLite file in the data directory `data`.
#[must_use]
pub fn sqlite_file(data: &Path) -> PathBuf {
    data.join("hub.sqlite")
}

const fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => "sqlite\n",
        Kind::Postgres => "postgresql\n",
    }
}

const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => "SQLite",
        Kind::Postgres => "PostgreSQL",
    }
}
