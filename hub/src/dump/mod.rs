//! The whole public data set as files: for each month its submissions as JSON lines and two tables as Parquet, with
//! a manifest of their hashes.
//!
//! A month's files are made again when something of it was added, amended, hidden or deleted; so what was deleted
//! leaves with the next dump. A month that did not change is not touched. Files are written beside and renamed, and
//! hold public columns only.

mod make;
mod phases;
mod runs;
mod sheet;
mod tables;
mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cardproof_submission::LICENCE;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::log;

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

/// How long a request waits for a dump in the making before it gets the one before.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// After a dump of at most so many submissions the next may follow at once.
const FEW: u64 = 2_000;

/// After a dump of more, nothing is dumped for so many times its duration, so that changes that go on all the time
/// cost a bounded share of a processor.
const REST_FACTOR: u32 = 10;

/// The longest rest: what was deleted leaves within it and a dump's duration.
const REST_MAX: Duration = Duration::from_secs(6 * 3600);

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
#[derive(Debug)]
pub struct Dump {
    directory: PathBuf,
    /// When the next one may be made; whoever makes one holds it.
    next: Mutex<Instant>,
}

impl Dump {
    /// The dump in `directory`, which is made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(directory: PathBuf) -> Result<Self, Error> {
        for table in TABLES {
            fs::create_dir_all(directory.join(table)).map_err(|e| named(&directory, e))?;
        }
        Ok(Self { directory, next: Mutex::new(Instant::now()) })
    }

    /// The path of the file that `/data/NAME` stands for, if it is one of the dump's.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let manifest = self.read()?;
        let known = manifest.files.iter().any(|file| file.path == name);
        known.then(|| self.directory.join(name))
    }

    fn read(&self) -> Option<Manifest> {
        self.manifest_in(MANIFEST)
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

    /// The manifest as it stands now, after the months that have changed were made again. Where that takes long,
    /// the manifest before, while it goes on.
    ///
    /// # Errors
    /// The database does not answer, the directory cannot be written, or the first dump takes long.
    pub async fn refresh(self: &Arc<Self>, db: &Db) -> Result<Manifest, Error> {
        let (dump, db) = (Arc::clone(self), db.clone());
        let making = tokio::spawn(async move {
            let made = match dump.renew(&db).await {
                // What the other process has published so far.
                Err(Error::Dumping) => return dump.read().ok_or(Error::Dumping),
                made => made,
            };
            // Nobody may be waiting for it any more.
            if let Err(error) = &made {
                log::event(
                    "dump",
                    &[("error", error.name().into()), ("detail", error.detail().into())],
                );
            }
            made
        });
        match tokio::time::timeout(WAIT_MAX, making).await {
            Ok(made) => made.map_err(|error| Error::Internal(error.to_string()))?,
            Err(_) => self.read().ok_or(Error::Busy),
        }
    }

    /// Makes the months that have changed, unless the last dump was dear and short ago.
    ///
    /// # Errors
    /// The database does not answer, the directory cannot be written, or another process makes a dump in it.
    pub async fn renew(&self, db: &Db) -> Result<Manifest, Error> {
        let mut next = self.next.lock().await;
        let _lock = self.lock()?;
        let months = sqlx::query("SELECT month, version FROM months ORDER BY month")
            .fetch_all(&db.readers())
            .await?;
        let is_ours = |manifest: &Manifest| manifest.made_by == MADE_BY;
        let old = self.read().filter(is_ours);
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
        if let Some(old) = &old
            && (is_current || start < *next)
        {
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
        self.write(MANIFEST, &manifest)?;
        // One that stays names nothing that the published one does not.
        let _ = fs::remove_file(self.directory.join(BEGUN));
        self.sweep(&manifest);
        let took = start.elapsed();
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        log::event("dumped", &[("submissions", made.into()), ("ms", ms.into())]);
        let rest = if made <= FEW { Duration::ZERO } else { (took * REST_FACTOR).min(REST_MAX) };
        *next = Instant::now() + rest;
        Ok(manifest)
    }

    /// The lock of the directory, which is held until the file is dropped.
    fn lock(&self) -> Result<fs::File, Error> {
        let path = self.directory.join(LOCK);
        let file = fs::File::create(&path).map_err(|e| named(&path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => Err(Error::Dumping),
            Err(fs::TryLockError::Error(error)) => Err(named(&path, error)),
        }
    }

    /// Removes files that no manifest names any more.
    fn sweep(&self, manifest: &Manifest) {
        for table in TABLES {
            let entries = fs::read_dir(self.directory.join(table)).into_iter().flatten().flatten();
            for entry in entries {
                let name = format!("{table}/{}", entry.file_name().to_string_lossy());
                if !manifest.files.iter().any(|file| file.path == name) {
                    // The next dump removes what stays.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }
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
        let mut file = fs::File::create(&part)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(|e| named(path, e))
}
