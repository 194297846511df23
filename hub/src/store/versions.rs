//! Fresh names for what has changed, by which others find out that they have to read it again.

use crate::error::Error;
use crate::secret;
use crate::step::Step;

/// Notes that the dump of `month` is out of date: by a fresh name for what the month holds, so that neither clocks
/// nor a restored backup can make an old dump look like a new one.
///
/// # Errors
/// The database does not answer.
pub async fn touch_month(step: &mut Step, month: &str, now: i64) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO months (month, changed_ms, version) VALUES ($1, $2, $3) \
         ON CONFLICT (month) DO UPDATE SET changed_ms = excluded.changed_ms, version = excluded.version",
    )
    .bind(month)
    .bind(now)
    .bind(secret::name()?)
    .execute(&mut **step)
    .await?;
    Ok(())
}
