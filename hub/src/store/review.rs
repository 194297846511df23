//! What administrators look at: the newest records, those that wait, those that readers have reported; and bans.

use sqlx::{AssertSqlSafe, Row};

use crate::clock;
use crate::db::Db;
use crate::error::Error;

/// The most records of a list.
const LIST_MAX: i64 = 200;

/// A record as administrators see it.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Its name.
    pub id: String,
    /// The day of its submission.
    pub day: String,
    /// Its state.
    pub state: String,
    /// What its sender calls the card.
    pub title: String,
    /// What its sender calls the host.
    pub host_name: String,
    /// What stands for the submitter; none of what came with the hub.
    pub submitter: Option<String>,
    /// How many readers have reported it.
    pub reports: i64,
}

/// The newest records of a kind: `waiting`, `hidden`, `reported`, or all; of one submitter where it is given.
///
/// # Errors
/// The database does not answer.
pub async fn list(db: &Db, kind: &str, submitter: Option<&str>) -> Result<Vec<Reviewed>, Error> {
    let kind = match kind {
        "waiting" => "state = 'waiting'",
        "hidden" => "state = 'hidden'",
        "reported" => "reports > 0",
        _ => "state <> ''",
    };
    let of = if submitter.is_some() { "submitter = $1 AND" } else { "" };
    let text = format!(
        "SELECT id, created_ms, state, title, host_name, submitter, reports FROM submissions WHERE {of} {kind} \
         ORDER BY created_ms DESC, id LIMIT {LIST_MAX}"
    );
    let mut asked = sqlx::query(AssertSqlSafe(text));
    if let Some(submitter) = submitter {
        asked = asked.bind(submitter.to_owned());
    }
    let rows = asked.fetch_all(db.readers()).await?;
    rows.iter()
        .map(|row| {
            Ok(Reviewed {
                id: row.try_get("id")?,
                day: clock::day(row.try_get("created_ms")?),
                state: row.try_get("state")?,
                title: row.try_get("title")?,
                host_name: row.try_get("host_name")?,
                submitter: row.try_get("submitter")?,
                reports: row.try_get("reports")?,
            })
        })
        .collect()
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

/// Lets everything wait that the submitter of the record `id` sends from now on.
///
/// # Errors
/// The database does not answer.
pub async fn ban(db: &Db, id: &str) -> Result<(), Error> {
    let mut step = db.write().await?;
    sqlx::query(
        "INSERT INTO bans (submitter, banned_ms) SELECT submitter, $2 FROM submissions \
         WHERE id = $1 AND submitter IS NOT NULL ON CONFLICT DO NOTHING",
    )
    .bind(id.to_owned())
    .bind(clock::now_ms())
    .execute(&mut *step)
    .await?;
    step.commit().await
}
