//! What is read of a line: numbers as the world writes them, their units, and words.

use cardproof_units::Bytes;

/// A number with what follows it up to the next space or punctuation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity<'t> {
    /// The number.
    pub(super) value: f64,
    /// The unit, if one follows, with or without a space between.
    pub(super) unit: &'t str,
}

/// No tool prints more numbers in a line.
pub(super) const QUANTITIES_MAX: usize = 256;

/// The numbers of `text` with their units, in order; the first [`QUANTITIES_MAX`] of them.
pub(super) fn quantities(text: &str) -> Vec<Quantity<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < QUANTITIES_MAX
        && let Some(start) = rest.find(|c: char| c.is_ascii_digit())
    {
        let after = &rest[start..];
        let end = end_of_number(after);
        let tail = &after[end..];
        if let Some(value) = number(&after[..end]) {
            found.push(Quantity { value, unit: unit_of(tail) });
        }
        rest = tail;
    }
    found
}

/// Where the number at the start of `text` ends: digits, and a decimal sign between digits.
fn end_of_number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1)) {
        end += 1;
    }
    end + exponent(&text[end..])
}

/// How long the exponent at the start of `text` is, as C prints it: `e-05`, always with its sign.
fn exponent(text: &str) -> usize {
    let [b'e' | b'E', b'+' | b'-', rest @ ..] = text.as_bytes() else { return 0 };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_end = rest.get(digits).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if (2..=3).contains(&digits) && is_end { digits + 2 } else { 0 }
}

/// The unit at the start of `text`, after spaces: letters, per cent and slashes.
fn unit_of(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let end = text.find(|c: char| !(c.is_alphabetic() || c == '/' || c == '%'));
    &text[..end.unwrap_or(text.len())]
}

/// The number that `text` is, with a decimal point or a decimal comma; nothing for one that no
/// measurement gives.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let end = text.find(|c| !is_plain(c)).unwrap_or(text.len());
    if end == 0 || end + exponent(&text[end..]) != text.len() {
        return None;
    }
    let value: f64 = match text.contains(',') {
        true => text.replace(',', ".").parse().ok()?,
        false => text.parse().ok()?,
    };
    (value.is_finite() && value < 1e18).then_some(value)
}

/// The whole number that `text` is.
pub(super) fn whole(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > 18 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Where `word` stands first in `text`.
pub(super) fn find(text: &str, word: &str) -> Option<usize> {
    let (first, bytes) = (*word.as_bytes().first()?, text.as_bytes());
    memchr::memchr_iter(first, bytes).find(|at| bytes[*at..].starts_with(word.as_bytes()))
}

/// Whether a word of `text` has two letters.
pub(super) fn has_word(text: &str) -> bool {
    let mut letters = 0;
    for byte in text.bytes() {
        if !byte.is_ascii() {
            let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
            return text.split_whitespace().any(is_word);
        }
        if byte.is_ascii_whitespace() || byte == 0xb {
            letters = 0;
        } else if byte.is_ascii_alphabetic() {
            letters += 1;
            if letters == 2 {
                return true;
            }
        }
    }
    false
}

/// The first word of a text that does not begin with white space.
pub(super) fn first_word(text: &str) -> &str {
    let end = text.bytes().position(|byte| !byte.is_ascii_graphic()).unwrap_or(text.len());
    match text.as_bytes().get(end) {
        None | Some(b' ' | b'\t') => &text[..end],
        Some(_) => text.split_whitespace().next().unwrap_or_default(),
    }
}

/// What stands between `before` and `after` in `text`.
pub(super) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found.trim())
}

/// The word that follows `before` in `text`.
pub(super) fn word_after<'t>(text: &'t str, before: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_whitespace().next()
}

/// Whether `a` and `b` are the same up to `share` of the larger, or up to `least`.
pub(super) fn is_near(a: f64, b: f64, share: f64, least: f64) -> bool {
    (a - b).abs() <= (a.abs().max(b.abs()) * share).max(least)
}

/// The kernel's name of the device in `path`, such as `mmcblk0p2` of `/dev/mmcblk0p2`; nothing
/// for the long names that hold serial numbers.
pub(super) fn kernel_name(path: &str) -> Option<String> {
    let name = path.strip_prefix("/dev/")?;
    if let Some(number) = name.strip_prefix("dm-") {
        return whole(number).map(|_| name.to_owned());
    }
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (!name.is_empty() && name.len() <= 16 && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// A block size as in the names of phases: `4k`, `1m`, or in bytes.
pub(super) fn short_size(size: Bytes) -> String {
    if size.is_multiple_of(Bytes::mib(1)) {
        format!("{}m", size.0 >> 20)
    } else if size.is_multiple_of(Bytes::kib(1)) {
        format!("{}k", size.0 >> 10)
    } else {
        format!("{}b", size.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_any_country() {
        let values = |text| -> Vec<(f64, &str)> {
            quantities(text).into_iter().map(|found| (found.value, found.unit)).collect()
        };
        assert_eq!(values("17,3846 s, 19,3 MB/s"), [(17.3846, "s"), (19.3, "MB/s")]);
        assert_eq!(values("20971520 字节，386 MB/s"), [(20_971_520.0, "字节"), (386.0, "MB/s")]);
        assert_eq!(values("20.0MB"), [(20.0, "MB")]);
        assert_eq!(values("1.2.3 x"), []);
        assert_eq!(values("7.6401e-05 s"), [(7.6401e-05, "s")]);
        assert_eq!(values("0e-5f 1e5"), [(0.0, "e"), (5.0, "f"), (1.0, "e"), (5.0, "")]);
    }

    #[test]
    fn names_with_serial_numbers_are_no_names() {
        assert_eq!(kernel_name("/dev/mmcblk0p2").as_deref(), Some("mmcblk0p2"));
        assert_eq!(kernel_name("/dev/dm-0").as_deref(), Some("dm-0"));
        assert_eq!(kernel_name("/dev/disk/by-id/mmc-SC32G_0x12345678"), None);
    }
}
