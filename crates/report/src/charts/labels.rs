//! Words beside points, so that none covers another word or a point.

use super::plot::{FONT_SIZE, LETTER_WIDTH};

/// The height of a digit, as a share of the font's size.
const LETTER_HEIGHT: f64 = 0.73;

/// Between the edge of a point and its word.
const GAP: f64 = 2.5;

/// The same to a side, where the word stands above or below too.
const CORNER_GAP: f64 = 3.0;

/// A rectangle, in user units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// What lies at most `reach` from `place` either way.
    pub(super) fn around((x, y): (f64, f64), reach: f64) -> Self {
        Self { left: x - reach, top: y - reach, right: x + reach, bottom: y + reach }
    }

    fn covers(&self, other: &Self) -> bool {
        let across = self.left < other.right && other.left < self.right;
        across && self.top < other.bottom && other.top < self.bottom
    }

    fn contains(&self, other: &Self) -> bool {
        let across = self.left <= other.left && other.right <= self.right;
        across && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// A word and the point that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label<'w> {
    /// The middle of the point.
    pub(super) at: (f64, f64),
    /// How far the point reaches from there.
    pub(super) reach: f64,
    /// The word.
    pub(super) word: &'w str,
}

/// The middle of the base of each of `labels`: above the point, or right of it,
/// below or left, or at one of the corners between these. `None` in a crowd, where it would cover a point, a
/// word, or leave `plot`.
pub(super) fn beside(labels: &[Label<'_>], plot: Area) -> Vec<Option<(f64, f64)>> {
    let height = LETTER_HEIGHT * FONT_SIZE;
    let mut taken: Vec<Area> =
        labels.iter().map(|label| Area::around(label.at, label.reach)).collect();
    let mut place = |label: &Label<'_>| {
        let (x, y) = label.at;
        let gap = label.reach + GAP;
        let width = label.word.chars().count() as f64 * LETTER_WIDTH * FONT_SIZE;
        let aside = gap + width / 2.0;
        let level = y + height / 2.0;
        let (above, below) = (y - gap, y + gap + height);
        let corner = width / 2.0 + CORNER_GAP;
        let sides = [(x, above), (x + aside, level), (x, below), (x - aside, level)];
        let corners =
            [(x + corner, above), (x + corner, below), (x - corner, above), (x - corner, below)];
        let bases = sides.into_iter().chain(corners);
        let area = |(x, base): (f64, f64)| Area {
            left: x - width / 2.0,
            top: base - height,
            right: x + width / 2.0,
            bottom: base,
        };
        let is_free = |base: &(f64, f64)| {
            let area = area(*base);
            plot.contains(&area) && !taken.iter().any(|other| other.covers(&area))
        };
        let base = bases.into_iter().find(is_free)?;
        taken.push(area(base));
        Some(base)
    };
    labels.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_where_it_covers_nothing() {
        let plot = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        // Where the words of points at `places` stand: above, right, below, left, at a right or left corner,
        // or nowhere.
        let sides = |places: &[(f64, f64)]| -> String {
            let label = |at: &(f64, f64)| Label { at: *at, reach: 3.5, word: "12" };
            let labels: Vec<Label<'_>> = places.iter().map(label).collect();
            let side = |((x, y), place): (&(f64, f64), Option<(f64, f64)>)| match place {
                None => '-',
                Some((at, _)) if at > *x => 'r',
                Some((at, _)) if at < *x => 'l',
                Some((_, base)) if base > *y => 'b',
                Some(_) => 'a',
            };
            places.iter().zip(beside(&labels, plot)).map(side).collect()
        };
        assert_eq!(sides(&[(20.0, 50.0), (50.0, 50.0), (20.0, 80.0)]), "aaa");
        assert_eq!(sides(&[(50.0, 50.0), (52.0, 50.0)]), "ar");
        assert_eq!(sides(&[(50.0, 50.0); 10]), "arbl------");
        let around = [(50.0, 50.0), (46.0, 40.0), (64.0, 53.0), (46.0, 60.0), (36.0, 53.0)];
        assert!(sides(&around).starts_with('r'), "above to the right: {}", sides(&around));
        assert_eq!(sides(&[(50.0, 5.0), (98.0, 5.0)]), "rl", "none leaves the plot");
        assert_eq!(sides(&[(50.0, 50.0), (50.0, 40.0)]), "ra", "none covers a point");
    }
}
