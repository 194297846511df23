//! What all records that count say, in memory: some hundred bytes a record, read once at the start.
//!
//! Names, counts, searches, card pages and the ranking come from here, so that no page reads many rows, and what one
//! record says goes with it. One process serves a database, so nothing changes behind the back of this.

mod agreed;
mod grams;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cardproof_rating::compare::Column;
use futures_util::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::clock;
use crate::db::Db;
use crate::error::Error;
use crate::store::results::figures_of;
use crate::store::rows::Fresh;
use crate::store::state::{COUNTS, State};
use crate::summary::{Figure, Model, Origin, quantity};
use crate::verdicts::Verdicts;
pub use agreed::{Agreed, Host};
use grams::{Gram, grams};

/// The columns whose rates are kept.
pub const COLUMNS: [Column; 6] = [
    Column::RandomRead,
    Column::RandomWrite,
    Column::SyncedWrite,
    Column::SequentialRead,
    Column::SequentialWrite,
    Column::SustainedWrite,
];

/// What a submitter has paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// In hundredths of the currency.
    pub hundredths: i64,
    /// The currency.
    pub currency: Arc<str>,
    /// The day, counted from 1970.
    pub day: i32,
}

/// A record.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub id: Box<str>,
    /// When it was submitted.
    pub created_ms: i64,
    /// The card, as this record calls it.
    pub card: Arc<Model>,
    /// The host's name in addresses.
    pub host: Arc<str>,
    /// The host in words.
    pub host_name: Arc<str>,
    /// How it was measured.
    pub basis: Arc<str>,
    /// Where it comes from.
    pub origin: Origin,
    /// Who has sent it; of what comes with the hub, who has published it.
    pub submitter: u64,
    /// What tells its document from others.
    pub document: u64,
    /// The rates in the order of [`COLUMNS`]; no number where there is none or it is in doubt.
    pub rates: [f32; COLUMNS.len()],
    /// When the card was made.
    pub lot: Option<Arc<str>>,
    /// What it has cost.
    pub price: Option<Price>,
    /// What tests of it have found, where there were any.
    pub verdicts: Option<Box<Verdicts>>,
    /// Whether there is any doubt.
    pub has_doubts: bool,
    /// Whether the project or an administrator stands for what it calls things.
    pub is_approved: bool,
}

impl Entry {
    /// The columns that an entry is made of.
    pub(crate) const COLUMNS: &'static str = "id, created_ms, state, origin, source, card, host, host_name, lot, basis, \
        figures, doubts, verdicts, price_hundredths, price_currency, price_date, submitter, document_sha256";

    /// The rate in `column`.
    #[must_use]
    pub fn rate(&self, column: Column) -> Option<f64> {
        let at = COLUMNS.iter().position(|known| *known == column)?;
        Some(f64::from(self.rates[at])).filter(|rate| rate.is_finite())
    }

    /// That of a row with [`Self::COLUMNS`].
    pub(crate) fn of_row(row: &AnyRow) -> Result<Self, Error> {
        let card: Model = serde_json::from_str(row.try_get("card")?)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let word = |name: &str| Ok::<_, Error>(Arc::<str>::from(row.try_get::<&str, _>(name)?));
        let (origin, state) = (Origin::of_word(row.try_get("origin")?), row.try_get("state")?);
        let source: Option<String> = row.try_get("source")?;
        let submitter: Option<String> = row.try_get("submitter")?;
        let price: Option<i64> = row.try_get("price_hundredths")?;
        let currency: Option<String> = row.try_get("price_currency")?;
        let date: Option<String> = row.try_get("price_date")?;
        let verdicts: Verdicts = serde_json::from_str(row.try_get("verdicts")?)
            .map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self {
            id: row.try_get::<&str, _>("id")?.into(),
            created_ms: row.try_get("created_ms")?,
            card: Arc::new(card),
            host: word("host")?,
            host_name: word("host_name")?,
            basis: word("basis")?,
            origin,
            submitter: submitter_of(submitter.as_deref(), source.as_deref()),
            document: number(row.try_get("document_sha256")?),
            rates: rates(&figures_of(row.try_get("figures")?)?),
            lot: row.try_get::<Option<String>, _>("lot")?.map(Arc::from),
            price: price_of(price, currency.as_deref(), date.as_deref()),
            verdicts: boxed(verdicts),
            has_doubts: row.try_get::<&str, _>("doubts")? != "[]",
            is_approved: is_approved(State::of(state), source.is_some()),
        })
    }

    /// That of a submission that was just kept.
    #[must_use]
    pub fn of_fresh(fresh: &Fresh<'_>) -> Self {
        let (draft, of) = (fresh.draft, &fresh.draft.summary);
        let (amount, currency, date) = draft.price.as_ref().map_or((None, None, None), |it| {
            (Some(it.0), Some(it.1.as_str()), Some(it.2.as_str()))
        });
        Self {
            id: fresh.id.into(),
            created_ms: fresh.created_ms,
            card: Arc::new(of.model.clone()),
            host: of.host.as_str().into(),
            host_name: of.host_name.as_str().into(),
            basis: of.basis.as_str().into(),
            origin: of.origin,
            submitter: submitter_of(fresh.submitter, draft.source.as_deref()),
            document: number(&draft.sha256),
            rates: rates(&of.figures),
            lot: of.lot.as_deref().map(Arc::from),
            price: price_of(amount, currency, date),
            verdicts: boxed(draft.verdicts.clone()),
            has_doubts: !of.doubts.is_empty(),
            is_approved: is_approved(fresh.state, draft.source.is_some()),
        }
    }
}

/// Nothing where nothing was tested: most records have speeds alone.
fn boxed(verdicts: Verdicts) -> Option<Box<Verdicts>> {
    (verdicts != Verdicts::default()).then(|| Box::new(verdicts))
}

fn is_approved(state: State, is_published: bool) -> bool {
    state == State::Approved || is_published
}

/// The number in the first digits of a hash.
fn number(digits: &str) -> u64 {
    digits.get(..16).and_then(|it| u64::from_str_radix(it, 16).ok()).unwrap_or(0)
}

fn submitter_of(pseudonym: Option<&str>, source: Option<&str>) -> u64 {
    pseudonym.map_or_else(|| number(&crate::secret::hash(source.unwrap_or_default())), number)
}

fn rates(figures: &[Figure]) -> [f32; COLUMNS.len()] {
    COLUMNS.map(|column| {
        let name = quantity(column);
        let found = figures.iter().find(|it| it.quantity == name && it.doubt.is_none());
        found.filter(|it| it.rate > 0.0).map_or(f32::NAN, |it| it.rate as f32)
    })
}

fn price_of(hundredths: Option<i64>, currency: Option<&str>, date: Option<&str>) -> Option<Price> {
    let day = clock::days(date?)?;
    Some(Price { hundredths: hundredths?, currency: currency?.into(), day })
}

/// All records of a card model, the oldest first.
#[derive(Debug, Default)]
pub struct Card {
    /// The records, at least one.
    pub records: Vec<Entry>,
    /// How many records each submitter has.
    submitters: BTreeMap<u64, usize>,
    approved: usize,
    grams: Vec<Gram>,
}

impl Card {
    /// What its first record says of it; none of a card without records, which no index has.
    #[must_use]
    pub fn facts(&self) -> Option<&Arc<Model>> {
        self.records.first().map(|record| &record.card)
    }

    /// How many submitters have measured it.
    #[must_use]
    pub fn submitters(&self) -> usize {
        self.submitters.len()
    }

    /// Whether `least` submitters, the project or an administrator agree that there is such a card.
    #[must_use]
    pub fn is_agreed(&self, least: usize) -> bool {
        self.approved > 0 || self.submitters.len() >= least
    }

    /// What it is called where `least` submitters have to agree with a name.
    #[must_use]
    pub fn name(&self, least: usize) -> String {
        let facts = self.facts();
        let name =
            facts.map(|it| if self.is_agreed(least) { it.name.clone() } else { it.plain_name() });
        name.unwrap_or_default()
    }

    fn insert(&mut self, entry: Entry) {
        *self.submitters.entry(entry.submitter).or_default() += 1;
        self.approved += usize::from(entry.is_approved);
        let place = |it: &Entry| (it.created_ms, &*it.id) < (entry.created_ms, &*entry.id);
        let at = self.records.partition_point(place);
        self.records.insert(at, entry);
        self.learn();
    }

    fn take(&mut self, id: &str) -> Option<Entry> {
        let at = self.records.iter().position(|it| *it.id == *id)?;
        let entry = self.records.remove(at);
        if let Some(count) = self.submitters.get_mut(&entry.submitter) {
            *count -= 1;
            if *count == 0 {
                self.submitters.remove(&entry.submitter);
            }
        }
        self.approved -= usize::from(entry.is_approved);
        self.learn();
        Some(entry)
    }

    /// Makes what is searched from what it is called.
    fn learn(&mut self) {
        if let Some(facts) = self.records.first().map(|it| Arc::clone(&it.card)) {
            let words = [&facts.maker, &facts.product, &facts.manufacturer_id, &facts.oem_id];
            let words: Vec<&str> = words.iter().filter_map(|it| it.as_deref()).collect();
            self.grams = grams(&format!("{} {}", facts.name, words.join(" ")));
        }
    }
}

/// All records that count.
#[derive(Debug, Default)]
pub struct Records {
    /// The cards by their names in addresses.
    pub cards: BTreeMap<String, Card>,
    /// Changes with every change.
    pub version: u64,
    /// How many records there are.
    pub count: usize,
    /// The first record of each submitter, and how many it has.
    submitters: HashMap<u64, (i64, usize)>,
    /// Every word once.
    words: HashSet<Arc<str>>,
}

impl Records {
    fn add(&mut self, mut entry: Entry) {
        for word in [&mut entry.host, &mut entry.host_name, &mut entry.basis]
            .into_iter()
            .chain(&mut entry.lot)
        {
            *word = self.once(word);
        }
        if let Some(price) = &mut entry.price {
            price.currency = self.once(&price.currency);
        }
        let of_submitter = self.submitters.entry(entry.submitter).or_insert((entry.created_ms, 0));
        of_submitter.1 += 1;
        let card = self.cards.entry(entry.card.key.clone()).or_default();
        if let Some(known) = card.records.iter().rev().take(8).find(|it| it.card == entry.card) {
            entry.card = Arc::clone(&known.card);
        }
        card.insert(entry);
        self.count += 1;
        self.version += 1;
    }

    fn once(&mut self, word: &Arc<str>) -> Arc<str> {
        match self.words.get(word) {
            Some(known) => Arc::clone(known),
            None => {
                self.words.insert(Arc::clone(word));
                Arc::clone(word)
            }
        }
    }

    fn remove(&mut self, model: &str, id: &str) {
        let Some(card) = self.cards.get_mut(model) else { return };
        let Some(entry) = card.take(id) else { return };
        if card.records.is_empty() {
            self.cards.remove(model);
        }
        if let Some(of_submitter) = self.submitters.get_mut(&entry.submitter) {
            of_submitter.1 -= 1;
            if of_submitter.1 == 0 {
                self.submitters.remove(&entry.submitter);
            }
        }
        self.count -= 1;
        self.version += 1;
    }

    /// When `submitter` has sent its first record, and how many it has.
    #[must_use]
    pub fn of_submitter(&self, submitter: &str) -> Option<(i64, usize)> {
        self.submitters.get(&number(submitter)).copied()
    }

    /// The cards whose names are like `query`, the likest first; a letter more, less or other does no harm. A third of the
    /// query's trigrams must be found; among those, names with few other trigrams are liker.
    #[must_use]
    pub fn like(&self, query: &str) -> Vec<(&String, &Card)> {
        let wanted = grams(query);
        let likeness = |card: &Card| {
            let hits = wanted.iter().filter(|gram| card.grams.binary_search(gram).is_ok()).count();
            let is_like = hits > 0 && hits * 3 >= wanted.len();
            is_like.then(|| hits * 1000 / (wanted.len() + card.grams.len() - hits))
        };
        let found = self.cards.iter().filter_map(|(key, card)| Some((likeness(card)?, key, card)));
        let mut found: Vec<(usize, &String, &Card)> = found.collect();
        found.sort_by(|(like, a_key, a), (liker, b_key, b)| {
            liker.cmp(like).then(b.submitters().cmp(&a.submitters())).then(a_key.cmp(b_key))
        });
        found.into_iter().map(|(_, key, card)| (key, card)).collect()
    }
}

/// The records, shared by all requests.
#[derive(Debug, Default)]
pub struct Index {
    records: RwLock<Records>,
    /// What was agreed with at a version of the records.
    agreed: Mutex<Option<(u64, Arc<Agreed>)>>,
}

impl Index {
    /// All records of `db` that count.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn load(db: &Db) -> Result<Self, Error> {
        let text = format!(
            "SELECT {} FROM submissions WHERE {COUNTS} ORDER BY created_ms",
            Entry::COLUMNS
        );
        let mut records = Records::default();
        let mut snapshot = db.snapshot().await?;
        crate::db::without_limits(db.kind(), &mut snapshot).await?;
        {
            let mut rows = sqlx::query(AssertSqlSafe(text)).fetch(&mut *snapshot);
            while let Some(row) = rows.try_next().await? {
                records.add(Entry::of_row(&row)?);
            }
        }
        snapshot.rollback().await?;
        Ok(Self { records: RwLock::new(records), agreed: Mutex::default() })
    }

    /// Adds records that were kept, or are shown again.
    pub fn add(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
        entries.into_iter().for_each(|entry| records.add(entry));
    }

    /// Takes the record `id` of the card `model` away.
    pub fn remove(&self, model: &str, id: &str) {
        self.records.write().unwrap_or_else(PoisonError::into_inner).remove(model, id);
    }

    /// What `look` finds in the records.
    pub fn look<T>(&self, look: impl FnOnce(&Records) -> T) -> T {
        look(&self.records.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What `least` submitters agree with, which is always the same number; found anew when a record has come or gone.
    pub fn agreed(&self, least: usize) -> Arc<Agreed> {
        let mut known = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        self.look(|records| match &*known {
            Some((version, agreed)) if *version == records.version => Arc::clone(agreed),
            _ => {
                let agreed = Arc::new(Agreed::of(records, least));
                *known = Some((records.version, Arc::clone(&agreed)));
                agreed
            }
        })
    }
}
