//! What operators and programs ask for: health, metrics, the description of the API.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::Hub;
use super::guard::{json_response, typed};
use super::metrics::{Measured, VERSION};
use crate::store::review;

/// The description of the API.
pub(super) const OPENAPI: &str = include_str!("../../openapi.json");

/// How long the records may be counted that administrators have to look at.
const COUNT_MAX: Duration = Duration::from_secs(1);

/// 200 when the hub can take a submission. The dump's age is told, and is no reason to restart a hub.
pub(super) async fn health(State(hub): State<Hub>) -> Response {
    let status = if hub.db.check_place().is_err() {
        "the data directory has gone or was replaced"
    } else if !hub.db.is_ready().await {
        "the database does not answer"
    } else if !hub.db.has_room() {
        "the disk is full"
    } else {
        "ready"
    };
    let age = hub.dump.age().map(|age| age.as_secs());
    let mut response = json_response(&json!({
        "status": status, "version": VERSION, "disk_free_bytes": hub.dump.free_bytes(), "dump_age_seconds": age
    }));
    if status != "ready" {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// What is counted.
pub(super) async fn metrics(State(hub): State<Hub>) -> Response {
    let (records, models) = hub.index.look(|records| (records.count, records.cards.len()));
    // Without a database the rest is told all the same.
    let open = tokio::time::timeout(COUNT_MAX, review::open(&hub.db)).await;
    let measured = Measured {
        records,
        models,
        open: open.ok().and_then(Result::ok),
        dump_age: Some(hub.dump.age().unwrap_or_else(|| hub.started.elapsed())),
        free_bytes: hub.dump.free_bytes(),
    };
    typed("application/openmetrics-text; version=1.0.0; charset=utf-8", hub.metrics.text(&measured))
}

/// The API's description.
pub(super) async fn openapi() -> Response {
    typed("application/json", OPENAPI)
}
