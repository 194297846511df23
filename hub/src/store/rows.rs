//! The rows of a new submission, as every way into the database writes them: many in one statement.
//!
//! A statement that writes many rows costs the database little more than one that writes one. Its text depends on
//! the number of rows, and texts are prepared and kept, so rows go in by powers of two: few texts do for any number.

use std::borrow::Cow;

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

use crate::clock;
use crate::columns::TABLES;
use crate::error::Error;
use crate::step::Step;
use crate::store::draft::Draft;
use crate::store::results::text_of;
use crate::store::state::State;

/// The most rows of one statement. SQLite takes 32,766 values.
const ROWS_MAX: usize = 64;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Text, or none.
    Text(Option<Cow<'a, str>>),
    /// A whole number, or none.
    Whole(Option<i64>),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(Cow::Borrowed(text)))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(Cow::Owned(text)))
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text.map(Cow::Borrowed))
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Whole(Some(number))
    }
}

/// A row, its cells in the order of the table's columns.
pub type Cells<'a> = Vec<Cell<'a>>;

/// A submission that is to be kept, and what it is kept under.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<'a> {
    /// Its name.
    pub id: &'a str,
    /// When it came.
    pub created_ms: i64,
    /// What it holds.
    pub draft: &'a Draft,
    /// The hash of the token that amends and deletes it.
    pub token_hash: &'a str,
    /// The keyed hash of its idempotency key.
    pub key_hash: Option<&'a str>,
    /// Who has sent it, where it does not come with the hub.
    pub submitter: Option<&'a str>,
    /// Whether all may see it.
    pub state: State,
}

impl<'a> Fresh<'a> {
    /// Its row in the table `submissions`.
    #[must_use]
    pub fn submission(&self) -> Cells<'a> {
        let draft = self.draft;
        let of = &draft.summary;
        let price = draft.price.as_ref();
        vec![
            self.id.into(),
            self.created_ms.into(),
            self.created_ms.into(),
            clock::month(self.created_ms).into(),
            self.state.word().into(),
            of.origin.word().into(),
            draft.source.as_deref().into(),
            of.model.key.as_str().into(),
            of.model.name.as_str().into(),
            of.model.to_json().into(),
            of.host.as_str().into(),
            of.host_name.as_str().into(),
            of.lot.as_deref().into(),
            of.basis.as_str().into(),
            text_of(&of.figures).into(),
            serde_json::to_string(&of.doubts).unwrap_or_default().into(),
            draft.verdicts.to_json().into(),
            Cell::Whole(price.map(|(hundredths, ..)| *hundredths)),
            price.map(|(_, currency, _)| currency.as_str()).into(),
            price.map(|(.., date)| date.as_str()).into(),
            1.into(),
            0.into(),
            self.submitter.into(),
            draft.sha256.as_str().into(),
            self.token_hash.into(),
            self.key_hash.into(),
            draft.sha256.as_str().into(),
            Cell::Bytes(&draft.packed),
        ]
    }
}

/// Writes `rows` into `table`; `rest` says what happens to rows that are there. Returns how many were written.
pub(crate) async fn insert(
    step: &mut Step,
    table: &'static str,
    rows: &[Cells<'_>],
    rest: &str,
) -> Result<u64, Error> {
    let mut count = 0;
    for part in parts(rows) {
        count += statement(table, part, rest).execute(&mut **step).await?.rows_affected();
    }
    Ok(count)
}

fn statement<'q>(table: &str, rows: &[Cells<'_>], rest: &str) -> Query<'q, Any, AnyArguments> {
    let of_table = TABLES.iter().find(|known| known.name == table);
    let columns: Vec<&str> =
        of_table.into_iter().flat_map(|it| it.columns).map(|column| column.name).collect();
    let mut places = 0;
    let mut row = |cells: &Cells<'_>| {
        let of_row: Vec<String> = (0..cells.len())
            .map(|_| {
                places += 1;
                format!("${places}")
            })
            .collect();
        format!("({})", of_row.join(", "))
    };
    let values: Vec<String> = rows.iter().map(&mut row).collect();
    // Names of our own, and the numbers of places.
    let text =
        format!("INSERT INTO {table} ({}) VALUES {} {rest}", columns.join(", "), values.join(", "));
    let mut query = sqlx::query(AssertSqlSafe(text));
    for cell in rows.iter().flatten() {
        query = match cell {
            Cell::Text(text) => query.bind(text.as_ref().map(ToString::to_string)),
            Cell::Whole(number) => query.bind(*number),
            Cell::Bytes(bytes) => query.bind(bytes.to_vec()),
        };
    }
    query
}

/// `all` in parts whose lengths are powers of two.
pub(super) fn parts<T>(all: &[T]) -> impl Iterator<Item = &[T]> {
    let mut rest = all;
    std::iter::from_fn(move || {
        let length = [ROWS_MAX, 32, 16, 8, 4, 2, 1].into_iter().find(|it| *it <= rest.len())?;
        let (part, after) = rest.split_at(length);
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_powers_of_two_and_leave_nothing_out() {
        for count in [0, 1, 3, 64, 100, 129] {
            let all: Vec<usize> = (0..count).collect();
            let cut: Vec<&[usize]> = parts(&all).collect();
            assert!(cut.iter().all(|part| part.len().is_power_of_two() && part.len() <= ROWS_MAX));
            assert_eq!(cut.concat(), all);
        }
    }
}
