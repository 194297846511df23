//! Hosts over HTTP: the list, a host's page, and its feed.

use axum::extract::{Path, State};

use super::Hub;
use super::cards::LIST_MAX;
use super::html::{Page, feed_of, page};
use crate::error::Error;
use crate::index::Host;
use crate::pages::{self, EntryView, HostView};
use crate::store::find;

pub(super) async fn hosts(State(hub): State<Hub>) -> Page {
    let agreed = hub.agreed();
    let view = |it: &Host| HostView { key: it.key.clone(), name: it.name.clone(), count: it.count };
    let hosts = agreed.hosts.iter().filter(|it| it.is_agreed).take(LIST_MAX).map(view).collect();
    Ok(page(pages::Hosts { hosts, least: hub.options.submitters_min }))
}

/// What the host called `host` is called, and the latest records on it.
async fn known(hub: &Hub, host: &str) -> Result<(String, Vec<EntryView>), Error> {
    let agreed = hub.agreed();
    let known = agreed.hosts.iter().find(|it| it.key == host).ok_or(Error::NotFound)?;
    let latest = hub.titled(find::on_host(&hub.db, host).await?);
    Ok((if known.is_agreed { known.name.clone() } else { "A host of its own".to_owned() }, latest))
}

pub(super) async fn host(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (name, latest) = known(&hub, &key).await?;
    Ok(page(pages::Host { key, name, latest }))
}

pub(super) async fn feed(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (name, latest) = known(&hub, &key).await?;
    Ok(feed_of(&hub, name, format!("/hosts/{key}"), latest))
}
