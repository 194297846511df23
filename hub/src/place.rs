//! Where a hub's data are: a directory, and a database in it or on a server.
//!
//! The directory notes which kind of database the hub has. So a command with another one, or in a directory without a
//! hub, is an error and never an empty answer. Only what makes a hub makes a database.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::db::{Db, Kind, Opening};
use crate::error::Error;

/// The file in the data directory that names the kind of the hub's database.
const NOTE: &str = "database";

/// A hub's data directory, and its server where it has one.
#[derive(Clone, Debug)]
pub struct Place {
    /// The data directory.
    pub data: PathBuf,
    /// The address of the PostgreSQL database; SQLite in the data directory where there is none.
    pub server: Option<String>,
}

impl Place {
    /// The database, which is made where there is none, in the data directory, which is made too.
    ///
    /// # Errors
    /// The directory has a hub with a database of the other kind, or the database cannot be made.
    pub async fn make(&self) -> Result<Db, Error> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.data);
        made.map_err(|error| {
            Error::File(format!("cannot make the data directory {}", self.data.display()), error)
        })?;
        let noted = self.noted()?;
        self.check(noted)?;
        let db = self.database(Opening::Make).await?;
        if noted.is_none() {
            self.note()?;
        }
        Ok(db)
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
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)
            .and_then(|mut file| {
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
        opened.map_err(|error| match error {
            Error::Database(source) => {
                Error::Setup(format!("cannot open the {} database: {source}", name(self.kind())))
            }
            other => other,
        })
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
            (Some(Kind::Postgres), Kind::Sqlite) => "give its address with --database",
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
