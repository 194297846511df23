//! Rows into the hub's tables in bulk: by COPY into PostgreSQL, by the hub's own statements into SQLite. What is
//! counted of them is written by the hub's own code on both.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_hub::clock;
use cardproof_hub::db::Db;
use cardproof_hub::store::counts::Counts;
use cardproof_hub::store::keep::add;
use cardproof_hub::store::rows::{Cell, Cells, Fresh};
use cardproof_hub::store::versions::touch_month;

/// Rows of one transaction on SQLite.
const TRANSACTION_ROWS: usize = 20_000;

/// What PostgreSQL's binary format begins with: its signature, no flags, no extension.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The tables that grow with every record.
const TABLES: [&str; 2] = ["submissions", "results"];

/// Takes rows for an empty database.
#[derive(Debug)]
pub struct Loader {
    db: Db,
    into: Into,
    counts: Counts,
    months: BTreeSet<String>,
}

#[derive(Debug)]
enum Into {
    Sqlite,
    Postgres { psql: Psql, tables: Vec<Copying>, again: Vec<String> },
}

impl Loader {
    /// One for the hub's database `db`; PostgreSQL is at `url`. Indexes are taken away until the end.
    ///
    /// # Errors
    /// There is no `psql`, or the database does not answer.
    pub fn new(db: Db, url: Option<&str>) -> Result<Self> {
        let into = match url {
            None => Into::Sqlite,
            Some(url) => {
                let psql = Psql::at(url)?;
                let again = psql.without_indexes()?;
                let tables =
                    TABLES.iter().map(|table| psql.copying(table)).collect::<Result<_>>()?;
                Into::Postgres { psql, tables, again }
            }
        };
        Ok(Self { db, into, counts: Counts::default(), months: BTreeSet::new() })
    }

    /// Adds `rows`.
    ///
    /// # Errors
    /// The database does not take them.
    pub async fn add(&mut self, rows: &[Fresh<'_>]) -> Result<()> {
        match &mut self.into {
            Into::Sqlite => {
                for part in rows.chunks(TRANSACTION_ROWS) {
                    let mut step = self.db.change().await?;
                    ensure!(add(&mut step, part).await?, "a record's name is taken");
                    step.commit().await?;
                }
            }
            Into::Postgres { tables, .. } => {
                for row in rows {
                    self.counts.add(row.draft.summary());
                    let month = clock::month(row.created_ms);
                    if !self.months.contains(&month) {
                        self.months.insert(month);
                    }
                    tables[0].row(&row.submission())?;
                    tables[1].row(&row.result())?;
                }
            }
        }
        Ok(())
    }

    /// Ends: indexes are made, and what is counted is written.
    ///
    /// # Errors
    /// The database does not take it.
    pub async fn end(self) -> Result<()> {
        let Into::Postgres { psql, tables, again } = self.into else { return Ok(()) };
        for table in tables {
            table.end()?;
        }
        for text in again {
            psql.ask(&format!("SET maintenance_work_mem = '1GB'; {text}"))?;
        }
        let mut step = self.db.change().await?;
        self.counts.write(&mut step).await?;
        for month in &self.months {
            touch_month(&mut step, month, clock::now_ms()).await?;
        }
        step.commit().await?;
        psql.ask("ANALYZE")?;
        Ok(())
    }
}

/// PostgreSQL's own client, for what the hub's has no words for.
#[derive(Clone, Debug)]
pub struct Psql {
    program: PathBuf,
    url: String,
}

impl Psql {
    /// The client of the database at `url`.
    ///
    /// # Errors
    /// There is none.
    pub fn at(url: &str) -> Result<Self> {
        let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .context("no PostgreSQL; `cargo xtask test` as root installs it")?
            .flatten()
            .map(|entry| entry.path().join("bin/psql"))
            .filter(|path| path.is_file())
            .collect();
        found.sort();
        let program = found.pop().context("no psql (Debian: postgresql)")?;
        Ok(Self { program, url: url.to_owned() })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.url]);
        command
    }

    /// The lines that `text` answers.
    ///
    /// # Errors
    /// The database refuses it.
    pub fn ask(&self, text: &str) -> Result<Vec<String>> {
        let output = self.command().args(["-c", text]).output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{text}: {told}");
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Takes the indexes of the large tables away; returns what makes them again.
    fn without_indexes(&self) -> Result<Vec<String>> {
        let tables = "('submissions'::regclass, 'results'::regclass)";
        let constraints = self.ask(&format!(
            "SELECT conrelid::regclass || '|' || conname || '|' || pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE conrelid IN {tables} AND contype IN ('p', 'u') ORDER BY 1"
        ))?;
        let mut again = Vec::new();
        for line in &constraints {
            let mut parts = line.splitn(3, '|');
            let (Some(table), Some(name), Some(form)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            again.push(format!("ALTER TABLE {table} ADD CONSTRAINT {name} {form}"));
            self.ask(&format!("ALTER TABLE {table} DROP CONSTRAINT {name}"))?;
        }
        let indexes = self.ask(&format!(
            "SELECT indexrelid::regclass || '|' || pg_get_indexdef(indexrelid) FROM pg_index \
             WHERE indrelid IN {tables} ORDER BY 1"
        ))?;
        for line in &indexes {
            let Some((name, form)) = line.split_once('|') else { continue };
            again.push(form.to_owned());
            self.ask(&format!("DROP INDEX {name}"))?;
        }
        Ok(again)
    }

    fn copying(&self, table: &'static str) -> Result<Copying> {
        // An emptied table in the same transaction: PostgreSQL needs no log for it and no later pass over its rows.
        let copy = format!("COPY {table} FROM STDIN (FORMAT binary, FREEZE)");
        let mut child = self
            .command()
            .args(["-1", "-c", &format!("TRUNCATE {table}"), "-c", &copy])
            .stdin(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("psql has no input")?;
        let mut out = BufWriter::with_capacity(1 << 20, stdin);
        out.write_all(SIGNATURE)?;
        Ok(Copying { table, child, out })
    }
}

/// Rows on their way into one table.
#[derive(Debug)]
struct Copying {
    table: &'static str,
    child: Child,
    out: BufWriter<ChildStdin>,
}

impl Copying {
    fn row(&mut self, cells: &Cells<'_>) -> Result<()> {
        self.out.write_all(&i16::try_from(cells.len())?.to_be_bytes())?;
        for cell in cells {
            match cell {
                Cell::Text(None) | Cell::Whole(None) => self.out.write_all(&(-1_i32).to_be_bytes()),
                Cell::Text(Some(text)) => self.value(text.as_bytes()),
                Cell::Whole(Some(number)) => self.value(&number.to_be_bytes()),
                Cell::Bytes(bytes) => self.value(bytes),
            }?;
        }
        Ok(())
    }

    fn value(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let length = i32::try_from(bytes.len()).map_err(std::io::Error::other)?;
        self.out.write_all(&length.to_be_bytes())?;
        self.out.write_all(bytes)
    }

    fn end(mut self) -> Result<()> {
        self.out.write_all(&(-1_i16).to_be_bytes())?;
        let stdin = self.out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        drop(stdin);
        ensure!(self.child.wait()?.success(), "psql could not fill {}", self.table);
        Ok(())
    }
}
