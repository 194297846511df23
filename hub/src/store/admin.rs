//! Administrators, what they did, and the hub's own secret.

use sqlx::Row;

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::secret::{self, hash};

/// The hub's secret, which is made when it is first asked for. Every process of a hub has the same.
///
/// # Errors
/// The database does not answer.
pub async fn hub_secret(db: &Db) -> Result<String, Error> {
    let fresh = secret::token()?;
    let mut step = db.write().await?;
    sqlx::query("INSERT INTO secrets (name, secret) VALUES ('hub', $1) ON CONFLICT DO NOTHING")
        .bind(fresh)
        .execute(&mut *step)
        .await?;
    let row =
        sqlx::query("SELECT secret FROM secrets WHERE name = 'hub'").fetch_one(&mut *step).await?;
    step.commit().await?;
    Ok(row.try_get("secret")?)
}

/// Whether what `submitter` sends waits for an administrator's look.
///
/// # Errors
/// The database does not answer.
pub async fn is_banned(db: &Db, submitter: &str) -> Result<bool, Error> {
    let row = sqlx::query("SELECT submitter FROM bans WHERE submitter = $1")
        .bind(submitter.to_owned())
        .fetch_optional(db.readers())
        .await?;
    Ok(row.is_some())
}

/// Makes an administrator and returns the token, which is shown once.
///
/// # Errors
/// There is one of that name, or the database does not answer.
pub async fn add(db: &Db, name: &str) -> Result<String, Error> {
    let token = secret::token()?;
    let mut step = db.write().await?;
    let added = sqlx::query(
        "INSERT INTO administrators (name, created_ms, token_hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    )
    .bind(name)
    .bind(clock::now_ms())
    .bind(hash(&token))
    .execute(&mut *step)
    .await?;
    let is_new = added.rows_affected() > 0;
    let known = || Error::Setup(format!("there is an administrator '{name}'; revoke it first"));
    let (step, ()) = step.or_undo(is_new.then_some(()).ok_or_else(known)).await?;
    step.commit().await?;
    note(db, "console", "add administrator", name, "").await?;
    Ok(token)
}

/// Takes an administrator's right away.
///
/// # Errors
/// There is none of that name, or the database does not answer.
pub async fn revoke(db: &Db, name: &str) -> Result<(), Error> {
    let mut step = db.write().await?;
    let gone = sqlx::query("DELETE FROM administrators WHERE name = $1")
        .bind(name)
        .execute(&mut *step)
        .await?;
    let was_there = gone.rows_affected() > 0;
    let unknown = || Error::Setup(format!("there is no administrator '{name}'"));
    let (step, ()) = step.or_undo(was_there.then_some(()).ok_or_else(unknown)).await?;
    step.commit().await?;
    note(db, "console", "revoke administrator", name, "").await
}

/// The name of the administrator with `token`.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn who(db: &Db, token: &str) -> Result<String, Error> {
    let row = sqlx::query("SELECT name FROM administrators WHERE token_hash = $1")
        .bind(hash(token))
        .fetch_optional(db.readers())
        .await?;
    Ok(row.ok_or(Error::WrongToken)?.try_get("name")?)
}

/// Notes what `actor` has done to `subject`, and why.
///
/// # Errors
/// The database does not answer.
pub async fn note(
    db: &Db,
    actor: &str,
    action: &str,
    subject: &str,
    reason: &str,
) -> Result<(), Error> {
    let mut step = db.write().await?;
    sqlx::query(
        "INSERT INTO audit (id, at_ms, actor, action, subject, reason) VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(secret::name()?)
    .bind(clock::now_ms())
    .bind(actor)
    .bind(action)
    .bind(subject)
    .bind(reason)
    .execute(&mut *step)
    .await?;
    step.commit().await?;
    Ok(())
}

/// One thing that was done.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Deed {
    /// When.
    pub at: String,
    /// By whom.
    pub actor: String,
    /// What.
    pub action: String,
    /// To what.
    pub subject: String,
    /// Why.
    pub reason: String,
}

/// What was done last, the latest first, at most 500.
///
/// # Errors
/// The database does not answer.
pub async fn audit(db: &Db) -> Result<Vec<Deed>, Error> {
    let rows = sqlx::query(
        "SELECT at_ms, actor, action, subject, reason FROM audit ORDER BY at_ms DESC, id LIMIT 500",
    )
    .fetch_all(db.readers())
    .await?;
    rows.iter()
        .map(|row| {
            Ok(Deed {
                at: clock::rfc3339(row.try_get("at_ms")?),
                actor: row.try_get("actor")?,
                action: row.try_get("action")?,
                subject: row.try_get("subject")?,
                reason: row.try_get("reason")?,
            })
        })
        .collect()
}
