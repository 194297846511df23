//! Submissions: read, amended, deleted, hidden. Each change is one transaction.

use cardproof_record::Record;
use cardproof_submission::BESIDE;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::index::{Entry, Index};
use crate::pack;
use crate::secret::{self, hash, is_same};
use crate::step::Step;
use crate::store::draft::Draft;
use crate::store::keep::add;
use crate::store::results::text_of;
use crate::store::rows::Fresh;
use crate::store::state::State;
use crate::store::versions::touch_month;

/// A submission as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name.
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// When it was last amended.
    pub changed_ms: i64,
    /// Who may see it.
    pub state: State,
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
    /// It cannot be read.
    pub fn value(&self) -> Result<Value, Error> {
        serde_json::from_str(&self.document).map_err(|error| pack::unreadable(&self.id, &error))
    }

    /// The record in it, under the submission's name.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn record(&self) -> Result<Record, Error> {
        pack::record(&self.document, &self.id)
    }

    fn of(row: &AnyRow) -> Result<Self, Error> {
        let id: String = row.try_get("id")?;
        let packed: &[u8] = row.try_get("document")?;
        let document = pack::document(packed, &id)?;
        let doubts: String = row.try_get("doubts")?;
        Ok(Self {
            id,
            created_ms: row.try_get("created_ms")?,
            changed_ms: row.try_get("changed_ms")?,
            state: State::of(row.try_get("state")?),
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

/// Keeps documents that the project publishes itself, under fixed names, unless they are there or were deleted:
/// all or none. Returns how many were added.
///
/// # Errors
/// The database does not take them.
pub async fn seed(db: &Db, drafts: &[(String, Draft)]) -> Result<usize, Error> {
    let mut step = db.change().await?;
    let mut added = 0;
    for (id, draft) in drafts {
        let found = sqlx::query(
            "SELECT id FROM submissions WHERE id = $1 UNION ALL SELECT id FROM tombstones WHERE id = $1",
        )
        .bind(id.clone())
        .fetch_optional(&mut *step)
        .await?;
        if found.is_none() {
            let token_hash = hash(&secret::token()?);
            let created_ms = clock::now_ms();
            let (token_hash, state) = (token_hash.as_str(), State::Public);
            let row =
                Fresh { id, created_ms, draft, token_hash, key_hash: None, submitter: None, state };
            added += usize::from(add(&mut step, &[row]).await?);
        }
    }
    step.commit().await?;
    Ok(added)
}

/// The submission called `id`; a hidden one is only found with `sees_hidden`.
///
/// # Errors
/// There is none, it was deleted, it cannot be read, or the database does not answer.
pub async fn find(db: &Db, id: &str, sees_hidden: bool) -> Result<Kept, Error> {
    let row = sqlx::query("SELECT * FROM submissions WHERE id = $1")
        .bind(id)
        .fetch_optional(db.readers())
        .await?;
    Kept::of(&shown(db, id, row, sees_hidden).await?)
}

/// Whether there is a submission called `id`; its document may be one that cannot be read.
///
/// # Errors
/// There is none, it was deleted, or the database does not answer.
pub async fn check(db: &Db, id: &str, sees_hidden: bool) -> Result<(), Error> {
    let row = sqlx::query("SELECT state FROM submissions WHERE id = $1")
        .bind(id)
        .fetch_optional(db.readers())
        .await?;
    shown(db, id, row, sees_hidden).await.map(|_| ())
}

/// The row of the submission `id` where it is there and may be seen.
async fn shown(db: &Db, id: &str, row: Option<AnyRow>, sees_hidden: bool) -> Result<AnyRow, Error> {
    if let Some(row) = row {
        let is_hidden = State::of(row.try_get("state")?) == State::Hidden;
        return if sees_hidden || !is_hidden { Ok(row) } else { Err(Error::NotFound) };
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
    /// Who has sent it with an idempotency key and has sent that key again.
    Key,
}

/// A submission before it is changed.
struct Changeable {
    model: String,
    month: String,
    state: State,
}

/// The submission `id`, if it may be changed by `by`.
async fn changeable(step: &mut Step, id: &str, by: By<'_>) -> Result<Changeable, Error> {
    let row = sqlx::query("SELECT model, month, state, token_hash FROM submissions WHERE id = $1")
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
        model: row.try_get("model")?,
        month: row.try_get("month")?,
        state: State::of(row.try_get("state")?),
    })
}

/// Whether `by` may change the submission `id`.
///
/// # Errors
/// There is none, the token is wrong, or the database does not answer.
pub async fn check_right(db: &Db, id: &str, by: By<'_>) -> Result<(), Error> {
    let mut step = db.snapshot().await?;
    let found = changeable(&mut step, id, by).await;
    step.or_undo(found).await?.0.rollback().await
}

/// What the submission `id` says, as it is in the database.
async fn entry(step: &mut Step, id: &str) -> Result<Entry, Error> {
    let text = format!("SELECT {} FROM submissions WHERE id = $1", Entry::COLUMNS);
    Entry::of_row(&sqlx::query(AssertSqlSafe(text)).bind(id).fetch_one(&mut **step).await?)
}

/// Deletes the submission called `id`; nothing of it stays but its name and the hour.
///
/// # Errors
/// There is none, the token is wrong, or the database does not answer.
pub async fn delete(db: &Db, index: &Index, id: &str, by: By<'_>) -> Result<(), Error> {
    let mut step = db.change().await?;
    let found = changeable(&mut step, id, by).await;
    let (mut step, found) = step.or_undo(found).await?;
    let now = clock::now_ms();
    sqlx::query("DELETE FROM submissions WHERE id = $1").bind(id).execute(&mut *step).await?;
    sqlx::query("INSERT INTO tombstones (id, deleted_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(id)
        .bind(now)
        .execute(&mut *step)
        .await?;
    touch_month(&mut step, &found.month, now).await?;
    step.commit().await?;
    index.remove(&found.model, id);
    Ok(())
}

/// A submission with another document in its place, for the index.
#[derive(Debug)]
pub(super) struct Replaced {
    id: String,
    model_before: String,
    entry: Option<Entry>,
}

impl Replaced {
    /// Tells `index`, once all of it is durable.
    pub(super) fn tell(self, index: &Index) {
        index.remove(&self.model_before, &self.id);
        index.add(self.entry);
    }
}

/// Puts `draft` in the place of the submission called `id`, whose address and token stay. What an administrator has
/// looked at is another document then.
///
/// # Errors
/// As [`delete`].
pub async fn amend(
    db: &Db,
    index: &Index,
    id: &str,
    by: By<'_>,
    draft: &Draft,
) -> Result<(), Error> {
    db.check_room()?;
    let mut step = db.change().await?;
    let replaced = replace(&mut step, id, by, draft).await;
    let (step, replaced) = step.or_undo(replaced).await?;
    step.commit().await?;
    replaced.tell(index);
    Ok(())
}

/// Puts `draft`, which was sent with the key of the submission called `id`, in its place.
///
/// # Errors
/// It is not of the same record, which alone the key stands for, or as [`delete`].
pub(super) async fn send_again(
    step: &mut Step,
    id: &str,
    draft: &Draft,
) -> Result<Replaced, Error> {
    let row = sqlx::query("SELECT document FROM submissions WHERE id = $1")
        .bind(id)
        .fetch_one(&mut **step)
        .await?;
    let [kept, sent] = [row.try_get("document")?, &draft.packed[..]]
        .map(|packed: &[u8]| measured(&pack::document(packed, id)?, id));
    if kept? != sent? {
        return Err(Error::KeyReused);
    }
    let replaced = replace(step, id, By::Key, draft).await?;
    sqlx::query("UPDATE submissions SET sent_sha256 = $2 WHERE id = $1")
        .bind(id)
        .bind(&draft.sha256)
        .execute(&mut **step)
        .await?;
    Ok(replaced)
}

/// What was measured, in the document `text` of the submission `id`: all of it but what the submitter says beside it.
fn measured(text: &str, id: &str) -> Result<Value, Error> {
    let mut value: Value =
        serde_json::from_str(text).map_err(|error| pack::unreadable(id, &error))?;
    if let Some(fields) = value.as_object_mut() {
        BESIDE.iter().for_each(|name| _ = fields.remove(*name));
    }
    Ok(value)
}

async fn replace(step: &mut Step, id: &str, by: By<'_>, draft: &Draft) -> Result<Replaced, Error> {
    let found = changeable(step, id, by).await?;
    let now = clock::now_ms();
    let of = &draft.summary;
    let state = if found.state == State::Approved { State::Public } else { found.state };
    let (amount, currency, date) = draft
        .price
        .clone()
        .map_or((None, None, None), |price| (Some(price.0), Some(price.1), Some(price.2)));
    sqlx::query(
        "UPDATE submissions SET changed_ms = $2, origin = $3, model = $4, title = $5, host = $6, host_name = $7, \
         lot = $8, doubts = $9, price_hundredths = $10, price_currency = $11, price_date = $12, \
         revision = revision + 1, document = $13, document_sha256 = $14, card = $15, basis = $16, figures = $17, \
         state = $18, verdicts = $19 WHERE id = $1",
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
    .bind(of.model.to_json())
    .bind(&of.basis)
    .bind(text_of(&of.figures))
    .bind(state.word())
    .bind(draft.verdicts.to_json())
    .execute(&mut **step)
    .await?;
    touch_month(step, &found.month, now).await?;
    let entry = entry(step, id).await?;
    Ok(Replaced {
        id: id.to_owned(),
        model_before: found.model,
        entry: state.counts().then_some(entry),
    })
}

/// Gives the submission called `id` another state. One that is hidden or waits counts nowhere.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn set_state(db: &Db, index: &Index, id: &str, state: State) -> Result<(), Error> {
    let mut step = db.change().await?;
    let changed = change_state(&mut step, id, state).await;
    let (step, (model, entry)) = step.or_undo(changed).await?;
    step.commit().await?;
    index.remove(&model, id);
    index.add(state.counts().then_some(entry));
    Ok(())
}

/// The submission's model and what it says, after its state was changed.
async fn change_state(step: &mut Step, id: &str, state: State) -> Result<(String, Entry), Error> {
    let found = changeable(step, id, By::Moderator).await?;
    let now = clock::now_ms();
    sqlx::query("UPDATE submissions SET state = $2, changed_ms = $3, reports = 0 WHERE id = $1")
        .bind(id)
        .bind(state.word())
        .bind(now)
        .execute(&mut **step)
        .await?;
    if found.state.counts() != state.counts() {
        touch_month(step, &found.month, now).await?;
    }
    Ok((found.model, entry(step, id).await?))
}
