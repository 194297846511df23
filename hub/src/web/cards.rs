//! Cards over HTTP: the order for a board, the list, and a card's own page, all from what is in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use cardproof_hub_standing::Change;
use cardproof_rating::compare::{Column, Use};
use cardproof_report::attachment;
use serde::Deserialize;
use serde_json::json;

use super::Hub;
use super::figures::boards;
use super::guard::json_response;
use super::html::{Page, feed_of, names, page, uses};
use super::query::{Amount, Sort, Wanted, given};
use crate::clock;
use crate::error::Error;
use crate::index::{Agreed, Card, Entry, Records};
use crate::pages::{self, EntryView, ModelView};
use crate::ranking::{CardPrice, Order, Row};
use crate::store::find;
use crate::tally;

/// The most cards of a list.
pub(super) const LIST_MAX: usize = 200;

/// The most records that a card's page lists, the latest.
const RECORDS_MAX: usize = 50;

/// What an order may be narrowed to, and sorted by. Everything is optional.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Narrowed {
    #[serde(rename = "use", default, deserialize_with = "given")]
    wanted: Option<Wanted>,
    #[serde(default, deserialize_with = "given")]
    board: Option<String>,
    #[serde(default, deserialize_with = "given")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "given")]
    maker: Option<String>,
    #[serde(default, deserialize_with = "given")]
    gb: Option<u32>,
    #[serde(default, deserialize_with = "given")]
    price: Option<Amount>,
    #[serde(default, deserialize_with = "given")]
    sort: Option<Sort>,
}

impl Narrowed {
    fn keeps(&self, row: &Row) -> bool {
        let is_cheap = |most: Amount| row.price.as_ref().is_some_and(|it| it.amount <= most.0);
        self.price.is_none_or(is_cheap)
            && (self.kind.is_none() || self.kind == row.kind)
            && (self.maker.is_none() || self.maker == row.maker)
            && self.gb.is_none_or(|size| i64::from(size) == row.gigabytes)
    }

    fn sort(&self, rows: &mut [Row]) {
        let price = |row: &Row| row.price.as_ref().map_or(f64::MAX, |price| price.amount);
        match self.sort.unwrap_or_default() {
            Sort::Price => rows.sort_by(|a, b| price(a).total_cmp(&price(b))),
            Sort::Worth => {
                let worth = |row: &Row| row.worth.unwrap_or(0.0);
                rows.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
            }
            // They come so.
            Sort::Value => {}
        }
    }
}

/// The order that is asked for, all of it, and as it was narrowed.
async fn order(hub: &Hub, asked: &Narrowed) -> Result<(Use, Arc<Order>, Vec<Row>), Error> {
    let Wanted(wanted) = asked.wanted.unwrap_or_default();
    let (index, rankings) = (Arc::clone(&hub.index), Arc::clone(&hub.rankings));
    let board = asked.board.clone();
    let made =
        tokio::task::spawn_blocking(move || rankings.order(&index, wanted, board.as_deref()));
    let order = made.await.map_err(|error| Error::Internal(error.to_string()))?;
    let order = order.ok_or(Error::NotFound)?;
    let mut rows: Vec<Row> = order.rows.iter().filter(|row| asked.keeps(row)).cloned().collect();
    asked.sort(&mut rows);
    rows.truncate(LIST_MAX);
    Ok((wanted, order, rows))
}

pub(super) async fn home(State(hub): State<Hub>, Query(asked): Query<Narrowed>) -> Page {
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
        base: hub.options.public_url.clone(),
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
        sizes: list(
            sizes.iter().map(ToString::to_string).collect(),
            &asked.gb.map(|size| size.to_string()),
        ),
        price: asked.price.map_or_else(String::new, |most| most.0.to_string()),
        sorts: Sort::ALL.map(|it| (asked.sort.unwrap_or_default() == it, it.word())),
        formula: super::html::sentence(wanted.formula()),
        unit: if wanted.is_better_low() { "Time, s" } else { wanted.unit() },
        has_tests: order.rows.iter().any(|row| row.fakes.is_some()),
        has_prices: order.rows.iter().any(|row| row.price.is_some()),
        rows,
        least: hub.options.submitters_min,
    }))
}

pub(super) async fn ranking() -> Response {
    Redirect::permanent("/").into_response()
}

/// The order as JSON.
pub(super) async fn ranking_json(State(hub): State<Hub>, Query(asked): Query<Narrowed>) -> Page {
    let (wanted, order, rows) = order(&hub, &asked).await?;
    Ok(json_response(&json!({
        "use": wanted.name(), "unit": wanted.unit(), "lower_is_better": wanted.is_better_low(),
        "board": order.board, "boards": order.boards, "confidence": 0.9, "cards": rows,
    })))
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
        let agreed = self.agreed();
        let view = |entry: find::Entry| EntryView {
            title: self.title(&entry.model),
            host_name: host_title(&agreed, &entry.host, &entry.host_name),
            id: entry.id,
            created_ms: entry.created_ms,
            origin: entry.origin,
            has_doubts: entry.has_doubts,
        };
        list.into_iter().map(view).collect()
    }

    /// What enough submitters agree with.
    pub(super) fn agreed(&self) -> Arc<Agreed> {
        self.index.agreed(self.options.submitters_min)
    }

    /// The cards that are like `query`.
    pub(super) fn like(&self, query: &str) -> Vec<ModelView> {
        let least = self.options.submitters_min;
        self.index.look(|records| {
            let found = records.like(query).into_iter().take(RECORDS_MAX);
            found.filter_map(|(key, card)| view(key, card, least)).collect()
        })
    }

    /// The card `key` in a list; none where no record of it counts.
    pub(super) fn view(&self, key: &str) -> Option<ModelView> {
        let least = self.options.submitters_min;
        self.index.look(|records| view(key, records.cards.get(key)?, least))
    }

    /// The card of the record `id`; none where that does not count.
    pub(super) fn card_of(&self, id: &str) -> Option<String> {
        let is_of = |card: &Card| card.records.iter().any(|record| *record.id == *id);
        let found = |records: &Records| {
            records.cards.iter().find_map(|(key, card)| is_of(card).then(|| key.clone()))
        };
        self.index.look(found)
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
fn host_title(agreed: &Agreed, host: &str, name: &str) -> String {
    let is_agreed = agreed.hosts.iter().any(|it| it.key == host && it.is_agreed);
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
    let agreed = hub.agreed();
    let least = hub.options.submitters_min;
    let today = i32::try_from(clock::now_ms() / 86_400_000).unwrap_or(i32::MAX);
    let made = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let view = view(&key, card, least)?;
        Some(pages::Model {
            facts: facts(&view),
            price: CardPrice::of(card, today),
            boards: boards(&agreed, card),
            columns: Column::ALL.map(|it| super::html::sentence(it.label())),
            told: tally::told(card, least),
            changes: changes(card),
            lots: lots(card),
            latest: latest(card, &view.name, &agreed),
            ids,
            base: hub.options.public_url.clone(),
            model: view,
        })
    });
    Ok(page(made.ok_or(Error::NotFound)?))
}

/// At which months of making `card` changed, in words.
fn changes(card: &Card) -> Vec<String> {
    let words = |(column, month, found): (Column, String, Change)| {
        let percent = |step: f64| 100.0 * (step.exp() - 1.0);
        let [low, high] = found.between.map(percent);
        let [before, after] = found.cards;
        format!(
            "This model changed: cards made from {month} on have {:+.0} % ({low:+.0} to {high:+.0} %) in {}, by {before} \
             cards before and {after} after. The flash or its controller may be another.",
            percent(found.step),
            column.label()
        )
    };
    tally::changes(card).into_iter().map(words).collect()
}

fn lots(card: &Card) -> Vec<(String, usize)> {
    let mut lots = BTreeMap::<String, usize>::new();
    for lot in card.records.iter().filter_map(|record| record.lot.as_ref()) {
        *lots.entry(lot.to_string()).or_default() += 1;
    }
    lots.into_iter().collect()
}

fn latest(card: &Card, name: &str, agreed: &Agreed) -> Vec<EntryView> {
    let entry = |record: &Entry| EntryView {
        id: record.id.to_string(),
        title: name.to_owned(),
        host_name: host_title(agreed, &record.host, &record.host_name),
        created_ms: record.created_ms,
        origin: record.origin.word().to_owned(),
        has_doubts: record.has_doubts,
    };
    card.records.iter().rev().take(RECORDS_MAX).map(entry).collect()
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
        ("Attached as", model.transport.as_deref().map(|word| attachment(&word.into()))),
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
        Some(json!({"model": view(&key, card, least)?, "verdicts": tally::told(card, least), "records": latest}))
    });
    Ok(json_response(&found.ok_or(Error::NotFound)?))
}

pub(super) async fn feed(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (agreed, least) = (hub.agreed(), hub.options.submitters_min);
    let found = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let name = card.name(least);
        Some((latest(card, &name, &agreed), name))
    });
    let (latest, name) = found.ok_or(Error::NotFound)?;
    Ok(feed_of(&hub, name, format!("/models/{key}"), latest))
}
