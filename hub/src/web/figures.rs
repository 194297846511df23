//! A card's figures on each board: the median of submitters' medians, and how far they go.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{Path, State};
use cardproof_hub_standing::median;
use cardproof_rating::compare::Column;

use super::Hub;
use super::guard::typed;
use super::html::{Page, sentence};
use crate::error::Error;
use crate::index::{Agreed, Card, Entry};
use crate::pages::{self, BoardRow, CardFigure};

/// The most boards of a card's table.
const BOARDS_MAX: usize = 20;

/// A card's figures by board, on one scale for each column.
pub(super) fn boards(agreed: &Agreed, card: &Card) -> Vec<BoardRow> {
    let mut by_basis = BTreeMap::<&str, Vec<&Entry>>::new();
    for record in &card.records {
        by_basis.entry(&record.basis).or_default().push(record);
    }
    let mut rows: Vec<(String, Vec<&Entry>)> = by_basis
        .into_iter()
        .map(|(basis, of_basis)| {
            let is_agreed = agreed.bases.contains(basis);
            (if is_agreed { basis.to_owned() } else { "a board of its own".to_owned() }, of_basis)
        })
        .collect();
    rows.sort_by_key(|(_, of_basis)| std::cmp::Reverse(of_basis.len()));
    rows.truncate(BOARDS_MAX);
    let cells: Vec<Vec<Option<Spread>>> = rows
        .iter()
        .map(|(_, of_basis)| {
            Column::ALL.iter().map(|column| Spread::of(of_basis, *column)).collect()
        })
        .collect();
    let scales: Vec<[f64; 2]> = (0..Column::ALL.len())
        .map(|at| {
            let of_column = cells.iter().filter_map(|row| row[at].as_ref());
            of_column.fold([f64::MAX, 0.0], |[low, high], it| [low.min(it.low), high.max(it.high)])
        })
        .collect();
    rows.into_iter()
        .zip(cells)
        .map(|((basis, of_basis), cells)| BoardRow {
            basis,
            submitters: of_basis.iter().map(|it| it.submitter).collect::<BTreeSet<_>>().len(),
            records: of_basis.len(),
            in_doubt: of_basis.iter().filter(|it| it.has_doubts).count(),
            cells: cells
                .into_iter()
                .enumerate()
                .map(|(at, found)| Some(found?.shown(Column::ALL[at], scales[at])))
                .collect(),
        })
        .collect()
}

/// The figures of a column: the median of submitters' medians, and how far they go.
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) middle: f64,
    pub(super) high: f64,
    submitters: usize,
}

impl Spread {
    pub(super) fn of(records: &[&Entry], column: Column) -> Option<Self> {
        let mut by_submitter = BTreeMap::<u64, Vec<f64>>::new();
        for record in records {
            let Some(rate) = record.rate(column) else { continue };
            by_submitter.entry(record.submitter).or_default().push(rate);
        }
        let medians = by_submitter.into_values().filter_map(|mut rates| median(&mut rates));
        let mut medians: Vec<f64> = medians.collect();
        let middle = median(&mut medians)?;
        let (low, high) = (*medians.first()?, *medians.last()?);
        Some(Self { low, middle, high, submitters: medians.len() })
    }

    pub(super) fn shown(&self, column: Column, scale: [f64; 2]) -> CardFigure {
        let wide = (scale[1] / scale[0]).ln();
        let x = |rate: f64| if wide > 0.0 { 100.0 * (rate / scale[0]).ln() / wide } else { 50.0 };
        let told = |rate: f64| pages::told(column, rate);
        CardFigure {
            middle: told(self.middle),
            range: (self.submitters > 1)
                .then(|| format!("{} to {}", told(self.low), told(self.high))),
            submitters: self.submitters,
            bar: [self.low, self.middle, self.high].map(|rate| (10.0 * x(rate)).round() / 10.0),
        }
    }
}

pub(super) async fn badge(State(hub): State<Hub>, Path(key): Path<String>) -> Page {
    let (agreed, least) = (hub.agreed(), hub.options.submitters_min);
    let found = hub.index.look(|records| {
        let card = records.cards.get(&key)?;
        let first = boards(&agreed, card).into_iter().next();
        let cells = first.map(|row| row.cells).unwrap_or_default();
        let cell = cells.into_iter().enumerate().find_map(|(at, cell)| Some((at, cell?)));
        Some((card.name(least), cell))
    });
    let (name, cell) = found.ok_or(Error::NotFound)?;
    let value = cell.map_or_else(
        || "not measured".to_owned(),
        |(at, cell)| format!("{} {}", sentence(Column::ALL[at].label()), cell.middle),
    );
    let name: String = name.chars().take(60).collect();
    let width = |text: &str| 12 + 7 * text.chars().count();
    let badge = pages::Badge { left: width(&name), right: width(&value), name, value };
    Ok(typed("image/svg+xml", String::from(badge)))
}
