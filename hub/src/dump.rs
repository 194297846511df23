//! The whole public data set as files: one of JSON lines for each month, compressed, with a manifest of their hashes.
//!
//! A month's file is made again when something of it was added, amended, hidden or deleted; so what was deleted
//! leaves with the next dump. Files are written beside and renamed, and hold public columns only.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use cardproof_submission::{LENGTH_MAX, LICENCE};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::Row;

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::pack::unpacked;
use crate::secret::hex;

/// The name and version of the manifest.
pub const MANIFEST_SCHEMA: &str = "cardproof.manifest/1";

/// A file of the dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its address below `/data/`.
    pub path: String,
    /// The month of its submissions.
    pub month: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Its lines.
    pub rows: u64,
    /// The state of the month that it holds; in no answer's contract.
    pub as_of_ms: i64,
}

/// What the dump consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// The licence of everything in it.
    pub licence: String,
    /// When it was last made.
    pub generated: String,
    /// What a reader should know.
    pub note: String,
    /// All rows together.
    pub rows: u64,
    /// Its files, oldest month first.
    pub files: Vec<File>,
}

/// What a reader should know.
const NOTE: &str = "Each line is one submission. Deleted submissions leave the next dump; mirrors may keep copies.";

/// The directory of the dump, and what is in it.
#[derive(Debug)]
pub struct Dump {
    directory: PathBuf,
    made: tokio::sync::Mutex<()>,
}

impl Dump {
    /// The dump in `directory`, which is made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(directory: PathBuf) -> Result<Self, Error> {
        fs::create_dir_all(directory.join("documents")).map_err(|e| named(&directory, e))?;
        Ok(Self { directory, made: tokio::sync::Mutex::new(()) })
    }

    /// The path of the file that `/data/NAME` stands for, if it is one of the dump's.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let manifest = self.read()?;
        let known = manifest.files.iter().any(|file| file.path == name);
        known.then(|| self.directory.join(name))
    }

    fn read(&self) -> Option<Manifest> {
        let text = fs::read(self.directory.join("manifest.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The manifest as it stands now, after the months that have changed were made again.
    ///
    /// # Errors
    /// The database does not answer, or the directory cannot be written.
    pub async fn refresh(&self, db: &Db) -> Result<Manifest, Error> {
        let _one_at_a_time = self.made.lock().await;
        let months = sqlx::query("SELECT month, changed_ms FROM months ORDER BY month")
            .fetch_all(db.readers())
            .await?;
        let old = self.read();
        let known = |month: &str| old.as_ref()?.files.iter().find(|file| file.month == month);
        let (mut files, mut is_new) = (Vec::new(), old.is_none());
        for row in &months {
            let (month, changed_ms): (String, i64) =
                (row.try_get("month")?, row.try_get("changed_ms")?);
            match known(&month).filter(|file| file.as_of_ms > changed_ms) {
                Some(file) => files.push(file.clone()),
                None => {
                    is_new = true;
                    files.push(self.make(db, &month).await?);
                }
            }
        }
        if let (false, Some(old)) = (is_new, old) {
            return Ok(old);
        }
        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.to_owned(),
            licence: LICENCE.to_owned(),
            generated: clock::rfc3339(clock::now_ms()),
            note: NOTE.to_owned(),
            rows: files.iter().map(|file| file.rows).sum(),
            files,
        };
        let text =
            serde_json::to_vec_pretty(&manifest).map_err(|e| Error::Internal(e.to_string()))?;
        let path = self.directory.join("manifest.json");
        replace(&path, &text)?;
        self.sweep(&manifest);
        Ok(manifest)
    }

    /// Makes the file of `month`.
    async fn make(&self, db: &Db, month: &str) -> Result<File, Error> {
        // What is committed within the same millisecond makes the file anew the next time.
        let as_of_ms = clock::now_ms();
        let path = self.directory.join("documents").join(format!(".{month}.part"));
        let out = fs::File::create(&path).map_err(|e| named(&path, e))?;
        let mut gzip =
            GzEncoder::new(Counted { out, hash: Sha256::new(), bytes: 0 }, Compression::new(6));
        let mut rows = sqlx::query(
            "SELECT id, created_ms, origin, source, model, host, doubts, revision, document FROM submissions \
             WHERE month = $1 AND state = 'public' ORDER BY id",
        )
        .bind(month)
        .fetch(db.readers());
        let mut count = 0;
        while let Some(row) = rows.try_next().await? {
            let packed: Vec<u8> = row.try_get("document")?;
            let document: Value = serde_json::from_slice(&unpacked(&packed, 2 * LENGTH_MAX)?)
                .map_err(|e| Error::Internal(e.to_string()))?;
            let doubts: String = row.try_get("doubts")?;
            let line = json!({
                "id": row.try_get::<String, _>("id")?,
                "submitted": clock::day(row.try_get("created_ms")?),
                "origin": row.try_get::<String, _>("origin")?,
                "source": row.try_get::<Option<String>, _>("source")?,
                "model": row.try_get::<String, _>("model")?,
                "host": row.try_get::<String, _>("host")?,
                "doubts": serde_json::from_str::<Value>(&doubts).unwrap_or_default(),
                "revision": row.try_get::<i64, _>("revision")?,
                "document": document,
            });
            writeln!(gzip, "{line}").map_err(|e| named(&path, e))?;
            count += 1;
        }
        let written = gzip.finish().map_err(|e| named(&path, e))?;
        written.out.sync_all().map_err(|e| named(&path, e))?;
        let sha256 = hex(&written.hash.finalize());
        // A new content has a new name, so that who reads the old one gets it whole.
        let name = format!("documents/{month}-{}.jsonl.gz", &sha256[..12]);
        fs::rename(&path, self.directory.join(&name)).map_err(|e| named(&path, e))?;
        Ok(File {
            path: name,
            month: month.to_owned(),
            sha256,
            bytes: written.bytes,
            rows: count,
            as_of_ms,
        })
    }

    /// Removes files that no manifest names any more.
    fn sweep(&self, manifest: &Manifest) {
        let entries =
            fs::read_dir(self.directory.join("documents")).into_iter().flatten().flatten();
        for entry in entries {
            let name = format!("documents/{}", entry.file_name().to_string_lossy());
            if !manifest.files.iter().any(|file| file.path == name) {
                // What stays is taken away by the next dump.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A file that counts and hashes what is written to it.
struct Counted {
    out: fs::File,
    hash: Sha256,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn named(path: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::DiskFull;
    }
    Error::File(path.display().to_string(), error)
}

fn replace(path: &Path, text: &[u8]) -> Result<(), Error> {
    let part = path.with_extension("part");
    fs::write(&part, text).and_then(|()| fs::rename(&part, path)).map_err(|e| named(path, e))
}
