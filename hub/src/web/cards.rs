//! Cards over HTTP: the order for a board, the list, and a card's own page, all from what is in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardproof_hub_standing::median;
use cardproof_rating::compare::{Column, Use};
use serde::Deserialize;
use serde_json::json;

use super::Hub;
use super::guard::{json_response, typed};
use super::html::{Page, names, page, use_of, uses};
use crate::clock;
use crate::error::Error;
use crate::index::{Card, Entry, Host, Records};
use crate::pages::{self, BoardRow, CardFigure, EntryView, HostView, ModelView};
use crate::ranking::{CardPrice, Order, Row};
use crate::store::find;
use crate::summary::Origin;

/// The most cards of a list.
const LIST_MAX: usize = 200;

/// The most records that a card's page lists, the latest.
const RECORDS_MAX: usize = 50;

/// The most boards of a card's table.
const BOARDS_MAX: usize = 20;

/// What an order may be narrowed to, and sorted by. Everything is optional, and unknown things are ignored.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    #[serde(rename = "use")]
    wanted: Option<String>,
    board: Option<String>,
    kind: Option<String>,
    maker: Option<String>,
    gb: Option<String>,
    price: Option<String>,
    sort: Option<String>,
}

impl Wanted {
    fn keeps(&self, row: &Row) -> bool {
        let is_asked = |asked: &Option<String>, of: Option<&str>| {
            asked.as_deref().is_none_or(|asked| asked.is_empty() || Some(asked) == of)
        };
        let dearest = self.price.as_deref().and_then(|price| price.parse::<f64>().ok());
        let is_cheap =
            dearest.is_none_or(|most| row.price.as_ref().is_some_and(|it| it.amount <= most));
        let size = row.gigabytes.to_string();
        is_cheap
            && is_asked(&self.kind, row.kind.as_deref())
            && is_asked(&self.maker, row.maker.as_deref())
            && is_asked(&self.gb, Some(&size))
    }

    fn sort(&self, rows: &mut [Row]) {
        let price = |row: &Row| row.price.as_ref().map_or(f64::MAX, |price| price.amount);
        match self.sort.as_deref() {
            Some("price") => rows.sort_by(|a, b| price(a).total_cmp(&price(b))),
            Some("worth") => {
                let worth = |row: &Row| row.worth.unwrap_or(0.0);
                rows.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
            }
            // They come by value.
            _ => {}
        }
    }
}

/// The order that is asked for, all of it, and as it was narrowed.
async fn order(hub: &Hub, asked: &Wanted) -> Result<(Use, Order, Vec<Row>), Error> {
    let wanted = use_of(asked.wanted.as_deref());
    let (index, rankings) = (Arc::clone(&hub.index), Arc::clone(&hub.rankings));
    let board = asked.board.clone();
    let made =
        tokio::task::spawn_blocking(move || rankings.order(&index, wanted, board.as_deref()));
    let order = made.await.map_err(|error| Error::Internal(error.to_string()))?;
    let mut rows: Vec<Row> = order.rows.iter().filter(|row| asked.keeps(row)).cloned().collect();
    asked.sort(&mut rows);
    rows.truncate(LIST_MAX);
    Ok((wanted, order, rows))
}

pub(super) async fn home(State(hub): State<Hub>, Query(asked): Query<Wanted>) -> Page {
    let (wanted, order, rows) = order(&hub, &asked).await?;
    let (records, models) = hub.index.look(|it| (it.count, it.cards.len()));
    let of = |choose: &dyn Fn(&Row) -> Option<String>| -> Vec<String> {
        let all: BTreeSet<String> = order.rows.iter().filter_map(choose).collect();
        all.into_iter().collect()
    };
    let sizes: BTreeSet<i64> =
        order.rows.iter().map(|row| row.gigabytes).filter(|it| *it > 0).collect();
    let list = |all: Vec<String>, chosen: &Option<String>| {
        all.into_iter().map(|it| (chosen.as_ref() == Some(&it), it)).collect()
    };
    Ok(page(pages::Home {
        records,
        models,
        uses: uses(wanted),
        wanted: wanted.name(),
        boards: order
            .boards
            .iter()
            .map(|it| (order.board.as_ref() == Some(&it.basis), it.clone()))
            .collect(),
        kinds: list(of(&|row| row.kind.clone()), &asked.kind),
        makers: list(of(&|row| row.maker.clone()), &asked.maker),
        sizes: list(sizes.iter().map(ToString::to_string).collect(), &asked.gb),
        price: asked.price.clone().unwrap_or_default(),
        sorts: ["value", "price", "worth"]
            .map(|it| (asked.sort.as_deref().unwrap_or("value") == it, it)),
        formula: super::html::sentence(wanted.formula()),
        unit: if wanted.is_better_low() { "Time, s" } else { wanted.unit() },
        has_prices: order.rows.iter().any(|row| row.price.is_some()),
        rows,
        least: hub.options.submitters_min,
    }))
}

pub(super) async fn ranking() -> Response {
    Redirect::permanent("/").into_response()
}

/// The order as JSON.
pub(super) async fn ranking_json(State(hub): State<Hub>, Query(asked): Query<Wanted>) -> Page {
    let (wanted, order, rows) = order(&hub, &asked).await?;
    let mut response = json_response(&json!({
        "use": wanted.name(), "unit": wanted.unit(), "lower_is_better": wanted.is_better_low(),
        "board": order.board, "boards": order.boards, "confidence": 0.9, "cards": rows,
    }));
    let anyone = HeaderValue::from_static("*");
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anyone);
    Ok(response)
}

impl Hub {
    /// What the card `model` is called; without records that count, by its number.
    pub(super) fn title(&self, model: &str) -> String {
        let least = self.options.submitters_min;
        let name = self.index.look(|it| it.cards.get(model).map(|card| card.name(least)));
        name.unwrap_or_else(|| format!("Card no. {}", model.rsplit('-').next().unwrap_or_default()))
    }

    /// `list` with the titles that cards and hosts have, in place of those that senders have written.
    pub(super) fn titled(&self, list: Vec<find::Entry>) -> Vec<EntryView> {
        let hosts = self.hosts();
        let view = |entry: find::Entry| EntryView {
            title: self.title(&entry.model),
            host_name: host_title(&hosts, &entry.host, &entry.host_name),
            id: entry.id,
            created_ms: entry.created_ms,
            origin: entry.origin,
            has_doubts: entry.has_doubts,
        };
        list.into_iter().map(view).collect()
    }

    fn hosts(&self) -> Vec<Host> {
        self.index.look(|records| records.hosts(self.options.submitters_min))
    }

    /// The cards that are like `query`.
    pub(super) fn like(&self, query: &str) -> Vec<ModelView> {
        let least = self.options.submitters_min;
        self.index.look(|records| {
            let found = records.like(query).into_iter().take(RECORDS_MAX);
            found.filter_map(|(key, card)| view(key, card, least)).collect()
        })
    }

    /// The cards with the most submitters.
    pub(super) fn models(&self) -> Vec<ModelView> {
        let least = self.options.submitters_min;
        let mut models: Vec<ModelView> = self.index.look(|records| {
            records.cards.iter().filter_map(|(key, card)| view(key, card, least)).collect()
        });
        models.sort_by(|a, b| {
            let most = (b.submitters, b.submissions).cmp(&(a.submitters, a.submissions));
            most.then(a.name.cmp(&b.name)).then(a.model.cmp(&b.model))
        });
        models.truncate(LIST_MAX);
        models
    }
}

/// What a host is called in lists: nothing that too few agree with.
fn host_title(hosts: &[Host], host: &str, name: &str) -> String {
    let is_agreed = hosts.iter().any(|it| it.key == host && it.is_agreed);
    if is_agreed { name.to_owned() } else { "a host of its own".to_owned() }
}

/// A card in a list.
fn view(key: &str, card: &Card, least: usize) -> Option<ModelView> {
    let facts = card.facts()?;
    let is_agreed = card.is_agreed(least);
    let told = |text: &Option<String>| text.clone().filter(|_| is_agreed);
    Some(ModelView {
        model: key.to_owned(),
        name: card.name(least),
        maker: told(&facts.maker),
        product: told(&facts.product),
        manufacturer_id: facts.manufacturer_id.clone(),
        oem_id: told(&facts.oem_id),
        revision: told(&facts.revision),
        transport: facts.transport.clone(),
        capacity_bytes: facts.capacity_bytes,
        submissions: card.records.len(),
        submitters: card.submitters(),
    })
}

pub(super) async fn models(State(hub): State<Hub>) -> Page {
    Ok(page(pages::Models { models: hub.models() }))
}

/// What a card's page may be asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct AskedOfCard {
    ids: Option<String>,
}

pub(super) async fn model(
    State(hub): State<Hub>,
    Path(key): Path<String>,
    Query(asked): Query<AskedOfCard>,
) -> Page {
    let ids = names([asked.ids.as_deref(), None])?.join(",");
    let hosts = hub.hosts();
    let least = hub.options.submitters_min;
    let today = i32::try_from(clock::now_ms() / 86_400_000).unwrap_or(i32::MAX);
    let made = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let view = view(&key, card, least)?;
        Some(pages::Model {
            facts: facts(&view),
            price: CardPrice::of(card, today),
            boards: boards(records, card, least),
            columns: Column::ALL.map(|it| super::html::sentence(it.label())),
            lots: lots(card),
            latest: latest(card, &view.name, &hosts),
            ids,
            model: view,
        })
    });
    Ok(page(made.ok_or(Error::NotFound)?))
}

fn lots(card: &Card) -> Vec<(String, usize)> {
    let mut lots = BTreeMap::<String, usize>::new();
    for lot in card.records.iter().filter_map(|record| record.lot.as_ref()) {
        *lots.entry(lot.to_string()).or_default() += 1;
    }
    lots.into_iter().collect()
}

fn latest(card: &Card, name: &str, hosts: &[Host]) -> Vec<EntryView> {
    let entry = |record: &Entry| EntryView {
        id: record.id.to_string(),
        title: name.to_owned(),
        host_name: host_title(hosts, &record.host, &record.host_name),
        created_ms: record.created_ms,
        origin: record.origin.word().to_owned(),
        has_doubts: record.has_doubts,
    };
    card.records.iter().rev().take(RECORDS_MAX).map(entry).collect()
}

/// A card's figures by board, on one scale for each column.
fn boards(records: &Records, card: &Card, least: usize) -> Vec<BoardRow> {
    let mut by_basis = BTreeMap::<&str, Vec<&Entry>>::new();
    for record in &card.records {
        by_basis.entry(&record.basis).or_default().push(record);
    }
    let agreed = agreed_boards(records, least, by_basis.keys().copied());
    let mut rows: Vec<(String, Vec<&Entry>)> = by_basis
        .into_iter()
        .map(|(basis, of_basis)| {
            let is_agreed = agreed.contains(basis);
            (if is_agreed { basis.to_owned() } else { "a board of its own".to_owned() }, of_basis)
        })
        .collect();
    rows.sort_by_key(|(_, of_basis)| std::cmp::Reverse(of_basis.len()));
    rows.truncate(BOARDS_MAX);
    let cells: Vec<Vec<Option<Spread>>> = rows
        .iter()
        .map(|(_, of_basis)| {
            Column::ALL.iter().map(|column| Spread::of(of_basis, *column)).collect()
        })
        .collect();
    let scales: Vec<[f64; 2]> = (0..Column::ALL.len())
        .map(|at| {
            let of_column = cells.iter().filter_map(|row| row[at].as_ref());
            of_column.fold([f64::MAX, 0.0], |[low, high], it| [low.min(it.low), high.max(it.high)])
        })
        .collect();
    rows.into_iter()
        .zip(cells)
        .map(|((basis, of_basis), cells)| BoardRow {
            basis,
            submitters: of_basis.iter().map(|it| it.submitter).collect::<BTreeSet<_>>().len(),
            records: of_basis.len(),
            in_doubt: of_basis.iter().filter(|it| it.has_doubts).count(),
            cells: cells
                .into_iter()
                .enumerate()
                .map(|(at, found)| Some(found?.shown(Column::ALL[at], scales[at])))
                .collect(),
        })
        .collect()
}

/// Which of `bases` at least `least` submitters have, over all cards.
fn agreed_boards<'b>(
    records: &Records,
    least: usize,
    bases: impl Iterator<Item = &'b str>,
) -> BTreeSet<String> {
    let mut seen: BTreeMap<&str, (BTreeSet<u64>, bool)> =
        bases.map(|basis| (basis, (BTreeSet::new(), false))).collect();
    for record in records.cards.values().flat_map(|card| &card.records) {
        let Some((submitters, is_approved)) = seen.get_mut(&*record.basis) else { continue };
        submitters.insert(record.submitter);
        *is_approved |= record.is_approved || record.origin == Origin::Simulated;
    }
    let agreed = seen
        .into_iter()
        .filter(|(_, (submitters, is_approved))| *is_approved || submitters.len() >= least);
    agreed.map(|(basis, _)| basis.to_owned()).collect()
}

/// The figures of a column: the median of submitters' medians, and how far they go.
struct Spread {
    low: f64,
    middle: f64,
    high: f64,
    submitters: usize,
}

impl Spread {
    fn of(records: &[&Entry], column: Column) -> Option<Self> {
        let mut by_submitter = BTreeMap::<u64, Vec<f64>>::new();
        for record in records {
            let Some(rate) = record.rate(column) else { continue };
            by_submitter.entry(record.submitter).or_default().push(rate);
        }
        let medians = by_submitter.into_values().filter_map(|mut rates| median(&mut rates));
        let mut medians: Vec<f64> = medians.collect();
        let middle = median(&mut medians)?;
        let (low, high) = (*medians.first()?, *medians.last()?);
        Some(Self { low, middle, high, submitters: medians.len() })
    }

    fn shown(&self, column: Column, scale: [f64; 2]) -> CardFigure {
        let wide = (scale[1] / scale[0]).ln();
        let x = |rate: f64| if wide > 0.0 { 100.0 * (rate / scale[0]).ln() / wide } else { 50.0 };
        let told = |rate: f64| pages::told(column, rate);
        CardFigure {
            middle: told(self.middle),
            range: (self.submitters > 1)
                .then(|| format!("{} to {}", told(self.low), told(self.high))),
            submitters: self.submitters,
            bar: [self.low, self.middle, self.high].map(|rate| (10.0 * x(rate)).round() / 10.0),
        }
    }
}

fn facts(model: &ModelView) -> Vec<(&'static str, String)> {
    let size = model.capacity_bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let size = size.map(|bytes| cardproof_units::Bytes(bytes).to_string());
    let known = [
        ("Maker", model.maker.clone()),
        ("Product", model.product.clone()),
        ("Manufacturer", model.manufacturer_id.clone()),
        ("OEM", model.oem_id.clone()),
        ("Revision", model.revision.clone()),
        ("Attached as", model.transport.clone()),
        ("Capacity", size),
        ("Records", Some(model.submissions.to_string())),
        ("Submitters", Some(model.submitters.to_string())),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

pub(super) async fn model_json(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let least = hub.options.submitters_min;
    let found = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let record = |record: &Entry| {
            let rates: BTreeMap<String, f64> = Column::ALL
                .into_iter()
                .filter_map(|column| Some((crate::summary::quantity(column), record.rate(column)?)))
                .collect();
            json!({"id": record.id, "basis": *record.basis, "host": *record.host,
                "origin": record.origin.word(), "rates": rates})
        };
        let latest: Vec<_> = card.records.iter().rev().take(LIST_MAX).map(record).collect();
        Some(json!({"model": view(&key, card, least)?, "records": latest}))
    });
    Ok(json_response(&found.ok_or(Error::NotFound)?))
}

pub(super) async fn badge(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let least = hub.options.submitters_min;
    let found = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let first = boards(records, card, least).into_iter().next();
        let cells = first.map(|row| row.cells).unwrap_or_default();
        let cell = cells.into_iter().enumerate().find_map(|(at, cell)| Some((at, cell?)));
        Some((card.name(least), cell))
    });
    let (name, cell) = found.ok_or(Error::NotFound)?;
    let value = cell.map_or_else(
        || "not measured".to_owned(),
        |(at, cell)| format!("{} {}", super::html::sentence(Column::ALL[at].label()), cell.middle),
    );
    let name: String = name.chars().take(60).collect();
    let width = |text: &str| 12 + 7 * text.chars().count();
    let badge = pages::Badge { left: width(&name), right: width(&value), name, value };
    Ok(typed("image/svg+xml", String::from(badge)))
}

pub(super) async fn hosts(State(hub): State<Hub>) -> Page {
    let shown = hub.hosts().into_iter().filter(|it| it.is_agreed).take(LIST_MAX);
    let hosts = shown.map(|it| HostView { key: it.key, name: it.name, count: it.count }).collect();
    Ok(page(pages::Hosts { hosts, least: hub.options.submitters_min }))
}

pub(super) async fn host(State(hub): State<Hub>, Path(host): Path<String>) -> Page {
    let known = hub.hosts().into_iter().find(|it| it.key == host).ok_or(Error::NotFound)?;
    let latest = hub.titled(find::on_host(&hub.db, &host).await?);
    let name = if known.is_agreed { known.name } else { "A host of its own".to_owned() };
    Ok(page(pages::Host { name, latest }))
}
