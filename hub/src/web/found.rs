//! What tests of all cards have found, over HTTP: fakes and lifetimes, as pages and for programs.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::Hub;
use super::guard::json_response;
use super::html::page;
use crate::pages;
use crate::tally::{self, Lasted, Tested};

/// What was found at a version of the records: all of them are looked at for it.
#[derive(Debug, Default)]
pub struct Found(Mutex<Option<Arc<Lists>>>);

#[derive(Debug)]
struct Lists {
    version: u64,
    fakes: Vec<Tested>,
    lives: Vec<Lasted>,
}

/// The lists, found anew when a record has come or gone.
fn lists(hub: &Hub) -> Arc<Lists> {
    let least = hub.options.submitters_min;
    let mut known = hub.found.0.lock().unwrap_or_else(PoisonError::into_inner);
    hub.index.look(|records| match &*known {
        Some(lists) if lists.version == records.version => Arc::clone(lists),
        _ => {
            let (fakes, lives) = (tally::fakes(records, least), tally::lives(records, least));
            let lists = Arc::new(Lists { version: records.version, fakes, lives });
            *known = Some(Arc::clone(&lists));
            lists
        }
    })
}

pub(super) async fn fakes(State(hub): State<Hub>) -> Response {
    let rows = lists(&hub).fakes.clone();
    page(pages::Fakes { rows, least: hub.options.submitters_min })
}

pub(super) async fn fakes_json(State(hub): State<Hub>) -> Response {
    json_response(&json!({"confidence": 0.95, "models": lists(&hub).fakes}))
}

pub(super) async fn lives(State(hub): State<Hub>) -> Response {
    let rows = lists(&hub).lives.clone();
    page(pages::Lives { rows, least: hub.options.submitters_min })
}

pub(super) async fn lives_json(State(hub): State<Hub>) -> Response {
    json_response(&json!({"confidence": 0.95, "models": lists(&hub).lives}))
}
