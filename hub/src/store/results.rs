//! The figures of a submission in one row: what a card's page and the ranking read.
//!
//! One row a submission rather than one a figure: a page reads a quarter of the rows, and a few indexes are kept up
//! to date instead of a few for every figure. The row begins with the model and the time, and SQLite keeps rows in
//! that order, so that a page reads neighbours. It holds what the page's list shows, so that no document has to be
//! looked up for it, follows from the document and can be made again.

use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::{Error, or_left_out};
use crate::pack;
use crate::step::Step;
use crate::store::rows::Cells;
use crate::summary::{Figure, Summary, summary};

/// The table.
pub(super) const TABLE: &str = "results";

/// What a row of `results` has to meet so that its submission may be shown. Few are hidden, and an index holds them:
/// both databases read it once. Asked row by row (`NOT EXISTS`), SQLite looks up every submission instead.
pub(super) const NOT_HIDDEN: &str =
    "submission NOT IN (SELECT id FROM submissions WHERE state <> 'public')";

/// A figure as it is kept: the quantity, the rate, the ends of its interval, the doubt.
type Held = (String, f64, Option<[f64; 2]>, Option<String>);

/// The row of the submission `id`.
pub(super) fn row<'a>(id: &'a str, created_ms: i64, of: &'a Summary) -> Cells<'a> {
    let sound = of.figures.iter().filter(|figure| figure.doubt.is_none()).count();
    vec![
        id.into(),
        of.model.key.as_str().into(),
        of.host.as_str().into(),
        of.basis.as_str().into(),
        created_ms.into(),
        i64::try_from(sound).unwrap_or(0).into(),
        text_of(&of.figures).into(),
        of.origin.word().into(),
        of.lot.as_deref().into(),
        i64::from(!of.doubts.is_empty()).into(),
    ]
}

fn text_of(figures: &[Figure]) -> String {
    let held = |it: &Figure| {
        let between = it.between.map(|ends| ends.map(rounded));
        (it.quantity.clone(), rounded(it.rate), between, it.doubt.clone())
    };
    let held: Vec<Held> = figures.iter().map(held).collect();
    serde_json::to_string(&held).unwrap_or_default()
}

/// `rate` to seven digits: no card is known better, and a row is half as long.
fn rounded(rate: f64) -> f64 {
    format!("{rate:.6e}").parse().unwrap_or(rate)
}

/// The figures that `text` holds.
///
/// # Errors
/// The database is damaged.
pub(super) fn figures_of(text: &str) -> Result<Vec<Figure>, Error> {
    let held: Vec<Held> =
        serde_json::from_str(text).map_err(|error| Error::Internal(error.to_string()))?;
    let figure = |(quantity, rate, between, doubt)| Figure { quantity, rate, between, doubt };
    Ok(held.into_iter().map(figure).collect())
}

/// Takes away the row of the submission `id`, which is kept as one of `model`.
pub(super) async fn leave(
    step: &mut Step,
    id: &str,
    model: &str,
    created_ms: i64,
) -> Result<(), Error> {
    sqlx::query("DELETE FROM results WHERE model = $1 AND created_ms = $2 AND submission = $3")
        .bind(model)
        .bind(created_ms)
        .bind(id)
        .execute(&mut **step)
        .await?;
    Ok(())
}

/// What is kept beside the document of a submission, from its columns `id`, `source` and `document`. None, and a line
/// in the log, where the document cannot be read: the others go on.
pub(super) fn summary_of(kept: &AnyRow) -> Result<Option<Summary>, Error> {
    let id: String = kept.try_get("id")?;
    let source: Option<String> = kept.try_get("source")?;
    let packed: &[u8] = kept.try_get("document")?;
    let record = pack::document(packed, &id).and_then(|text| pack::record(&text, &id));
    Ok(or_left_out(record)?.map(|record| summary(&record, source.as_deref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_as_they_were() {
        let figures = vec![
            Figure {
                quantity: "random_write".to_owned(),
                rate: 1234.5,
                between: Some([1200.0, 1270.25]),
                doubt: None,
            },
            Figure {
                quantity: "random_read".to_owned(),
                rate: 2.0,
                between: None,
                doubt: Some("it was buffered".to_owned()),
            },
        ];
        assert_eq!(figures_of(&text_of(&figures)).unwrap(), figures);
        assert_eq!([1e9 / 3.0, 1234.5, 0.0].map(rounded), [333_333_300.0, 1234.5, 0.0]);
        assert!(figures_of("[[1]]").is_err());
    }
}
