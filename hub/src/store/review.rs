//! What administrators look at: the newest records, those that wait, those that readers have reported; and bans.

use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;

use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::store::find::Before;
use crate::store::rows::parts;

/// The most records of a list.
const LIST_MAX: usize = 200;

/// A record as administrators see it.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Its name.
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// Its state.
    pub state: String,
    /// What its sender calls the card.
    pub title: String,
    /// What its sender calls the host.
    pub host_name: String,
    /// What stands for the submitter; none of what came with the hub.
    pub submitter: Option<String>,
    /// How many records the submitter has here; 0 of what came with the hub.
    pub of_submitter: i64,
    /// Whether the submitter is banned.
    pub is_banned: bool,
    /// How many readers have reported it.
    pub reports: i64,
}

/// Which records are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that wait for a look.
    Waiting,
    /// Those that readers have reported.
    Reported,
    /// All.
    Newest,
    /// Those that administrators alone see.
    Hidden,
    /// Those of banned submitters.
    Banned,
}

impl Which {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Reported, Self::Newest, Self::Hidden, Self::Banned];

    /// Its word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Reported => "reported",
            Self::Newest => "newest",
            Self::Hidden => "hidden",
            Self::Banned => "banned",
        }
    }

    /// What a row has to meet.
    const fn condition(self) -> &'static str {
        match self {
            Self::Waiting => "state = 'waiting'",
            Self::Reported => "reports > 0",
            Self::Newest => "state <> ''",
            Self::Hidden => "state = 'hidden'",
            Self::Banned => "submitter IN (SELECT submitter FROM bans)",
        }
    }
}

impl FromStr for Which {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|it| it.word() == word);
        known.ok_or("state is one of waiting, reported, newest, hidden, banned")
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct List {
    /// How many records the whole list has.
    pub count: i64,
    /// How many of them administrators alone see.
    pub hidden: i64,
    /// The newest of them before the page's end.
    pub rows: Vec<Reviewed>,
    /// Where the next page begins.
    pub more_before: Option<Before>,
}

/// To what a list is narrowed; empty texts narrow nothing.
#[derive(Clone, Debug, Default)]
pub struct Narrowed {
    /// The submitter.
    pub submitter: String,
    /// The record.
    pub record: String,
}

/// The newest records before `before` of those that `narrowed` leaves.
///
/// # Errors
/// The database does not answer.
pub async fn list(
    db: &Db,
    which: Which,
    narrowed: &Narrowed,
    before: &Before,
) -> Result<List, Error> {
    // Without a submitter or a record the question is the same, so that it has one form.
    let of =
        format!("{} AND ($1 = '' OR submitter = $1) AND ($2 = '' OR id = $2)", which.condition());
    let bound = |text: String| {
        let Narrowed { submitter, record } = narrowed.clone();
        sqlx::query(AssertSqlSafe(text)).bind(submitter).bind(record)
    };
    let text = format!(
        "SELECT COUNT(*) AS found, COUNT(CASE WHEN state = 'hidden' THEN 1 END) AS hidden FROM submissions WHERE {of}"
    );
    let counted = bound(text).fetch_one(db.readers()).await?;
    let text = format!(
        "SELECT id, created_ms, state, title, host_name, submitter, reports, CAST(CASE WHEN submitter IN \
         (SELECT submitter FROM bans) THEN 1 ELSE 0 END AS BIGINT) AS is_banned FROM submissions WHERE {of} AND \
         created_ms <= $3 AND (created_ms < $3 OR id < $4) ORDER BY created_ms DESC, id DESC LIMIT {LIST_MAX}"
    );
    let (created_ms, id) = before.parts();
    let asked = bound(text).bind(created_ms).bind(id);
    let mut rows = Vec::new();
    for row in asked.fetch_all(db.readers()).await? {
        rows.push(Reviewed {
            id: row.try_get("id")?,
            created_ms: row.try_get("created_ms")?,
            state: row.try_get("state")?,
            title: row.try_get("title")?,
            host_name: row.try_get("host_name")?,
            submitter: row.try_get("submitter")?,
            of_submitter: 0,
            is_banned: row.try_get::<i64, _>("is_banned")? != 0,
            reports: row.try_get("reports")?,
        });
    }
    let records = records_of(db, &rows).await?;
    for row in &mut rows {
        let of = row.submitter.as_ref().and_then(|submitter| records.get(submitter));
        row.of_submitter = of.copied().unwrap_or_default();
    }
    let last = rows.last().filter(|_| rows.len() == LIST_MAX);
    let more_before = last.map(|last| Before::new(last.created_ms, &last.id));
    let (count, hidden) = (counted.try_get("found")?, counted.try_get("hidden")?);
    Ok(List { count, hidden, rows, more_before })
}

/// How many records each submitter of `rows` has.
async fn records_of(db: &Db, rows: &[Reviewed]) -> Result<HashMap<String, i64>, Error> {
    let all: BTreeSet<&String> = rows.iter().filter_map(|row| row.submitter.as_ref()).collect();
    let all: Vec<&String> = all.into_iter().collect();
    let mut found = HashMap::new();
    for part in parts(&all) {
        let places: Vec<String> = (1..=part.len()).map(|at| format!("${at}")).collect();
        let text = format!(
            "SELECT submitter, COUNT(*) AS found FROM submissions WHERE submitter IN ({}) GROUP BY submitter",
            places.join(", ")
        );
        let asked = part.iter().fold(sqlx::query(AssertSqlSafe(text)), |asked, submitter| {
            asked.bind((*submitter).clone())
        });
        for row in asked.fetch_all(db.readers()).await? {
            found.insert(row.try_get("submitter")?, row.try_get("found")?);
        }
    }
    Ok(found)
}

/// What else the submitter of a record has here.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    /// Its other records.
    pub count: i64,
    /// Those of its records, this one included, that wait for a look.
    pub waiting: i64,
}

/// What the submitter of the record `id` has beside it; none of what came with the hub.
///
/// # Errors
/// The database does not answer.
pub async fn others(db: &Db, id: &str) -> Result<Others, Error> {
    let row = sqlx::query(
        "SELECT COUNT(CASE WHEN id <> $1 THEN 1 END) AS others, COUNT(CASE WHEN state = 'waiting' THEN 1 END) AS \
         waiting FROM submissions WHERE submitter = (SELECT submitter FROM submissions WHERE id = $1)",
    )
    .bind(id.to_owned())
    .fetch_one(db.readers())
    .await?;
    Ok(Others { count: row.try_get("others")?, waiting: row.try_get("waiting")? })
}

/// What administrators have to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Records that wait for a look.
    pub waiting: i64,
    /// Records that readers have reported since an administrator decided on them.
    pub reported: i64,
}

/// How many records administrators have to look at.
///
/// # Errors
/// The database does not answer.
pub async fn open(db: &Db) -> Result<Open, Error> {
    // As the indexes of what is not public and of what was reported have it.
    let text = "SELECT (SELECT COUNT(*) FROM submissions WHERE state <> 'public' AND state = 'waiting') AS waiting, \
        (SELECT COUNT(*) FROM submissions WHERE reports > 0) AS reported";
    let row = sqlx::query(text).fetch_one(db.readers()).await?;
    Ok(Open { waiting: row.try_get("waiting")?, reported: row.try_get("reported")? })
}

/// Notes that a reader has reported the record `id`.
///
/// # Errors
/// The database does not answer.
pub async fn report(db: &Db, id: &str) -> Result<(), Error> {
    let mut step = db.write().await?;
    sqlx::query("UPDATE submissions SET reports = reports + 1 WHERE id = $1")
        .bind(id.to_owned())
        .execute(&mut *step)
        .await?;
    step.commit().await
}

/// A submitter that is banned.
#[derive(Clone, Debug, Serialize)]
pub struct Ban {
    /// What stands for the submitter.
    pub submitter: String,
    /// When it was banned.
    pub banned_ms: i64,
    /// How many records it has here now.
    pub records: i64,
    /// Whether its quarter of the year is over, since when nobody has this name.
    pub is_over: bool,
    /// Who has banned it.
    pub actor: Option<String>,
    /// Why, and how many records it had then.
    pub reason: Option<String>,
}

/// The bans, the latest first, also of submitters without a record.
///
/// # Errors
/// The database does not answer.
pub async fn bans(db: &Db) -> Result<Vec<Ban>, Error> {
    let text = format!(
        "SELECT submitter, banned_ms, (SELECT COUNT(*) FROM submissions WHERE submissions.submitter = bans.submitter) \
         AS records FROM bans ORDER BY banned_ms DESC, submitter LIMIT {LIST_MAX}"
    );
    let rows = sqlx::query(AssertSqlSafe(text)).fetch_all(db.readers()).await?;
    let text = "SELECT subject, actor, reason FROM audit WHERE action = 'ban' AND subject IN \
                (SELECT submitter FROM bans) ORDER BY at_ms";
    let mut deeds: HashMap<String, (String, String)> = HashMap::new();
    for row in sqlx::query(text).fetch_all(db.readers()).await? {
        deeds.insert(row.try_get("subject")?, (row.try_get("actor")?, row.try_get("reason")?));
    }
    let now = clock::quarter(clock::now_ms());
    let of_row = |row: &AnyRow| {
        let (submitter, banned_ms): (String, i64) =
            (row.try_get("submitter")?, row.try_get("banned_ms")?);
        let (actor, reason) = deeds.remove(&submitter).unzip();
        let (records, is_over) = (row.try_get("records")?, clock::quarter(banned_ms) != now);
        Ok(Ban { submitter, banned_ms, records, is_over, actor, reason })
    };
    rows.iter().map(of_row).collect()
}

/// The submitter of the record `id`; none of what came with the hub.
///
/// # Errors
/// The database does not answer.
pub async fn submitter_of(db: &Db, id: &str) -> Result<Option<String>, Error> {
    let row = sqlx::query("SELECT submitter FROM submissions WHERE id = $1")
        .bind(id.to_owned())
        .fetch_optional(db.readers())
        .await?;
    Ok(row.map(|row| row.try_get("submitter")).transpose()?.flatten())
}

/// How many records `submitter` has here; none where it has none and is not banned.
///
/// # Errors
/// The database does not answer.
pub async fn known(db: &Db, submitter: &str) -> Result<Option<i64>, Error> {
    let row = sqlx::query(
        "SELECT (SELECT COUNT(*) FROM submissions WHERE submitter = $1) AS records, \
         (SELECT COUNT(*) FROM bans WHERE submitter = $1) AS bans",
    )
    .bind(submitter.to_owned())
    .fetch_one(db.readers())
    .await?;
    let (records, bans): (i64, i64) = (row.try_get("records")?, row.try_get("bans")?);
    Ok((records + bans > 0).then_some(records))
}

/// Lets everything wait that `submitter` sends from now on.
///
/// # Errors
/// The database does not answer.
pub async fn ban(db: &Db, submitter: &str) -> Result<(), Error> {
    let mut step = db.write().await?;
    sqlx::query("INSERT INTO bans (submitter, banned_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(submitter.to_owned())
        .bind(clock::now_ms())
        .execute(&mut *step)
        .await?;
    step.commit().await
}

/// Lifts the ban of `submitter`.
///
/// # Errors
/// The database does not answer.
pub async fn unban(db: &Db, submitter: &str) -> Result<(), Error> {
    let mut step = db.write().await?;
    sqlx::query("DELETE FROM bans WHERE submitter = $1")
        .bind(submitter.to_owned())
        .execute(&mut *step)
        .await?;
    step.commit().await
}
