//! Bytes as text: UTF-8, UTF-16 as Windows' programs write it, and single-byte text of old systems.

use std::borrow::Cow;

/// The text that `bytes` are. UTF-16 is known by its mark or by its zeros; bytes that are no UTF-8 are
/// those of Windows-1252's part that it shares with Latin 1, since a micro sign is one.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some(wide) = wide(bytes) {
        return Cow::Owned(wide);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(mixed(bytes)),
    }
}

/// The text of UTF-16, with a mark of its order or with zeros where Latin letters have them.
fn wide(bytes: &[u8]) -> Option<String> {
    let is_little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => {
            let looked_at = &bytes[..bytes.len().min(4096)];
            let zeros = |start: usize| {
                looked_at.iter().skip(start).step_by(2).filter(|byte| **byte == 0).count()
            };
            let half = looked_at.len() / 2;
            let (even, odd) = (zeros(0), zeros(1));
            match (half >= 4, odd * 4 >= half * 3, even * 4 >= half * 3) {
                (true, true, false) => true,
                (true, false, true) => false,
                _ => return None,
            }
        }
    };
    let unit = |pair: &[u8]| {
        let pair = [pair[0], pair[1]];
        if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    };
    let units = bytes.chunks_exact(2).map(unit);
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// UTF-8 with single bytes of Latin 1 among it.
fn mixed(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push(match byte {
                0xa0..=0xff => char::from(*byte),
                _ => char::REPLACEMENT_CHARACTER,
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_windows_and_of_old_systems_are_read() {
        let text = "Timing 12 MB\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little), text);
        assert_eq!(decode(&big), text);
        assert_eq!(decode(&[&[0xff, 0xfe], little.as_slice()].concat()), format!("\u{feff}{text}"));
        assert_eq!(decode(b"741\xb5s"), "741\u{b5}s");
        assert_eq!(decode("741µs".as_bytes()), "741µs");
        assert_eq!(decode(b""), "");
    }
}
