//! Pages over HTTP: what is asked of the database for each, and what is not answered.

use std::collections::{BTreeMap, HashMap};

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardproof_rating::compare::{Column, Contender, Pairing, Ranked, Use, compare as compared};
use cardproof_rating::judge;
use cardproof_record::Record;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Hub;
use super::api::remove;
use super::guard::{Failed, REPORT_POLICY, html_response, json_response, typed};
use crate::clock;
use crate::error::{Error, or_left_out};
use crate::pages::{self, Distribution, Frame, framed};
use crate::queries::queries;
use crate::store::find::{self, Before, DatedPrice, FigureRow, Only};
use crate::store::submissions::{self, Kept};
use crate::summary::quantity;

/// The most cards of a comparison.
const COMPARED_MAX: usize = 12;

/// The most models of a ranking, and the most records that each brings.
const RANKED_MAX: usize = 40;
const RUNS_MAX: usize = 4;

/// What an address may ask for. Everything is optional, and unknown things are ignored.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    q: Option<String>,
    ids: Option<String>,
    id: Option<String>,
    host: Option<String>,
    basis: Option<String>,
    #[serde(rename = "use")]
    wanted: Option<String>,
    before: Option<String>,
}

impl Asked {
    /// The names of records to compare, each once; more than may be are an error.
    fn names(&self) -> Result<Vec<String>, Error> {
        let mut names: Vec<String> = Vec::new();
        let given = [self.ids.as_deref(), self.id.as_deref()].into_iter().flatten();
        for name in
            given.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty())
        {
            let is_name =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
            if name.len() > 80 || !name.chars().all(is_name) {
                return Err(Error::Request(
                    "ids are the names of records with commas between".to_owned(),
                ));
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if names.len() > COMPARED_MAX {
            return Err(Error::Request(format!(
                "at most {COMPARED_MAX} records are compared at once"
            )));
        }
        Ok(names)
    }

    fn wanted(&self) -> Use {
        let name = self.wanted.as_deref().unwrap_or_default();
        Use::ALL.into_iter().find(|known| known.name() == name).unwrap_or(Use::System)
    }
}

type Page = Result<Response, Failed>;

fn page(page: impl Into<String>) -> Response {
    html_response(page.into())
}

pub(super) async fn home(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    let before = asked.before.as_deref().and_then(Before::named).unwrap_or_default();
    let latest = find::page(&hub.db, &before).await?;
    let (records, models) = find::totals(&hub.db).await?;
    let more_before = Before::end_of(&latest);
    Ok(page(pages::Home { records, models, latest, more_before }))
}

/// The most characters of a query.
const QUERY_MAX: usize = 100;

/// A query as far as it is looked at.
fn query(asked: &Asked) -> String {
    asked.q.as_deref().unwrap_or_default().chars().take(QUERY_MAX).collect()
}

pub(super) async fn search(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    let query = query(&asked);
    let found = hub.catalogue.search(&hub.db, &query).await?;
    Ok(page(pages::Search { query, found, ids: asked.names()?.join(",") }))
}

pub(super) async fn search_json(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    if asked.q.as_deref().is_some_and(|query| query.chars().count() > QUERY_MAX) {
        return Err(Error::Request(format!("q has at most {QUERY_MAX} characters")).into());
    }
    let found = hub.catalogue.search(&hub.db, &query(&asked)).await?;
    Ok(json_response(&json!({"models": found})))
}

pub(super) async fn models(State(hub): State<Hub>) -> Page {
    Ok(page(pages::Models { models: find::models(&hub.db).await? }))
}

pub(super) async fn model(
    State(hub): State<Hub>,
    Path(key): Path<String>,
    Query(asked): Query<Asked>,
) -> Page {
    let _turn = hub.cards.acquire().await.map_err(|_| Error::Busy)?;
    let model = find::model(&hub.db, &key).await?;
    let host = asked.host.clone().filter(|host| !host.is_empty());
    let figures = find::figures(&hub.db, &key, host.as_deref()).await?;
    let only = Only { model: Some(&key), host: host.as_deref() };
    let latest = find::latest(&hub.db, only).await?;
    let mut lots = BTreeMap::<String, usize>::new();
    for lot in latest.iter().filter_map(|entry| entry.lot.clone()) {
        *lots.entry(lot).or_default() += 1;
    }
    let facts = facts(&model);
    Ok(page(pages::Model {
        facts,
        price: find::price(&hub.db, &key).await?,
        hosts: find::hosts_of(&hub.db, &key).await?,
        quantities: quantities(&figures),
        lots: lots.into_iter().collect(),
        latest,
        ids: asked.names()?.join(","),
        host,
        model,
    }))
}

pub(super) async fn model_json(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let _turn = hub.cards.acquire().await.map_err(|_| Error::Busy)?;
    let model = find::model(&hub.db, &key).await?;
    let figures = find::figures(&hub.db, &key, None).await?;
    let rows: Vec<Value> = figures
        .iter()
        .map(|it| {
            let FigureRow { submission, host, basis, figure } = it;
            let [low, high] = figure.between.map_or([None, None], |ends| ends.map(Some));
            json!({"submission": submission, "quantity": figure.quantity, "basis": basis, "host": host,
                "rate": figure.rate, "low": low, "high": high, "doubt": figure.doubt})
        })
        .collect();
    Ok(json_response(&json!({"model": model, "figures": rows})))
}

fn facts(model: &find::ModelRow) -> Vec<(&'static str, String)> {
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
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The distributions of `figures`: one for each quantity and basis; those in doubt are counted only.
fn quantities(figures: &[FigureRow]) -> Vec<pages::QuantityView> {
    let of_column = |column: Column| {
        let name = quantity(column);
        let mut by_basis = BTreeMap::<&str, (Vec<(String, f64, Option<[f64; 2]>)>, usize)>::new();
        for row in figures.iter().filter(|row| row.figure.quantity == name) {
            let (rates, in_doubt) = by_basis.entry(&row.basis).or_default();
            match row.figure.doubt {
                Some(_) => *in_doubt += 1,
                None => rates.push((row.submission.clone(), row.figure.rate, row.figure.between)),
            }
        }
        let mut distributions: Vec<Distribution> = by_basis
            .into_iter()
            .filter_map(|(basis, (rates, in_doubt))| {
                Distribution::of(column, basis, rates, in_doubt)
            })
            .collect();
        distributions.sort_by_key(|found| std::cmp::Reverse(found.count));
        distributions.truncate(20);
        pages::QuantityView { label: sentence(column.label()), distributions }
    };
    let all = Column::ALL.into_iter().map(of_column);
    all.filter(|quantity| !quantity.distributions.is_empty()).collect()
}

/// `words` with a capital at the beginning.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) async fn badge(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let _turn = hub.cards.acquire().await.map_err(|_| Error::Busy)?;
    let model = find::model(&hub.db, &key).await?;
    let figures = find::figures(&hub.db, &key, None).await?;
    let found = quantities(&figures).into_iter().next();
    let value = found.map_or_else(
        || "not measured".to_owned(),
        |quantity| {
            let median = quantity
                .distributions
                .first()
                .map(|found| found.median.clone())
                .unwrap_or_default();
            let short = median.split(" (").next().unwrap_or_default();
            format!("{} {short}", quantity.label)
        },
    );
    let name: String = model.name.chars().take(60).collect();
    let width = |text: &str| 12 + 7 * text.chars().count();
    let badge = pages::Badge { left: width(&name), right: width(&value), name, value };
    Ok(typed("image/svg+xml", String::from(badge)))
}

pub(super) async fn hosts(State(hub): State<Hub>) -> Page {
    Ok(page(pages::Hosts { hosts: find::hosts(&hub.db).await? }))
}

pub(super) async fn host(State(hub): State<Hub>, Path(host): Path<String>) -> Page {
    let latest = find::latest(&hub.db, Only { host: Some(&host), model: None }).await?;
    let name = latest.first().map(|entry| entry.host_name.clone()).ok_or(Error::NotFound)?;
    Ok(page(pages::Host { name, latest }))
}

/// The uses, and which of them is shown.
fn uses(wanted: Use) -> Vec<(&'static str, &'static str, bool)> {
    Use::ALL.into_iter().map(|one| (one.name(), one.label(), one == wanted)).collect()
}

pub(super) async fn ranking(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    let wanted = asked.wanted();
    let key = (wanted.name(), asked.basis.clone().filter(|basis| !basis.is_empty()));
    let making = match hub.rankings.find(&key).await {
        Ok(shown) => return Ok(page(shown)),
        Err(making) => making,
    };
    let bases = find::bases(&hub.db).await?;
    let given =
        asked.basis.as_deref().filter(|given| bases.iter().any(|known| known.key == *given));
    let basis =
        given.or(bases.first().map(|most| most.key.as_str())).unwrap_or_default().to_owned();
    let candidates = find::candidates(&hub.db, &basis, RANKED_MAX, RUNS_MAX).await?;
    let mut by_model = BTreeMap::<String, (String, Vec<Record>, Option<DatedPrice>)>::new();
    for candidate in candidates {
        let kept = submissions::find(&hub.db, &candidate.id, false).await;
        // Deleted or hidden meanwhile, or not to be read: the ranking of the others goes on.
        let Some(record) = or_left_out(kept.and_then(|kept| kept.record()))? else { continue };
        let entry = by_model.entry(candidate.model).or_insert((candidate.title, Vec::new(), None));
        entry.1.push(record);
    }
    for (key, entry) in &mut by_model {
        entry.2 = find::price(&hub.db, key).await?;
    }
    let is_full = by_model.len() == RANKED_MAX && (key.1.is_none() || given.is_some());
    let turn = hub.judges.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
    let made = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        rank(wanted, &by_model)
    });
    let (rows, is_one_span) = made.await.map_err(|error| Error::Internal(error.to_string()))?;
    let made = String::from(pages::Ranking {
        uses: uses(wanted),
        bases: bases.into_iter().map(|known| (known.key.clone(), known.key == basis)).collect(),
        formula: sentence(wanted.formula()),
        unit: if wanted.is_better_low() { "Time, s" } else { wanted.unit() },
        has_prices: rows.iter().any(|row| !row.price.is_empty()),
        is_undecided: rows.len() > 1 && rows.iter().all(|row| row.place == 1),
        rows,
        is_one_span,
    });
    if is_full {
        making.keep(key, &made);
    }
    Ok(page(made))
}

type Models = BTreeMap<String, (String, Vec<Record>, Option<DatedPrice>)>;

/// The order of `models` by `wanted`. Only prices in the most common currency have a worth.
fn rank(wanted: Use, models: &Models) -> (Vec<pages::RankRow>, bool) {
    let mut currencies = HashMap::<&str, usize>::new();
    for price in models.values().filter_map(|(_, _, price)| price.as_ref()) {
        *currencies.entry(&price.currency).or_default() += 1;
    }
    let currency =
        currencies.into_iter().max_by_key(|(name, count)| (*count, *name)).map(|(name, _)| name);
    let worth =
        |price: &DatedPrice| (Some(price.currency.as_str()) == currency).then_some(price.amount);
    let cards: Vec<Contender<'_>> = models
        .iter()
        .map(|(key, (_, runs, price))| Contender {
            name: key.clone(),
            runs: runs.iter().collect(),
            price: price.as_ref().and_then(worth),
        })
        .collect();
    let comparison = compared(&cards, Pairing::Independent, 1);
    let Some(ranking) = comparison.rankings.into_iter().find(|ranking| ranking.by == wanted) else {
        return (Vec::new(), true);
    };
    let row = |ranked: Ranked| {
        let (name, runs, price) = models.get(&ranked.name)?;
        let between = ranked.between.map(|[low, high]| format!(" ({low:.0} to {high:.0})"));
        Some(pages::RankRow {
            place: ranked.place,
            name: name.clone(),
            value: format!("{:.0}{}", ranked.value, between.unwrap_or_default()),
            records: runs.len(),
            price: price.as_ref().map_or_else(String::new, |it| {
                format!("{:.2} {}, {}", it.amount, it.currency, it.date)
            }),
            worth: ranked
                .value_for_price
                .map_or_else(String::new, |worth| format!("{:.0} %", 100.0 * worth)),
            model: ranked.name,
        })
    };
    (ranking.cards.into_iter().filter_map(row).collect(), ranking.is_one_span)
}

/// A report's page with its own policy.
pub(super) fn report(page: String) -> Response {
    let mut response = html_response(page);
    let policy = HeaderValue::from_static(REPORT_POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(error.to_string())
}

/// The page of a record with all its charts.
pub(super) async fn record_page(hub: &Hub, kept: Kept) -> Result<String, Error> {
    let turn = hub.judges.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
    let made = tokio::task::spawn_blocking(move || {
        // Kept to the end, also where the client has gone.
        let _turn = turn;
        let record = kept.record()?;
        let page = cardproof_report::html(&record, &judge(&record)).map_err(internal)?;
        framed(&page, &Frame::of(&kept)).ok_or_else(|| internal("the report has another form"))
    });
    made.await.map_err(internal)?
}

pub(super) async fn compare(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    let names = asked.names();
    let (names, fault) = match names {
        Ok(names) => (names, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    if names.is_empty() {
        let mut latest = find::latest(&hub.db, Only::default()).await?;
        latest.truncate(COMPARED_MAX);
        return Ok(page(pages::Compare { fault, latest }));
    }
    let mut kept = Vec::new();
    for name in &names {
        kept.push(submissions::find(&hub.db, name, false).await?);
    }
    let wanted = asked.wanted();
    let turn = hub.judges.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
    let made = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        comparison(&kept, wanted, names.join(","))
    });
    Ok(report(made.await.map_err(internal)??))
}

fn comparison(kept: &[Kept], wanted: Use, ids: String) -> Result<String, Error> {
    let records: Vec<Record> = kept.iter().map(Kept::record).collect::<Result<_, _>>()?;
    // The title of a simulated card says so itself.
    let name = |kept: &Kept| match kept.origin.as_str() {
        "measured" | "simulated" => format!("{} ({})", kept.title, kept.id),
        origin => format!("{} ({}, {origin})", kept.title, kept.id),
    };
    let cards: Vec<Contender<'_>> = kept
        .iter()
        .zip(&records)
        .map(|(kept, record)| Contender { name: name(kept), runs: vec![record], price: None })
        .collect();
    let found = compared(&cards, Pairing::Independent, 1);
    let firsts: Vec<&Record> = records.iter().collect();
    let page = cardproof_report::comparison_html(&found, wanted, &firsts).map_err(internal)?;
    let frame = Frame {
        compared: kept.iter().map(|kept| (kept.id.clone(), name(kept))).collect(),
        ids,
        uses: uses(wanted),
        ..Frame::default()
    };
    framed(&page, &frame).ok_or_else(|| internal("the comparison has another form"))
}

pub(super) async fn delete_form(State(hub): State<Hub>, Path(id): Path<String>) -> Page {
    submissions::check(&hub.db, &id, false).await?;
    Ok(page(pages::Delete { id, fault: None }))
}

/// What the form for deleting sends.
#[derive(Debug, Deserialize)]
pub(super) struct DeleteForm {
    token: String,
}

pub(super) async fn delete(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    Form(form): Form<DeleteForm>,
) -> Page {
    match remove(&hub, &id, form.token.trim()).await {
        Ok(()) => Ok(Redirect::to("/").into_response()),
        Err(Error::WrongToken) => {
            let fault = Some("This is not the token of this record.".to_owned());
            let mut response = page(pages::Delete { id, fault });
            *response.status_mut() = axum::http::StatusCode::UNAUTHORIZED;
            Ok(response)
        }
        Err(other) => Err(other.into()),
    }
}

pub(super) async fn feed(State(hub): State<Hub>) -> Page {
    let latest = find::latest(&hub.db, Only::default()).await?;
    let updated = clock::rfc3339(latest.first().map_or(0, |entry| entry.created_ms));
    let feed = pages::Feed { base: hub.options.public_url.clone(), updated, latest };
    Ok(typed("application/atom+xml", String::from(feed)))
}

pub(super) async fn about() -> Response {
    page(pages::About { fields: cardproof_submission::paths() })
}

pub(super) async fn data(State(hub): State<Hub>) -> Page {
    Ok(page(pages::Data::of(hub.dump.manifest()?)))
}

/// The example queries, on the model with the most records.
pub(super) async fn example_queries(State(hub): State<Hub>) -> Page {
    let most = find::models(&hub.db).await?.into_iter().next();
    let model = most.map_or_else(|| "MODEL".to_owned(), |most| most.model);
    let base = hub.options.public_url.clone();
    Ok(page(pages::Queries { base, queries: queries(&model) }))
}

pub(super) async fn style() -> Response {
    let mut response = typed("text/css", pages::STYLE);
    let day = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(header::CACHE_CONTROL, day);
    response
}
