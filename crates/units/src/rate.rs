//! Rates: operations a second and bytes a second.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Nanos};

/// Operations a second; finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Iops(pub f64);

impl Iops {
    /// `ops` operations in `duration`; `None` for no time.
    #[must_use]
    pub fn from_ops(ops: u64, duration: Nanos) -> Option<Self> {
        (duration > Nanos::ZERO).then(|| Self(ops as f64 / duration.as_secs_f64()))
    }
}

/// Prints a whole number from 10 up, else one decimal: `1480 IOPS`, `2.4 IOPS`.
impl fmt::Display for Iops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = usize::from(self.0 < 9.95);
        write!(f, "{:.decimals$}", self.0)?;
        if f.alternate() { Ok(()) } else { f.write_str(" IOPS") }
    }
}

/// Bytes a second; finite and not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Throughput(pub f64);

impl Throughput {
    /// `bytes` in `duration`; `None` for no time.
    #[must_use]
    pub fn from_bytes(bytes: Bytes, duration: Nanos) -> Option<Self> {
        (duration > Nanos::ZERO).then(|| Self(bytes.as_f64() / duration.as_secs_f64()))
    }

    /// `count` MB (10^6 bytes) a second.
    #[must_use]
    pub const fn from_mb_per_s(count: f64) -> Self {
        Self(count * 1e6)
    }

    /// In MB (10^6 bytes) a second.
    #[must_use]
    pub const fn as_mb_per_s(self) -> f64 {
        self.0 / 1e6
    }
}

/// Prints in MB (10^6 bytes) a second: `0.13 MB/s`, `9.8 MB/s`, `62 MB/s`.
impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = self.as_mb_per_s();
        let decimals = if mb < 0.995 {
            2
        } else if mb < 19.95 {
            1
        } else {
            0
        };
        write!(f, "{mb:.decimals$}")?;
        if f.alternate() { Ok(()) } else { f.write_str(" MB/s") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_need_time() {
        assert_eq!(Iops::from_ops(10, Nanos::ZERO), None);
        assert_eq!(Iops::from_ops(10, Nanos::from_millis(500)), Some(Iops(20.0)));
        assert_eq!(
            Throughput::from_bytes(Bytes(5_000_000), Nanos::from_secs(1)),
            Some(Throughput(5e6))
        );
    }

    #[test]
    fn rates_print_in_the_fields_units() {
        assert_eq!(Iops(1480.4).to_string(), "1480 IOPS");
        assert_eq!(Iops(2.36).to_string(), "2.4 IOPS");
        assert_eq!(Throughput(62.2e6).to_string(), "62 MB/s");
        assert_eq!(Throughput(9.84e6).to_string(), "9.8 MB/s");
        assert_eq!(Throughput(0.134e6).to_string(), "0.13 MB/s");
        assert_eq!(format!("{:#} {:#}", Iops(2.36), Throughput(62.2e6)), "2.4 62");
    }
}
