//! Two cards side by side: which is better for a use on the board that knows both best, and what was measured of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use cardproof_rating::compare::{Column, Use};
use serde::Deserialize;

use super::Hub;
use super::figures::Spread;
use super::html::{Asked, Page, compare as records_page, page, sentence, uses};
use super::query::{Wanted, given};
use crate::error::Error;
use crate::index::{Card, Entry};
use crate::pages::{self, Pair, rounded};
use crate::ranking::{Board, Order, Row};

/// The most boards that are looked at for an answer, those with the most submitters.
const BOARDS_MAX: usize = 8;

/// The most rows of the table.
const PAIRS_MAX: usize = 60;

/// What a comparison may ask for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Cards {
    cards: Option<String>,
    #[serde(rename = "use", default, deserialize_with = "given")]
    wanted: Option<Wanted>,
}

/// The page of two cards, or of records where no cards are named.
pub(super) async fn compare(
    State(hub): State<Hub>,
    Query(asked): Query<Cards>,
    records: Query<Asked>,
) -> Page {
    match &asked.cards {
        Some(cards) => cards_page(&hub, cards, asked.wanted.unwrap_or_default().0).await,
        None => records_page(State(hub), records).await,
    }
}

/// The page of the cards `names`, two with a comma between.
async fn cards_page(hub: &Hub, names: &str, wanted: Use) -> Page {
    let two = || Error::Request("cards are the names of two cards with a comma between".to_owned());
    let (first, second) = names.split_once(',').ok_or_else(two)?;
    let keys = [first.trim().to_owned(), second.trim().to_owned()];
    let (index, rankings) = (Arc::clone(&hub.index), Arc::clone(&hub.rankings));
    let (asked, least) = (keys.clone(), hub.options.submitters_min);
    let agreed = hub.agreed();
    let made = tokio::task::spawn_blocking(move || {
        let known = rankings.order(&index, wanted, None).unwrap_or_default();
        let on =
            |board: &Board| rankings.order(&index, wanted, Some(&board.basis)).unwrap_or_default();
        let answer = known
            .boards
            .iter()
            .take(BOARDS_MAX)
            .find_map(|board| answer(&on(board), &asked, wanted));
        let pairs = index.look(|records| {
            let [first, second] = [records.cards.get(&asked[0])?, records.cards.get(&asked[1])?];
            let [a, b] = [by_basis(first), by_basis(second)];
            let both = a.iter().filter(|(basis, _)| agreed.bases.contains(**basis));
            let both = both.filter_map(|(basis, of_a)| Some((*basis, of_a, b.get(basis)?)));
            let names = [first.name(least), second.name(least)];
            Some((both.flat_map(pairs_of).take(PAIRS_MAX).collect::<Vec<Pair>>(), names))
        });
        Some((pairs?, answer))
    });
    let made = made.await.map_err(|error| Error::Internal(error.to_string()))?;
    let ((pairs, [a, b]), answer) = made.ok_or(Error::NotFound)?;
    let none = "No board has figures of both for this use, so nothing is said of which is better.";
    let [first, second] = keys;
    Ok(page(pages::CompareCards {
        cards: [(first, a), (second, b)],
        answer: answer.unwrap_or_else(|| none.to_owned()),
        uses: uses(wanted),
        pairs,
    }))
}

/// Which of the cards `keys` is better in `order`; none where it lacks one.
fn answer(order: &Order, keys: &[String; 2], wanted: Use) -> Option<String> {
    let row = |key: &String| order.rows.iter().find(|row| row.model == *key);
    let (a, b) = (row(&keys[0])?, row(&keys[1])?);
    let unit = if wanted.is_better_low() { "s" } else { wanted.unit() };
    let told = |row: &Row| {
        let [low, high] = row.between;
        format!("{} {unit} ({} to {})", rounded(&row.value), rounded(&low), rounded(&high))
    };
    let overlaps = a.between[0] <= b.between[1] && b.between[0] <= a.between[1];
    let is_first = (a.value < b.value) == wanted.is_better_low();
    let which = match (overlaps, is_first) {
        (true, _) => "No difference is shown: the 90 % intervals overlap.",
        (false, true) => "Card 1 is faster.",
        (false, false) => "Card 2 is faster.",
    };
    let board = order.board.as_deref().unwrap_or_default();
    let of = sentence(wanted.label());
    Some(format!("{of}, {board}: card 1 {}, card 2 {}. {which}", told(a), told(b)))
}

fn by_basis(card: &Card) -> BTreeMap<&str, Vec<&Entry>> {
    let mut by_basis = BTreeMap::<&str, Vec<&Entry>>::new();
    for record in &card.records {
        by_basis.entry(&record.basis).or_default().push(record);
    }
    by_basis
}

/// What was measured of both on the board `basis`.
fn pairs_of((basis, a, b): (&str, &Vec<&Entry>, &Vec<&Entry>)) -> Vec<Pair> {
    let pair = |column: Column| {
        let (a, b) = (Spread::of(a, column)?, Spread::of(b, column)?);
        let scale = [a.low.min(b.low), a.high.max(b.high)];
        Some(Pair {
            basis: basis.to_owned(),
            column: sentence(column.label()),
            factor: b.middle / a.middle,
            cells: [a.shown(column, scale), b.shown(column, scale)],
        })
    };
    Column::ALL.into_iter().filter_map(pair).collect()
}
