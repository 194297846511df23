//! What stands for a submitter: a name that only this hub can make from the network that somebody sends from, and only
//! in this quarter of the year.
//!
//! It is there so that a submitter has one vote. It is made from a block of addresses (of IPv4 256, of IPv6 a network with
//! 48 bits), so that one connection does not have many; with a secret that is thrown away when its quarter is over, after
//! which nobody can find out whose name it was. Neither the names of two quarters nor those of two hubs have anything in
//! common.

use std::net::IpAddr;

use sqlx::Row;
use tokio::sync::Mutex;

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::network::neighbourhood;
use crate::secret::{keyed, token};

/// Secrets of quarters are called so, and then by the quarter.
const PREFIX: &str = "submitters ";

/// The secret of the present quarter, once it was asked for.
#[derive(Debug, Default)]
pub struct Pseudonyms {
    known: Mutex<Option<(String, String)>>,
}

impl Pseudonyms {
    /// What stands for `client` in this quarter.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn of(&self, db: &Db, client: IpAddr) -> Result<String, Error> {
        let quarter = clock::quarter(clock::now_ms());
        let mut known = self.known.lock().await;
        let secret = match &*known {
            Some((of, secret)) if *of == quarter => secret.clone(),
            _ => secret_of(db, &quarter).await?,
        };
        *known = Some((quarter, secret.clone()));
        Ok(keyed(&secret, &["submitter", &neighbourhood(client)])[..16].to_owned())
    }
}

/// The secret of `quarter`, which is made where there is none; those of other quarters go.
async fn secret_of(db: &Db, quarter: &str) -> Result<String, Error> {
    let name = format!("{PREFIX}{quarter}");
    let mut step = db.write().await?;
    sqlx::query("DELETE FROM secrets WHERE name LIKE $1 AND name <> $2")
        .bind(format!("{PREFIX}%"))
        .bind(name.clone())
        .execute(&mut *step)
        .await?;
    sqlx::query("INSERT INTO secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(name.clone())
        .bind(token()?)
        .execute(&mut *step)
        .await?;
    let row = sqlx::query("SELECT secret FROM secrets WHERE name = $1")
        .bind(name)
        .fetch_one(&mut *step)
        .await?;
    step.commit().await?;
    Ok(row.try_get("secret")?)
}
