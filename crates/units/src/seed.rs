//! The seed from which a run's whole randomness follows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A seed: a run with the same seed issues the same operations with the same data.
///
/// 0 to 2^53-1, so that a JSON reader with floating-point numbers keeps it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seed(u64);

impl Seed {
    /// The largest seed.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// The seed in the lowest 53 bits of `bits`.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::MAX.0)
    }

    /// The bare number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// A seed of its own for the part of a run called `label`, 64 bits wide.
    ///
    /// FNV-1a over the label, then the finalizer of SplitMix64 (Steele, Lea and
    /// Flood, OOPSLA 2014), so that neighbouring seeds share nothing.
    #[must_use]
    pub fn derive(self, label: &str) -> u64 {
        let mut hash = self.0 ^ 0xcbf2_9ce4_8422_2325;
        for byte in label.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a seed; write a whole number from 0 to 9007199254740991")]
pub struct ParseSeedError(String);

impl FromStr for Seed {
    type Err = ParseSeedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().parse::<u64>() {
            Ok(number) if number <= Self::MAX.0 => Ok(Self(number)),
            _ => Err(ParseSeedError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_part_the_streams_of_one_seed() {
        let seed = Seed::from_bits(1);
        assert_ne!(seed.derive("a"), seed.derive("b"));
        assert_ne!(seed.derive("a"), Seed::from_bits(2).derive("a"));
        assert_eq!(seed.derive("a"), Seed::from_bits(1).derive("a"));
    }

    #[test]
    fn a_seed_fits_a_json_number() {
        assert_eq!("9007199254740991".parse(), Ok(Seed::MAX));
        assert!("9007199254740992".parse::<Seed>().is_err());
        assert!("-1".parse::<Seed>().is_err());
    }
}
