//! The columns that a text takes on a terminal: a letter of East Asia takes two, a mark over a letter none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns of `text`, which holds no escape sequence.
#[must_use]
pub fn columns_of(text: &str) -> usize {
    text.width()
}

/// `text` and blanks after it, `width` columns together, or as many as the text has.
#[must_use]
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{}", blanks(text, width))
}

/// `text` and blanks before it, as [`left`].
#[must_use]
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", blanks(text, width))
}

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns_of(text)))
}

/// As much of the beginning of `text` as takes at most `width` columns.
#[must_use]
pub fn beginning(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (at, letter) in text.char_indices() {
        taken += letter.width().unwrap_or(0);
        if taken > width {
            return &text[..at];
        }
    }
    text
}

/// As much of the end of `text` as takes at most `width` columns.
pub(crate) fn end(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (at, letter) in text.char_indices().rev() {
        taken += letter.width().unwrap_or(0);
        if taken > width {
            return &text[at + letter.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_letter_takes_two_columns() {
        assert_eq!(columns_of("カード 1"), 8);
        assert_eq!(left("カード", 8), "カード  ");
        assert_eq!(right("カード", 8), "  カード");
        assert_eq!(left("e\u{301}", 3), "e\u{301}  ");
        assert_eq!(left("longer", 3), "longer");
    }

    #[test]
    fn a_wide_letter_is_not_halved() {
        assert_eq!(beginning("カード", 5), "カー");
        assert_eq!(end("カード", 5), "ード");
        assert_eq!(beginning("abc", 5), "abc");
    }
}
