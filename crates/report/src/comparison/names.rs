//! Names of cards in columns too narrow for them, cut so that they can still be told apart.

use cardproof_rating::compare::{CardFigures, Comparison};

use crate::clean::one_line;
use crate::columns::{beginning, columns_of, end};

/// What `card` is called in a table: a defect stands beside its name.
pub(super) fn shown(card: &CardFigures) -> String {
    let name = one_line(&card.name);
    match &card.defect {
        Some(defect) => format!("{} {name}", defect.kind.word()),
        None => name,
    }
}

/// The same of all cards of `comparison`.
pub(super) fn all_shown(comparison: &Comparison) -> Vec<String> {
    comparison.figures.iter().map(shown).collect()
}

/// `text` in at most `width` columns, its middle left out where it is longer: names differ at both
/// ends.
pub(super) fn cut(text: &str, width: usize) -> String {
    keeping_front(text, width, width.saturating_sub(1) / 2)
}

/// `names`, each in at most `width` columns. The end is left out where the beginnings differ, else a
/// middle, the first that leaves no two names alike.
pub(crate) fn cut_apart(names: &[&str], width: usize) -> Vec<String> {
    let cut_at = |front: usize| -> Vec<String> {
        names.iter().map(|name| keeping_front(name, width, front)).collect()
    };
    let whole_front = width.saturating_sub(1);
    let fronts = [whole_front, whole_front / 2].into_iter().chain((0..whole_front).rev());
    fronts
        .map(cut_at)
        .find(|shortened| are_apart(names, shortened))
        .unwrap_or_else(|| cut_at(whole_front / 2))
}

/// Whether names that differ still do.
fn are_apart(names: &[&str], shortened: &[String]) -> bool {
    let distinct = |names: &mut Vec<&str>| {
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let mut after: Vec<&str> = shortened.iter().map(String::as_str).collect();
    distinct(&mut names.to_vec()) == distinct(&mut after)
}

/// `text` in at most `width` columns, the first `front` of them from its beginning.
fn keeping_front(text: &str, width: usize, front: usize) -> String {
    if columns_of(text) <= width || width == 0 {
        return text.to_owned();
    }
    format!("{}…{}", beginning(text, front), end(text, width - 1 - front))
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_apart};

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(cut("sandisk-extreme-a1", 9), "sand…e-a1");
        assert_eq!(cut("short", 9), "short");
    }

    #[test]
    fn names_that_differ_stay_different() {
        let at = |names: &[&str]| cut_apart(names, 9);
        assert_eq!(at(&["sandisk-one", "kingston-two"]), ["sandisk-…", "kingston…"]);
        assert_eq!(at(&["batch-2026-001", "batch-2026-002"]), ["batc…-001", "batc…-002"]);
        let middles = ["card-a-of-the-batch-new", "card-b-of-the-batch-new"];
        assert_eq!(at(&middles), ["card-a-o…", "card-b-o…"]);
        assert_eq!(at(&["the-same-name", "the-same-name"]), ["the-same…", "the-same…"]);
    }
}
