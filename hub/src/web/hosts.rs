//! Hosts over HTTP: the list, a host's page, and its feed.

use axum::extract::{Path, State};

use super::Hub;
use super::cards::LIST_MAX;
use super::html::{Page, feed_of, page};
use crate::error::Error;
use crate::pages::{self, EntryView, HostView};
use crate::store::find;

pub(super) async fn hosts(State(hub): State<Hub>) -> Page {
    let shown = hub.hosts().into_iter().filter(|it| it.is_agreed).take(LIST_MAX);
    let hosts = shown.map(|it| HostView { key: it.key, name: it.name, count: it.count }).collect();
    Ok(page(pages::Hosts { hosts, least: hub.options.submitters_min }))
}

/// What the host called `host` is called, and the latest records on it.
async fn known(hub: &Hub, host: &str) -> Result<(String, Vec<EntryView>), Error> {
    let known = hub.hosts().into_iter().find(|it| it.key == host).ok_or(Error::NotFound)?;
    let latest = hub.titled(find::on_host(&hub.db, host).await?);
    Ok((if known.is_agreed { known.name } else { "A host of its own".to_owned() }, latest))
}

pub(super) async fn host(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (name, latest) = known(&hub, &key).await?;
    Ok(page(pages::Host { key, name, latest }))
}

pub(super) async fn feed(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (name, latest) = known(&hub, &key).await?;
    Ok(feed_of(&hub, name, format!("/hosts/{key}"), latest))
}
