//! Lists of the latest submissions. Every list has an end.

use std::fmt;
use std::str::FromStr;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::db::Db;
use crate::error::Error;
use crate::store::state::COUNTS;

/// The most entries of a list.
pub const LIST_MAX: i64 = 50;

/// A submission in a list.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Entry {
    /// Its name.
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// Where it comes from.
    pub origin: String,
    /// The card model.
    pub model: String,
    /// The card in words.
    pub title: String,
    /// The host's name in addresses.
    pub host: String,
    /// The host in words.
    pub host_name: String,
    /// When the card was made.
    pub lot: Option<String>,
    /// Whether there is any doubt.
    pub has_doubts: bool,
}

impl Entry {
    /// The columns that an entry is made of.
    const COLUMNS: &'static str = "id, created_ms, origin, model, title, host, host_name, lot, \
        CAST(CASE WHEN doubts = '[]' THEN 0 ELSE 1 END AS BIGINT) AS has_doubts";

    fn of(row: &AnyRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.try_get("id")?,
            created_ms: row.try_get("created_ms")?,
            origin: row.try_get("origin")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
            host: row.try_get("host")?,
            host_name: row.try_get("host_name")?,
            lot: row.try_get("lot")?,
            has_doubts: row.try_get::<i64, _>("has_doubts")? != 0,
        })
    }
}

/// The submission before which a list goes on. Those of one transaction have one time, so that the time alone would
/// leave some out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    created_ms: i64,
    id: String,
}

impl Before {
    /// The end of a list's first page, where another may follow.
    #[must_use]
    pub fn end_of(list: &[Entry]) -> Option<Self> {
        let is_full = i64::try_from(list.len()).is_ok_and(|count| count == LIST_MAX);
        let last = list.last().filter(|_| is_full)?;
        Some(Self::new(last.created_ms, &last.id))
    }

    /// The one called `id` that came at `created_ms`.
    #[must_use]
    pub fn new(created_ms: i64, id: &str) -> Self {
        Self { created_ms, id: id.to_owned() }
    }

    /// Its time and its name, for a statement.
    pub(super) fn parts(&self) -> (i64, String) {
        (self.created_ms, self.id.clone())
    }
}

/// As it is written in an address; a time alone will do.
impl FromStr for Before {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (time, id) = text.split_once('-').unwrap_or((text, ""));
        let created_ms = time.parse().map_err(|_| "it is none of this list's ends")?;
        Ok(Self::new(created_ms, id))
    }
}

impl Default for Before {
    /// The end of time.
    fn default() -> Self {
        Self { created_ms: i64::MAX, id: String::new() }
    }
}

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.created_ms, self.id)
    }
}

/// The submissions that count before `before`, the latest first, those of one time by name.
///
/// # Errors
/// The database does not answer.
pub async fn page(db: &Db, before: &Before) -> Result<Vec<Entry>, Error> {
    let text = format!(
        "SELECT {} FROM submissions WHERE {COUNTS} AND created_ms <= $1 AND (created_ms < $1 OR id < $2) \
         ORDER BY created_ms DESC, id DESC LIMIT {LIST_MAX}",
        Entry::COLUMNS
    );
    let (created_ms, id) = before.parts();
    let asked = sqlx::query(AssertSqlSafe(text)).bind(created_ms).bind(id);
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}

/// The latest submissions on the host called `host` that count.
///
/// # Errors
/// The database does not answer.
pub async fn on_host(db: &Db, host: &str) -> Result<Vec<Entry>, Error> {
    // By an index of these and the time. With names as well PostgreSQL would sort all that there are.
    let text = format!(
        "SELECT {} FROM submissions WHERE host = $1 AND {COUNTS} ORDER BY created_ms DESC LIMIT {LIST_MAX}",
        Entry::COLUMNS
    );
    let asked = sqlx::query(AssertSqlSafe(text)).bind(host.to_owned());
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}
