//! Submissions: kept, read, amended, deleted. Each change is one transaction.

use cardproof_record::Record;
use cardproof_submission::{LENGTH_MAX, record_of};
use serde_json::Value;
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::clock;
use crate::db::{Db, Step};
use crate::error::Error;
use crate::pack::unpacked;
use crate::secret::{self, hash, is_same};
use crate::store::counts::{add_model, leave_model};
use crate::store::draft::Draft;
use crate::summary::Summary;

/// What a client gets for a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The submission's name.
    pub id: String,
    /// What amends and deletes it.
    pub token: String,
    /// Whether it was kept before, by the same key.
    pub was_there: bool,
}

/// A submission as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name.
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// When it was last amended.
    pub changed_ms: i64,
    /// `public`, or `hidden` by a moderator.
    pub state: String,
    /// Where it comes from: `measured`, `imported`, `simulated`, `published`.
    pub origin: String,
    /// Who has published it.
    pub source: Option<String>,
    /// The card model.
    pub model: String,
    /// The card in words.
    pub title: String,
    /// The host's name in addresses.
    pub host: String,
    /// The host in words.
    pub host_name: String,
    /// The doubts in words.
    pub doubts: Vec<String>,
    /// The document as JSON.
    pub document: String,
}

impl Kept {
    /// The document as a value.
    ///
    /// # Errors
    /// The database is damaged.
    pub fn value(&self) -> Result<Value, Error> {
        serde_json::from_str(&self.document).map_err(|error| Error::Internal(error.to_string()))
    }

    /// The record in it, under the submission's name.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn record(&self) -> Result<Record, Error> {
        record_of(&self.value()?, &self.id).map_err(|error| Error::Internal(error.to_string()))
    }

    fn of(row: &AnyRow) -> Result<Self, Error> {
        let packed: Vec<u8> = row.try_get("document")?;
        let document = String::from_utf8(unpacked(&packed, 2 * LENGTH_MAX)?)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let doubts: String = row.try_get("doubts")?;
        Ok(Self {
            id: row.try_get("id")?,
            created_ms: row.try_get("created_ms")?,
            changed_ms: row.try_get("changed_ms")?,
            state: row.try_get("state")?,
            origin: row.try_get("origin")?,
            source: row.try_get("source")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
            host: row.try_get("host")?,
            host_name: row.try_get("host_name")?,
            doubts: serde_json::from_str(&doubts).unwrap_or_default(),
            document,
        })
    }
}

/// Keeps `draft`. With a `key` that was used before for the same document, nothing is kept and the first receipt
/// is given again; `secret` is the hub's.
///
/// # Errors
/// The key was used for another document, or the database does not take it.
pub async fn keep(
    db: &Db,
    draft: &Draft,
    key: Option<&str>,
    secret: &str,
) -> Result<Receipt, Error> {
    let key_hash = key.map(|key| secret::keyed(secret, &["key", key]));
    let mut step = db.write().await?;
    if let Some(key_hash) = &key_hash {
        let found = earlier(&mut step, draft, key_hash, key, secret).await;
        let (own, found) = step.or_undo(found).await?;
        if let Some(receipt) = found {
            own.rollback().await?;
            return Ok(receipt);
        }
        step = own;
    }
    let id = secret::name()?;
    let token = match key {
        Some(key) => secret::keyed(secret, &["token", &id, key]),
        None => secret::token()?,
    };
    let is_new = insert(&mut step, &id, draft, &hash(&token), key_hash.as_deref()).await?;
    if !is_new {
        // Another request with the same key was faster.
        step.rollback().await?;
        let mut step = db.write().await?;
        let key_hash = key_hash.unwrap_or_default();
        let found = earlier(&mut step, draft, &key_hash, key, secret).await;
        let (step, receipt) = step.or_undo(found).await?;
        step.rollback().await?;
        return receipt.ok_or(Error::Busy);
    }
    step.commit().await?;
    Ok(Receipt { id, token, was_there: false })
}

/// The receipt that `key` was given before.
async fn earlier(
    step: &mut Step,
    draft: &Draft,
    key_hash: &str,
    key: Option<&str>,
    secret: &str,
) -> Result<Option<Receipt>, Error> {
    let row = sqlx::query("SELECT id, sent_sha256 FROM submissions WHERE key_hash = $1")
        .bind(key_hash)
        .fetch_optional(&mut **step)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let (id, sent): (String, String) = (row.try_get("id")?, row.try_get("sent_sha256")?);
    if sent != draft.sha256 {
        return Err(Error::KeyReused);
    }
    let token = secret::keyed(secret, &["token", &id, key.unwrap_or_default()]);
    Ok(Some(Receipt { id, token, was_there: true }))
}

/// Keeps documents that the project publishes itself, under fixed names, unless they are there or were deleted:
/// all or none. Returns how many were added.
///
/// # Errors
/// The database does not take them.
pub async fn seed(db: &Db, drafts: &[(String, Draft)]) -> Result<usize, Error> {
    let mut step = db.write().await?;
    let mut added = 0;
    for (id, draft) in drafts {
        let found = sqlx::query(
            "SELECT id FROM submissions WHERE id = $1 UNION ALL SELECT id FROM tombstones WHERE id = $1",
        )
        .bind(id.clone())
        .fetch_optional(&mut *step)
        .await?;
        if found.is_none() {
            added +=
                usize::from(insert(&mut step, id, draft, &hash(&secret::token()?), None).await?);
        }
    }
    step.commit().await?;
    Ok(added)
}

async fn insert(
    step: &mut Step,
    id: &str,
    draft: &Draft,
    token_hash: &str,
    key_hash: Option<&str>,
) -> Result<bool, Error> {
    let now = clock::now_ms();
    let month = clock::month(now);
    let of = &draft.summary;
    let (amount, currency, date) = draft
        .price
        .clone()
        .map_or((None, None, None), |price| (Some(price.0), Some(price.1), Some(price.2)));
    let added = sqlx::query(
        "INSERT INTO submissions (id, created_ms, changed_ms, month, state, origin, source, model, title, host, \
         host_name, lot, doubts, price_hundredths, price_currency, price_date, revision, document, document_sha256, \
         token_hash, key_hash, sent_sha256) VALUES ($1, $2, $3, $4, 'public', $5, $6, $7, $8, $9, $10, $11, $12, \
         $13, $14, $15, 1, $16, $17, $18, $19, $20) ON CONFLICT DO NOTHING",
    )
    .bind(id)
    .bind(now)
    .bind(now)
    .bind(&month)
    .bind(of.origin.word())
    .bind(draft.source.as_deref())
    .bind(&of.model.key)
    .bind(&of.model.name)
    .bind(&of.host)
    .bind(&of.host_name)
    .bind(of.lot.as_deref())
    .bind(serde_json::to_string(&of.doubts).unwrap_or_default())
    .bind(amount)
    .bind(currency)
    .bind(date)
    .bind(&draft.packed)
    .bind(&draft.sha256)
    .bind(token_hash)
    .bind(key_hash)
    .bind(&draft.sha256)
    .execute(&mut **step)
    .await?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    add_figures(step, id, now, of).await?;
    add_model(step, of).await?;
    touch_month(step, &month, now).await?;
    Ok(true)
}

async fn add_figures(
    step: &mut Step,
    id: &str,
    created_ms: i64,
    of: &Summary,
) -> Result<(), Error> {
    for figure in &of.figures {
        // Two statements, so that no absent floating-point number is bound; see `price`.
        let statement = match figure.between {
            Some(_) => {
                "INSERT INTO figures (submission, quantity, model, host, basis, doubt, created_ms, rate, low, high) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            }
            None => {
                "INSERT INTO figures (submission, quantity, model, host, basis, doubt, created_ms, rate) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
            }
        };
        let mut insert = sqlx::query(statement)
            .bind(id)
            .bind(&figure.quantity)
            .bind(&of.model.key)
            .bind(&of.host)
            .bind(&of.basis)
            .bind(figure.doubt.as_deref())
            .bind(created_ms)
            .bind(figure.rate);
        for end in figure.between.into_iter().flatten() {
            insert = insert.bind(end);
        }
        insert.execute(&mut **step).await?;
    }
    Ok(())
}

/// Notes that the dump of `month` is out of date: by a fresh name for what the month holds, so that neither clocks
/// nor a restored backup can make an old dump look like a new one.
async fn touch_month(step: &mut Step, month: &str, now: i64) -> Result<(), Error> {
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

/// The submission called `id`; a hidden one is only found with `sees_hidden`.
///
/// # Errors
/// There is none, it was deleted, or the database does not answer.
pub async fn find(db: &Db, id: &str, sees_hidden: bool) -> Result<Kept, Error> {
    let row = sqlx::query("SELECT * FROM submissions WHERE id = $1")
        .bind(id)
        .fetch_optional(db.readers())
        .await?;
    if let Some(row) = row {
        let kept = Kept::of(&row)?;
        return if kept.state == "public" || sees_hidden { Ok(kept) } else { Err(Error::NotFound) };
    }
    let deleted = sqlx::query("SELECT id FROM tombstones WHERE id = $1")
        .bind(id)
        .fetch_optional(db.readers())
        .await?;
    Err(if deleted.is_some() { Error::Gone } else { Error::NotFound })
}

/// Who asks for a change.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// Who has the submission's token.
    Token(&'a str),
    /// A moderator, whose right was checked.
    Moderator,
}

/// What a submission counts in, before it is changed.
struct Changeable {
    created_ms: i64,
    model: String,
    host: String,
    month: String,
}

/// The submission `id`, if it may be changed by `by`.
async fn changeable(step: &mut Step, id: &str, by: By<'_>) -> Result<Changeable, Error> {
    let row = sqlx::query(
        "SELECT created_ms, model, host, month, token_hash FROM submissions WHERE id = $1",
    )
    .bind(id)
    .fetch_optional(&mut **step)
    .await?;
    let Some(row) = row else {
        let deleted = sqlx::query("SELECT id FROM tombstones WHERE id = $1")
            .bind(id)
            .fetch_optional(&mut **step)
            .await?;
        return Err(if deleted.is_some() { Error::Gone } else { Error::NotFound });
    };
    if let By::Token(token) = by {
        let expected: String = row.try_get("token_hash")?;
        if !is_same(&hash(token), &expected) {
            return Err(Error::WrongToken);
        }
    }
    Ok(Changeable {
        created_ms: row.try_get("created_ms")?,
        model: row.try_get("model")?,
        host: row.try_get("host")?,
        month: row.try_get("month")?,
    })
}

/// Deletes the submission called `id`; nothing of it stays but its name and the hour.
///
/// # Errors
/// There is none, the token is wrong, or the database does not answer.
pub async fn delete(db: &Db, id: &str, by: By<'_>) -> Result<(), Error> {
    let mut step = db.write().await?;
    let found = changeable(&mut step, id, by).await;
    let (mut step, found) = step.or_undo(found).await?;
    let now = clock::now_ms();
    sqlx::query("DELETE FROM figures WHERE submission = $1").bind(id).execute(&mut *step).await?;
    sqlx::query("DELETE FROM submissions WHERE id = $1").bind(id).execute(&mut *step).await?;
    sqlx::query("INSERT INTO tombstones (id, deleted_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(id)
        .bind(now)
        .execute(&mut *step)
        .await?;
    leave_model(&mut step, &found.model, &found.host).await?;
    touch_month(&mut step, &found.month, now).await?;
    step.commit().await?;
    Ok(())
}

/// Puts `draft` in the place of the submission called `id`, whose address and token stay.
///
/// # Errors
/// As [`delete`].
pub async fn amend(db: &Db, id: &str, by: By<'_>, draft: &Draft) -> Result<(), Error> {
    let mut step = db.write().await?;
    let found = changeable(&mut step, id, by).await;
    let (mut step, found) = step.or_undo(found).await?;
    let now = clock::now_ms();
    let of = &draft.summary;
    let (amount, currency, date) = draft
        .price
        .clone()
        .map_or((None, None, None), |price| (Some(price.0), Some(price.1), Some(price.2)));
    sqlx::query(
        "UPDATE submissions SET changed_ms = $2, origin = $3, model = $4, title = $5, host = $6, host_name = $7, \
         lot = $8, doubts = $9, price_hundredths = $10, price_currency = $11, price_date = $12, \
         revision = revision + 1, document = $13, document_sha256 = $14 WHERE id = $1",
    )
    .bind(id)
    .bind(now)
    .bind(of.origin.word())
    .bind(&of.model.key)
    .bind(&of.model.name)
    .bind(&of.host)
    .bind(&of.host_name)
    .bind(of.lot.as_deref())
    .bind(serde_json::to_string(&of.doubts).unwrap_or_default())
    .bind(amount)
    .bind(currency)
    .bind(date)
    .bind(&draft.packed)
    .bind(&draft.sha256)
    .execute(&mut *step)
    .await?;
    sqlx::query("DELETE FROM figures WHERE submission = $1").bind(id).execute(&mut *step).await?;
    leave_model(&mut step, &found.model, &found.host).await?;
    add_figures(&mut step, id, found.created_ms, of).await?;
    add_model(&mut step, of).await?;
    touch_month(&mut step, &found.month, now).await?;
    step.commit().await?;
    Ok(())
}

/// Shows or hides the submission called `id`.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn set_state(db: &Db, id: &str, state: &'static str) -> Result<(), Error> {
    let mut step = db.write().await?;
    let found = changeable(&mut step, id, By::Moderator).await;
    let (mut step, found) = step.or_undo(found).await?;
    let now = clock::now_ms();
    sqlx::query("UPDATE submissions SET state = $2, changed_ms = $3 WHERE id = $1")
        .bind(id)
        .bind(state)
        .bind(now)
        .execute(&mut *step)
        .await?;
    touch_month(&mut step, &found.month, now).await?;
    step.commit().await?;
    Ok(())
}
