//! How much one client may submit in an hour, counted in the database so that every hub process counts together.
//!
//! A client is kept as a value that only the hub's secret can make from its address and the hour, for two hours:
//! addresses are never kept, and the values of two hours have nothing in common.

use std::net::IpAddr;

use sqlx::{Executor, Row};

use crate::clock;
use crate::db::{Db, Kind};
use crate::error::Error;
use crate::secret::keyed;

const HOUR_MS: i64 = 3_600_000;

/// Counts an attempt of `client` and of everybody.
///
/// # Errors
/// More than `per_client`, or a hundred times that of everybody; zero is no limit.
pub async fn count(db: &Db, client: IpAddr, per_client: i64, secret: &str) -> Result<(), Error> {
    if per_client == 0 {
        return Ok(());
    }
    let hour = clock::now_ms() / HOUR_MS;
    let one = keyed(secret, &["client", &network(client), &hour.to_string()]);
    let mut step = db.write().await?;
    if db.kind() == Kind::Postgres {
        // A count that a crash forgets does no harm, and everybody would wait for the disk in turn.
        step.execute("SET LOCAL synchronous_commit = off").await?;
    }
    sqlx::query("DELETE FROM attempts WHERE hour < $1").bind(hour - 1).execute(&mut *step).await?;
    let mut is_over = false;
    // The owner of a desk's own hub is not held up; everybody together are held to a hundred times as much.
    let own = if client.is_loopback() { per_client.saturating_mul(100) } else { per_client };
    for (name, most) in [(one.as_str(), own), ("everybody", per_client.saturating_mul(100))] {
        let row = sqlx::query(
            "INSERT INTO attempts (client, hour, attempts) VALUES ($1, $2, 1) \
             ON CONFLICT (client, hour) DO UPDATE SET attempts = attempts.attempts + 1 RETURNING attempts",
        )
        .bind(name)
        .bind(hour)
        .fetch_one(&mut *step)
        .await?;
        is_over |= row.try_get::<i64, _>("attempts")? > most;
    }
    step.commit().await?;
    if is_over { Err(Error::TooMany) } else { Ok(()) }
}

/// An address, or the network that one subscriber has of IPv6.
fn network(client: IpAddr) -> String {
    match client {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let parts = address.segments();
            format!("{:x}:{:x}:{:x}:{:x}", parts[0], parts[1], parts[2], parts[3])
        }
    }
}
