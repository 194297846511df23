//! What operators and programs ask for: health, metrics, the description of the API.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::Hub;
use super::guard::{json_response, typed};

/// The description of the API.
pub(super) const OPENAPI: &str = include_str!("../../openapi.json");

/// 200 when the hub can take a submission.
pub(super) async fn health(State(hub): State<Hub>) -> Response {
    if hub.db.is_ready().await {
        return json_response(&json!({"status": "ready"}));
    }
    let mut response = json_response(&json!({"status": "the database does not answer"}));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

/// What is counted.
pub(super) async fn metrics(State(hub): State<Hub>) -> Response {
    let totals = hub.index.look(|records| (records.count, records.cards.len()));
    let dump_age = hub.dump.made_at().and_then(|made| made.elapsed().ok());
    typed(
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        hub.metrics.text(totals, dump_age),
    )
}

/// The API's description.
pub(super) async fn openapi() -> Response {
    typed("application/json", OPENAPI)
}
