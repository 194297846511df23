//! The font of pictures: outlines of two weights, made from DejaVu Sans Condensed.
//!
//! The outlines are SVG paths in thousandths of the font's size, one letter a line, so that no reader of
//! font files is in the program. A letter that the font lacks is a box.

use super::outline::along_path;
use crate::drawing::Weight;

const REGULAR: &str = include_str!("sans-regular.txt");
const BOLD: &str = include_str!("sans-bold.txt");

/// The outlines are given for a font of this size.
const EM: f64 = 1000.0;

/// Stands for a letter that the font does not have.
const BOX: (f64, &str) = (540.0, "M60-700h420v700h-420zM110-650v600h320v-600z");

impl Weight {
    /// The lines of letters, without what is said about them.
    fn letters(self) -> impl Iterator<Item = &'static str> {
        let text = match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        };
        text.lines().filter(|line| !line.starts_with("# The") && !line.starts_with("# of"))
    }

    /// The width of a blank.
    const fn blank(self) -> f64 {
        match self {
            Self::Regular => 286.0,
            Self::Bold => 313.0,
        }
    }

    /// The width of a letter and its outline.
    fn letter(self, letter: char) -> (f64, &'static str) {
        if letter.is_whitespace() {
            return (self.blank(), "");
        }
        let known = self.letters().find_map(|line| {
            let (width, path) = line.strip_prefix(letter)?.strip_prefix(' ')?.split_once(' ')?;
            Some((width.parse().ok()?, path))
        });
        known.unwrap_or(BOX)
    }
}

/// The width of `text` in a font of the size `size`.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|c| weight.letter(c).0).sum::<f64>() / EM * size
}

/// The outlines of `text`, which begins at `x` and stands on `y`.
pub(super) fn outlines(
    text: &str,
    (x, y): (f64, f64),
    size: f64,
    weight: Weight,
) -> Vec<Vec<(f64, f64)>> {
    let mut outlines = Vec::new();
    let mut start = 0.0;
    for c in text.chars() {
        let (width, path) = weight.letter(c);
        for line in along_path(path) {
            let place = |(across, down): (f64, f64)| {
                (x + (start + across) / EM * size, y + down / EM * size)
            };
            outlines.push(line.into_iter().map(place).collect());
        }
        start += width;
    }
    outlines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_sign_has_a_letter_of_both_weights() {
        for weight in [Weight::Regular, Weight::Bold] {
            for c in ('!'..='~').chain(['·', 'µ', '°', '±', '×', '…', 'ä', 'é', 'ß']) {
                let (width, path) = weight.letter(c);
                assert_ne!((width, path), BOX, "{c}");
                let lines = along_path(path);
                let places = lines.iter().flatten();
                let is_near = |&(x, y): &(f64, f64)| {
                    (-200.0..=width + 200.0).contains(&x) && (-1100.0..=400.0).contains(&y)
                };
                assert!(places.clone().count() > 2 && places.clone().all(is_near), "{c}: {path}");
            }
        }
        assert_eq!(Weight::Regular.letter('\u{4e2d}'), BOX);
    }

    #[test]
    fn a_text_is_as_wide_as_its_letters_and_bold_is_wider() {
        let of = |text, weight| width(text, 1000.0, weight);
        assert_eq!(of("ab", Weight::Regular), of("a", Weight::Regular) + of("b", Weight::Regular));
        assert!(of("GOOD FOR A SYSTEM", Weight::Bold) > of("GOOD FOR A SYSTEM", Weight::Regular));
        assert!(of("W", Weight::Regular) > of("i", Weight::Regular));
    }

    #[test]
    fn a_letter_with_a_hole_has_two_outlines() {
        let count = |text| outlines(text, (0.0, 0.0), 10.0, Weight::Regular).len();
        assert_eq!([count("o"), count("l"), count("B"), count(" ")], [2, 1, 3, 0]);
    }
}
