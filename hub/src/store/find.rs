//! Finding: search that forgives typing, lists, and the figures of a card model. Every list has an end.

use std::collections::BTreeSet;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::db::Db;
use crate::error::Error;

/// The most trigrams of a query that are looked for.
const GRAMS_MAX: usize = 48;

/// The most entries of a list.
pub const LIST_MAX: i64 = 50;

/// The most figures of one model that are drawn, of the latest submissions.
pub const FIGURES_MAX: i64 = 1000;

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
    fn of(row: &AnyRow) -> Result<Self, Error> {
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
    const COLUMNS: &'static str =
        "id, created_ms, origin, model, title, host, host_name, lot, doubts";

    fn of(row: &AnyRow) -> Result<Self, Error> {
        let doubts: String = row.try_get("doubts")?;
        Ok(Self {
            id: row.try_get("id")?,
            created_ms: row.try_get("created_ms")?,
            origin: row.try_get("origin")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
            host: row.try_get("host")?,
            host_name: row.try_get("host_name")?,
            lot: row.try_get("lot")?,
            has_doubts: doubts != "[]",
        })
    }
}

/// The figure of one submission.
#[derive(Clone, Debug)]
pub struct FigureRow {
    /// The submission.
    pub submission: String,
    /// The quantity.
    pub quantity: String,
    /// The host's name in addresses.
    pub host: String,
    /// How it was measured.
    pub basis: String,
    /// The rate.
    pub rate: f64,
    /// Its interval's lower end.
    pub low: Option<f64>,
    /// Its interval's upper end.
    pub high: Option<f64>,
    /// Why nothing may be built on it.
    pub doubt: Option<String>,
}

/// What a list is narrowed to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Only<'a> {
    /// Submissions of this model.
    pub model: Option<&'a str>,
    /// Submissions on this host.
    pub host: Option<&'a str>,
}

/// The trigrams of `text`: of each word in small letters, with blanks at its ends.
#[must_use]
pub fn grams(text: &str) -> BTreeSet<String> {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '+' { c } else { ' ' }).collect();
    let mut grams = BTreeSet::new();
    for word in plain.to_lowercase().split_whitespace() {
        let padded: Vec<char> = format!("  {word} ").chars().collect();
        grams.extend(padded.windows(3).map(|three| three.iter().collect::<String>()));
    }
    grams
}

/// The models whose names are like `query`, the likest first; a letter more, less or other does no harm.
///
/// # Errors
/// The database does not answer.
pub async fn search(db: &Db, query: &str) -> Result<Vec<ModelRow>, Error> {
    let grams: Vec<String> = grams(query).into_iter().take(GRAMS_MAX).collect();
    if grams.is_empty() {
        return Ok(Vec::new());
    }
    let places: Vec<String> = (1..=grams.len()).map(|at| format!("${at}")).collect();
    // Only the numbers of the places are put into the text. A third of the query's trigrams must be found;
    // among those, names with few other trigrams are liker.
    let text = format!(
        "SELECT m.* FROM models m JOIN (SELECT model, COUNT(*) AS hits FROM trigrams WHERE gram IN ({}) \
         GROUP BY model) t ON t.model = m.model WHERE t.hits * 3 >= {} \
         ORDER BY t.hits * 1000 / ({} + m.grams - t.hits) DESC, m.submissions DESC, m.model LIMIT {LIST_MAX}",
        places.join(", "),
        grams.len(),
        grams.len()
    );
    let mut asked = sqlx::query(AssertSqlSafe(text));
    for gram in grams {
        asked = asked.bind(gram);
    }
    asked.fetch_all(db.readers()).await?.iter().map(ModelRow::of).collect()
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

/// The latest public submissions of `only`, before `before_ms`.
///
/// # Errors
/// The database does not answer.
pub async fn latest(db: &Db, only: Only<'_>, before_ms: i64) -> Result<Vec<Entry>, Error> {
    let mut text = format!(
        "SELECT {} FROM submissions WHERE state = 'public' AND created_ms < $1",
        Entry::COLUMNS
    );
    let mut names = Vec::new();
    for (column, name) in [("model", only.model), ("host", only.host)] {
        if let Some(name) = name {
            names.push(name.to_owned());
            text += &format!(" AND {column} = ${}", names.len() + 1);
        }
    }
    text += &format!(" ORDER BY created_ms DESC LIMIT {LIST_MAX}");
    let mut asked = sqlx::query(AssertSqlSafe(text)).bind(before_ms);
    for name in names {
        asked = asked.bind(name);
    }
    asked.fetch_all(db.readers()).await?.iter().map(Entry::of).collect()
}

/// The figures of `model`, of public submissions, the latest of them.
///
/// # Errors
/// The database does not answer.
pub async fn figures(db: &Db, model: &str) -> Result<Vec<FigureRow>, Error> {
    let rows = sqlx::query(
        "SELECT f.submission, f.quantity, f.host, f.basis, f.rate, f.low, f.high, f.doubt FROM figures f \
         WHERE f.model = $1 AND NOT EXISTS \
         (SELECT 1 FROM submissions s WHERE s.state <> 'public' AND s.id = f.submission) \
         ORDER BY f.created_ms DESC LIMIT $2",
    )
    .bind(model)
    .bind(FIGURES_MAX)
    .fetch_all(db.readers())
    .await?;
    rows.iter()
        .map(|row| {
            Ok(FigureRow {
                submission: row.try_get("submission")?,
                quantity: row.try_get("quantity")?,
                host: row.try_get("host")?,
                basis: row.try_get("basis")?,
                rate: row.try_get("rate")?,
                low: row.try_get("low")?,
                high: row.try_get("high")?,
                doubt: row.try_get("doubt")?,
            })
        })
        .collect()
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

/// The latest figures among which ways of measuring are looked for.
const BASES_OF: i64 = 5_000;

/// The ways of measuring of the latest figures, by the number of models that were measured so.
///
/// # Errors
/// The database does not answer.
pub async fn bases(db: &Db) -> Result<Vec<Counted>, Error> {
    let text = "SELECT basis AS key, basis AS name, COUNT(DISTINCT model) AS count FROM \
                (SELECT basis, model FROM figures WHERE doubt IS NULL ORDER BY created_ms DESC LIMIT $1) latest \
                GROUP BY basis ORDER BY COUNT(DISTINCT model) DESC, basis LIMIT 50";
    let rows = sqlx::query(text).bind(BASES_OF).fetch_all(db.readers()).await?;
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

/// The latest figures of a basis among which candidates are looked for.
const CANDIDATES_OF: i64 = 2_000;

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
    let rows = sqlx::query(
        "SELECT s.id, s.model, s.title FROM figures f JOIN submissions s ON s.id = f.submission \
         WHERE f.basis = $1 AND f.doubt IS NULL AND s.state = 'public' \
         ORDER BY f.created_ms DESC LIMIT $2",
    )
    .bind(basis)
    .bind(CANDIDATES_OF)
    .fetch_all(db.readers())
    .await?;
    let mut counts = std::collections::HashMap::<String, usize>::new();
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in &rows {
        let one = Candidate {
            id: row.try_get("id")?,
            model: row.try_get("model")?,
            title: row.try_get("title")?,
        };
        // A submission comes with each of its figures.
        let is_seen = !seen.insert(one.id.clone());
        if is_seen || (!counts.contains_key(&one.model) && counts.len() == models) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_leaves_most_trigrams() {
        let (right, wrong) = (grams("SanDisk Extreme"), grams("sandsik extrem"));
        let shared = right.intersection(&wrong).count();
        assert!(shared * 3 >= wrong.len(), "{shared} of {}", wrong.len());
        assert!(grams("  --- ").is_empty());
        assert!(grams("EVO+").contains("vo+"));
    }
}
