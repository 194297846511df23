//! The whole public data set as files: for each month its submissions as JSON lines and two tables as Parquet, with
//! a manifest of their hashes.
//!
//! A month's files are made again when something of it was added, amended, hidden or deleted; so what was deleted
//! leaves with the next dump. A month that did not change is not touched. Files are written beside and renamed, and
//! hold public columns only. A file that was superseded stays for [`GRACE`], so that who has read the manifest before
//! gets what it names; but not where a record was deleted or hidden since it was made, which may be in it.
//!
//! A process of its own makes it ([`child`]), with a limit of its memory; the hub only reads what is there.

pub mod child;
mod make;
mod phases;
mod runs;
mod sheet;
mod tables;
mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cardproof_submission::LICENCE;
use serde::{Deserialize, Serialize};
use sqlx::Row;

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::log;
use crate::owner;

pub use tables::{ColumnForm, DATA_SCHEMA, TableForm, description, forms};

/// The name and version of the manifest.
pub const MANIFEST_SCHEMA: &str = "cardproof.manifest/1";

/// Submissions as JSON lines.
const DOCUMENTS: &str = "documents";

/// The table with one row a submission.
const RUNS_TABLE: &str = "runs";

/// The table with one row a phase.
const PHASES_TABLE: &str = "phases";

/// Everything that is dumped; also the names of directories.
const TABLES: [&str; 3] = [DOCUMENTS, RUNS_TABLE, PHASES_TABLE];

/// The published manifest.
const MANIFEST: &str = "manifest.json";

/// The months that a dump in the making has made: one that is interrupted goes on there.
const BEGUN: &str = "begun.json";

/// What has made the files: another one makes all of them again.
const MADE_BY: &str = concat!("cardproof-hub ", env!("CARGO_PKG_VERSION"), ", cardproof.data/1");

/// Whoever makes a dump holds a lock on it, whichever process it is.
const LOCK: &str = "lock";

/// How long a file stays that the manifest does not name any more.
const GRACE: Duration = Duration::from_secs(3600);

/// A change is committed so long after its time at most: longer than an answer may take.
const COMMITTED_WITHIN: Duration = Duration::from_secs(20);

/// A file of the dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its address below `/data/`.
    pub path: String,
    /// `documents`, `runs` or `phases`.
    pub table: String,
    /// `jsonl.gz` or `parquet`.
    pub format: String,
    /// The month of its submissions.
    pub month: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Its lines or rows.
    pub rows: u64,
    /// The state of the month that it holds: a name without a meaning of its own.
    pub version: String,
}

/// What the dump consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// [`DATA_SCHEMA`], the form of the tables; `/data/schema.json` describes it.
    pub data_schema: String,
    /// The licence of everything in it.
    pub licence: String,
    /// When it was last made.
    pub generated: String,
    /// What has made it.
    pub made_by: String,
    /// What a reader should know.
    pub note: String,
    /// All submissions.
    pub rows: u64,
    /// Its files, oldest month first.
    pub files: Vec<File>,
}

impl Manifest {
    /// The files of `table`.
    pub fn of<'m>(&'m self, table: &'m str) -> impl Iterator<Item = &'m File> {
        self.files.iter().filter(move |file| file.table == table)
    }
}

/// What a reader should know.
const NOTE: &str = "One file of each table a month. A file's name changes with its content. Deleted and hidden \
                    submissions leave the next dump; mirrors may keep copies.";

/// The directory of the dump, and what is in it.
#[derive(Clone, Debug)]
pub struct Dump {
    directory: PathBuf,
}

impl Dump {
    /// The dump in `directory`, which is made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(directory: PathBuf) -> Result<Self, Error> {
        let tables = TABLES.map(|table| directory.join(table));
        for made in [&directory].into_iter().chain(&tables) {
            owner::directory(made).map_err(|e| named(made, e))?;
        }
        Ok(Self { directory })
    }

    /// The path of the file `name` of `table`, if the dump has it.
    #[must_use]
    pub fn file(&self, table: &str, name: &str) -> Option<PathBuf> {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        // No part of an address becomes a path but names of this form in these directories.
        let is_known =
            TABLES.contains(&table) && !name.starts_with('.') && name.chars().all(is_name);
        let path = self.directory.join(table).join(name);
        (is_known && path.is_file()).then_some(path)
    }

    /// The manifest of what is there.
    ///
    /// # Errors
    /// No dump was made yet.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        self.manifest_in(MANIFEST).ok_or(Error::NoDump)
    }

    /// How long ago the manifest was written; none where there is none.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let written = fs::metadata(self.directory.join(MANIFEST)).ok()?.modified().ok()?;
        Some(written.elapsed().unwrap_or_default())
    }

    /// The bytes that can still be written beside it.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(&self.directory).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn manifest_in(&self, name: &str) -> Option<Manifest> {
        let text = fs::read(self.directory.join(name)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn write(&self, name: &str, manifest: &Manifest) -> Result<(), Error> {
        let text =
            serde_json::to_vec_pretty(manifest).map_err(|e| Error::Internal(e.to_string()))?;
        replace(&self.directory.join(name), &text)
    }

    /// Makes the months that have changed. Waits for another process that makes a dump in the directory.
    ///
    /// # Errors
    /// The database does not answer, or the directory cannot be written.
    pub async fn renew(&self, db: &Db) -> Result<Manifest, Error> {
        let _lock = self.lock()?;
        let asked = SystemTime::now();
        let removed = last_removal(db).await?;
        let months = sqlx::query("SELECT month, version FROM months ORDER BY month")
            .fetch_all(db.readers())
            .await?;
        let is_ours = |manifest: &Manifest| manifest.made_by == MADE_BY;
        let old = self.manifest_in(MANIFEST).filter(is_ours);
        // What a dump that was interrupted has made.
        let begun = self.manifest_in(BEGUN).filter(is_ours);
        let known = |month: &str, version: &str| -> Option<Vec<File>> {
            let all = old.iter().chain(&begun).flat_map(|manifest| &manifest.files);
            let of_month = all.filter(|file| file.month == month);
            let is_good =
                |file: &&File| file.version == version && self.directory.join(&file.path).is_file();
            let mut files: Vec<File> = Vec::new();
            for file in of_month.filter(is_good) {
                if !files.contains(file) {
                    files.push(file.clone());
                }
            }
            (files.len() == TABLES.len()).then_some(files)
        };
        let mut plan = Vec::new();
        for row in &months {
            let (month, version): (String, String) =
                (row.try_get("month")?, row.try_get("version")?);
            let files = known(&month, &version);
            plan.push((month, files));
        }
        let is_current = plan.iter().all(|(_, files)| files.is_some());
        let start = Instant::now();
        if let Some(old) = old.as_ref().filter(|_| is_current) {
            self.sweep(old, removed);
            return Ok(old.clone());
        }
        let (mut files, mut made) = (Vec::new(), 0);
        for (month, known) in plan {
            match known {
                Some(known) => files.extend(known),
                None => {
                    let fresh = make::make(db, &self.directory, &month).await?;
                    made += submissions(&fresh);
                    files.extend(fresh);
                    // Only what this process can find again; the published manifest stays whole.
                    let begun = manifest(files.clone());
                    self.write(BEGUN, &begun)?;
                }
            }
        }
        let manifest = manifest(files);
        self.supersede(&manifest, asked, removed)?;
        self.write(MANIFEST, &manifest)?;
        // One that stays names nothing that the published one does not.
        let _ = fs::remove_file(self.directory.join(BEGUN));
        self.sweep(&manifest, removed);
        let took = start.elapsed();
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        log::event("dumped", &[("submissions", made.into()), ("ms", ms.into())]);
        Ok(manifest)
    }

    /// The lock of the directory, once nobody else has it; it is held until the file is dropped.
    fn lock(&self) -> Result<fs::File, Error> {
        let path = self.directory.join(LOCK);
        let file = owner::kept(&path, &mut fs::OpenOptions::new()).map_err(|e| named(&path, e))?;
        file.lock().map_err(|e| named(&path, e))?;
        Ok(file)
    }

    /// Lets the time of grace of the files begin, at `asked`, that the published manifest names and `new` does not; those
    /// that may hold what was removed last at `removed` get none.
    fn supersede(
        &self,
        new: &Manifest,
        asked: SystemTime,
        removed: SystemTime,
    ) -> Result<(), Error> {
        let old = self.manifest_in(MANIFEST);
        let files = old.iter().flat_map(|manifest| &manifest.files);
        for file in files.filter(|file| !new.files.contains(file)) {
            let path = self.directory.join(&file.path);
            let Ok(file) = fs::File::open(&path) else { continue };
            let made = file.metadata().and_then(|it| it.modified()).map_err(|e| named(&path, e))?;
            if !may_hold(made, removed) {
                file.set_modified(asked).map_err(|e| named(&path, e))?;
            }
        }
        Ok(())
    }

    /// Removes files that no manifest names any more: after their time of grace, or at once where they may hold what was
    /// removed last at `removed`.
    fn sweep(&self, manifest: &Manifest, removed: SystemTime) {
        for table in TABLES {
            let entries = fs::read_dir(self.directory.join(table)).into_iter().flatten().flatten();
            for entry in entries {
                let name = format!("{table}/{}", entry.file_name().to_string_lossy());
                let is_named = manifest.files.iter().any(|file| file.path == name);
                let time = entry.metadata().ok().and_then(|it| it.modified().ok());
                let age = time.and_then(|it| it.elapsed().ok());
                let is_over = age.is_none_or(|age| age >= GRACE);
                if !is_named && (is_over || time.is_none_or(|it| may_hold(it, removed))) {
                    // The next dump removes what stays.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }
}

/// When a record was last deleted or hidden.
async fn last_removal(db: &Db) -> Result<SystemTime, Error> {
    // As the index of what is not public has it.
    let text = "SELECT (SELECT COALESCE(MAX(deleted_ms), 0) FROM tombstones) AS deleted, (SELECT \
        COALESCE(MAX(changed_ms), 0) FROM submissions WHERE state <> 'public' AND state = 'hidden') AS hidden";
    let row = sqlx::query(text).fetch_one(db.readers()).await?;
    let last: i64 = row.try_get::<i64, _>("deleted")?.max(row.try_get("hidden")?);
    Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(last).unwrap_or_default()))
}

/// Whether a file that shows the database as of `made` may hold what was removed at `removed`.
fn may_hold(made: SystemTime, removed: SystemTime) -> bool {
    removed + COMMITTED_WITHIN >= made
}

/// The submissions in `files`.
fn submissions(files: &[File]) -> u64 {
    files.iter().filter(|file| file.table == DOCUMENTS).map(|file| file.rows).sum()
}

fn manifest(files: Vec<File>) -> Manifest {
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        data_schema: DATA_SCHEMA.to_owned(),
        licence: LICENCE.to_owned(),
        generated: clock::rfc3339(clock::now_ms()),
        made_by: MADE_BY.to_owned(),
        note: NOTE.to_owned(),
        rows: submissions(&files),
        files,
    }
}

fn named(path: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::DiskFull;
    }
    Error::File(path.display().to_string(), error)
}

fn replace(path: &Path, text: &[u8]) -> Result<(), Error> {
    use std::io::Write;
    let part = path.with_extension("part");
    let write = || {
        let mut file = owner::anew(&part, &mut fs::OpenOptions::new())?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(|e| named(path, e))
}
