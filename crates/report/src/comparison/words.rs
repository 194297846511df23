//! Small words that all parts of a comparison use.

use cardproof_units::Bytes;

/// A range of addresses in words.
pub(super) fn range(span: Bytes) -> String {
    if span == Bytes::ZERO { "unknown".to_owned() } else { span.to_string() }
}
