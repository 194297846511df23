//! Hex text to bytes, as people paste it: either case, in blanks, lines, colons, commas or
//! dashes, with or without `0x`. Half a byte or any other character is an error that says where.

/// A text that is not bytes in hex.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// There is no digit in it.
    #[error("there are no hex digits in the text; give a register such as 0353445345363447...")]
    Empty,
    /// A character is neither a digit nor a separator.
    #[error(
        "'{}' at character {position} is not a hex digit; give the register's digits alone",
        character.escape_default()
    )]
    NotHex {
        /// The character.
        character: char,
        /// Which character of the text it is, from 1.
        position: usize,
    },
    /// The number of digits is odd.
    #[error("{digits} hex digits are no whole number of bytes; is one missing at the end?")]
    OddDigits {
        /// How many there are.
        digits: usize,
    },
}

/// The bytes that `text` spells.
///
/// # Errors
/// [`HexError`] where it spells none, half a byte at the end, or anything else.
pub fn parse(text: &str) -> Result<Vec<u8>, HexError> {
    if let Some(bytes) = numbers(text) {
        return Ok(bytes);
    }
    let digits = digits(text)?;
    if digits.is_empty() {
        return Err(HexError::Empty);
    }
    if !digits.len().is_multiple_of(2) {
        return Err(HexError::OddDigits { digits: digits.len() });
    }
    Ok(digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect())
}

/// The bytes of `0x0 0x5 0x1f`: numbers of a byte each, of which some have one digit.
fn numbers(text: &str) -> Option<Vec<u8>> {
    let words = text.split(is_separator).filter(|word| !word.is_empty());
    let mut has_short = false;
    let mut bytes = Vec::new();
    for word in words {
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?;
        has_short |= digits.len() == 1;
        let is_byte = matches!(digits.len(), 1 | 2);
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_byte)?);
    }
    has_short.then_some(bytes)
}

/// The digits' values; separators and `0x` before a digit group are left out.
fn digits(text: &str) -> Result<Vec<u8>, HexError> {
    let mut digits = Vec::new();
    let mut at_group_start = true;
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        if is_separator(character) {
            at_group_start = true;
            continue;
        }
        let is_prefix = at_group_start
            && character == '0'
            && characters.next_if(|&(_, next)| next == 'x' || next == 'X').is_some();
        at_group_start = false;
        if is_prefix {
            continue;
        }
        match character.to_digit(16) {
            Some(digit) => digits.push(digit as u8),
            None => return Err(HexError::NotHex { character, position: index + 1 }),
        }
    }
    Ok(digits)
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, ':' | ',' | '-' | '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_people_paste_them() {
        for text in [
            "03534e",
            "03534E",
            "0x03534e",
            " 03 53\n4e\n",
            "03:53:4E",
            "0x03, 0x53, 0X4e",
            "03-53-4e\0",
        ] {
            assert_eq!(parse(text), Ok(vec![0x03, 0x53, 0x4e]), "{text:?}");
        }
        assert_eq!(parse("00"), Ok(vec![0]));
        assert_eq!(parse("0x0 0x5\n0x1f"), Ok(vec![0, 5, 0x1f]));
    }

    #[test]
    fn an_error_says_where() {
        for (text, expected) in [
            ("", HexError::Empty),
            (" \n", HexError::Empty),
            ("0x", HexError::Empty),
            ("123", HexError::OddDigits { digits: 3 }),
            ("12 g4", HexError::NotHex { character: 'g', position: 4 }),
            ("é", HexError::NotHex { character: 'é', position: 1 }),
            ("12x4", HexError::NotHex { character: 'x', position: 3 }),
        ] {
            assert_eq!(parse(text), Err(expected), "{text:?}");
        }
    }
}
