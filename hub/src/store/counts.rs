//! What is counted of each model and its hosts while submissions come and go, so that no page has to count.

use std::collections::BTreeMap;

use sqlx::Row;

use crate::error::Error;
use crate::step::Step;
use crate::store::catalogue;
use crate::store::rows::{Cell, Cells, insert, insert_returning};
use crate::summary::{Model, Summary};

/// New submissions by model and host.
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
        if has_new { catalogue::touch(step).await } else { Ok(()) }
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
        catalogue::touch(step).await?;
    }
    Ok(())
}
