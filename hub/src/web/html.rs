//! Pages over HTTP: what is asked of the database for each, and what is not answered.

use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardproof_rating::compare::{Contender, Pairing, Use, compare as compared};
pub(super) use cardproof_rating::wording::sentence;
use cardproof_rating::{Capacity, judge};
use cardproof_record::Record;
use cardproof_submission::capacity_of;
use serde::Deserialize;

use super::Hub;
use super::api::remove;
use super::guard::{Failed, REPORT_POLICY, html_response, typed};
use super::query::{Text, Wanted, given};
use crate::clock;
use crate::error::Error;
use crate::pages::{self, EntryView, Frame, framed};
use crate::queries::queries;
use crate::store::find::{self, Before};
use crate::store::submissions::{self, Kept};

/// The most cards of a comparison.
const COMPARED_MAX: usize = 12;

/// What an address may ask for. Everything is optional.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default, deserialize_with = "given")]
    q: Option<Text>,
    ids: Option<String>,
    id: Option<String>,
    card: Option<String>,
    #[serde(rename = "use", default, deserialize_with = "given")]
    wanted: Option<Wanted>,
    #[serde(default, deserialize_with = "given")]
    before: Option<Before>,
}

impl Asked {
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        names([self.ids.as_deref(), self.id.as_deref()])
    }

    /// What is looked for; nothing where nothing is asked for.
    pub(super) fn text(&self) -> &str {
        self.q.as_ref().map_or("", |text| &text.0)
    }

    /// The card that another is to be compared with.
    pub(super) fn card(&self) -> &str {
        self.card.as_deref().unwrap_or_default()
    }
}

/// The names of records in `lists`, each once; more than may be compared are an error.
pub(super) fn names(lists: [Option<&str>; 2]) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    let given = lists.into_iter().flatten();
    for name in
        given.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty())
    {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
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
        return Err(Error::Request(format!("at most {COMPARED_MAX} records are compared at once")));
    }
    Ok(names)
}

pub(super) type Page = Result<Response, Failed>;

pub(super) fn page(page: impl Into<String>) -> Response {
    html_response(page.into())
}

pub(super) async fn latest(State(hub): State<Hub>, Query(asked): Query<Asked>) -> Page {
    let latest = find::page(&hub.db, &asked.before.unwrap_or_default()).await?;
    let more_before = Before::end_of(&latest);
    Ok(page(pages::Latest {
        least: hub.options.submitters_min,
        latest: hub.titled(latest),
        more_before,
    }))
}

/// The uses, and which of them is shown.
pub(super) fn uses(wanted: Use) -> Vec<(&'static str, &'static str, bool)> {
    Use::ALL.into_iter().map(|one| (one.name(), one.label(), one == wanted)).collect()
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
    let title = hub.title(&kept.model);
    // A card or a host of which no record counts has no page.
    let has_model = hub.index.look(|records| records.cards.contains_key(&kept.model));
    let has_host = hub.agreed().hosts.iter().any(|it| it.key == kept.host);
    let made = tokio::task::spawn_blocking(move || {
        // Kept to the end, also where the client has gone.
        let _turn = turn;
        let mut record = kept.record()?;
        // The card is the title, not what its submitter calls it.
        record.label = None;
        let document = kept.value()?;
        let capacity = capacity_of(&document)?;
        let found = capacity.as_ref().map(|it| {
            Capacity::of_verdict(it.verdict, it.announced_size_bytes, it.real_size_bytes)
        });
        let page = cardproof_report::shared_page(&record, &judge(&record), found.as_ref())
            .map_err(internal)?;
        let mut frame = Frame::of(&kept, title, &document, capacity.as_ref());
        frame.model = frame.model.filter(|_| has_model);
        frame.host = frame.host.filter(|_| has_host);
        framed(&page, &frame).map_err(internal)
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
        let mut latest = find::page(&hub.db, &Before::default()).await?;
        latest.truncate(COMPARED_MAX);
        return Ok(page(pages::Compare { fault, latest: hub.titled(latest) }));
    }
    let mut kept = Vec::new();
    for name in &names {
        let mut one = submissions::find(&hub.db, name, false).await?;
        one.title = hub.title(&one.model);
        kept.push(one);
    }
    let Wanted(wanted) = asked.wanted.unwrap_or_default();
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
    let page = cardproof_report::comparison_page(&found, wanted, &firsts).map_err(internal)?;
    let frame = Frame {
        compared: kept.iter().map(|kept| (kept.id.clone(), name(kept))).collect(),
        ids,
        uses: uses(wanted),
        ..Frame::default()
    };
    framed(&page, &frame).map_err(internal)
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
    let latest = hub.titled(find::page(&hub.db, &Before::default()).await?);
    Ok(feed_of(&hub, "latest records".to_owned(), String::new(), latest))
}

/// The feed of `latest` on the page with the path `path`.
pub(super) fn feed_of(hub: &Hub, title: String, path: String, latest: Vec<EntryView>) -> Response {
    let updated = clock::rfc3339(latest.first().map_or(0, |entry| entry.created_ms));
    let feed = pages::Feed { title, base: hub.options.public_url.clone(), path, updated, latest };
    typed("application/atom+xml", String::from(feed))
}

pub(super) async fn about() -> Response {
    page(pages::About { fields: cardproof_submission::paths() })
}

pub(super) async fn data(State(hub): State<Hub>) -> Page {
    Ok(page(pages::Data::of(hub.dump.manifest()?)))
}

/// The example queries, on the model with the most records.
pub(super) async fn example_queries(State(hub): State<Hub>) -> Page {
    let most = hub.models().into_iter().next();
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
