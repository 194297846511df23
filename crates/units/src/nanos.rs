//! A length of time or a point on a target's clock, in nanoseconds.
//!
//! The clock may be a simulated one, so nothing here knows the hour.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `count` of the smaller of two units, of which 60 make one of the larger: `2 min 5 s`, `5 min`.
fn in_two_units(count: u64, (larger, smaller): (&str, &str)) -> String {
    match (count / 60, count % 60) {
        (whole, 0) => format!("{whole} {larger}"),
        (whole, rest) => format!("{whole} {larger} {rest} {smaller}"),
    }
}

/// Nanoseconds, 0 to 2^64-1 (584 years): a duration, or the time since a clock's start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// A limit or a plan for people, in whole seconds, rounded up: `64 s`, `2 min 5 s`, `5 min`. From an hour on in
    /// whole minutes, rounded up: `1 h`, `31 h 39 min`.
    #[must_use]
    pub fn in_whole_seconds(self) -> String {
        let seconds = self.0.div_ceil(1_000_000_000);
        if seconds < 100 {
            return format!("{seconds} s");
        }
        if seconds < 3600 {
            return in_two_units(seconds, ("min", "s"));
        }
        in_two_units(seconds.div_ceil(60), ("h", "min"))
    }

    /// No time, or a clock's start.
    pub const ZERO: Self = Self(0);

    /// `count` microseconds; saturates.
    #[must_use]
    pub const fn from_micros(count: u64) -> Self {
        Self(count.saturating_mul(1_000))
    }

    /// `count` milliseconds; saturates.
    #[must_use]
    pub const fn from_millis(count: u64) -> Self {
        Self(count.saturating_mul(1_000_000))
    }

    /// `count` seconds; saturates.
    #[must_use]
    pub const fn from_secs(count: u64) -> Self {
        Self(count.saturating_mul(1_000_000_000))
    }

    /// The nearest whole nanosecond to `seconds`; zero for negatives and NaN, saturating above.
    #[must_use]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }

    /// The bare number of nanoseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The time from `earlier` to this, or zero where `earlier` is the later.
    #[must_use]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This and `other` together, at most 2^64-1.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Saturates at the longest time.
impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

/// Saturates at the longest time.
impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// Saturates at the longest time.
impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Nanos {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Prints with three significant digits in the fitting unit: `850 ns`, `12.3 ms`, `4.05 s`, `2 min 5 s`.
/// From here on a time is told in hours and minutes.
const HOURS_FROM: u64 = 2 * 3600 * 1_000_000_000;

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0 as f64;
        if self.0 < 1_000 {
            return write!(f, "{} ns", self.0);
        }
        if self.0 >= HOURS_FROM {
            let minutes = (nanos / 60e9).round() as u64;
            return write!(f, "{} h {} min", minutes / 60, minutes % 60);
        }
        if self.0 >= 99_500_000_000 {
            let seconds = (nanos / 1e9).round() as u64;
            return write!(f, "{} min {} s", seconds / 60, seconds % 60);
        }
        let (value, unit, decimals) = self.scaled();
        write!(f, "{value:.decimals$}")?;
        if f.alternate() { Ok(()) } else { write!(f, " {unit}") }
    }
}

impl Nanos {
    /// In the unit in which it is shortest, up to seconds: the number, the unit, and how many decimals
    /// are worth printing.
    #[must_use]
    pub fn scaled(self) -> (f64, &'static str, usize) {
        let nanos = self.0 as f64;
        let (value, unit) = if nanos < 999_500.0 {
            (nanos / 1e3, "us")
        } else if nanos < 999_500_000.0 {
            (nanos / 1e6, "ms")
        } else {
            (nanos / 1e9, "s")
        };
        let decimals = if value < 9.995 {
            2
        } else if value < 99.95 {
            1
        } else {
            0
        };
        (value, unit, decimals)
    }
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseNanosError {
    /// Not a positive number followed by a known unit.
    #[error("'{0}' is not a duration; write a number and a unit, like 500ms, 60s or 2m")]
    Malformed(String),
    /// Longer than 2^64-1 nanoseconds.
    #[error("'{0}' is too long; the longest duration is about 584 years")]
    TooLong(String),
}

impl FromStr for Nanos {
    type Err = ParseNanosError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || ParseNanosError::Malformed(text.to_owned());
        let trimmed = text.trim();
        let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(digits_end);
        if digits.is_empty() {
            return Err(malformed());
        }
        let size = match unit.trim() {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "" | "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(malformed()),
        };
        let number: u64 = digits.parse().map_err(|_| ParseNanosError::TooLong(text.to_owned()))?;
        number.checked_mul(size).map(Self).ok_or_else(|| ParseNanosError::TooLong(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_in_whole_seconds() {
        for (nanos, text) in [
            (0, "0 s"),
            (1, "1 s"),
            (64_000_000_000, "64 s"),
            (99_000_000_001, "1 min 40 s"),
            (125_000_000_000, "2 min 5 s"),
            (300_000_000_000, "5 min"),
            (3_599_000_000_001, "1 h"),
            (113_931_000_000_000, "31 h 39 min"),
        ] {
            assert_eq!(Nanos(nanos).in_whole_seconds(), text);
        }
    }

    #[test]
    fn durations_parse_with_their_unit() {
        let cases = [
            ("60", Nanos::from_secs(60)),
            ("60s", Nanos::from_secs(60)),
            ("500ms", Nanos::from_millis(500)),
            ("2m", Nanos::from_secs(120)),
            ("1h", Nanos::from_secs(3600)),
        ];
        for (text, nanos) in cases {
            assert_eq!(text.parse::<Nanos>(), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "-1s", "1.5s", "5 weeks"] {
            assert!(matches!(text.parse::<Nanos>(), Err(ParseNanosError::Malformed(_))), "{text}");
        }
        assert!(matches!("99999999999h".parse::<Nanos>(), Err(ParseNanosError::TooLong(_))));
    }

    #[test]
    fn prints_three_digits() {
        let cases = [
            (850, "850 ns"),
            (12_345, "12.3 us"),
            (999_600, "1.00 ms"),
            (12_345_678, "12.3 ms"),
            (250_000_000, "250 ms"),
            (4_050_000_000, "4.05 s"),
            (60_000_000_000, "60.0 s"),
            (125_000_000_000, "2 min 5 s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }
}
