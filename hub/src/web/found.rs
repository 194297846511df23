//! What tests of all cards have found, over HTTP: fakes and lifetimes, as pages and for programs.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::Hub;
use super::guard::json_response;
use super::html::page;
use crate::{pages, tally};

pub(super) async fn fakes(State(hub): State<Hub>) -> Response {
    let least = hub.options.submitters_min;
    page(pages::Fakes { rows: hub.index.look(|records| tally::fakes(records, least)), least })
}

pub(super) async fn fakes_json(State(hub): State<Hub>) -> Response {
    let rows = hub.index.look(|records| tally::fakes(records, hub.options.submitters_min));
    json_response(&json!({"confidence": 0.95, "models": rows}))
}

pub(super) async fn lives(State(hub): State<Hub>) -> Response {
    let least = hub.options.submitters_min;
    page(pages::Lives { rows: hub.index.look(|records| tally::lives(records, least)), least })
}

pub(super) async fn lives_json(State(hub): State<Hub>) -> Response {
    let rows = hub.index.look(|records| tally::lives(records, hub.options.submitters_min));
    json_response(&json!({"confidence": 0.95, "models": rows}))
}
