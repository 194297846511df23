//! The files of one month: its submissions as JSON lines, and the tables `runs` and `phases` as Parquet.
//!
//! All three are made in one pass over one snapshot of the database, in pages, so that neither the memory nor the
//! time of a query grows with the month. Pages are read one after the other, judged at the same time on as many
//! threads as may wait, and written in their order by one thread. What is half made has another name and is taken away.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use cardproof_rating::judge;
use cardproof_submission::LICENCE;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::errors::ParquetError;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::phases::{PHASES, PhaseOf};
use super::runs::{Kept, RUNS, Run};
use super::sheet::{Column, Sheet};
use super::tables::DATA_SCHEMA;
use super::{DOCUMENTS, File, PHASES_TABLE, RUNS_TABLE};
use crate::clock;
use crate::db::{Db, Kind};
use crate::error::{Error, or_left_out};
use crate::owner;
use crate::pack;
use crate::secret::hex;
use crate::step::Step;
use crate::store::state::COUNTS;
use crate::summary::summary;

/// Submissions that are read at once, as they are packed.
const PAGE_ROWS: usize = 64;

/// A part of a page is judged as soon as its documents have so many bytes: memory is bounded by bytes, since one document
/// may be a hundred times as long as another.
const PART_BYTES: usize = 256 << 10;

/// Parts that are judged, or wait for the writer.
const PARTS_WAITING: usize = 2;

/// A submission as the database has it, its document unpacked.
struct Raw {
    kept: Kept,
    doubts: String,
    document: String,
}

/// A submission as the files have it.
struct Judged {
    line: String,
    run: Run,
}

/// A line of `documents`. What is JSON in the database is copied and not read again.
#[derive(Serialize)]
struct Line<'r> {
    id: &'r str,
    submitted: String,
    origin: &'r str,
    source: Option<&'r str>,
    model: &'r str,
    host: &'r str,
    doubts: &'r RawValue,
    revision: i64,
    document: &'r RawValue,
}

/// A page on a thread that judges it.
type Judging = JoinHandle<Result<Vec<Judged>, Error>>;

/// Makes the files of `month` below `directory` as the database has it at one moment.
pub(super) async fn make(db: &Db, directory: &Path, month: &str) -> Result<Vec<File>, Error> {
    let seen = SystemTime::now();
    let mut snapshot = db.snapshot().await?;
    let row = sqlx::query("SELECT version FROM months WHERE month = $1")
        .bind(month)
        .fetch_optional(&mut *snapshot)
        .await?;
    let version: String =
        row.map(|row| row.try_get("version")).transpose()?.unwrap_or_else(|| "none".to_owned());
    let (pages, waiting) = mpsc::channel(PARTS_WAITING);
    let place = directory.to_owned();
    let name = month.to_owned();
    let writing = tokio::task::spawn_blocking(move || write(&place, &name, waiting));
    let read = read(&mut snapshot, db.kind(), month, pages).await;
    let written = writing.await.map_err(|error| Error::Internal(error.to_string()))?;
    snapshot.rollback().await?;
    // A reader that fails leaves the writer with a part of the month.
    read?;
    written?.into_iter().map(|part| part.published(directory, month, &version, seen)).collect()
}

/// Reads the public submissions of `month` in the order of model and name, a page at a time.
async fn read(
    snapshot: &mut Step,
    kind: Kind,
    month: &str,
    pages: mpsc::Sender<Judging>,
) -> Result<(), Error> {
    // Bytewise as in the index, whatever the language of the database.
    let bytewise = if kind == Kind::Postgres { "COLLATE \"C\"" } else { "" };
    let text = format!(
        "SELECT id, created_ms, month, origin, source, model, title, host, host_name, lot, doubts, \
         price_hundredths, price_currency, price_date, revision, document FROM submissions \
         WHERE month = $1 AND (model {bytewise}, id {bytewise}) > ($2, $3) AND {COUNTS} \
         ORDER BY model {bytewise}, id {bytewise} LIMIT {PAGE_ROWS}"
    );
    let (mut model, mut id) = (String::new(), String::new());
    loop {
        let rows = sqlx::query(AssertSqlSafe(text.clone()))
            .bind(month)
            .bind(model.clone())
            .bind(id.clone())
            .fetch_all(&mut **snapshot)
            .await?;
        let is_last = rows.len() < PAGE_ROWS;
        let mut part = Part::default();
        for (at, row) in rows.iter().enumerate() {
            (model, id) = (row.try_get("model")?, row.try_get("id")?);
            if let Some(raw) = or_left_out(raw(row))? {
                part.add(raw);
            }
            let is_full = part.bytes >= PART_BYTES || at + 1 == rows.len();
            if is_full && !part.send(&pages).await {
                // A writer that has failed says so itself.
                return Ok(());
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Submissions that are judged together.
#[derive(Default)]
struct Part {
    raw: Vec<Raw>,
    bytes: usize,
}

impl Part {
    fn add(&mut self, raw: Raw) {
        self.bytes += raw.document.len();
        self.raw.push(raw);
    }

    /// Hands all to a thread that judges them, once there is room; whether the writer still wants them.
    async fn send(&mut self, pages: &mpsc::Sender<Judging>) -> bool {
        let Ok(place) = pages.reserve().await else { return false };
        let raw = std::mem::take(self).raw;
        let judging = move || {
            let judged = raw.into_iter().map(|raw| or_left_out(judged(raw)));
            judged.filter_map(Result::transpose).collect()
        };
        place.send(tokio::task::spawn_blocking(judging));
        true
    }
}

fn raw(row: &AnyRow) -> Result<Raw, Error> {
    let id: String = row.try_get("id")?;
    let document = pack::document(row.try_get("document")?, &id)?;
    Ok(Raw {
        kept: Kept {
            id,
            created_ms: row.try_get("created_ms")?,
            month: row.try_get("month")?,
            origin: row.try_get("origin")?,
            source: row.try_get("source")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
            host: row.try_get("host")?,
            host_name: row.try_get("host_name")?,
            lot: row.try_get("lot")?,
            price_hundredths: row.try_get("price_hundredths")?,
            price_currency: row.try_get("price_currency")?,
            price_date: row.try_get("price_date")?,
            revision: row.try_get("revision")?,
        },
        doubts: row.try_get("doubts")?,
        document,
    })
}

/// Writes what comes from `pages` into three files that are not yet published.
fn write(
    directory: &Path,
    month: &str,
    mut pages: mpsc::Receiver<Judging>,
) -> Result<[Output; 3], Error> {
    let documents = Output::new(directory, DOCUMENTS, "jsonl.gz", month)?;
    let runs = Output::new(directory, RUNS_TABLE, "parquet", month)?;
    let phases = Output::new(directory, PHASES_TABLE, "parquet", month)?;
    let paths = [&documents, &runs, &phases].map(|part| part.path.clone());
    let failed = |at: usize| {
        let path = paths[at].clone();
        move |error| super::named(&path, error)
    };
    let mut lines = GzEncoder::new(documents, Compression::new(6));
    let mut runs =
        sheet(runs, RUNS_TABLE, RUNS, &["model", "id"]).map_err(|e| of_parquet(&paths[1], e))?;
    let mut phases = sheet(phases, PHASES_TABLE, PHASES, &["model", "run", "position"])
        .map_err(|e| of_parquet(&paths[2], e))?;
    let runtime = tokio::runtime::Handle::current();
    let mut count = 0;
    while let Some(page) = pages.blocking_recv() {
        let page = runtime.block_on(page).map_err(|e| Error::Internal(e.to_string()))??;
        for Judged { line, run } in page {
            writeln!(lines, "{line}").map_err(failed(0))?;
            let run = Rc::new(run);
            runs.push(&run).map_err(|e| of_parquet(&paths[1], e))?;
            for at in 0..run.record.phases.len() {
                let row = PhaseOf { run: Rc::clone(&run), at };
                phases.push(&row).map_err(|e| of_parquet(&paths[2], e))?;
            }
            count += 1;
        }
    }
    let mut documents = lines.finish().map_err(failed(0))?;
    documents.rows = count;
    let (mut runs, run_rows) = runs.finish().map_err(|e| of_parquet(&paths[1], e))?;
    runs.rows = run_rows;
    let (mut phases, phase_rows) = phases.finish().map_err(|e| of_parquet(&paths[2], e))?;
    phases.rows = phase_rows;
    Ok([documents, runs, phases])
}

fn sheet<Row>(
    out: Output,
    table: &str,
    columns: &'static [Column<Row>],
    sorted_by: &[&str],
) -> Result<Sheet<Row, Output>, ParquetError> {
    Sheet::new(out, table, columns, sorted_by, &[("schema", DATA_SCHEMA), ("licence", LICENCE)])
}

fn judged(raw: Raw) -> Result<Judged, Error> {
    let record = pack::record(&raw.document, &raw.kept.id)?;
    let line = line(&raw)?;
    let summary = summary(&record, raw.kept.source.as_deref());
    let verdicts = judge(&record);
    Ok(Judged { line, run: Run { kept: raw.kept, record, summary, verdicts } })
}

/// A submission as a line of JSON; its document was read as JSON before.
fn line(raw: &Raw) -> Result<String, Error> {
    let kept = &raw.kept;
    let internal = |error: serde_json::Error| {
        Error::Internal(format!("the line of {} as JSON: {error}", kept.id))
    };
    let line = Line {
        id: &kept.id,
        submitted: clock::day(kept.created_ms),
        origin: &kept.origin,
        source: kept.source.as_deref(),
        model: &kept.model,
        host: &kept.host,
        doubts: serde_json::from_str(&raw.doubts).map_err(internal)?,
        revision: kept.revision,
        document: serde_json::from_str(&raw.document).map_err(internal)?,
    };
    serde_json::to_string(&line).map_err(internal)
}

/// An error of the writer of Parquet, which hides those of the disk.
fn of_parquet(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(error) => super::named(path, *error),
            Err(other) => Error::Internal(other.to_string()),
        },
        other => Error::Internal(other.to_string()),
    }
}

/// A file that is being written beside its place; it counts and hashes. One that is not published goes.
struct Output {
    out: fs::File,
    path: PathBuf,
    table: &'static str,
    format: &'static str,
    hash: Sha256,
    bytes: u64,
    rows: u64,
}

impl Output {
    fn new(
        directory: &Path,
        table: &'static str,
        format: &'static str,
        month: &str,
    ) -> Result<Self, Error> {
        let path = directory.join(table).join(format!(".{month}.part"));
        let out =
            owner::anew(&path, &mut fs::OpenOptions::new()).map_err(|e| super::named(&path, e))?;
        Ok(Self { out, path, table, format, hash: Sha256::new(), bytes: 0, rows: 0 })
    }

    /// Puts the file into its place. A new content has a new name, so that who reads the old one gets it whole. Its time
    /// is `seen`, from which on a change of the database is not in it.
    fn published(
        self,
        directory: &Path,
        month: &str,
        version: &str,
        seen: SystemTime,
    ) -> Result<File, Error> {
        self.out.set_modified(seen).map_err(|e| super::named(&self.path, e))?;
        self.out.sync_all().map_err(|e| super::named(&self.path, e))?;
        let sha256 = hex(&self.hash.clone().finalize());
        let path = format!("{}/{month}-{}.{}", self.table, &sha256[..12], self.format);
        let place = directory.join(&path);
        fs::rename(&self.path, &place).map_err(|e| super::named(&place, e))?;
        Ok(File {
            path,
            table: self.table.to_owned(),
            format: self.format.to_owned(),
            month: month.to_owned(),
            sha256,
            bytes: self.bytes,
            rows: self.rows,
            version: version.to_owned(),
        })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // A file that was published has no such name any more.
        let _ = fs::remove_file(&self.path);
    }
}

impl Write for Output {
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
