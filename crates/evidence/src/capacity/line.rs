//! An observation as one line of text: the form in which a record keeps it.

use std::fmt;
use std::str::FromStr;

use super::observation::{Found, Observation};

/// A line that is no observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' describes no test place")]
pub struct ParseObservationError(String);

/// Nine words: offset, length, bytes written before it was complete, bytes written before it was
/// read, right prefix, live prefix, transient errors, `random` or `chosen`, and what came back.
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {} {} {} {} {} ",
            self.offset_bytes,
            self.length_bytes,
            self.written_at_bytes,
            self.read_at_bytes,
            self.right_prefix_bytes,
            self.live_prefix_bytes,
            self.transient_errors,
            if self.is_random { "random" } else { "chosen" },
        )?;
        match self.found {
            Found::Right => f.write_str("right"),
            Found::Foreign { at_bytes, address_bytes } => {
                write!(f, "foreign:{at_bytes}:{address_bytes}")
            }
            Found::Old => f.write_str("old"),
            Found::Constant(byte) => write!(f, "constant:{byte}"),
            Found::Garbled { wrong_bits } => write!(f, "garbled:{wrong_bits}"),
            Found::Changing => f.write_str("changing"),
            Found::ReadFailed => f.write_str("read_failed"),
            Found::WriteFailed => f.write_str("write_failed"),
        }
    }
}

impl FromStr for Observation {
    type Err = ParseObservationError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        read(line).ok_or_else(|| ParseObservationError(line.chars().take(80).collect()))
    }
}

fn read(line: &str) -> Option<Observation> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [offset, length, written, read_at, right, live, transient, chosen, found] = words[..]
    else {
        return None;
    };
    let place = Observation {
        offset_bytes: offset.parse().ok()?,
        length_bytes: length.parse().ok()?,
        written_at_bytes: written.parse().ok()?,
        read_at_bytes: read_at.parse().ok()?,
        right_prefix_bytes: right.parse().ok()?,
        live_prefix_bytes: live.parse().ok()?,
        transient_errors: transient.parse().ok()?,
        is_random: match chosen {
            "random" => true,
            "chosen" => false,
            _ => return None,
        },
        found: found_in(found)?,
    };
    is_possible(&place).then_some(place)
}

/// More than any device holds, or is ever written in a test: sums of two are still numbers.
const BYTES_MAX: u64 = 1 << 62;

/// Whether a test can have seen it: a place within what a device can hold, read after it was written.
fn is_possible(place: &Observation) -> bool {
    let length = place.length_bytes;
    length > 0
        && length <= BYTES_MAX
        && place.offset_bytes <= BYTES_MAX
        && place.written_at_bytes <= place.read_at_bytes
        && place.read_at_bytes <= BYTES_MAX
        && place.right_prefix_bytes <= length
        && place.live_prefix_bytes <= length
}

fn found_in(word: &str) -> Option<Found> {
    let parts: Vec<&str> = word.split(':').collect();
    Some(match parts[..] {
        ["right"] => Found::Right,
        ["foreign", at, address] => {
            Found::Foreign { at_bytes: at.parse().ok()?, address_bytes: address.parse().ok()? }
        }
        ["old"] => Found::Old,
        ["constant", byte] => Found::Constant(byte.parse().ok()?),
        ["garbled", bits] => Found::Garbled { wrong_bits: bits.parse().ok()? },
        ["changing"] => Found::Changing,
        ["read_failed"] => Found::ReadFailed,
        ["write_failed"] => Found::WriteFailed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_what_no_test_can_see_is_none() {
        for line in [
            "0 0 0 1 0 0 0 random right",
            "0 4096 2 1 0 0 0 random right",
            "0 4096 0 1 4097 0 0 random right",
            "18446744073709551615 4096 0 1 0 0 0 random right",
            "0 4096 0 18446744073709551615 0 0 0 random right",
        ] {
            assert!(line.parse::<Observation>().is_err(), "{line}");
        }
    }

    #[test]
    fn every_finding_survives_its_line() {
        for found in [
            Found::Right,
            Found::Foreign { at_bytes: 512, address_bytes: 1 << 40 },
            Found::Old,
            Found::Constant(255),
            Found::Garbled { wrong_bits: 3 },
            Found::Changing,
            Found::ReadFailed,
            Found::WriteFailed,
        ] {
            let place = Observation {
                offset_bytes: 1 << 41,
                length_bytes: 4096,
                written_at_bytes: 1,
                read_at_bytes: 2,
                found,
                right_prefix_bytes: 512,
                live_prefix_bytes: 1024,
                transient_errors: 4,
                is_random: true,
            };
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for line in ["", "1 2 3", "1 2 3 4 5 6 7 random purple", "a b c d e f g h i"] {
            assert!(line.parse::<Observation>().is_err(), "{line}");
        }
    }
}
