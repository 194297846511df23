//! Moderation in a browser: a list of records with filters, deeds on many at once, bans, and reports by readers.
//!
//! An administrator gives the name `admin` and the token when the browser asks for them (Basic authentication), so no page
//! has a cookie or a script. A form that another site sends is refused before it comes here.

use axum::extract::{Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::Hub;
use super::api::client;
use super::guard::{Failed, html_response};
use super::html::{Page, page};
use super::server::Peer;
use crate::error::Error;
use crate::pages;
use crate::store::state::State as Sight;
use crate::store::submissions::{self, By};
use crate::store::{admin, review};

/// The most characters of a reason.
const REASON_MAX: usize = 500;

/// Which records are looked at.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    state: Option<String>,
    submitter: Option<String>,
}

/// What is to be done with records.
#[derive(Debug, Default)]
struct Deeds {
    action: String,
    reason: String,
    /// The names of records.
    ids: Vec<String>,
}

/// The administrator whose token the browser sends; else the browser is told to ask for it.
async fn who(hub: &Hub, headers: &HeaderMap) -> Result<Result<String, Response>, Error> {
    let Some(token) = token(headers) else { return Ok(Err(asked())) };
    match admin::who(&hub.db, &token).await {
        Ok(name) => Ok(Ok(name)),
        Err(Error::WrongToken) => Ok(Err(asked())),
        Err(other) => Err(other),
    }
}

/// The token in the header of Basic authentication, where it is the password.
fn token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, coded) = value.split_once(' ')?;
    let text = decoded(coded.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    text.split_once(':').map(|(_, token)| token.to_owned())
}

/// The text that `coded` is in base 64 (RFC 4648).
fn decoded(coded: &str) -> Option<String> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for c in coded.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(value(c)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The answer that lets a browser ask for the token.
fn asked() -> Response {
    let words = "Give the name admin and your token as the password.";
    let mut response = html_response(pages::message("For administrators", words));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    let ask = HeaderValue::from_static("Basic realm=\"administrators\", charset=\"UTF-8\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, ask);
    response
}

pub(super) async fn list(
    State(hub): State<Hub>,
    Query(asked): Query<Filter>,
    headers: HeaderMap,
) -> Page {
    if let Err(response) = who(&hub, &headers).await? {
        return Ok(response);
    }
    let state = asked.state.as_deref().unwrap_or("waiting").to_owned();
    let submitter = asked.submitter.filter(|it| !it.is_empty());
    let rows = review::list(&hub.db, &state, submitter.as_deref()).await?;
    let states = ["waiting", "reported", "newest", "hidden"].map(|it| (it == state, it));
    let mut response = page(pages::Moderation { states, submitter, rows });
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

pub(super) async fn act(
    State(hub): State<Hub>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Page {
    let who = match who(&hub, &headers).await? {
        Ok(who) => who,
        Err(response) => return Ok(response),
    };
    let deeds = Deeds::of(fields)?;
    for id in &deeds.ids {
        if deeds.action == "ban" {
            admin::note(&hub.db, &who, "ban", id, &deeds.reason).await?;
            review::ban(&hub.db, id).await?;
            continue;
        }
        submissions::check(&hub.db, id, true).await?;
        admin::note(&hub.db, &who, &deeds.action, id, &deeds.reason).await?;
        match deeds.action.as_str() {
            "delete" => submissions::delete(&hub.db, &hub.index, id, By::Moderator).await?,
            action => {
                let state = match action {
                    "show" => Sight::Public,
                    "approve" => Sight::Approved,
                    _ => Sight::Hidden,
                };
                submissions::set_state(&hub.db, &hub.index, id, state).await?;
            }
        }
    }
    Ok(Redirect::to("/moderation").into_response())
}

impl Deeds {
    /// What a form says, in which each chosen record is a field `id` of its own.
    fn of(fields: Vec<(String, String)>) -> Result<Self, Error> {
        let mut deeds = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "action" => deeds.action = value,
                "reason" => value.trim().clone_into(&mut deeds.reason),
                "id" => deeds.ids.push(value),
                _ => {}
            }
        }
        let is_known =
            ["hide", "show", "approve", "delete", "ban"].contains(&deeds.action.as_str());
        let is_reason = (1..=REASON_MAX).contains(&deeds.reason.chars().count());
        if !is_known || !is_reason || deeds.ids.is_empty() || deeds.reason.contains('\0') {
            let words = "choose records, a deed, and give a reason of 1 to 500 characters";
            return Err(Error::Request(words.to_owned()));
        }
        Ok(deeds)
    }
}

/// Notes that a reader finds a record wrong; of one client in an hour as often as it may submit.
pub(super) async fn report(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Failed> {
    let (parts, _) = request.into_parts();
    hub.attempts.count(client(&hub, &parts.headers, parts.extensions.get::<Peer>()))?;
    submissions::check(&hub.db, &id, false).await?;
    review::report(&hub.db, &id).await?;
    let words = "Thank you. An administrator will look at this record.";
    Ok(html_response(pages::message("Reported", words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_read_as_the_standard_has_it() {
        for (coded, text) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decoded(coded).as_deref(), Some(text), "{coded}");
        }
        assert_eq!(decoded("Zm!v"), None);
    }
}
