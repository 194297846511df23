//! Lines of places: rectangles, discs, the paths of letters; and lines cut into dashes.

use crate::drawing::Place;

/// All numbers in `text`, whatever stands between them.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
    let mut found = Vec::new();
    for word in text.split(|c: char| !is_part(c)) {
        // A minus begins a number without a gap before it.
        let mut start = 0;
        for (at, _) in word.match_indices('-').filter(|(at, _)| *at > 0) {
            if !word[..at].ends_with('e') {
                found.push(&word[start..at]);
                start = at;
            }
        }
        found.push(&word[start..]);
    }
    found
        .into_iter()
        .filter_map(|word| word.parse().ok())
        .filter(|it: &f64| it.is_finite())
        .collect()
}

/// A rectangle.
pub(super) fn rectangle((x, y): Place, (width, height): (f64, f64)) -> Vec<Place> {
    vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
}

/// A disc, as a polygon whose corners are not seen.
pub(super) fn disc((x, y): Place, radius: f64) -> Vec<Place> {
    const CORNERS: usize = 24;
    let corner = |number: usize| {
        let angle = number as f64 * std::f64::consts::TAU / CORNERS as f64;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..CORNERS).map(corner).collect()
}

/// A curve is drawn in so many straight lines: a letter of 60 pixels shows none of them.
const CURVE_LINES: u32 = 6;

/// The curve from `from` to `to` that leaves towards `bend`, without its beginning.
fn curve(from: (f64, f64), bend: (f64, f64), to: (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let between = |from: f64, bend: f64, to: f64, share: f64| {
        let rest = 1.0 - share;
        rest * rest * from + 2.0 * rest * share * bend + share * share * to
    };
    (1..=CURVE_LINES).map(move |step| {
        let share = f64::from(step) / f64::from(CURVE_LINES);
        (between(from.0, bend.0, to.0, share), between(from.1, bend.1, to.1, share))
    })
}

/// The lines of a letter's path: the commands M, L, H, V and Q, absolute or relative; each line is closed.
pub(super) fn along_path(path: &str) -> Vec<Vec<Place>> {
    let mut lines: Vec<Vec<Place>> = Vec::new();
    let mut at = (0.0, 0.0);
    let commands: Vec<usize> = path
        .char_indices()
        .filter(|(_, c)| c.is_ascii_alphabetic() && *c != 'e')
        .map(|(at, _)| at)
        .chain([path.len()])
        .collect();
    for ends in commands.windows(2) {
        let (command, numbers) = (path.as_bytes()[ends[0]], numbers(&path[ends[0] + 1..ends[1]]));
        let origin = if command.is_ascii_lowercase() { at } else { (0.0, 0.0) };
        match command.to_ascii_uppercase() {
            b'H' | b'V' => {
                for value in numbers {
                    let is_across = command.eq_ignore_ascii_case(&b'H');
                    let from = if command.is_ascii_lowercase() { at } else { (0.0, 0.0) };
                    at = if is_across { (from.0 + value, at.1) } else { (at.0, from.1 + value) };
                    lines.last_mut().into_iter().for_each(|line| line.push(at));
                }
            }
            b'M' | b'L' => {
                let (pairs, _) = numbers.as_chunks::<2>();
                for (number, [x, y]) in pairs.iter().enumerate() {
                    let from = if command.is_ascii_lowercase() { at } else { origin };
                    at = (from.0 + x, from.1 + y);
                    if command.eq_ignore_ascii_case(&b'M') && number == 0 {
                        lines.push(Vec::new());
                    }
                    lines.last_mut().into_iter().for_each(|line| line.push(at));
                }
            }
            b'Q' => {
                let (curves, _) = numbers.as_chunks::<4>();
                for [bend_x, bend_y, x, y] in curves {
                    let from = if command.is_ascii_lowercase() { at } else { origin };
                    let (bend, to) = ((from.0 + bend_x, from.1 + bend_y), (from.0 + x, from.1 + y));
                    lines.last_mut().into_iter().for_each(|line| line.extend(curve(at, bend, to)));
                    at = to;
                }
            }
            _ => {}
        }
    }
    lines
}

/// `line` in dashes, a dash and a gap in turn, whose lengths are more than 0.
pub(super) fn dashed(line: &[Place], (dash, gap): (f64, f64)) -> Vec<Vec<Place>> {
    let Some(&first) = line.first() else { return Vec::new() };
    let mut dashes = vec![vec![first]];
    let (mut is_dash, mut left) = (true, dash);
    for pair in line.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let step = length.min(left);
            let share = if length > 0.0 { step / length } else { 1.0 };
            let at = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            if is_dash {
                dashes.last_mut().into_iter().for_each(|dash| dash.push(at));
            }
            left -= step;
            from = at;
            if left > 0.0 {
                break;
            }
            is_dash = !is_dash;
            left = if is_dash { dash } else { gap };
            if is_dash {
                dashes.push(vec![at]);
            }
        }
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_where_its_commands_say() {
        let outline = along_path("M1 2H5V6h-1v1M0 0l2 2-1-2z");
        let first = vec![(1.0, 2.0), (5.0, 2.0), (5.0, 6.0), (4.0, 6.0), (4.0, 7.0)];
        let second = vec![(0.0, 0.0), (2.0, 2.0), (1.0, 0.0)];
        assert_eq!(outline, [first, second]);
        assert_eq!(numbers("1,2 -3.5-4"), [1.0, 2.0, -3.5, -4.0]);
    }

    #[test]
    fn a_curve_bends_and_ends_where_it_says() {
        let curved = along_path("M0 0q10 0 10 10").remove(0);
        assert_eq!(curved.len(), 1 + CURVE_LINES as usize);
        assert_eq!(curved[CURVE_LINES as usize / 2], (7.5, 2.5));
        assert_eq!(curved.last(), Some(&(10.0, 10.0)));
        assert_eq!(along_path("M5 5Q15 5 15 15")[0].last(), Some(&(15.0, 15.0)));
    }

    #[test]
    fn dashes_and_gaps_take_turns() {
        let dashes = dashed(&[(0.0, 0.0), (10.0, 0.0)], (3.0, 2.0));
        let ends: Vec<(f64, f64)> =
            dashes.iter().map(|dash| (dash[0].0, dash[dash.len() - 1].0)).collect();
        assert_eq!(ends, [(0.0, 3.0), (5.0, 8.0), (10.0, 10.0)]);
        assert_eq!(dashed(&[(0.0, 0.0)], (3.0, 2.0)).len(), 1);
    }
}
