//! Small words that all parts of a comparison use.

use cardproof_units::Bytes;

/// A range of addresses in words.
pub(super) fn range(span: Bytes) -> String {
    if span == Bytes::ZERO { "not told".to_owned() } else { span.to_string() }
}

/// A clause as a sentence begins.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
