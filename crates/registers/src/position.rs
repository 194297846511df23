//! Where a field stands in a register, and taking its bits from there.
//!
//! SD registers are big-endian numbers counted from bit 0 at the end; EXT_CSD is counted in bytes
//! from the start, the lowest byte of a number first. A place outside of the register reads as
//! zeros, so that taking bits cannot fail.

use std::fmt;

/// The place of a field, at most 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// From bit `high` down to bit `low` of the register as one big-endian number.
    Bits {
        /// The highest bit.
        high: usize,
        /// The lowest bit.
        low: usize,
    },
    /// From byte `first` to byte `last`, the lowest byte first.
    Bytes {
        /// The first byte.
        first: usize,
        /// The last byte.
        last: usize,
    },
}

impl Position {
    /// The number that stands here in `register`.
    #[must_use]
    pub fn read(self, register: &[u8]) -> u64 {
        match self {
            Self::Bits { high, low } => (low..=high)
                .rev()
                .fold(0, |number, bit| (number << 1) | u64::from(bit_of(register, bit))),
            Self::Bytes { first, last } => (first..=last).rev().fold(0, |number, byte| {
                (number << 8) | u64::from(register.get(byte).copied().unwrap_or(0))
            }),
        }
    }
}

/// Whether bit number `bit` of the big-endian number is set.
fn bit_of(register: &[u8], bit: usize) -> bool {
    let byte = register.len().checked_sub(1 + bit / 8).and_then(|index| register.get(index));
    byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bits { high, low } if high == low => write!(f, "{high}"),
            Self::Bits { high, low } => write!(f, "{high}:{low}"),
            Self::Bytes { first, last } if first == last => write!(f, "byte {first}"),
            Self::Bytes { first, last } => write!(f, "bytes {first}-{last}"),
        }
    }
}

/// Bits `high` down to `low`.
pub(super) const fn bits(high: usize, low: usize) -> Position {
    Position::Bits { high, low }
}

/// One bit.
pub(super) const fn bit(number: usize) -> Position {
    Position::Bits { high: number, low: number }
}

/// One byte.
pub(super) const fn byte(index: usize) -> Position {
    Position::Bytes { first: index, last: index }
}

/// Bytes `first` to `last`.
pub(super) const fn bytes(first: usize, last: usize) -> Position {
    Position::Bytes { first, last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_count_from_the_end_and_bytes_from_the_start() {
        let register = [0x12, 0x34, 0x56, 0x78];
        for (position, expected) in [
            (bits(31, 28), 0x1),
            (bits(27, 12), 0x2345),
            (bits(3, 0), 0x8),
            (bit(3), 1),
            (bit(0), 0),
            (bits(31, 0), 0x1234_5678),
            (byte(0), 0x12),
            (bytes(1, 2), 0x5634),
            (bytes(0, 3), 0x7856_3412),
        ] {
            assert_eq!(position.read(&register), expected, "{position}");
        }
    }

    #[test]
    fn a_place_outside_of_the_register_reads_as_zeros() {
        assert_eq!(bits(15, 4).read(&[0xf0]), 0xf);
        assert_eq!(bits(200, 190).read(&[0xff; 4]), 0);
        assert_eq!(bytes(3, 6).read(&[1, 1, 1, 1]), 1);
        assert_eq!(bits(7, 0).read(&[]), 0);
    }
}
