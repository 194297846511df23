//! Pages as text: templates filled with what the database tells. Nothing here asks for anything.
//!
//! Every text from a record is escaped by the template engine or by the crate `report`. No page has a script, and
//! none asks for anything from another host.

mod contact;
mod found;
mod frame;
mod message;

use std::borrow::Borrow;

use askama::Template;
use cardproof_rating::compare::Column;

use crate::clock;
use crate::dump::{Manifest, TableForm, forms};
use crate::queries::Query;
use crate::ranking::{Board, CardPrice, Row};
use crate::store::find::Before;
use crate::store::review::{Ban, List};
use crate::tally::Told;

pub use contact::{Contact, contact, set_contact};
pub use found::{Api, Call, CompareCards, Fakes, Lives, Pair, Sitemap};
pub use frame::{Frame, framed};
pub use message::{Back, DeleteMany, message};

/// The style of all pages.
pub const STYLE: &str =
    concat!(include_str!("../../templates/style.css"), include_str!("../../templates/scroll.css"));

/// A page that could not be filled; a fault of the template.
fn rendered(page: &impl Template) -> String {
    page.render()
        .unwrap_or_else(|_| "<!DOCTYPE html><title>fault</title><p>This page is faulty.".to_owned())
}

/// A choice of a form: whether it is the one shown, and what it is.
pub type Choice<T> = (bool, T);

/// The first page: the best cards for a board.
#[derive(Debug, Template)]
#[template(path = "home.html")]
pub struct Home {
    /// The hub's address.
    pub base: String,
    /// How many records count.
    pub records: usize,
    /// Of how many models.
    pub models: usize,
    /// The uses: name, words, whether it is the one shown.
    pub uses: Vec<(&'static str, &'static str, bool)>,
    /// The name of the use that is shown.
    pub wanted: &'static str,
    /// The boards.
    pub boards: Vec<Choice<Board>>,
    /// How cards are attached.
    pub kinds: Vec<Choice<String>>,
    /// Their makers.
    pub makers: Vec<Choice<String>>,
    /// Their capacities in GB.
    pub sizes: Vec<Choice<String>>,
    /// The highest price, as it was asked for.
    pub price: String,
    /// What rows are sorted by.
    pub sorts: [Choice<&'static str>; 3],
    /// What the figure is, as the beginning of a sentence.
    pub formula: String,
    /// Its unit.
    pub unit: &'static str,
    /// Whether the capacity of any card was tested.
    pub has_tests: bool,
    /// Whether a price of any card is known.
    pub has_prices: bool,
    /// The cards, best first.
    pub rows: Vec<Row>,
    /// How many submitters must agree before a board is shown.
    pub least: usize,
}

/// The latest records.
#[derive(Debug, Template)]
#[template(path = "latest.html")]
pub struct Latest {
    /// How many submitters must agree on a card's name before it is shown.
    pub least: usize,
    /// The records.
    pub latest: Vec<EntryView>,
    /// Where older ones begin, where there are any.
    pub more_before: Option<Before>,
}

/// A record in a list.
#[derive(Clone, Debug)]
pub struct EntryView {
    /// Its name.
    pub id: String,
    /// What the card is called.
    pub title: String,
    /// What the host is called.
    pub host_name: String,
    /// When it was submitted.
    pub created_ms: i64,
    /// Where it comes from.
    pub origin: String,
    /// Whether there is any doubt.
    pub has_doubts: bool,
}

/// A card model in a list.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ModelView {
    /// Its name in addresses.
    pub model: String,
    /// What it is called.
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
    /// How many records there are.
    pub submissions: usize,
    /// Of how many submitters.
    pub submitters: usize,
}

/// What was found.
#[derive(Debug, Template)]
#[template(path = "search.html")]
pub struct Search {
    /// What was looked for.
    pub query: String,
    /// What is like it.
    pub found: Vec<ModelView>,
    /// The number of a record on somebody's computer that it can be, and the hub's address.
    pub own: Option<(String, String)>,
    /// The records that are being compared, to which one may be added.
    pub ids: String,
    /// The card that is to be compared with another.
    pub card: String,
}

/// All models.
#[derive(Debug, Template)]
#[template(path = "models.html")]
pub struct Models {
    /// The models.
    pub models: Vec<ModelView>,
}

/// A figure of a card on a board.
#[derive(Clone, Debug)]
pub struct CardFigure {
    /// The median of submitters' medians.
    pub middle: String,
    /// How far these go, where there are several.
    pub range: Option<String>,
    /// Of how many submitters.
    pub submitters: usize,
    /// The lowest, the middle and the highest on the scale of its column, from 0 to 100.
    pub bar: [f64; 3],
}

/// A card's figures on a board.
#[derive(Clone, Debug)]
pub struct BoardRow {
    /// The board.
    pub basis: String,
    /// Of how many submitters.
    pub submitters: usize,
    /// Of how many records.
    pub records: usize,
    /// Of these in doubt.
    pub in_doubt: usize,
    /// One for each column.
    pub cells: Vec<Option<CardFigure>>,
}

/// A card model.
#[derive(Debug, Template)]
#[template(path = "model.html")]
pub struct Model {
    /// The model.
    pub model: ModelView,
    /// What its registers say, in words.
    pub facts: Vec<(&'static str, String)>,
    /// What it costs.
    pub price: Option<CardPrice>,
    /// The columns of its table.
    pub columns: [String; 5],
    /// The rows of its table.
    pub boards: Vec<BoardRow>,
    /// What tests have found.
    pub told: Vec<Told>,
    /// At which months of making it changed, in words.
    pub changes: Vec<String>,
    /// The lots, with how many records each has.
    pub lots: Vec<(String, usize)>,
    /// The latest records.
    pub latest: Vec<EntryView>,
    /// The names of the records that can be compared at once.
    pub ids: String,
    /// The hub's address.
    pub base: String,
}

/// A kind of host in a list.
#[derive(Debug)]
pub struct HostView {
    /// Its name in addresses.
    pub key: String,
    /// Its name in words.
    pub name: String,
    /// How many records.
    pub count: usize,
}

/// Hosts.
#[derive(Debug, Template)]
#[template(path = "hosts.html")]
pub struct Hosts {
    /// The hosts.
    pub hosts: Vec<HostView>,
    /// How many submitters must agree before one is shown.
    pub least: usize,
}

/// A host.
#[derive(Debug, Template)]
#[template(path = "host.html")]
pub struct Host {
    /// Its name in addresses.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What was measured on it, the latest first.
    pub latest: Vec<EntryView>,
}

/// A list of records that administrators choose.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Whether it is the one shown.
    pub is_chosen: bool,
    /// Its word in addresses.
    pub word: &'static str,
    /// How many records are in it, where that is work to do.
    pub count: Option<i64>,
}

/// What administrators look at.
#[derive(Debug, Template)]
#[template(path = "moderation.html")]
pub struct Moderation {
    /// The lists.
    pub states: [Shown; 5],
    /// The one that is shown.
    pub state: &'static str,
    /// The submitter to which the list is narrowed.
    pub submitter: Option<String>,
    /// The record that was looked for, as it was typed.
    pub record: String,
    /// Why there is none.
    pub fault: Option<String>,
    /// The records, the newest first.
    pub list: List,
    /// The bans, on the list of the banned.
    pub bans: Vec<Ban>,
    /// What can be done with them.
    pub actions: [&'static str; 6],
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
    pub latest: Vec<EntryView>,
}

/// A feed of the latest records.
#[derive(Debug, Template)]
#[template(path = "feed.xml")]
pub struct Feed {
    /// Of what.
    pub title: String,
    /// The hub's address.
    pub base: String,
    /// The path of the page that it belongs to.
    pub path: String,
    /// When it last changed.
    pub updated: String,
    /// The records.
    pub latest: Vec<EntryView>,
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
    Home,
    Latest,
    Search,
    Models,
    Model,
    Hosts,
    Host,
    Moderation,
    Delete,
    About,
    Data,
    Queries,
    Compare,
    Feed,
    Badge,
    Fakes,
    Lives,
    CompareCards,
    Api,
    Sitemap
);

/// A rate in words.
pub(crate) fn told(column: Column, rate: f64) -> String {
    if column.is_told_in_iops() {
        cardproof_units::Iops(rate).to_string()
    } else {
        cardproof_units::Throughput(rate).to_string()
    }
}

/// A share in percent.
pub(crate) fn percent(share: impl Borrow<f64>) -> String {
    format!("{:.0} %", 100.0 * share.borrow())
}

/// A figure of a use: three digits, since no card is known better.
pub(crate) fn rounded(value: &f64) -> String {
    let value = *value;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}")
}

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
