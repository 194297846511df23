//! Moderation: administrators show, hide and delete submissions, and everything that they do is noted first.

use axum::extract::{Path, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::Hub;
use super::api::{client, token};
use super::body;
use super::guard::{Failed, json_response};
use super::server::Peer;
use crate::error::Error;
use crate::network::block;
use crate::store::admin;
use crate::store::state::State as Sight;
use crate::store::submissions::{self, By};

/// What an administrator wants done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    action: Action,
    reason: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Hide,
    Show,
    Approve,
    Delete,
}

impl Action {
    const fn word(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Show => "show",
            Self::Approve => "approve",
            Self::Delete => "delete",
        }
    }
}

/// Does what an administrator wants with a submission.
pub(super) async fn moderate(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Failed> {
    let (parts, body) = request.into_parts();
    let who = admin::who(&hub.db, token(&parts.headers)?).await?;
    let client = client(&hub, &parts.headers, parts.extensions.get::<Peer>());
    let held = body::json_bytes(&hub, block(client), &parts.headers, body).await?;
    let wish: Wish = serde_json::from_slice(&held.bytes).map_err(|_| {
        Error::Request(
            "send {\"action\": \"hide\", \"show\", \"approve\" or \"delete\", \"reason\": \"...\"}"
                .to_owned(),
        )
    })?;
    let is_long = wish.reason.chars().count() > 500;
    if wish.reason.trim().is_empty() || is_long || wish.reason.contains('\0') {
        return Err(
            Error::Request("a reason has 1 to 500 characters and no zero byte".to_owned()).into()
        );
    }
    // Only what is there can be moderated; and no deed goes without its note.
    submissions::check(&hub.db, &id, true).await?;
    admin::note(&hub.db, &who, wish.action.word(), &id, wish.reason.trim()).await?;
    match wish.action {
        Action::Hide => submissions::set_state(&hub.db, &hub.index, &id, Sight::Hidden).await?,
        Action::Show => submissions::set_state(&hub.db, &hub.index, &id, Sight::Public).await?,
        Action::Approve => {
            submissions::set_state(&hub.db, &hub.index, &id, Sight::Approved).await?;
        }
        Action::Delete => submissions::delete(&hub.db, &hub.index, &id, By::Moderator).await?,
    }
    Ok(json_response(&json!({"id": id, "action": wish.action.word()})))
}

/// What administrators did, the latest first.
pub(super) async fn audit(State(hub): State<Hub>, headers: HeaderMap) -> Result<Response, Failed> {
    admin::who(&hub.db, token(&headers)?).await?;
    let deeds = admin::audit(&hub.db).await?;
    Ok(json_response(&json!({"deeds": deeds})))
}
