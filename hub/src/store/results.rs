//! The figures of a submission as its row keeps them: as JSON, to seven digits.

use crate::error::Error;
use crate::summary::Figure;

/// A figure as it is kept: the quantity, the rate, the ends of its interval, the doubt.
type Held = (String, f64, Option<[f64; 2]>, Option<String>);

/// The text that is kept of `figures`.
pub(super) fn text_of(figures: &[Figure]) -> String {
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
pub(crate) fn figures_of(text: &str) -> Result<Vec<Figure>, Error> {
    let held: Vec<Held> =
        serde_json::from_str(text).map_err(|error| Error::Internal(error.to_string()))?;
    let figure = |(quantity, rate, between, doubt)| Figure { quantity, rate, between, doubt };
    Ok(held.into_iter().map(figure).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_as_they_were() {
        let figure = |quantity: &str, rate, between, doubt| Figure {
            quantity: quantity.to_owned(),
            rate,
            between,
            doubt,
        };
        let figures = vec![
            figure("random_write", 1234.5, Some([1200.0, 1270.25]), None),
            figure("random_read", 2.0, None, Some("it was buffered".to_owned())),
        ];
        assert_eq!(figures_of(&text_of(&figures)).unwrap(), figures);
        assert_eq!([1e9 / 3.0, 1234.5, 0.0].map(rounded), [333_333_300.0, 1234.5, 0.0]);
        assert!(figures_of("[[1]]").is_err());
    }
}
