//! A count of bytes, how people write one, and how to print one.
//!
//! `4k` and `4K` mean 4096, as fio's users expect; `4kB` means 4000. MB is 10^6
//! and MiB is 2^20, never mixed.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Rem, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A count of bytes, 0 to 2^64-1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// `count` bytes of 2^10 each; saturates at the largest count.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 10))
    }

    /// `count` times 2^20 bytes; saturates at the largest count.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 20))
    }

    /// `count` times 2^30 bytes; saturates at the largest count.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count.saturating_mul(1 << 30))
    }

    /// The bare number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a length in memory; the largest length where it does not fit.
    #[must_use]
    pub fn as_len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// The number as a float, for rates and ratios; exact up to 2^53.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Whether this is a whole multiple of `unit`; false for a unit of zero.
    #[must_use]
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// The largest multiple of `unit` not above this; unchanged for a unit of zero.
    #[must_use]
    pub const fn round_down_to(self, unit: Self) -> Self {
        if unit.0 == 0 { self } else { Self(self.0 - self.0 % unit.0) }
    }

    /// As an argument of the command line that is not below this, in whole MiB: `704M`.
    #[must_use]
    pub fn as_argument(self) -> String {
        format!("{}M", self.0.div_ceil(1 << 20))
    }

    /// As it is printed, without a tenth that is zero: `4 KiB` of 4100 bytes.
    #[must_use]
    pub fn in_short(self) -> String {
        let unit = [1 << 40, 1 << 30, 1 << 20, 1 << 10].into_iter().find(|unit| self.0 >= *unit);
        let Some(unit) = unit else { return self.to_string() };
        let tenths = (10.0 * self.as_f64() / unit as f64).round() as u64;
        let is_whole = tenths.is_multiple_of(10);
        if is_whole { Self(tenths / 10 * unit).to_string() } else { self.to_string() }
    }

    /// As a person typed it: in decimal units where that is a whole number, such as `5 GB`.
    #[must_use]
    pub fn as_typed(self) -> String {
        let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")];
        let fits =
            units.into_iter().find(|(size, _)| self.0 >= *size && self.0.is_multiple_of(*size));
        fits.map_or_else(|| self.to_string(), |(size, unit)| format!("{} {unit}", self.0 / size))
    }

    /// The size that is printed on a medium of this capacity, such as `32 GB` for 29.7 GiB; the capacity itself where no
    /// common size is near. Media of one printed size differ by some percent.
    #[must_use]
    pub fn as_sold(self) -> String {
        const GB: f64 = 1e9;
        const COMMON: [u64; 8] = [120, 240, 250, 480, 500, 960, 1000, 2000];
        let powers = (0..=12).map(|power| 1_u64 << power);
        let gigabytes = self.as_f64() / GB;
        let is_near = |size: &u64| {
            let part = gigabytes / *size as f64;
            (0.93..=1.03).contains(&part)
        };
        let distance = |size: &u64| (gigabytes / *size as f64 - 1.0).abs();
        let near = powers.chain(COMMON).filter(is_near);
        let nearest = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or_else(|| self.to_string(), |size| format!("{size} GB"))
    }

    /// In decimal units, as makers state an endurance, with one decimal: `29.8 TB`.
    #[must_use]
    pub fn in_decimal(self) -> String {
        let units =
            [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
        let fits = units.into_iter().find(|(size, _)| self.0 >= *size);
        fits.map_or_else(
            || self.to_string(),
            |(size, unit)| format!("{:.1} {unit}", self.as_f64() / size as f64),
        )
    }

    /// The difference, or zero where `other` is the larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The nearest whole number of the unit that it is printed in, where it would be printed as one with `.0`:
    /// for amounts that stand side by side, such as `2 GiB` and `2.0 GiB`.
    #[must_use]
    pub fn rounded(self) -> Self {
        let unit = UNITS.iter().map(|(_, size)| *size).find(|size| self.0 >= *size).unwrap_or(1);
        let whole = (self.as_f64() / unit as f64).round();
        let is_near = (self.as_f64() / unit as f64 - whole).abs() < 0.05;
        if is_near { Self((whole as u64).saturating_mul(unit)) } else { self }
    }

    /// The sum, or `None` above 2^64-1.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }
}

/// Saturates at the largest count.
impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Saturates at the largest count.
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// Saturates at the largest count.
impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Rem for Bytes {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

/// Saturates at the largest count.
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// The units that a size is printed in, the largest first.
const UNITS: [(&str, u64); 4] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Prints in binary units with the fewest digits that are exact or, failing
/// that, with one decimal: `4 KiB`, `256 MiB`, `29.7 GiB`, `513 bytes`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, size) in UNITS {
            if self.0 >= size {
                return if self.0.is_multiple_of(size) {
                    write!(f, "{} {name}", self.0 / size)
                } else {
                    write!(f, "{:.1} {name}", self.as_f64() / size as f64)
                };
            }
        }
        match self.0 {
            1 => f.write_str("1 byte"),
            count => write!(f, "{count} bytes"),
        }
    }
}

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseBytesError {
    /// No digits, or something that is neither a digit nor a known unit.
    #[error("'{0}' is not a size; write a number and a unit, like 4k, 256M or 1GiB")]
    Malformed(String),
    /// The unit is not one of ours.
    #[error(
        "'{unit}' is not a unit of size; use k, M, G, T (powers of 1024), KiB, MiB, GiB, TiB \
         (the same) or kB, MB, GB, TB (powers of 1000)"
    )]
    UnknownUnit {
        /// The letters found after the number.
        unit: String,
    },
    /// More than 2^64-1 bytes.
    #[error("'{0}' is larger than any storage; the largest size is 2^64-1 bytes")]
    TooLarge(String),
}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (digits, unit) = trimmed.split_at(digits_end);
        if digits.is_empty() || unit.trim_start().starts_with(['.', ',', '-', '+']) {
            return Err(ParseBytesError::Malformed(text.to_owned()));
        }
        let number: u64 = digits.parse().map_err(|_| ParseBytesError::TooLarge(text.to_owned()))?;
        let size = unit_size(unit.trim())?;
        number.checked_mul(size).map(Self).ok_or_else(|| ParseBytesError::TooLarge(text.to_owned()))
    }
}

/// How many bytes one of `unit` is.
fn unit_size(unit: &str) -> Result<u64, ParseBytesError> {
    let size = match unit {
        "" | "b" | "B" => 1,
        "k" | "K" | "KiB" | "kiB" | "Ki" => 1 << 10,
        "m" | "M" | "MiB" | "Mi" => 1 << 20,
        "g" | "G" | "GiB" | "Gi" => 1 << 30,
        "t" | "T" | "TiB" | "Ti" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        other => return Err(ParseBytesError::UnknownUnit { unit: other.to_owned() }),
    };
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_one_printed_size_are_called_alike() {
        for (bytes, sold) in [
            (31_914_983_424, "32 GB"),
            (32_010_928_128, "32 GB"),
            (63_864_569_856, "64 GB"),
            (500_107_862_016, "500 GB"),
            (256_060_514_304, "256 GB"),
            (7_948_206_080, "8 GB"),
        ] {
            assert_eq!(Bytes(bytes).as_sold(), sold);
        }
        assert_eq!(Bytes::mib(200).as_sold(), "200 MiB");
    }

    #[test]
    fn a_rounded_size_is_printed_without_a_needless_zero() {
        let cases = [
            (Bytes::gib(2), "2 GiB"),
            (Bytes::gib(2) + Bytes::mib(3), "2 GiB"),
            (Bytes::mib(6_143), "6 GiB"),
            (Bytes::mib(1_536), "1.5 GiB"),
            (Bytes(1_000), "1000 bytes"),
            (Bytes::ZERO, "0 bytes"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(bytes.rounded().to_string(), expected);
        }
    }

    #[test]
    fn sizes_mean_what_fio_users_expect() {
        let cases = [
            ("0", 0),
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("4 KiB", 4096),
            ("256M", 268_435_456),
            ("256MiB", 268_435_456),
            ("256MB", 256_000_000),
            ("1G", 1 << 30),
            ("2TB", 2_000_000_000_000),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_its_name() {
        for text in ["", "k", "-1", "1.5G", "1,5G", "+4k"] {
            assert!(matches!(text.parse::<Bytes>(), Err(ParseBytesError::Malformed(_))), "{text}");
        }
        for text in ["4q", "4 kibi", "4ki b"] {
            assert!(
                matches!(text.parse::<Bytes>(), Err(ParseBytesError::UnknownUnit { .. })),
                "{text}"
            );
        }
        for text in ["99999999999999999999", "99999999999G", "18446744073709551616", "16777216T"] {
            assert!(matches!(text.parse::<Bytes>(), Err(ParseBytesError::TooLarge(_))), "{text}");
        }
    }

    #[test]
    fn what_is_beyond_all_counts_stays_the_largest_and_never_becomes_little() {
        let half = Bytes(1 << 63);
        assert_eq!(half + half, Bytes(u64::MAX));
        assert_eq!(half * 3, Bytes(u64::MAX));
        assert_eq!([half, half, Bytes(7)].into_iter().sum::<Bytes>(), Bytes(u64::MAX));
        let mut sum = half;
        sum += half;
        assert_eq!(sum, Bytes(u64::MAX));
    }

    #[test]
    fn an_argument_is_never_below_its_size() {
        for (size, text) in [(Bytes::mib(704), "704M"), (Bytes(1), "1M"), (Bytes::ZERO, "0M")] {
            assert_eq!(size.as_argument(), text);
            assert!(text.parse::<Bytes>().unwrap() >= size);
        }
    }

    #[test]
    fn prints_in_binary_units() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (513, "513 bytes"),
            (4096, "4 KiB"),
            (268_435_456, "256 MiB"),
            (31_914_983_424, "29.7 GiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_or_errs_without_panic(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
        }

        #[test]
        fn a_bare_number_is_itself(bytes: u64) {
            proptest::prop_assert_eq!(bytes.to_string().parse::<Bytes>(), Ok(Bytes(bytes)));
        }
    }
}
