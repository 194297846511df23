//! A font of strokes: every letter is a few lines, drawn with a round pen.
//!
//! It was made for this program, on a grid: the heads of capitals at 0, of small letters at 2, the base at 7,
//! what hangs below it down to 9. A stroke is a row of places, two digits each: first to the right, then
//! down. A stroke of one place is a dot.

/// A letter, its width on the grid, and its strokes.
type Letter = (char, u8, &'static str);

/// The grid's steps to the right and down, as parts of the size of the font.
const ACROSS: f64 = 0.092;
const DOWN: f64 = 0.102;

/// The gap between two letters and the width of a blank, in steps.
const GAP: f64 = 2.0;
const BLANK: f64 = 2.0;

/// The line that all letters stand on, in steps.
const BASE: f64 = 7.0;

/// Stands for a letter that the font does not have.
const BOX: (f64, &str) = (4.0, "0040470700");

const LETTERS: [Letter; 106] = [
    ('A', 4, "072047 1535"),
    ('B', 4, "07003041423303 3344463707"),
    ('C', 4, "4130100106173746"),
    ('D', 4, "07003041463707"),
    ('E', 4, "40000747 0333"),
    ('F', 4, "400007 0333"),
    ('G', 4, "41301001061737464424"),
    ('H', 4, "0007 4047 0343"),
    ('I', 0, "0007"),
    ('J', 3, "3036271706"),
    ('K', 4, "0007 4004 1347"),
    ('L', 4, "000747"),
    ('M', 5, "0700345057"),
    ('N', 4, "07004740"),
    ('O', 4, "103041463717060110"),
    ('P', 4, "07003041433404"),
    ('Q', 4, "103041463717060110 2548"),
    ('R', 4, "07003041433404 2447"),
    ('S', 4, "413010010213334446371706"),
    ('T', 4, "0040 2027"),
    ('U', 4, "000617374640"),
    ('V', 4, "002740"),
    ('W', 6, "0017325760"),
    ('X', 4, "0047 4007"),
    ('Y', 4, "002340 2327"),
    ('Z', 4, "00400747"),
    ('a', 4, "4332120306173746 4247"),
    ('b', 4, "0007 0312324346371706"),
    ('c', 4, "4332120306173746"),
    ('d', 4, "4047 4332120306173746"),
    ('e', 4, "04444332120306173746"),
    ('f', 3, "30201117 0232"),
    ('g', 4, "4248391908 4332120306173746"),
    ('h', 4, "0007 0312324347"),
    ('i', 0, "0207 00"),
    ('j', 1, "121809 10"),
    ('k', 4, "0007 4205 1447"),
    ('l', 0, "0007"),
    ('m', 6, "0207 0312223337 3342526367"),
    ('n', 4, "0207 0312324347"),
    ('o', 4, "123243463717060312"),
    ('p', 4, "0209 0312324346371706"),
    ('q', 4, "4249 4332120306173746"),
    ('r', 3, "0207 03122233"),
    ('s', 4, "43321203143546371706"),
    ('t', 3, "10162737 0232"),
    ('u', 4, "0206173746 4247"),
    ('v', 4, "022742"),
    ('w', 6, "0217335762"),
    ('x', 4, "0247 4207"),
    ('y', 4, "0227 421909"),
    ('z', 4, "02420747"),
    ('0', 4, "103041463717060110"),
    ('1', 4, "112027 1737"),
    ('2', 4, "01103041420747"),
    ('3', 4, "01103041423323 334446371706"),
    ('4', 4, "37300545"),
    ('5', 4, "400003334446371706"),
    ('6', 4, "413010010617374644331304"),
    ('7', 4, "004017"),
    ('8', 4, "13020110304142331304061737464433"),
    ('9', 4, "061737464130100103143443"),
    ('.', 0, "07"),
    (',', 1, "1708"),
    (':', 0, "03 07"),
    (';', 1, "13 1708"),
    ('!', 0, "0005 07"),
    ('?', 4, "01103041422425 27"),
    ('\'', 0, "0002"),
    ('"', 2, "0002 2022"),
    ('(', 2, "20020628"),
    (')', 2, "00222608"),
    ('[', 2, "20000828"),
    (']', 2, "00202808"),
    ('{', 2, "20111304151728"),
    ('}', 2, "00111324151708"),
    ('<', 3, "320436"),
    ('>', 3, "023406"),
    ('=', 4, "0343 0545"),
    ('+', 4, "2226 0444"),
    ('-', 3, "0434"),
    ('\u{2013}', 4, "0444"),
    ('\u{2014}', 6, "0464"),
    ('_', 4, "0848"),
    ('*', 4, "2125 0244 0442"),
    ('/', 3, "3008"),
    ('\\', 3, "0038"),
    ('|', 0, "0008"),
    ('#', 4, "1017 3037 0242 0545"),
    ('%', 5, "1001122110 4536475645 5007"),
    ('&', 5, "5712112031320506173755"),
    ('@', 5, "33232535455451401001061747"),
    ('^', 4, "022042"),
    ('~', 4, "04133544"),
    ('`', 1, "0012"),
    ('$', 4, "413010010213334446371706 2028"),
    ('\u{b5}', 4, "0209 0206173746 4247"),
    ('\u{3bc}', 4, "0209 0206173746 4247"),
    ('\u{b0}', 2, "1001122110"),
    ('\u{b1}', 4, "2125 0343 0747"),
    ('\u{d7}', 4, "0246 4206"),
    ('\u{2026}', 6, "07 37 67"),
    ('\u{b7}', 0, "04"),
    ('\u{e4}', 4, "4332120306173746 4247 10 30"),
    ('\u{f6}', 4, "123243463717060312 10 30"),
    ('\u{fc}', 4, "0206173746 4247 10 30"),
];

/// The width of the pen for a font of the size `size`.
pub(super) fn weight(size: f64) -> f64 {
    0.088 * size
}

/// The width of `text` in a font of the size `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let steps: f64 = text.chars().map(|c| letter(c).0 + GAP).sum();
    (steps - GAP).max(0.0) * ACROSS * size
}

/// The strokes of `text`, which begins at `x` and stands on `y`.
pub(super) fn strokes(text: &str, (x, y): (f64, f64), size: f64) -> Vec<Vec<(f64, f64)>> {
    let mut strokes = Vec::new();
    let mut start = 0.0;
    for c in text.chars() {
        let (width, shape) = letter(c);
        for stroke in shape.split(' ').filter(|stroke| !stroke.is_empty()) {
            let (places, _) = stroke.as_bytes().as_chunks::<2>();
            let place = |[across, down]: &[u8; 2]| {
                let steps = |digit: u8| f64::from(digit - b'0');
                let at = (start + steps(*across), steps(*down) - BASE);
                (x + at.0 * ACROSS * size, y + at.1 * DOWN * size)
            };
            strokes.push(places.iter().map(place).collect());
        }
        start += width + GAP;
    }
    strokes
}

/// The width of a letter in steps, and its strokes.
fn letter(c: char) -> (f64, &'static str) {
    if c.is_whitespace() {
        return (BLANK, "");
    }
    let known = LETTERS.iter().find(|(known, ..)| *known == c);
    known.map_or(BOX, |(_, width, strokes)| (f64::from(*width), strokes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_sign_has_a_letter_and_every_place_is_on_the_grid() {
        for c in '!'..='~' {
            assert!(LETTERS.iter().any(|(known, ..)| *known == c), "{c}");
        }
        for (c, width, shape) in LETTERS {
            assert!(shape.bytes().all(|it| it == b' ' || it.is_ascii_digit()), "{c}: {shape}");
            for stroke in shape.split(' ') {
                assert_eq!(stroke.len() % 2, 0, "{c}: {stroke}");
                let across = stroke.bytes().step_by(2).map(|digit| digit - b'0');
                assert!(across.max() <= Some(width), "{c}: {stroke}");
            }
        }
    }
}
