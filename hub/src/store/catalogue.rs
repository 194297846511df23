//! Search that forgives typing, among the names of all models, in memory.
//!
//! There are some thousand card models however many records there are, and three letters of a name may be those of
//! half of them: a database would read thousands of rows for one search. The names are read again when the database
//! says that a model has come or gone, so that every process of a hub finds the same.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Row};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::db::Db;
use crate::error::Error;
use crate::store::find::{LIST_MAX, ModelRow};
use crate::store::rows::parts;

/// The most trigrams of a query that are looked for.
const GRAMS_MAX: usize = 48;

/// Names of at most so many models are read again at every change.
const FEW: usize = 1_000;

/// Names of more models are not read again before so many times the time has passed that it took.
const REST_FACTOR: u32 = 20;

/// Of more models those with the most records are found: senders may name as many as they like, and a hub's memory is
/// bounded.
const NAMES_MAX: i64 = 100_000;

/// Three characters in one number.
type Gram = u64;

/// The trigrams of `text`: of each word in small letters, with blanks at its ends.
fn grams(text: &str) -> BTreeSet<Gram> {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '+' { c } else { ' ' }).collect();
    let mut grams = BTreeSet::new();
    for word in plain.to_lowercase().split_whitespace() {
        let padded: Vec<char> = format!("  {word} ").chars().collect();
        let gram = |three: &[char]| three.iter().fold(0, |all, c| (all << 21) | u64::from(*c));
        grams.extend(padded.windows(3).map(gram));
    }
    grams
}

/// The names of all models as one version of the database has them.
#[derive(Debug, Default)]
struct Names {
    version: String,
    models: Vec<Named>,
    /// The models by the trigrams of their names.
    by_gram: HashMap<Gram, Vec<u32>>,
}

#[derive(Debug)]
struct Named {
    model: String,
    grams: usize,
    submissions: i64,
}

impl Names {
    fn add(&mut self, model: String, words: &str, submissions: i64) {
        let at = u32::try_from(self.models.len()).unwrap_or(u32::MAX);
        let grams = grams(words);
        self.models.push(Named { model, grams: grams.len(), submissions });
        for gram in grams {
            self.by_gram.entry(gram).or_default().push(at);
        }
    }

    /// The models whose names are like `query`, the likest first. A third of the query's trigrams must be found;
    /// among those, names with few other trigrams are liker.
    fn like(&self, query: &str) -> Vec<&str> {
        let wanted: Vec<Gram> = grams(query).into_iter().take(GRAMS_MAX).collect();
        let mut hits = vec![0_usize; self.models.len()];
        for at in wanted.iter().filter_map(|gram| self.by_gram.get(gram)).flatten() {
            hits[*at as usize] += 1;
        }
        let mut found: Vec<(usize, &Named)> = hits
            .into_iter()
            .zip(&self.models)
            .filter(|(hits, _)| *hits > 0 && hits * 3 >= wanted.len())
            .map(|(hits, model)| (hits * 1000 / (wanted.len() + model.grams - hits), model))
            .collect();
        found.sort_by(|(like, a), (liker, b)| {
            liker.cmp(like).then(b.submissions.cmp(&a.submissions)).then(a.model.cmp(&b.model))
        });
        let most = usize::try_from(LIST_MAX).unwrap_or(0);
        found.into_iter().take(most).map(|(_, model)| model.model.as_str()).collect()
    }
}

/// The names, and when they may be read again.
#[derive(Debug)]
struct Known {
    names: Names,
    next: Instant,
}

/// The catalogue of models.
#[derive(Debug, Default)]
pub struct Catalogue {
    known: Mutex<Option<Known>>,
}

impl Catalogue {
    /// The models whose names are like `query`, the likest first; a letter more, less or other does no harm.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn search(&self, db: &Db, query: &str) -> Result<Vec<ModelRow>, Error> {
        let models = self.like(db, query).await?;
        let mut found = HashMap::new();
        for part in parts(&models) {
            let places: Vec<String> = (1..=part.len()).map(|at| format!("${at}")).collect();
            let text = format!("SELECT * FROM models WHERE model IN ({})", places.join(", "));
            let mut asked = sqlx::query(AssertSqlSafe(text));
            for model in part {
                asked = asked.bind(model.clone());
            }
            for row in asked.fetch_all(db.readers()).await? {
                let row = ModelRow::of(&row)?;
                found.insert(row.model.clone(), row);
            }
        }
        Ok(models.iter().filter_map(|model| found.remove(model)).collect())
    }

    /// The names in addresses of the models that are like `query`.
    async fn like(&self, db: &Db, query: &str) -> Result<Vec<String>, Error> {
        let row = sqlx::query("SELECT version FROM catalogue WHERE name = 'models'")
            .fetch_optional(db.readers())
            .await?;
        let Some(row) = row else { return Ok(Vec::new()) };
        let version: String = row.try_get("version")?;
        let mut known = self.known.lock().await;
        let is_good = |known: &Known| {
            let is_resting = known.names.models.len() > FEW && Instant::now() < known.next;
            known.names.version == version || is_resting
        };
        let names = match known.take() {
            Some(good) if is_good(&good) => known.insert(good),
            _ => known.insert(read(db, version).await?),
        };
        Ok(names.names.like(query).into_iter().map(str::to_owned).collect())
    }
}

async fn read(db: &Db, version: String) -> Result<Known, Error> {
    let start = Instant::now();
    let text = "SELECT model, name, maker, product, revision, submissions FROM models \
                ORDER BY submissions DESC, model LIMIT $1";
    let rows = sqlx::query(text).bind(NAMES_MAX).fetch_all(db.readers()).await?;
    let mut names = Names { version, ..Names::default() };
    for row in &rows {
        let mut words: String = row.try_get("name")?;
        for column in ["maker", "product", "revision"] {
            if let Some(word) = row.try_get::<Option<String>, _>(column)? {
                words.push(' ');
                words += &word;
            }
        }
        names.add(row.try_get("model")?, &words, row.try_get("submissions")?);
    }
    let rest: Duration = start.elapsed() * REST_FACTOR;
    Ok(Known { names, next: Instant::now() + rest })
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
        assert!(!grams("EVO+").is_disjoint(&grams("+")) || grams("EVO+").len() == 5);
    }

    #[test]
    fn the_likest_come_first_and_the_unlike_not_at_all() {
        let mut names = Names::default();
        for (model, words, submissions) in [
            ("ultra", "SanDisk Ultra, 32 GB", 5),
            ("extreme", "SanDisk Extreme, 32 GB", 1),
            ("extreme-pro", "SanDisk Extreme Pro, 64 GB", 9),
            ("evo", "Samsung EVO+, 32 GB", 9),
        ] {
            names.add(model.to_owned(), words, submissions);
        }
        assert_eq!(names.like("sandsik extreme")[..2], ["extreme", "extreme-pro"]);
        assert_eq!(names.like("evo+")[0], "evo");
        assert!(names.like("kingston canvas").is_empty());
        assert!(names.like(" -- ").is_empty());
    }
}
