//! Submissions over HTTP: sent, read, amended, deleted.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cardproof_submission::accept;
use serde_json::json;

use super::body::{Held, Share};
use super::guard::{Failed, json_response, tagged, wants_json};
use super::server::Peer;
use super::who::{self, client, token};
use super::{Hub, body, html};
use crate::clock;
use crate::error::Error;
use crate::log;
use crate::network::block;
use crate::store::admin;
use crate::store::draft::Draft;
use crate::store::keep::Sender;
use crate::store::state::State as Sight;
use crate::store::submissions::{self, By};

/// The shortest idempotency key: shorter ones would meet by chance.
const KEY_MIN: usize = 8;

/// The longest.
const KEY_MAX: usize = 128;

/// Takes a submission.
pub(super) async fn submit(State(hub): State<Hub>, request: Request) -> Result<Response, Failed> {
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers)?;
    let client = client(&hub, &parts.headers, parts.extensions.get::<Peer>());
    hub.attempts.count(client)?;
    let (draft, _share) = draft(&hub, client, &parts.headers, body).await?;
    check_price(&draft)?;
    let sender = sender(&hub, client).await?;
    let receipt = hub.keeper.keep(draft, key, sender).await?;
    if !receipt.was_there {
        hub.attempts.kept();
        hub.metrics.submissions.fetch_add(1, Ordering::Relaxed);
    }
    let path = format!("/r/{}", receipt.id);
    let url = format!("{}{path}", hub.options.public_url);
    let mut response = json_response(&json!({
        "id": receipt.id,
        "url": url,
        "path": path,
        "token": receipt.token,
        "waits": receipt.waits,
    }));
    *response.status_mut() = if receipt.was_there { StatusCode::OK } else { StatusCode::CREATED };
    if let Ok(location) = HeaderValue::from_str(&path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// How long a submitter is new.
const NEW_MS: i64 = 86_400_000;

/// Who sends from `client`. Of who is new, a first burst waits for an administrator's look, and all of who was banned.
async fn sender(hub: &Hub, client: IpAddr) -> Result<Sender, Error> {
    let submitter = hub.pseudonyms.of(&hub.db, client).await?;
    let known = hub.index.look(|records| records.of_submitter(&submitter));
    let is_burst = known.is_some_and(|(first_ms, count)| {
        count >= hub.options.first_records && clock::now_ms() - first_ms < NEW_MS
    });
    // The owner of a desk's own hub is no stranger.
    let waits =
        (is_burst && !client.is_loopback()) || admin::is_banned(&hub.db, &submitter).await?;
    Ok(Sender { submitter, state: if waits { Sight::Waiting } else { Sight::Public } })
}

/// # Errors
/// The price is of a day to come.
fn check_price(draft: &Draft) -> Result<(), Error> {
    let day = draft.price_date().and_then(clock::days).map(i64::from);
    // Somewhere it is tomorrow already.
    if day.is_some_and(|day| day > clock::now_ms() / 86_400_000 + 1) {
        return Err(Error::PriceToCome);
    }
    Ok(())
}

/// The document in `body`, accepted and judged, with its share of the memory for bodies. As many are judged at once
/// as there are processors: the others wait.
async fn draft(
    hub: &Hub,
    client: IpAddr,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Draft, Share), Error> {
    let Held { bytes, share } = body::json_bytes(hub, block(client), headers, body).await?;
    let judge = Arc::clone(&hub.judges).acquire_owned().await.map_err(|_| Error::Busy)?;
    // The judge is kept to the end, also where the client has gone.
    let judged = tokio::task::spawn_blocking(move || {
        let draft = Draft::of(&accept(&bytes)?, None);
        drop((bytes, judge));
        draft
    });
    let draft = judged.await.map_err(|error| Error::Internal(error.to_string()))??;
    Ok((draft, share))
}

/// The idempotency key among `headers`.
fn key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    if !(KEY_MIN..=KEY_MAX).contains(&key.len()) {
        let message = format!("an Idempotency-Key has {KEY_MIN} to {KEY_MAX} plain characters");
        return Err(Error::Request(message));
    }
    Ok(Some(key.to_owned()))
}

/// The name in an address, and whether it asks for JSON by its ending.
fn split(name: &str) -> Result<(&str, bool), Error> {
    let (id, is_json) = name.strip_suffix(".json").map_or((name, false), |id| (id, true));
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if id.is_empty() || id.len() > 80 || !id.chars().all(is_name) {
        return Err(Error::NotFound);
    }
    Ok((id, is_json))
}

/// A submission: its document as JSON, or its page.
pub(super) async fn read(
    State(hub): State<Hub>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (id, is_json) = split(&name)?;
    let has_token = headers.contains_key(header::AUTHORIZATION);
    let sees_hidden = has_token && who::administrator(&hub, &headers).await.is_ok();
    let kept = submissions::find(&hub.db, id, sees_hidden).await?;
    let is_hidden = kept.state == Sight::Hidden;
    let mut response = if is_json || wants_json(&headers) {
        tagged("application/json", kept.document)
    } else {
        html::report(html::record_page(&hub, kept).await?)
    };
    let varies = HeaderValue::from_static("Accept, Authorization");
    response.headers_mut().insert(header::VARY, varies);
    if is_hidden {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// Puts another document in the place of a submission's.
pub(super) async fn amend(
    State(hub): State<Hub>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Failed> {
    let (parts, body) = request.into_parts();
    let (id, _) = split(&name)?;
    let token = token(&parts.headers)?;
    submissions::check_right(&hub.db, id, By::Token(token)).await?;
    let client = client(&hub, &parts.headers, parts.extensions.get::<Peer>());
    hub.attempts.count(client)?;
    let (draft, _share) = draft(&hub, client, &parts.headers, body).await?;
    check_price(&draft)?;
    submissions::amend(&hub.db, &hub.index, id, By::Token(token), &draft).await?;
    let path = format!("/r/{id}");
    let url = format!("{}{path}", hub.options.public_url);
    Ok(json_response(&json!({"id": id, "url": url, "path": path})))
}

/// Deletes a submission, with its token or as an administrator.
pub(super) async fn delete(
    State(hub): State<Hub>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let (id, _) = split(&name)?;
    remove(&hub, id, token(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Deletes the submission `id` by the right of `token`.
pub(super) async fn remove(hub: &Hub, id: &str, token: &str) -> Result<(), Error> {
    match admin::who(&hub.db, token).await {
        Ok(name) => {
            admin::note(&hub.db, &name, "delete", id, "").await?;
            submissions::delete(&hub.db, &hub.index, id, By::Moderator).await?;
        }
        Err(Error::WrongToken) => {
            submissions::delete(&hub.db, &hub.index, id, By::Token(token)).await?;
        }
        Err(other) => return Err(other),
    }
    hub.metrics.deletions.fetch_add(1, Ordering::Relaxed);
    log::event("deleted", &[("day", clock::day(clock::now_ms()).into())]);
    Ok(())
}
