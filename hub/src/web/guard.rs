//! What surrounds every answer: headers that keep browsers safe, counting, one log line, and errors in the form
//! that the client reads.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Hub, who};
use crate::error::Error;
use crate::log;
use crate::pages;

/// What a browser may do with a page: show it, with our style and pictures, and send our forms to us.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// The same for a report, which carries its style with it.
pub(super) const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The longest time for an answer: longer than a body may take and a database may be waited for.
const ANSWER_MAX: Duration = Duration::from_secs(18);

/// Lets a browser ask for the token.
const BROWSERS_ASK: &str = "Basic realm=\"administrators\", charset=\"UTF-8\"";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What operators ask of a hub that cannot answer anything else.
const OF_OPERATORS: [&str; 2] = ["/healthz", "/metrics"];

/// The longest refusal of the framework's, in bytes.
const WORDS_MAX: usize = 4096;

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "interest-cohort=()"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Answers `request` by `next`, within these surroundings.
pub(super) async fn surround(State(hub): State<Hub>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    who::look_for_proxy(&hub, &request);
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", |path| path.as_str()).to_owned();
    let method = request.method().clone();
    let asked = request.headers().get(header::IF_NONE_MATCH).cloned();
    let wants_page = accepts_pages(request.headers()) && !wants_json(request.headers());
    let from = own_page(&request, &hub.options.public_url);
    let mut response = if is_foreign_form(&request, &hub.options.public_url) {
        Failed(Error::Request("this form was sent from another site".to_owned())).into_response()
    } else if request.uri().to_string().contains("%00") {
        // Nothing has such a name, and PostgreSQL takes none in a question.
        Failed(Error::Request("an address here has no zero byte".to_owned())).into_response()
    } else if let (Err(gone), false) = (hub.db.check_place(), OF_OPERATORS.contains(&&*route)) {
        // What is open reads on in files that nobody finds again.
        Failed(gone).into_response()
    } else {
        match tokio::time::timeout(ANSWER_MAX, next.run(request)).await {
            Ok(response) => with_words(response).await,
            // A database that keeps its connections and says nothing, most likely.
            Err(_) => Failed(Error::Late).into_response(),
        }
    };
    if let Some(told) = response.extensions_mut().remove::<Told>() {
        hub.metrics.error(told.name);
        if response.status().is_server_error() {
            let detail = Value::from(told.detail.clone());
            log::event("error", &[("error", Value::from(told.name)), ("detail", detail)]);
        }
        let allow = response.headers_mut().remove(header::ALLOW);
        let is_json = !wants_page || route.starts_with("/api/");
        response = told.in_form(response.status(), is_json, from.as_deref());
        response.headers_mut().extend(allow.map(|methods| (header::ALLOW, methods)));
    }
    if matches!(response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT)
        && method.is_safe()
        && is_named(&response, &asked)
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    if method.is_safe() && is_data(&response) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        let shown = HeaderValue::from_static("ETag, Content-Range, Accept-Ranges");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
    }
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    let took = start.elapsed();
    hub.metrics.request(&route, response.status().as_u16(), took);
    log::event(
        "request",
        &[
            ("method", Value::from(method.as_str())),
            ("route", Value::from(route)),
            ("status", Value::from(response.status().as_u16())),
            ("ms", Value::from(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))),
        ],
    );
    response
}

/// Whether `asked`, an `If-None-Match`, names the tag of `response`.
fn is_named(response: &Response, asked: &Option<HeaderValue>) -> bool {
    let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let listed = asked.as_ref().and_then(|asked| asked.to_str().ok());
    let (Some(tag), Some(listed)) = (tag, listed) else { return false };
    let mut names = listed.split(',').map(str::trim);
    names.any(|name| name == "*" || name.strip_prefix("W/").unwrap_or(name) == tag)
}

/// Whether `response` is public data, which pages of any site may read. What needs a token is none: no browser sends one
/// by itself, and other sites cannot read it without.
fn is_data(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let data = [
        "application/json",
        "application/atom+xml",
        "application/gzip",
        "application/vnd.apache.parquet",
    ];
    kind.is_none_or(|kind| data.contains(&kind)) && response.status() != StatusCode::UNAUTHORIZED
}

/// Whether a browser says that another site's page has sent this, which it may with the token that an administrator has
/// given it. Browsers name the origin of every form; of an address without TLS they say nothing else.
fn is_foreign_form(request: &Request, public_url: &str) -> bool {
    if request.method().is_safe() {
        return false;
    }
    word(request, header::ORIGIN).is_some_and(|origin| !is_own(request, public_url, origin))
        || matches!(word(request, SEC_FETCH_SITE), Some("cross-site" | "same-site"))
}

/// The value of the header `name`; `null` where it is no text.
fn word(request: &Request, name: HeaderName) -> Option<&str> {
    Some(request.headers().get(name)?.to_str().unwrap_or("null"))
}

/// Whether `origin` is this hub's, under its public address or the one that `request` was sent to.
fn is_own(request: &Request, public_url: &str, origin: &str) -> bool {
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == public_url || (host.is_some() && host == word(request, header::HOST))
}

/// The page of this hub that has led to `request`, where a browser names one.
fn own_page(request: &Request, public_url: &str) -> Option<String> {
    let from = word(request, header::REFERER)?;
    let address: Uri = from.parse().ok()?;
    let scheme = address.scheme_str().filter(|it| matches!(*it, "http" | "https"))?;
    let origin = format!("{scheme}://{}", address.authority()?);
    is_own(request, public_url, &origin).then(|| from.to_owned())
}

/// `response` with [`Told`] where the framework has refused the request, which it does in plain text or without a word.
async fn with_words(response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_plain = kind.is_none_or(|kind| kind.starts_with(b"text/plain"));
    let is_told = response.extensions().get::<Told>().is_some();
    if !response.status().is_client_error() || !is_plain || is_told {
        return response;
    }
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, WORDS_MAX).await.unwrap_or_default();
    let mut words = String::from_utf8_lossy(&bytes).into_owned();
    if words.is_empty() {
        "what this address takes is in the header Allow".clone_into(&mut words);
    }
    let mut response = Response::from_parts(parts, Body::empty());
    let told = Told { name: "request", words, detail: String::new(), retry_after_s: None };
    response.extensions_mut().insert(told);
    response
}

/// Whether the client names pages among what it takes, as browsers do.
fn accepts_pages(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Whether the client asks for JSON rather than for a page.
pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    let accept =
        headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let place = |kind: &str| accept.find(kind);
    match (place("json"), place("text/html")) {
        (Some(json), Some(html)) => json < html,
        (json, _) => json.is_some(),
    }
}

/// An error as a response; [`surround`] gives it the form that the client reads.
#[derive(Debug)]
pub(super) struct Failed(pub(super) Error);

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// What a client is to be told, on its way to [`surround`].
#[derive(Clone)]
struct Told {
    name: &'static str,
    words: String,
    detail: String,
    retry_after_s: Option<u32>,
}

impl Told {
    /// As the client reads it, on a page with a link back to `from`.
    fn in_form(self, status: StatusCode, is_json: bool, from: Option<&str>) -> Response {
        let mut response = if is_json {
            json_response(&json!({"error": self.name, "message": self.words}))
        } else {
            let title = status.canonical_reason().unwrap_or("Error");
            html_response(pages::message(title, &self.words, from.map(|from| (from, "Back"))))
        };
        *response.status_mut() = status;
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let ask = if is_json { "Bearer" } else { BROWSERS_ASK };
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(ask));
        }
        response
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after_s = match self.0 {
            Error::TooMany => Some(600),
            Error::Busy | Error::Late | Error::DataGone | Error::Database(_) | Error::DiskFull => {
                Some(10)
            }
            _ => None,
        };
        let (name, words, detail) = (self.0.name(), self.0.told(), self.0.detail());
        let mut response = status.into_response();
        response.extensions_mut().insert(Told { name, words, detail, retry_after_s });
        response
    }
}

/// `value` as a response.
pub(super) fn json_response(value: &Value) -> Response {
    tagged("application/json", value.to_string())
}

/// `text` as a response of the type `kind`, with a tag by which who has it already need not get it again.
pub(super) fn tagged(kind: &'static str, text: String) -> Response {
    let tag: String = crate::secret::hash(&text).chars().take(32).collect();
    let mut response = typed(kind, text);
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{tag}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// `page` as a response.
pub(super) fn html_response(page: String) -> Response {
    typed("text/html; charset=utf-8", page)
}

/// `text` as a response of the type `kind`.
pub(super) fn typed(kind: &'static str, text: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text.into()).into_response()
}
