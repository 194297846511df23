//! The known name that a mistyped one is nearly: "did you mean".

/// More changes than this make another word.
const CHANGES_MAX: usize = 2;

/// The one of `names` that `word` is nearly, whatever the case; `None` where it is like none of them.
///
/// A name is near if at most two letters differ, and at most a third of its letters; or if one of the two
/// begins with the other and the shorter one has four letters or more.
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let word = word.to_lowercase();
    let distance = |name: &'n str| {
        let known = name.to_lowercase();
        let count = changes(&word, &known);
        if count <= CHANGES_MAX && count * 3 <= known.len() {
            return Some((count, name));
        }
        let is_part = known.starts_with(&word) || word.starts_with(&known);
        (is_part && word.len().min(known.len()) > 3).then_some((CHANGES_MAX + 1, name))
    };
    let near = names.into_iter().filter_map(distance).min_by_key(|(count, _)| *count);
    near.map(|(_, name)| name)
}

/// The fewest letters that must be added, removed, replaced, or swapped with the next to make `a` into
/// `b` (Damerau's distance in its restricted form).
fn changes(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(letter != other);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_recognised_and_another_word_is_not() {
        let names =
            ["run", "list", "compare", "identify", "show", "watch", "sandisk-extreme-a1", "server"];
        for (word, name) in [
            ("lsit", Some("list")),
            ("compair", Some("compare")),
            ("identfy", Some("identify")),
            ("Shwo", Some("show")),
            ("rn", Some("run")),
            ("sandisk-extrem-a1", Some("sandisk-extreme-a1")),
            ("SANDISK-EXTREME", Some("sandisk-extreme-a1")),
            ("servers", Some("server")),
            ("card", None),
            ("mnt", None),
            ("usbstick", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), name, "{word}");
        }
    }

    #[test]
    fn changes_are_counted() {
        for (a, b, count) in [("list", "list", 0), ("lsit", "list", 1), ("", "abc", 3)] {
            assert_eq!(changes(a, b), count, "{a} {b}");
        }
    }
}
