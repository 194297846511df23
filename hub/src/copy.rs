//! All rows from one database into another: backup, restore, and the move from SQLite to PostgreSQL.
//!
//! The source is read as of one moment while the hub goes on. The target must be empty, is filled in one
//! transaction, and is compared with the source, row by row, before that ends: so nothing is lost in silence. The hub's
//! secrets go along, without which it would know neither its submitters nor what is sent to it again; and a source
//! without them is none that was filled to its end.

use std::fmt;

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::columns::{Kind as Held, TABLES, Table};
use crate::db::{Db, without_limits};
use crate::error::Error;
use crate::secret::hex;
use crate::step::Step;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The records.
    pub records: u64,
    /// Those that administrators alone see.
    pub hidden: u64,
    /// The rows of all tables.
    pub rows: u64,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, hidden, rows } = self;
        let hidden = if *hidden > 0 { format!(" ({hidden} hidden)") } else { String::new() };
        write!(f, "{records} records{hidden}, {rows} rows of all tables")
    }
}

/// Copies everything from `from` into `to`.
///
/// # Errors
/// The source is not whole, the target is not empty or holds something else afterwards, or a database does not answer.
pub async fn copy(from: &Db, to: &Db) -> Result<Copied, Error> {
    let mut source = from.snapshot().await?;
    let mut target = to.write().await?;
    without_limits(from.kind(), &mut source).await?;
    without_limits(to.kind(), &mut target).await?;
    let mut copied = Copied::default();
    for table in TABLES {
        if rows_in(&mut target, table).await? > 0 {
            return Err(Error::Setup(format!(
                "the target's table '{}' is not empty; name a data directory that does not exist, or a database fresh \
                 from createdb",
                table.name
            )));
        }
        let (rows, sum) = copy_table(&mut source, &mut target, table).await?;
        let (rows_there, sum_there) = digest(&mut target, table).await?;
        if (rows, &sum) != (rows_there, &sum_there) {
            return Err(Error::Internal(format!(
                "the table '{}' has {rows} rows here and {rows_there} there, or they differ; nothing was copied",
                table.name
            )));
        }
        match table.name {
            "submissions" => {
                copied.records = rows;
                copied.hidden = hidden(&mut source).await?;
            }
            "secrets" if rows == 0 => {
                return Err(Error::Setup("the copy was cut off when it was made".to_owned()));
            }
            _ => {}
        }
        copied.rows += rows;
    }
    target.commit().await?;
    source.rollback().await?;
    Ok(copied)
}

/// How many records of `source` administrators alone see.
async fn hidden(source: &mut Step) -> Result<u64, Error> {
    let asked = sqlx::query("SELECT COUNT(*) AS found FROM submissions WHERE state = 'hidden'");
    let found: i64 = asked.fetch_one(&mut **source).await?.try_get("found")?;
    Ok(u64::try_from(found).unwrap_or_default())
}

async fn rows_in(step: &mut Step, table: &Table) -> Result<i64, Error> {
    let text = format!("SELECT COUNT(*) AS found FROM {}", table.name);
    Ok(sqlx::query(AssertSqlSafe(text)).fetch_one(&mut **step).await?.try_get("found")?)
}

fn columns(table: &Table) -> String {
    table.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

fn all_of(table: &Table) -> String {
    format!("SELECT {} FROM {}", columns(table), table.name)
}

async fn copy_table(
    source: &mut Step,
    target: &mut Step,
    table: &Table,
) -> Result<(u64, String), Error> {
    let places: Vec<String> = (1..=table.columns.len()).map(|at| format!("${at}")).collect();
    let text =
        format!("INSERT INTO {} ({}) VALUES ({})", table.name, columns(table), places.join(", "));
    let (mut rows, mut sum) = (0, [0_u8; 32]);
    let mut stream = sqlx::query(AssertSqlSafe(all_of(table))).fetch(&mut **source);
    while let Some(row) = stream.try_next().await? {
        // Not prepared once for all: the type of an absent value differs from row to row.
        let mut insert = sqlx::query(AssertSqlSafe(text.clone())).persistent(false);
        for column in table.columns {
            let name = column.name;
            insert = match column.kind {
                Held::Text => insert.bind(row.try_get::<Option<String>, _>(name)?),
                Held::Whole => insert.bind(row.try_get::<Option<i64>, _>(name)?),
                Held::Real => insert.bind(row.try_get::<Option<f64>, _>(name)?),
                Held::Bytes => insert.bind(row.try_get::<Option<Vec<u8>>, _>(name)?),
            };
        }
        insert.execute(&mut **target).await?;
        add(&mut sum, &digest_of(table, &row)?);
        rows += 1;
    }
    Ok((rows, hex(&sum)))
}

async fn digest(step: &mut Step, table: &Table) -> Result<(u64, String), Error> {
    let (mut rows, mut sum) = (0, [0_u8; 32]);
    let mut stream = sqlx::query(AssertSqlSafe(all_of(table))).fetch(&mut **step);
    while let Some(row) = stream.try_next().await? {
        add(&mut sum, &digest_of(table, &row)?);
        rows += 1;
    }
    Ok((rows, hex(&sum)))
}

/// A hash of everything in a row.
fn digest_of(table: &Table, row: &AnyRow) -> Result<[u8; 32], Error> {
    let mut hash = Sha256::new();
    for column in table.columns {
        let name = column.name;
        let bytes: Option<Vec<u8>> = match column.kind {
            Held::Text => row.try_get::<Option<String>, _>(name)?.map(String::into_bytes),
            Held::Whole => row.try_get::<Option<i64>, _>(name)?.map(|it| it.to_be_bytes().to_vec()),
            Held::Real => {
                row.try_get::<Option<f64>, _>(name)?.map(|it| it.to_bits().to_be_bytes().to_vec())
            }
            Held::Bytes => row.try_get(name)?,
        };
        match bytes {
            None => hash.update([0]),
            Some(bytes) => {
                hash.update([1]);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(bytes);
            }
        }
    }
    Ok(hash.finalize().into())
}

/// Adds the hash of a row, so that the order of the rows does not matter and each counts as often as it is there.
fn add(sum: &mut [u8; 32], row: &[u8; 32]) {
    let mut carry = 0_u16;
    for (total, byte) in sum.iter_mut().zip(row).rev() {
        let value = u16::from(*total) + u16::from(*byte) + carry;
        *total = (value & 0xff) as u8;
        carry = value >> 8;
    }
}
