//! Finding: lists, and the figures of a card model. Every list has an end.

use std::fmt;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::db::Db;
use crate::error::Error;
use crate::store::results::{NOT_HIDDEN, figures_of};
use crate::summary::Figure;

/// The most entries of a list.
pub const LIST_MAX: i64 = 50;

/// The most submissions of one model whose figures are drawn, the latest.
pub const RESULTS_MAX: i64 = 250;

/// A card model in a list.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ModelRow {
    /// Its name in addresses.
    pub model: String,
    /// What people call it.
    pub name: String,
    /// Its maker.
    pub maker: Option<String>,
    /// The product name in its registers.
    pub product: Option<String>,
    /// The manufacturer's number.
    pub manufacturer_id: Option<String>,
    /// The letters of the OEM.
    pub oem_id: Option<String>,
    /// Its revisions.
    pub revision: Option<String>,
    /// How it is attached.
    pub transport: Option<String>,
    /// Its capacity.
    pub capacity_bytes: Option<i64>,
    /// How many submissions there are.
    pub submissions: i64,
}

impl ModelRow {
    pub(super) fn of(row: &AnyRow) -> Result<Self, Error> {
        Ok(Self {
            model: row.try_get("model")?,
            name: row.try_get("name")?,
            maker: row.try_get("maker")?,
            product: row.try_get("product")?,
            manufacturer_id: row.try_get("manufacturer_id")?,
            oem_id: row.try_get("oem_id")?,
            revision: row.try_get("revision")?,
            transport: row.try_get("transport")?,
            capacity_bytes: row.try_get("capacity_bytes")?,
            submissions: row.try_get("submissions")?,
        })
    }
}

/// A submission in a list.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Entry {
    /// Its name.
    pub id: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// Where it comes from.
    pub origin: String,
    /// The card model.
    pub model: String,
    /// The card in words.
    pub title: String,
    /// The host's name in addresses.
    pub host: String,
    /// The host in words.
    pub host_name: String,
    /// When the card was made.
    pub lot: Option<String>,
    /// Whether there is any doubt.
    pub has_doubts: bool,
}

impl Entry {
    /// The columns that an entry is made of.
    const COLUMNS: &'static str = "id, created_ms, origin, model, title, host, host_name, lot, \
        CAST(CASE WHEN doubts = '[]' THEN 0 ELSE 1 END AS BIGINT) AS has_doubts";

    fn of(row: &AnyRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.try_get("id")?,
            created_ms: row.try_get("created_ms")?,
            origin: row.try_get("origin")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
            host: row.try_get("host")?,
            host_name: row.try_get("host_name")?,
            lot: row.try_get("lot")?,
            has_doubts: row.try_get::<i64, _>("has_doubts")? != 0,
        })
    }
}

/// The figure of one submission.
#[derive(Clone, Debug)]
pub struct FigureRow {
    /// The submission.
    pub submission: String,
    /// The host's name in addresses.
    pub host: String,
    /// How it was measured.
    pub basis: String,
    /// The figure.
    pub figure: Figure,
}

/// What a list is narrowed to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Only<'a> {
    /// Submissions of this model.
    pub model: Option<&'a str>,
    /// Submissions on this host.
    pub host: Option<&'a str>,
}

/// The model called `key`.
///
/// # Errors
/// There is none, or the database does not answer.
pub async fn model(db: &Db, key: &str) -> Result<ModelRow, Error> {
    let row = sqlx::query("SELECT * FROM models WHERE model = $1")
        .bind(key)
        .fetch_optional(db.readers())
        .await?;
    ModelRow::of(&row.ok_or(Error::NotFound)?)
}

/// The models with the most submissions.
///
/// # Errors
/// The database does not answer.
pub async fn models(db: &Db) -> Result<Vec<ModelRow>, Error> {
    let rows = sqlx::query("SELECT * FROM models ORDER BY submissions DESC, name, model LIMIT 200")
        .fetch_all(db.readers())
        .await?;
    rows.iter().map(ModelRow::of).collect()
}

/// The submission before which a list goes on. Those of one transaction have one time, so that the time alone would
/// leave some out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    created_ms: i64,
    id: String,
}

impl Before {
    /// The end of a list's first page, where another may follow.
    #[must_use]
    pub fn end_of(list: &[Entry]) -> Option<Self> {
        let is_full = i64::try_from(list.len()).is_ok_and(|count| count == LIST_MAX);
        let last = list.last().filter(|_| is_full)?;
        Some(Self { created_ms: last.created_ms, id: last.id.clone() })
    }

    /// The one that `text` names, as it is written in an address; a time alone will do.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let (time, id) = text.split_once('-').unwrap_or((text, ""));
        Some(Self { created_ms: time.parse().ok()?, id: id.to_owned() })
    }
}

impl Default for Before {
    /// The end of time.
    fn default() -> Self {
        Self { created_ms: i64::MAX, id: String::new() }
    }
}

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.created_ms, self.id)
    }
}

/// The public submissions before `before`, the latest first, those of one time by name.
///
/// # Errors
/// The database does not answer.
pub async fn page(db: &Db, before: &Before) -> Result<Vec<Entry>, Error> {
    let text = format!(
        "SELECT {} FROM submissions WHERE state = 'public' AND created_ms <= $1 AND (created_ms < $1 OR id < $2) \
         ORDER BY created_ms DESC, id DESC LIMIT {LIST_MAX}",
        Entry::COLUMNS
    );
    let asked = sqlx::query(AssertSqlSafe(text)).bind(before.created_ms).bind(before.id.clone());
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}

/// The latest public submissions of `only`.
///
/// # Errors
/// The database does not answer.
pub async fn latest(db: &Db, only: Only<'_>) -> Result<Vec<Entry>, Error> {
    let names: Vec<(&str, &str)> = match only {
        Only { model: None, host: None } => return page(db, &Before::default()).await,
        Only { model: Some(model), host: None } => return latest_of_model(db, model).await,
        Only { model, host } => [model.map(|it| ("model", it)), host.map(|it| ("host", it))]
            .into_iter()
            .flatten()
            .collect(),
    };
    let of: Vec<String> =
        names.iter().zip(1..).map(|((column, _), at)| format!("{column} = ${at} AND")).collect();
    // By an index of these and the time. With names as well PostgreSQL would sort all that there are.
    let text = format!(
        "SELECT {} FROM submissions WHERE {} state = 'public' ORDER BY created_ms DESC LIMIT {LIST_MAX}",
        Entry::COLUMNS,
        of.join(" ")
    );
    let mut asked = sqlx::query(AssertSqlSafe(text));
    for (_, name) in names {
        asked = asked.bind(name.to_owned());
    }
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}

/// The latest public submissions of `model`: of the rows that hold its figures, which a page of the model reads
/// anyway and which lie together.
async fn latest_of_model(db: &Db, model: &str) -> Result<Vec<Entry>, Error> {
    let text = format!(
        "SELECT r.submission AS id, r.created_ms, r.origin, r.model, COALESCE(m.name, r.model) AS title, r.host, \
         COALESCE(h.host_name, r.host) AS host_name, r.lot, r.has_doubts FROM \
         (SELECT * FROM results WHERE model = $1 AND {NOT_HIDDEN} \
         ORDER BY created_ms DESC, submission DESC LIMIT {LIST_MAX}) r LEFT JOIN models m ON m.model = r.model \
         LEFT JOIN model_hosts h ON h.model = r.model AND h.host = r.host \
         ORDER BY r.created_ms DESC, r.submission DESC"
    );
    let asked = sqlx::query(AssertSqlSafe(text)).bind(model.to_owned());
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}

/// The figures of `model`, of its latest public submissions; with a `host`, of its latest on that host.
///
/// # Errors
/// The database does not answer.
pub async fn figures(db: &Db, model: &str, host: Option<&str>) -> Result<Vec<FigureRow>, Error> {
    let text = match host {
        None => format!(
            "SELECT submission, host, basis, figures FROM results WHERE model = $1 AND {NOT_HIDDEN} \
             ORDER BY created_ms DESC LIMIT {RESULTS_MAX}"
        ),
        // Submissions have an index by model and host; `results`, which every submission writes too, needs none.
        Some(_) => format!(
            "SELECT r.submission, r.host, r.basis, r.figures FROM (SELECT id, model, created_ms FROM submissions \
             WHERE model = $1 AND host = $2 AND state = 'public' ORDER BY created_ms DESC LIMIT {RESULTS_MAX}) s \
             JOIN results r ON r.model = s.model AND r.created_ms = s.created_ms AND r.submission = s.id \
             ORDER BY s.created_ms DESC"
        ),
    };
    let mut asked = sqlx::query(AssertSqlSafe(text)).bind(model.to_owned());
    if let Some(host) = host {
        asked = asked.bind(host.to_owned());
    }
    let rows = asked.fetch_all(db.readers()).await?;
    let mut all = Vec::new();
    for row in &rows {
        let (submission, host): (String, String) =
            (row.try_get("submission")?, row.try_get("host")?);
        let basis: String = row.try_get("basis")?;
        let figures: &str = row.try_get("figures")?;
        all.extend(figures_of(figures)?.into_iter().map(|figure| FigureRow {
            submission: submission.clone(),
            host: host.clone(),
            basis: basis.clone(),
            figure,
        }));
    }
    Ok(all)
}

/// A name and how many submissions go by it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Counted {
    /// The name in addresses, or the basis.
    pub key: String,
    /// The name in words.
    pub name: String,
    /// How many.
    pub count: i64,
}

impl Counted {
    fn of(row: &AnyRow) -> Result<Self, Error> {
        Ok(Self {
            key: row.try_get("key")?,
            name: row.try_get("name")?,
            count: row.try_get("count")?,
        })
    }
}

async fn counted(
    db: &Db,
    text: &'static str,
    argument: Option<&str>,
) -> Result<Vec<Counted>, Error> {
    let mut asked = sqlx::query(text);
    if let Some(argument) = argument {
        asked = asked.bind(argument.to_owned());
    }
    asked.fetch_all(db.readers()).await?.iter().map(Counted::of).collect()
}

/// The hosts with the most submissions.
///
/// # Errors
/// The database does not answer.
pub async fn hosts(db: &Db) -> Result<Vec<Counted>, Error> {
    let text = "SELECT host AS key, MIN(host_name) AS name, CAST(SUM(submissions) AS BIGINT) AS count \
                FROM model_hosts GROUP BY host ORDER BY SUM(submissions) DESC, host LIMIT 200";
    counted(db, text, None).await
}

/// The hosts on which `model` was measured.
///
/// # Errors
/// The database does not answer.
pub async fn hosts_of(db: &Db, model: &str) -> Result<Vec<Counted>, Error> {
    let text = "SELECT host AS key, host_name AS name, submissions AS count FROM model_hosts \
                WHERE model = $1 ORDER BY submissions DESC, host LIMIT 200";
    counted(db, text, Some(model)).await
}

/// The latest submissions among which ways of measuring are looked for.
const BASES_OF: i64 = 1_000;

/// The ways of measuring of the latest public submissions with a figure that is in no doubt, by the number of models that were measured so.
///
/// # Errors
/// The database does not answer.
pub async fn bases(db: &Db) -> Result<Vec<Counted>, Error> {
    let text = format!(
        "SELECT basis AS key, basis AS name, COUNT(DISTINCT model) AS count FROM \
         (SELECT basis, model FROM results WHERE sound > 0 AND {NOT_HIDDEN} ORDER BY created_ms DESC LIMIT {BASES_OF}) \
         latest GROUP BY basis ORDER BY COUNT(DISTINCT model) DESC, basis LIMIT 50"
    );
    let rows = sqlx::query(AssertSqlSafe(text)).fetch_all(db.readers()).await?;
    rows.iter().map(Counted::of).collect()
}

/// A submission that takes part in a ranking.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The submission.
    pub id: String,
    /// The model.
    pub model: String,
    /// The model in words.
    pub title: String,
}

/// The latest submissions of a basis among which candidates are looked for.
const CANDIDATES_OF: i64 = 500;

/// The latest public submissions measured by `basis`, at most `per_model` of each of at most `models` models.
///
/// # Errors
/// The database does not answer.
pub async fn candidates(
    db: &Db,
    basis: &str,
    models: usize,
    per_model: usize,
) -> Result<Vec<Candidate>, Error> {
    let text = format!(
        "SELECT r.submission AS id, r.model, COALESCE(m.name, r.model) AS title FROM \
         (SELECT submission, model, created_ms FROM results WHERE basis = $1 AND sound > 0 AND {NOT_HIDDEN} \
         ORDER BY created_ms DESC LIMIT {CANDIDATES_OF}) r LEFT JOIN models m ON m.model = r.model \
         ORDER BY r.created_ms DESC"
    );
    let asked = sqlx::query(AssertSqlSafe(text)).bind(basis.to_owned());
    let rows = asked.fetch_all(db.readers()).await?;
    let mut counts = std::collections::HashMap::<String, usize>::new();
    let mut found: Vec<Candidate> = Vec::new();
    for row in &rows {
        let one = Candidate {
            id: row.try_get("id")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
        };
        if !counts.contains_key(&one.model) && counts.len() == models {
            continue;
        }
        let count = counts.entry(one.model.clone()).or_default();
        *count += 1;
        if *count <= per_model {
            found.push(one);
        }
    }
    Ok(found)
}

/// A price of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct DatedPrice {
    /// The amount.
    pub amount: f64,
    /// The currency.
    pub currency: String,
    /// The day.
    pub date: String,
}

/// The latest price of `model`, by its own date.
///
/// # Errors
/// The database does not answer.
pub async fn price(db: &Db, model: &str) -> Result<Option<DatedPrice>, Error> {
    let row = sqlx::query(
        "SELECT price_hundredths, price_currency, price_date FROM submissions WHERE model = $1 AND state = 'public' \
         AND price_hundredths IS NOT NULL ORDER BY price_date DESC, created_ms DESC LIMIT 1",
    )
    .bind(model)
    .fetch_optional(db.readers())
    .await?;
    let of = |row: AnyRow| {
        Ok(DatedPrice {
            amount: row.try_get::<i64, _>("price_hundredths")? as f64 / 100.0,
            currency: row.try_get("price_currency")?,
            date: row.try_get("price_date")?,
        })
    };
    row.map(of).transpose()
}

/// How many public submissions and models there are.
///
/// # Errors
/// The database does not answer.
pub async fn totals(db: &Db) -> Result<(i64, i64), Error> {
    let row = sqlx::query("SELECT COALESCE(CAST(SUM(submissions) AS BIGINT), 0) AS records, COUNT(*) AS models FROM models")
        .fetch_one(db.readers())
        .await?;
    Ok((row.try_get("records")?, row.try_get("models")?))
}
