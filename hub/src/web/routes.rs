//! Every address of the hub and what answers there.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::guard::{Failed, surround};
use super::{
    Hub, api, cards, data, figures, found, hosts, html, moderation, ops, pair, robots, search,
};
use crate::error::Error;

/// Every address of the hub.
pub fn router(hub: Hub) -> Router {
    Router::new()
        .route("/", get(cards::home))
        .route("/latest", get(html::latest))
        .route("/search", get(search::search))
        .route("/models", get(cards::models))
        .route("/models/{model}", get(cards::model))
        .route("/models/{model}/badge.svg", get(figures::badge))
        .route("/models/{model}/feed.atom", get(cards::feed))
        .route("/hosts", get(hosts::hosts))
        .route("/hosts/{host}", get(hosts::host))
        .route("/hosts/{host}/feed.atom", get(hosts::feed))
        .route("/fakes", get(found::fakes))
        .route("/lives", get(found::lives))
        .route("/ranking", get(cards::ranking))
        .route("/compare", get(pair::compare))
        .route("/r/{id}", get(api::read).put(api::amend).delete(api::delete))
        .route("/r/{id}/delete", get(html::delete_form).post(html::delete))
        .route("/r/{id}/report", post(moderation::report))
        .route("/moderation", get(moderation::list).post(moderation::act))
        .route("/feed.atom", get(html::feed))
        .route("/about", get(html::about))
        .route("/api", get(robots::api))
        .route("/favicon.svg", get(robots::favicon))
        .route("/robots.txt", get(robots::robots))
        .route("/sitemap.xml", get(robots::sitemap))
        .route("/style.css", get(html::style))
        .route("/data", get(html::data))
        .route("/data/queries", get(html::example_queries))
        .route("/data/manifest.json", get(data::manifest))
        .route("/data/schema.json", get(data::schema))
        .route("/data/mirror.sh", get(data::mirror))
        .route("/data/{table}/{name}", get(data::file))
        .route("/api/v1/submissions", post(api::submit))
        .route("/api/v1/search", get(search::search_json))
        .route("/api/v1/models/{model}", get(cards::model_json))
        .route("/api/v1/fakes", get(found::fakes_json))
        .route("/api/v1/lives", get(found::lives_json))
        .route("/api/v1/ranking", get(cards::ranking_json))
        .route("/api/v1/moderation/{id}", post(moderation::moderate))
        .route("/api/v1/bans", get(moderation::bans))
        .route("/api/v1/bans/{submitter}", post(moderation::moderate_submitter))
        .route("/api/v1/audit", get(moderation::audit))
        .route("/healthz", get(ops::health))
        .route("/metrics", get(ops::metrics))
        .route("/openapi.json", get(ops::openapi))
        .fallback(async || Failed(Error::NotFound))
        .layer(from_fn_with_state(hub.clone(), surround))
        .with_state(hub)
}
