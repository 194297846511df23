//! Searching: cards by words that are like their names, and a record or a card by its number, however it is typed.
//!
//! A number is whatever the tool or the hub prints for one record or card: an address or a part of it, a record's name,
//! a card's number. A number leads where its address leads, so nothing is found that could not be read before.

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;

use super::Hub;
use super::guard::json_response;
use super::html::{Asked, Page, page};
use super::who::administrator;
use crate::error::Error;
use crate::index::Records;
use crate::pages;
use crate::secret;
use crate::store::submissions;

/// The most numbers that are looked for in one text.
const NUMBERS_MAX: usize = 8;

/// What stands before a number where it is printed.
const LABELS: [&str; 6] = ["record", "card", "number", "no", "id", ":"];

pub(super) async fn search(
    State(hub): State<Hub>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Page {
    let (query, card) = (asked.text().to_owned(), asked.card().to_owned());
    let ids = asked.names()?.join(",");
    if let Some(named) = named(&hub, &query, &headers).await?
        && let Some(there) = named.leads(&hub, &card, &ids)
    {
        return Ok(there);
    }
    let found = hub.like(&query);
    let own = own_number(&query).map(|number| (number, hub.options.public_url.clone()));
    Ok(page(pages::Search { query, found, own, ids, card }))
}

pub(super) async fn search_json(
    State(hub): State<Hub>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Page {
    let mut models = hub.like(asked.text());
    let named = named(&hub, asked.text(), &headers).await?;
    let (record, card) = match named {
        Some(Named::Record(id)) => (Some(id.clone()), hub.card_of(&id)),
        Some(Named::Card(key)) => (None, Some(key)),
        None => (None, None),
    };
    if let Some(first) = card.and_then(|key| hub.view(&key)) {
        models.retain(|it| it.model != first.model);
        models.insert(0, first);
    }
    Ok(json_response(&json!({"models": models, "record": record})))
}

/// What a number names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// A record, by its name.
    Record(String),
    /// A card, by its name in addresses.
    Card(String),
}

impl Named {
    /// To its page; to a comparison with the card `card` or the records `ids` where one is being chosen.
    fn leads(&self, hub: &Hub, card: &str, ids: &str) -> Option<Response> {
        let path = match self {
            Self::Record(id) if card.is_empty() && ids.is_empty() => format!("/r/{id}"),
            Self::Record(id) if card.is_empty() => format!("/compare?ids={ids},{id}"),
            Self::Record(id) => with(hub, card, &hub.card_of(id)?)?,
            Self::Card(key) if card.is_empty() && ids.is_empty() => format!("/models/{key}"),
            Self::Card(key) if card.is_empty() => format!("/models/{key}?ids={ids}"),
            Self::Card(key) => with(hub, card, key)?,
        };
        Some(Redirect::to(&path).into_response())
    }
}

/// The address of the comparison of two cards, where the first is one.
fn with(hub: &Hub, card: &str, other: &str) -> Option<String> {
    hub.index.look(|records| {
        records.cards.contains_key(card).then(|| format!("/compare?cards={card},{other}"))
    })
}

/// What `text` names. A hidden record is there for an administrator alone, as under its address; one that was deleted
/// has an address that says so.
async fn named(hub: &Hub, text: &str, headers: &HeaderMap) -> Result<Option<Named>, Error> {
    let numbers = numbers(text);
    if let Some(id) = record(hub, &numbers, headers).await? {
        return Ok(Some(Named::Record(id)));
    }
    Ok(hub.index.look(|records| card(records, &numbers)).map(Named::Card))
}

/// The first of `numbers` that is a record's, seen with the rights that `headers` give.
async fn record(
    hub: &Hub,
    numbers: &[String],
    headers: &HeaderMap,
) -> Result<Option<String>, Error> {
    for number in numbers.iter().filter(|it| is_name(it)) {
        match submissions::check(&hub.db, number, false).await {
            Ok(()) | Err(Error::Gone) => return Ok(Some(number.clone())),
            Err(Error::NotFound) => {}
            Err(other) => return Err(other),
        }
        if administrator(hub, headers).await.is_ok()
            && submissions::check(&hub.db, number, true).await.is_ok()
        {
            return Ok(Some(number.clone()));
        }
    }
    Ok(None)
}

/// The record that `text` names, for an administrator.
///
/// # Errors
/// There is none, it was deleted, or the database does not answer.
pub(super) async fn record_of(hub: &Hub, text: &str) -> Result<String, Error> {
    for number in numbers(text).into_iter().filter(|it| is_name(it)) {
        match submissions::check(&hub.db, &number, true).await {
            Ok(()) => return Ok(number),
            Err(Error::NotFound) => {}
            Err(other) => return Err(other),
        }
    }
    Err(Error::NotFound)
}

/// The card that one of `numbers` names: its name in addresses, or the digits at its end, where no other has these.
fn card(records: &Records, numbers: &[String]) -> Option<String> {
    let of = |number: &String| {
        if records.cards.contains_key(number) {
            return Some(number.clone());
        }
        let has_digits = |key: &&String| key.rsplit('-').next() == Some(number);
        let mut found = records.cards.keys().filter(has_digits);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    };
    numbers.iter().filter(|it| it.len() >= 8).find_map(of)
}

/// Whether `text` can be a record's name: one that a hub draws, or one of what comes with it, which has dashes. For other
/// words the database is not asked.
fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    secret::is_dated(text)
        || (text.len() <= 80 && text.contains('-') && text.chars().all(is_of_name))
}

/// The number in `text` that a record can have on the computer where it was measured: the end of its file's name.
fn own_number(text: &str) -> Option<String> {
    let is_own = |end: &str| end.len() == 8 && end.bytes().all(|it| it.is_ascii_hexdigit());
    let small = text.trim().to_lowercase();
    let mut ends = small.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| is_own(it));
    ends.next_back().map(str::to_owned)
}

/// What may be the number in `text`: of an address its end; all of it without blanks and without the words that stand
/// before numbers; each of its words. Letters that numbers do not have are those that look like them.
fn numbers(text: &str) -> Vec<String> {
    let small = text.trim().to_lowercase();
    let mut found = Vec::new();
    let rooted = format!("/{small}");
    let end = ["/r/", "/models/"].iter().find_map(|kind| Some(rooted.split_once(kind)?.1));
    if let Some(end) = end {
        let name = end.split(|c: char| "/?#".contains(c) || c.is_whitespace()).next();
        found.extend(name.map(|name| name.trim_end_matches(".json").to_owned()));
    }
    // As titles have it: Card no. 0a1b2c3d, 32 GB.
    let mut bare = small.split(',').next().unwrap_or_default();
    while let Some(rest) = LABELS.iter().find_map(|label| bare.strip_prefix(label)) {
        bare = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '.' || c == ':');
    }
    found.push(bare.split_whitespace().collect());
    let is_around = |c: char| !c.is_alphanumeric();
    found.extend(small.split_whitespace().map(|word| word.trim_matches(is_around).to_owned()));
    let alike = |text: &String| text.replace('o', "0").replace(['i', 'l'], "1");
    let plain: Vec<String> = found.iter().map(alike).collect();
    found.extend(plain);
    let mut seen = std::collections::HashSet::new();
    found.retain(|number| !number.is_empty() && seen.insert(number.clone()));
    found.truncate(NUMBERS_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_however_it_is_typed() {
        for (text, number) in [
            ("0k9abcdefghjk", "0k9abcdefghjk"),
            (" 0K9 ABCDE FGHJK ", "0k9abcdefghjk"),
            ("OK9abcdefghjk", "0k9abcdefghjk"),
            ("Record 0k9abcdefghjk", "0k9abcdefghjk"),
            ("record: 0k9 abcde fghjk", "0k9abcdefghjk"),
            ("Shared: https://hub.example.org/r/0k9abcdefghjk", "0k9abcdefghjk"),
            ("https://HUB.example.org/R/0K9ABCDEFGHJK.json", "0k9abcdefghjk"),
            ("r/0k9abcdefghjk/delete", "0k9abcdefghjk"),
            ("Card no. 0a1b2c3d, 32 GB", "0a1b2c3d"),
            ("card no 0A1B 2C3D", "0a1b2c3d"),
            ("no. 0a1b2c3d", "0a1b2c3d"),
            ("Card no. 0a1b2c3d, 32 GB (0k9abcdefghjk)", "0k9abcdefghjk"),
            (
                "/models/card-sandisk-sc16g-16-gb-0a1b2c3d?ids=x",
                "card-sandisk-sc16g-16-gb-0a1b2c3d",
            ),
            ("SIM-SanDisk-Ultra", "sim-sandisk-ultra"),
        ] {
            assert!(numbers(text).iter().any(|it| it == number), "{text}: {:?}", numbers(text));
        }
        for (text, number) in [
            (" 8D0E764B", Some("8d0e764b")),
            ("sim-ultra-standard-3867174667161538-8d0e764b.json", Some("8d0e764b")),
            ("SanDisk", None),
            ("3867174667161538", None),
        ] {
            assert_eq!(own_number(text).as_deref(), number, "{text}");
        }
        assert!(numbers("").is_empty() && numbers(&"a b c ".repeat(30)).len() <= NUMBERS_MAX);
    }
}
