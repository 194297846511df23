//! What follows from documents and columns, made again after a change of the database's form.

use std::collections::BTreeSet;

use sqlx::Row;

use crate::clock;
use crate::error::Error;
use crate::step::Step;
use crate::store::counts::rename_model;
use crate::store::results::{TABLE, row, summary_of};
use crate::store::rows::insert;
use crate::store::versions::touch_month;
use crate::summary::host_key;

/// Rows that are read at once.
const PAGE_ROWS: i64 = 500;

/// Makes the rows of `results` again from the documents.
pub(crate) async fn results(step: &mut Step) -> Result<(), Error> {
    let mut after = String::new();
    loop {
        let rows = sqlx::query(
            "SELECT id, source, created_ms, document FROM submissions WHERE id > $1 ORDER BY id LIMIT 100",
        )
        .bind(after.clone())
        .fetch_all(&mut **step)
        .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.try_get("id")?;
        for kept in rows {
            let Some(of) = summary_of(&kept)? else { continue };
            let id: String = kept.try_get("id")?;
            insert(step, TABLE, &[row(&id, kept.try_get("created_ms")?, &of)], "").await?;
        }
    }
}

/// Calls every model as its first public record does.
pub(crate) async fn names(step: &mut Step) -> Result<(), Error> {
    let mut after = String::new();
    loop {
        let rows = sqlx::query("SELECT model FROM models WHERE model > $1 ORDER BY model LIMIT $2")
            .bind(after.clone())
            .bind(PAGE_ROWS)
            .fetch_all(&mut **step)
            .await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            after = row.try_get("model")?;
            rename_model(step, &after).await?;
        }
    }
}

/// Gives hosts whose names in words lost letters on their way into an address the key that they have now.
///
/// They are found by the names that models know their hosts by, not by reading every submission.
pub(crate) async fn hosts(step: &mut Step) -> Result<(), Error> {
    let (mut changed, mut months) = (BTreeSet::new(), BTreeSet::new());
    for host in &hosts_of_old_keys(step).await? {
        changed.insert(host.clone());
        let (mut created_ms, mut id) = (i64::MIN, String::new());
        loop {
            let rows = sqlx::query(
                "SELECT id, model, created_ms, month, host_name FROM submissions WHERE host = $1 AND created_ms >= $2 \
                 AND (created_ms > $2 OR id > $3) ORDER BY created_ms, id LIMIT $4",
            )
            .bind(host)
            .bind(created_ms)
            .bind(id.clone())
            .bind(PAGE_ROWS)
            .fetch_all(&mut **step)
            .await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                (created_ms, id) = (row.try_get("created_ms")?, row.try_get("id")?);
                let key = host_key(row.try_get("host_name")?);
                if key == *host {
                    continue;
                }
                let model: String = row.try_get("model")?;
                sqlx::query("UPDATE submissions SET host = $2 WHERE id = $1")
                    .bind(&id)
                    .bind(&key)
                    .execute(&mut **step)
                    .await?;
                sqlx::query(
                    "UPDATE results SET host = $4 WHERE model = $1 AND created_ms = $2 AND submission = $3",
                )
                .bind(model)
                .bind(created_ms)
                .bind(&id)
                .bind(&key)
                .execute(&mut **step)
                .await?;
                changed.insert(key);
                months.insert(row.try_get::<String, _>("month")?);
            }
        }
    }
    for host in &changed {
        for statement in [
            "DELETE FROM model_hosts WHERE host = $1",
            "INSERT INTO model_hosts (model, host, host_name, submissions) SELECT model, host, MIN(host_name), COUNT(*) \
             FROM submissions WHERE host = $1 AND state = 'public' GROUP BY model, host",
        ] {
            sqlx::query(statement).bind(host).execute(&mut **step).await?;
        }
    }
    for month in &months {
        touch_month(step, month, clock::now_ms()).await?;
    }
    Ok(())
}

/// The hosts with a name in words that has another key now.
async fn hosts_of_old_keys(step: &mut Step) -> Result<BTreeSet<String>, Error> {
    let mut old = BTreeSet::new();
    let (mut model, mut host) = (String::new(), String::new());
    // No model has an empty name, so that the first page leaves none out.
    loop {
        let rows = sqlx::query(
            "SELECT model, host, host_name FROM model_hosts WHERE (model, host) > ($1, $2) \
             ORDER BY model, host LIMIT $3",
        )
        .bind(model.clone())
        .bind(host.clone())
        .bind(PAGE_ROWS)
        .fetch_all(&mut **step)
        .await?;
        if rows.is_empty() {
            return Ok(old);
        }
        for row in rows {
            (model, host) = (row.try_get("model")?, row.try_get("host")?);
            if host_key(row.try_get("host_name")?) != host {
                old.insert(host.clone());
            }
        }
    }
}
