//! What is counted of each model and its hosts while submissions come and go, so that no page has to count.

use sqlx::Row;

use crate::db::Step;
use crate::error::Error;
use crate::store::find::grams;
use crate::summary::Summary;

/// Counts one more submission of a model, also on its host; the model is made searchable with the first.
pub(super) async fn add_model(step: &mut Step, of: &Summary) -> Result<(), Error> {
    let model = &of.model;
    sqlx::query(
        "INSERT INTO model_hosts (model, host, host_name, submissions) VALUES ($1, $2, $3, 1) \
         ON CONFLICT (model, host) DO UPDATE SET submissions = model_hosts.submissions + 1",
    )
    .bind(&model.key)
    .bind(&of.host)
    .bind(&of.host_name)
    .execute(&mut **step)
    .await?;
    let words =
        [Some(&model.name), model.maker.as_ref(), model.product.as_ref(), model.revision.as_ref()];
    let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    let grams = grams(&words.join(" "));
    let row = sqlx::query(
        "INSERT INTO models (model, name, maker, product, manufacturer_id, oem_id, revision, transport, \
         capacity_bytes, submissions, grams) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10) \
         ON CONFLICT (model) DO UPDATE SET submissions = models.submissions + 1 RETURNING submissions",
    )
    .bind(&model.key)
    .bind(&model.name)
    .bind(model.maker.as_deref())
    .bind(model.product.as_deref())
    .bind(model.manufacturer_id.as_deref())
    .bind(model.oem_id.as_deref())
    .bind(model.revision.as_deref())
    .bind(model.transport.as_deref())
    .bind(model.capacity_bytes)
    .bind(i64::try_from(grams.len()).unwrap_or(0))
    .fetch_one(&mut **step)
    .await?;
    if row.try_get::<i64, _>("submissions")? > 1 {
        return Ok(());
    }
    for gram in &grams {
        sqlx::query("INSERT INTO trigrams (gram, model) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(gram)
            .bind(&model.key)
            .execute(&mut **step)
            .await?;
    }
    Ok(())
}

/// Takes one submission from the counts of `model`, also on `host`; each goes with its last.
pub(super) async fn leave_model(step: &mut Step, model: &str, host: &str) -> Result<(), Error> {
    for statement in [
        "UPDATE model_hosts SET submissions = submissions - 1 WHERE model = $1 AND host = $2",
        "DELETE FROM model_hosts WHERE model = $1 AND host = $2 AND submissions <= 0",
    ] {
        sqlx::query(statement).bind(model).bind(host).execute(&mut **step).await?;
    }
    sqlx::query("UPDATE models SET submissions = submissions - 1 WHERE model = $1")
        .bind(model)
        .execute(&mut **step)
        .await?;
    let emptied = sqlx::query("DELETE FROM models WHERE model = $1 AND submissions <= 0")
        .bind(model)
        .execute(&mut **step)
        .await?;
    if emptied.rows_affected() > 0 {
        sqlx::query("DELETE FROM trigrams WHERE model = $1")
            .bind(model)
            .execute(&mut **step)
            .await?;
    }
    Ok(())
}
