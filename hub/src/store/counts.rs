//! What is counted of each model and its hosts, and how they are called, while public submissions come and go, so that no page has to count.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, Row};

use crate::error::Error;
use crate::step::Step;
use crate::store::results::{NOT_HIDDEN, summary_of};
use crate::store::rows::{Cell, Cells, insert, insert_returning};
use crate::store::versions::touch_models;
use crate::summary::{Model, Summary};

/// New public submissions by model and host.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    models: BTreeMap<String, (Model, i64)>,
    /// The host's name in words and the number, by the names of model and host in addresses.
    hosts: BTreeMap<(String, String), (String, i64)>,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, of: &Summary) {
        let key = &of.model.key;
        match self.models.get_mut(key) {
            Some((_, count)) => *count += 1,
            None => {
                self.models.insert(key.clone(), (of.model.clone(), 1));
            }
        }
        let host = self.hosts.entry((key.clone(), of.host.clone()));
        host.or_insert_with(|| (of.host_name.clone(), 0)).1 += 1;
    }

    /// Adds them to the database's; a model can be found from its first on.
    ///
    /// # Errors
    /// The database does not take it.
    pub async fn write(&self, step: &mut Step) -> Result<(), Error> {
        let host = |((model, host), (name, count)): (&'_ (String, String), &'_ (String, i64))| {
            vec![model.clone().into(), host.clone().into(), name.clone().into(), (*count).into()]
        };
        let hosts: Vec<Cells<'_>> = self.hosts.iter().map(host).collect();
        let rest = "ON CONFLICT (model, host) DO UPDATE SET \
                    submissions = model_hosts.submissions + excluded.submissions";
        insert(step, "model_hosts", &hosts, rest).await?;
        let models: Vec<Cells<'_>> =
            self.models.values().map(|(model, count)| row(model, *count)).collect();
        let rest = "ON CONFLICT (model) DO UPDATE SET \
                    submissions = models.submissions + excluded.submissions RETURNING model, submissions";
        let mut has_new = false;
        for kept in insert_returning(step, "models", &models, rest).await? {
            let key: String = kept.try_get("model")?;
            let count = self.models.get(&key).map(|(_, count)| *count);
            has_new |= count == Some(kept.try_get::<i64, _>("submissions")?);
        }
        if has_new { touch_models(step).await } else { Ok(()) }
    }
}

fn row(model: &Model, count: i64) -> Cells<'_> {
    vec![
        model.key.as_str().into(),
        model.name.as_str().into(),
        model.maker.as_deref().into(),
        model.product.as_deref().into(),
        model.manufacturer_id.as_deref().into(),
        model.oem_id.as_deref().into(),
        model.revision.as_deref().into(),
        model.transport.as_deref().into(),
        Cell::Whole(model.capacity_bytes),
        count.into(),
    ]
}

/// Takes one public submission from the counts of `model`, also on `host`; each goes with its last. What remains is
/// called as a public submission that remains calls it: no name outlives its record.
pub(super) async fn leave_model(step: &mut Step, model: &str, host: &str) -> Result<(), Error> {
    for statement in [
        "UPDATE model_hosts SET submissions = submissions - 1 WHERE model = $1 AND host = $2",
        "DELETE FROM model_hosts WHERE model = $1 AND host = $2 AND submissions <= 0",
        "UPDATE model_hosts SET host_name = COALESCE((SELECT s.host_name FROM submissions s WHERE s.model = $1 \
         AND s.host = $2 AND s.state = 'public' ORDER BY s.created_ms LIMIT 1), host_name) WHERE model = $1 AND host = $2",
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
        return touch_models(step).await;
    }
    rename_model(step, model).await
}

/// Calls `model` as its first public submission does.
pub(super) async fn rename_model(step: &mut Step, model: &str) -> Result<(), Error> {
    let text = format!(
        "SELECT s.id, s.source, s.document FROM (SELECT submission FROM results WHERE model = $1 AND {NOT_HIDDEN} \
         ORDER BY created_ms, submission LIMIT 1) r JOIN submissions s ON s.id = r.submission"
    );
    let first = sqlx::query(AssertSqlSafe(text)).bind(model).fetch_optional(&mut **step).await?;
    let Some(first) = first else { return Ok(()) };
    let Some(Summary { model: of, .. }) = summary_of(&first)? else { return Ok(()) };
    let changed = sqlx::query(
        "UPDATE models SET name = $2, maker = $3, product = $4, manufacturer_id = $5, oem_id = $6, revision = $7, \
         transport = $8, capacity_bytes = $9 WHERE model = $1 AND NOT (name = $2 AND maker IS NOT DISTINCT FROM $3 \
         AND product IS NOT DISTINCT FROM $4 AND manufacturer_id IS NOT DISTINCT FROM $5 \
         AND oem_id IS NOT DISTINCT FROM $6 AND revision IS NOT DISTINCT FROM $7 \
         AND transport IS NOT DISTINCT FROM $8 AND capacity_bytes IS NOT DISTINCT FROM $9)",
    )
    .bind(model)
    .bind(of.name)
    .bind(of.maker)
    .bind(of.product)
    .bind(of.manufacturer_id)
    .bind(of.oem_id)
    .bind(of.revision)
    .bind(of.transport)
    .bind(of.capacity_bytes)
    .execute(&mut **step)
    .await?;
    if changed.rows_affected() > 0 { touch_models(step).await } else { Ok(()) }
}
