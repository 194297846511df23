//! New submissions on their way into the database: those that come at the same time share one transaction.
//!
//! Making a transaction durable costs the disk the same whatever is in it, and every submission changes the row of its
//! month, so that single transactions would wait for one another. So one task writes for all
//! requests: what has come while the last transaction was written goes into the next, and nobody waits for company.
//! A submission is answered after the transaction that it is in was made durable.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Row};
use tokio::sync::{mpsc, oneshot};

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::index::{Entry, Index};
use crate::secret::{self, hash};
use crate::step::Step;
use crate::store::draft::Draft;
use crate::store::rows::{Cells, Fresh, insert, parts};
use crate::store::state::State;
use crate::store::submissions::{Replaced, send_again};
use crate::store::versions::touch_month;

/// The most submissions of one transaction.
const BATCH_MAX: usize = 64;

/// How long a transaction may take: a database that keeps its connections and says nothing holds up everybody else.
const TIME_MAX: Duration = Duration::from_secs(15);

/// The milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// What a client gets for a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The submission's name.
    pub id: String,
    /// What amends and deletes it.
    pub token: String,
    /// Whether it was kept before, by the same key.
    pub was_there: bool,
    /// Whether it waits for an administrator's look.
    pub waits: bool,
}

/// Who sends a submission, and whether all may see it.
#[derive(Clone, Debug)]
pub struct Sender {
    /// What stands for the submitter.
    pub submitter: String,
    /// The state in which the submission begins.
    pub state: State,
}

/// A submission, and who waits for it.
#[derive(Debug)]
struct Waiting {
    draft: Draft,
    key: Option<String>,
    sender: Sender,
    answer: oneshot::Sender<Result<Receipt, Error>>,
}

/// Where new submissions are handed in.
#[derive(Clone, Debug)]
pub struct Keeper {
    queue: mpsc::Sender<Waiting>,
}

impl Keeper {
    /// The one of `db`, in the background of the runtime that this is called on; `secret` is the hub's. It ends
    /// when nobody can hand in any more.
    #[must_use]
    pub fn start(db: Db, index: Arc<Index>, secret: Arc<str>) -> Self {
        let (queue, mut waiting) = mpsc::channel(BATCH_MAX);
        tokio::spawn(async move {
            let mut batch = Vec::new();
            while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
                keep_all(&db, &index, &secret, std::mem::take(&mut batch)).await;
            }
        });
        Self { queue }
    }

    /// Keeps `draft`. With a `key` that was used before for the same record, nothing is added and the first receipt is
    /// given again; another label or price takes the place of the one that there was.
    ///
    /// # Errors
    /// The key was used for another record, or the database does not take it.
    pub async fn keep(
        &self,
        draft: Draft,
        key: Option<String>,
        sender: Sender,
    ) -> Result<Receipt, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.send(Waiting { draft, key, sender, answer }).await.map_err(|_| Error::Busy)?;
        answered.await.map_err(|_| Error::Internal("a submission got no answer".to_owned()))?
    }
}

/// Keeps all of `batch`, and answers each.
async fn keep_all(db: &Db, index: &Index, secret: &str, mut batch: Vec<Waiting>) {
    while !batch.is_empty() {
        // Of one key, the second finds what the first has left.
        let mut keys = HashSet::new();
        let (now, later): (Vec<Waiting>, Vec<Waiting>) = batch
            .into_iter()
            .partition(|one| one.key.as_ref().is_none_or(|key| keys.insert(key.clone())));
        batch = later;
        let kept = within(keep_together(db, index, secret, &now)).await;
        db.note_room(&kept);
        match kept {
            Err(error) if now.len() > 1 && error.is_of_one_row() => {
                for one in now {
                    let kept =
                        within(keep_together(db, index, secret, std::slice::from_ref(&one))).await;
                    let receipt = kept.and_then(|mut all| all.pop().unwrap_or(Err(Error::Busy)));
                    // Who has gone needs no answer.
                    let _ = one.answer.send(receipt);
                }
            }
            Err(error) => {
                for one in now {
                    let _ = one.answer.send(Err(error.again()));
                }
            }
            Ok(receipts) => {
                for (one, receipt) in now.into_iter().zip(receipts) {
                    let _ = one.answer.send(receipt);
                }
            }
        }
    }
}

async fn within<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(TIME_MAX, work).await.map_err(|_| Error::Late)?
}

/// Keeps all of `batch` in one transaction, or none; no two of them have one key.
async fn keep_together(
    db: &Db,
    index: &Index,
    secret: &str,
    batch: &[Waiting],
) -> Result<Vec<Result<Receipt, Error>>, Error> {
    let mut step = db.change().await?;
    let written = write(&mut step, secret, batch).await;
    let (step, Written { receipts, entries, replaced }) = step.or_undo(written).await?;
    if entries.is_empty() && replaced.is_empty() {
        step.rollback().await?;
        return Ok(receipts);
    }
    let (step, ()) = step.or_undo(db.check_room()).await?;
    step.commit().await?;
    index.add(entries.into_iter().flatten());
    replaced.into_iter().for_each(|one| one.tell(index));
    Ok(receipts)
}

/// What was written of a batch.
#[derive(Default)]
struct Written {
    /// What each gets.
    receipts: Vec<Result<Receipt, Error>>,
    /// What is new; none of what does not count.
    entries: Vec<Option<Entry>>,
    /// What was sent again with another label or price.
    replaced: Vec<Replaced>,
}

/// A submission's name and the hashes that it is kept under.
struct Names {
    id: String,
    token_hash: String,
    key_hash: Option<String>,
}

async fn write(step: &mut Step, secret: &str, batch: &[Waiting]) -> Result<Written, Error> {
    let key_hash = |one: &Waiting| Some(secret::keyed(secret, &["key", one.key.as_deref()?]));
    let key_hashes: Vec<Option<String>> = batch.iter().map(key_hash).collect();
    let earlier = earlier(step, key_hashes.iter().flatten()).await?;
    let now = clock::now_ms();
    let (mut written, mut fresh) = (Written::default(), Vec::new());
    for (one, key_hash) in batch.iter().zip(key_hashes) {
        let key = one.key.as_deref().unwrap_or_default();
        let token_of = |id: &str| secret::keyed(secret, &["token", id, key]);
        let receipt = match key_hash.as_ref().and_then(|key_hash| earlier.get(key_hash)) {
            Some(it) => match it.again(step, &one.draft).await {
                Ok(replaced) => {
                    written.replaced.extend(replaced);
                    Ok(Receipt {
                        id: it.id.clone(),
                        token: token_of(&it.id),
                        was_there: true,
                        waits: it.state == State::Waiting,
                    })
                }
                // The others of the batch go on.
                Err(error @ (Error::KeyReused | Error::Unreadable(..))) => Err(error),
                Err(other) => return Err(other),
            },
            None => {
                let id = secret::name_of_day(now / DAY_MS)?;
                let token = if key_hash.is_some() { token_of(&id) } else { secret::token()? };
                let token_hash = hash(&token);
                fresh.push((Names { id: id.clone(), token_hash, key_hash }, one));
                Ok(Receipt {
                    id,
                    token,
                    was_there: false,
                    waits: one.sender.state == State::Waiting,
                })
            }
        };
        written.receipts.push(receipt);
    }
    let rows: Vec<Fresh<'_>> = fresh
        .iter()
        .map(|(names, one)| Fresh {
            id: &names.id,
            created_ms: now,
            draft: &one.draft,
            token_hash: &names.token_hash,
            key_hash: names.key_hash.as_deref(),
            submitter: Some(&one.sender.submitter),
            state: one.sender.state,
        })
        .collect();
    if rows.is_empty() {
        return Ok(written);
    }
    let entry = |row: &Fresh<'_>| row.state.counts().then(|| Entry::of_fresh(row));
    written.entries = rows.iter().map(entry).collect();
    if add(step, &rows).await? { Ok(written) } else { Err(Error::Busy) }
}

/// A submission that was kept before.
struct Earlier {
    id: String,
    sent_sha256: String,
    state: State,
}

impl Earlier {
    /// What is in its place now that `draft` was sent with its key; nothing where that is what was sent last.
    async fn again(&self, step: &mut Step, draft: &Draft) -> Result<Option<Replaced>, Error> {
        if self.sent_sha256 == draft.sha256 {
            return Ok(None);
        }
        send_again(step, &self.id, draft).await.map(Some)
    }
}

/// What was sent with each of `key_hashes` before.
async fn earlier(
    step: &mut Step,
    key_hashes: impl Iterator<Item = &String>,
) -> Result<HashMap<String, Earlier>, Error> {
    let all: Vec<&String> = key_hashes.collect();
    let mut found = HashMap::new();
    for part in parts(&all) {
        let places: Vec<String> = (1..=part.len()).map(|at| format!("${at}")).collect();
        let text = format!(
            "SELECT key_hash, id, sent_sha256, state FROM submissions WHERE key_hash IN ({})",
            places.join(", ")
        );
        let mut asked = sqlx::query(AssertSqlSafe(text));
        for key_hash in part {
            asked = asked.bind((*key_hash).clone());
        }
        for row in asked.fetch_all(&mut **step).await? {
            let of = Earlier {
                id: row.try_get("id")?,
                sent_sha256: row.try_get("sent_sha256")?,
                state: State::of(row.try_get("state")?),
            };
            found.insert(row.try_get("key_hash")?, of);
        }
    }
    Ok(found)
}

/// Writes `rows`. `false` where a name or a key is there already: then nothing may
/// be made durable.
///
/// # Errors
/// The database does not take them.
pub async fn add(step: &mut Step, rows: &[Fresh<'_>]) -> Result<bool, Error> {
    let cells: Vec<Cells<'_>> = rows.iter().map(Fresh::submission).collect();
    let added = insert(step, "submissions", &cells, "ON CONFLICT DO NOTHING").await?;
    if usize::try_from(added) != Ok(rows.len()) {
        return Ok(false);
    }
    let months: HashSet<String> = rows.iter().map(|row| clock::month(row.created_ms)).collect();
    for month in months {
        touch_month(step, &month, clock::now_ms()).await?;
    }
    Ok(true)
}
