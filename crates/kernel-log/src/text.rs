//! Words and numbers of a message.

/// What follows `before` in `text`, up to the next space, comma or bracket.
pub(crate) fn word_after<'t>(text: &'t str, before: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| c.is_whitespace() || ",)]:;".contains(c)).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// The whole number that follows `before` in `text`.
pub(crate) fn number_after(text: &str, before: &str) -> Option<u64> {
    whole(word_after(text, before)?.trim_end_matches('.'))
}

/// The error number that follows `before` in `text`, such as 110 of `error -110`.
pub(crate) fn error_after(text: &str, before: &str) -> Option<u16> {
    let word = word_after(text, before)?.trim_end_matches(['.', '!']);
    let number = word.strip_prefix('-')?.parse().ok()?;
    (number < 4096).then_some(number)
}

/// The number that `text` is, with a decimal point; nothing for one with a sign or an exponent.
pub(crate) fn number(text: &str) -> Option<f64> {
    let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    let value: f64 = text.parse().ok().filter(|_| begins && text.bytes().all(is_plain))?;
    (value < 1e18).then_some(value)
}

/// The whole number that `text` is.
fn whole(text: &str) -> Option<u64> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_whole && text.len() <= 18)
}
