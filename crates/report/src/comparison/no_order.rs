//! Why a comparison has no order, with the raw figures and the way to an order.

use cardproof_rating::compare::{CardFigures, Column, Comparison, Ranking, Use};

use super::notes;
use super::overview::sound;
use super::sections::told;
use crate::clean::one_line;

/// What the cards reach in the rates that the use weighs, side by side, for two cards at most.
fn side_by_side(comparison: &Comparison, wanted: Use) -> Option<String> {
    let sound = sound(comparison);
    let [first, second] = sound.as_slice() else { return None };
    let figure = |card: &CardFigures, column: Column| {
        let found = card.figures.iter().find(|figure| figure.column == column)?;
        Some(told(if column.is_told_in_iops() { "IOPS" } else { "bytes/s" }, found.rate))
    };
    let columns = wanted.weights().iter().map(|weight| weight.column.of_table());
    let pairs = columns.filter_map(|column| {
        let (own, other) = (figure(first, column)?, figure(second, column)?);
        Some(format!("{}: {own} and {other}", column.label()))
    });
    let pairs: Vec<String> = pairs.collect();
    let names = format!("{} and {}", one_line(&first.name), one_line(&second.name));
    (!pairs.is_empty()).then(|| format!("The raw figures of {names}: {}.", pairs.join("; ")))
}

/// The cards that lack a figure of the use, and which.
fn lacking(comparison: &Comparison, wanted: Use) -> String {
    let lacks = |card: &&CardFigures| {
        let has = |column| card.figures.iter().any(|it| it.column == column && it.doubt.is_none());
        wanted.weights().iter().map(|weight| weight.column.of_table()).find(|column| !has(*column))
    };
    let cards = sound(comparison).into_iter().filter_map(|card| Some((card, lacks(&card)?)));
    let told: Vec<String> = cards
        .map(|(card, column)| {
            let cause = card.missing.iter().find(|missing| missing.column == column);
            let cause = cause.filter(|_| sound(comparison).len() == 2);
            let cause = cause
                .map_or_else(String::new, |it| format!(" ({})", one_line(&it.cause.to_string())));
            let is_in_doubt = card.figures.iter().any(|it| it.column == column);
            let figure = if is_in_doubt { "sound figure" } else { "figure" };
            format!("'{}' has no {figure} of {}{cause}", one_line(&card.name), column.label())
        })
        .collect();
    match told.as_slice() {
        [first, second] => format!("{first}, and {second}"),
        [first, rest @ ..] if !rest.is_empty() => {
            format!("{first}, nor have {} other cards", rest.len())
        }
        _ => told.join(", "),
    }
}

/// Why there is no order at all, with the raw figures and the way to an order.
pub(super) fn no_order(comparison: &Comparison, rankings: &[&Ranking], wanted: Use) -> String {
    match sound(comparison).as_slice() {
        [] => return "There is no card to recommend among these.".to_owned(),
        [only] if comparison.cards.len() > 1 => {
            return format!("Use {}: nothing is known against it.", one_line(&only.name));
        }
        _ => {}
    }
    let again = "To rank them, measure each card on one computer with `cardproof run`.";
    let why = match rankings {
        _ if !shares_anything(comparison) => {
            return format!(
                "Not ranked: no test was done on two of these cards in the same way. {again}"
            );
        }
        [] | [_] => format!("Not ranked: {}.", lacking(comparison, wanted)),
        _ => "Not ranked: the cards were measured on different computers or in different ways."
            .to_owned(),
    };
    let raw = side_by_side(comparison, wanted).map_or_else(String::new, |raw| format!(" {raw}"));
    let other = notes::other_use(comparison, wanted).unwrap_or_default();
    format!("{why}{raw} {other}{again}")
}

/// Whether anything was measured of two cards or more.
fn shares_anything(comparison: &Comparison) -> bool {
    comparison
        .rows
        .iter()
        .any(|row| row.cells.iter().filter(|cell| cell.rate.is_some()).count() > 1)
}
