//! What programs of others look for: the icon, the map of the site, the page on the API.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::Value;

use super::Hub;
use super::guard::typed;
use super::html::{Page, page};
use super::ops::OPENAPI;
use crate::error::Error;
use crate::pages::{self, Call};

/// The most cards in the map, those that enough agree with.
const CARDS_MAX: usize = 20_000;

pub(super) async fn favicon() -> Response {
    let mut response = typed("image/svg+xml", include_str!("../../templates/favicon.svg"));
    let day = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(header::CACHE_CONTROL, day);
    response
}

pub(super) async fn sitemap(State(hub): State<Hub>) -> Response {
    let least = hub.options.submitters_min;
    let models = hub.index.look(|records| {
        let agreed = records.cards.iter().filter(|(_, card)| card.is_agreed(least));
        agreed.map(|(key, _)| key.clone()).take(CARDS_MAX).collect()
    });
    let base = hub.options.public_url.clone();
    typed("application/xml", String::from(pages::Sitemap { base, models }))
}

pub(super) async fn robots(State(hub): State<Hub>) -> Response {
    let base = &hub.options.public_url;
    let text = format!(
        "User-agent: *\nDisallow: /compare\nDisallow: /search\nDisallow: /moderation\nSitemap: {base}/sitemap.xml\n"
    );
    typed("text/plain; charset=utf-8", text)
}

pub(super) async fn api(State(hub): State<Hub>) -> Page {
    let described: Value =
        serde_json::from_str(OPENAPI).map_err(|error| Error::Internal(error.to_string()))?;
    let paths = described["paths"].as_object().into_iter().flatten();
    let calls = paths.flat_map(|(path, calls)| {
        let calls = calls.as_object().into_iter().flatten();
        calls.filter_map(move |(method, call)| {
            let parameters = call["parameters"].as_array().into_iter().flatten();
            let names: Vec<&str> = parameters.filter_map(|it| it["name"].as_str()).collect();
            Some(Call {
                method: method.to_ascii_uppercase(),
                path: path.clone(),
                summary: call["summary"].as_str()?.to_owned(),
                parameters: names.join(", "),
            })
        })
    });
    let base = hub.options.public_url.clone();
    Ok(page(pages::Api { base, calls: calls.collect() }))
}
