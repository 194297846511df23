//! Pages as text: templates filled with what the database tells. Nothing here asks for anything.
//!
//! Every text from a record is escaped by the template engine or by the crate `report`. No page has a script, and
//! none asks for anything from another host.

mod frame;
mod strip;

use std::borrow::Borrow;

use askama::Template;

use crate::clock;
use crate::dump::{Manifest, TableForm, forms};
use crate::queries::Query;
use crate::store::find::{Before, Counted, DatedPrice, Entry, ModelRow};

pub use frame::{Frame, framed};
pub use strip::{Distribution, Dot, median_interval};

/// The style of all pages.
pub const STYLE: &str = include_str!("../../templates/style.css");

/// A page that could not be filled; a fault of the template.
fn rendered(page: &impl Template) -> String {
    page.render()
        .unwrap_or_else(|_| "<!DOCTYPE html><title>fault</title><p>This page is faulty.".to_owned())
}

/// A page that says one thing.
#[must_use]
pub fn message(title: &str, words: &str) -> String {
    rendered(&Message { title, words })
}

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    title: &'a str,
    words: &'a str,
}

/// The first page.
#[derive(Debug, Template)]
#[template(path = "home.html")]
pub struct Home {
    /// How many records.
    pub records: i64,
    /// Of how many models.
    pub models: i64,
    /// The latest.
    pub latest: Vec<Entry>,
    /// Where older ones begin, where there are any.
    pub more_before: Option<Before>,
}

/// What was found.
#[derive(Debug, Template)]
#[template(path = "search.html")]
pub struct Search {
    /// What was looked for.
    pub query: String,
    /// What is like it.
    pub found: Vec<ModelRow>,
    /// The records that are being compared, to which one may be added.
    pub ids: String,
}

/// All models.
#[derive(Debug, Template)]
#[template(path = "models.html")]
pub struct Models {
    /// The models.
    pub models: Vec<ModelRow>,
}

/// A quantity of a model with its distributions.
#[derive(Debug)]
pub struct QuantityView {
    /// The quantity in words.
    pub label: String,
    /// One for each basis.
    pub distributions: Vec<Distribution>,
}

/// A card model.
#[derive(Debug, Template)]
#[template(path = "model.html")]
pub struct Model {
    /// The model.
    pub model: ModelRow,
    /// What its registers say, in words.
    pub facts: Vec<(&'static str, String)>,
    /// The latest price.
    pub price: Option<DatedPrice>,
    /// The hosts on which it was measured.
    pub hosts: Vec<Counted>,
    /// The host to which the page is narrowed.
    pub host: Option<String>,
    /// What was measured.
    pub quantities: Vec<QuantityView>,
    /// The lots, with how many records each has among the latest.
    pub lots: Vec<(String, usize)>,
    /// The latest records.
    pub latest: Vec<Entry>,
    /// The names of the records that can be compared at once.
    pub ids: String,
}

/// Hosts.
#[derive(Debug, Template)]
#[template(path = "hosts.html")]
pub struct Hosts {
    /// The hosts.
    pub hosts: Vec<Counted>,
}

/// A host.
#[derive(Debug, Template)]
#[template(path = "host.html")]
pub struct Host {
    /// Its name.
    pub name: String,
    /// What was measured on it, the latest first.
    pub latest: Vec<Entry>,
}

/// A row of the ranking.
#[derive(Debug)]
pub struct RankRow {
    /// Its place.
    pub place: usize,
    /// The model.
    pub model: String,
    /// The model in words.
    pub name: String,
    /// The figure with its interval.
    pub value: String,
    /// Of how many records.
    pub records: usize,
    /// The price and its day.
    pub price: String,
    /// The worth for the price, in percent of the best.
    pub worth: String,
}

/// The ranking by a use.
#[derive(Debug, Template)]
#[template(path = "ranking.html")]
pub struct Ranking {
    /// The uses: name, words, whether it is the one shown.
    pub uses: Vec<(&'static str, &'static str, bool)>,
    /// The bases, and whether it is the one shown.
    pub bases: Vec<(String, bool)>,
    /// What the figure is, as the beginning of a sentence.
    pub formula: String,
    /// Its unit.
    pub unit: &'static str,
    /// The rows, best first.
    pub rows: Vec<RankRow>,
    /// Whether a price of any of them is known.
    pub has_prices: bool,
    /// Whether several cards are first, and none is behind them for certain.
    pub is_undecided: bool,
    /// Whether all were measured over one range of addresses.
    pub is_one_span: bool,
}

/// The form that deletes a record.
#[derive(Debug, Template)]
#[template(path = "delete.html")]
pub struct Delete {
    /// The record's name.
    pub id: String,
    /// What was wrong with the last try.
    pub fault: Option<String>,
}

/// About the hub.
#[derive(Debug, Template)]
#[template(path = "about.html")]
pub struct About {
    /// Every field that a record may have here.
    pub fields: Vec<String>,
}

/// A month of the raw data.
#[derive(Debug)]
pub struct Month {
    /// The month.
    pub name: String,
    /// Its submissions.
    pub rows: u64,
    /// Its files in the order of the tables: path and length.
    pub files: Vec<(String, u64)>,
}

/// The raw data.
#[derive(Debug, Template)]
#[template(path = "data.html")]
pub struct Data {
    /// The months, the latest first.
    pub months: Vec<Month>,
    /// The tables and their columns.
    pub tables: Vec<TableForm>,
    /// What the manifest says.
    pub manifest: Manifest,
}

impl Data {
    /// The page of what `manifest` names.
    #[must_use]
    pub fn of(manifest: Manifest) -> Self {
        let mut months: Vec<Month> = Vec::new();
        for file in &manifest.files {
            let month = match months.last_mut() {
                Some(month) if month.name == file.month => month,
                _ => {
                    let (name, rows) = (file.month.clone(), file.rows);
                    months.push(Month { name, rows, files: Vec::new() });
                    let Some(month) = months.last_mut() else { continue };
                    month
                }
            };
            month.files.push((file.path.clone(), file.bytes));
        }
        months.reverse();
        Self { months, tables: forms(), manifest }
    }
}

/// Example queries.
#[derive(Debug, Template)]
#[template(path = "queries.html")]
pub struct Queries {
    /// The hub's address.
    pub base: String,
    /// The queries.
    pub queries: Vec<Query>,
}

/// The form for a comparison, without any card yet.
#[derive(Debug, Template)]
#[template(path = "compare.html")]
pub struct Compare {
    /// What was wrong.
    pub fault: Option<String>,
    /// The latest records, as a beginning.
    pub latest: Vec<Entry>,
}

/// The feed of the latest records.
#[derive(Debug, Template)]
#[template(path = "feed.xml")]
pub struct Feed {
    /// The hub's address.
    pub base: String,
    /// When it last changed.
    pub updated: String,
    /// The records.
    pub latest: Vec<Entry>,
}

/// A picture with a model's name and one figure.
#[derive(Debug, Template)]
#[template(path = "badge.svg", escape = "html")]
pub struct Badge {
    /// The model.
    pub name: String,
    /// The figure.
    pub value: String,
    /// The width of the name's part in pixels.
    pub left: usize,
    /// The width of the figure's part.
    pub right: usize,
}

macro_rules! into_text {
    ($($page:ty),*) => {
        $(impl From<$page> for String {
            fn from(page: $page) -> Self {
                rendered(&page)
            }
        })*
    };
}

into_text!(
    Home, Search, Models, Model, Hosts, Host, Ranking, Delete, About, Data, Queries, Compare, Feed,
    Badge
);

/// The day of a moment, for templates, which hand some values by reference.
pub(crate) fn day(ms: impl Borrow<i64>) -> String {
    clock::day(*ms.borrow())
}

/// A moment as RFC 3339.
pub(crate) fn moment(ms: impl Borrow<i64>) -> String {
    clock::rfc3339(*ms.borrow())
}

/// A length in bytes in words.
pub(crate) fn length(bytes: impl Borrow<u64>) -> String {
    cardproof_units::Bytes(*bytes.borrow()).to_string()
}
