//! The number by which the kernel knows a device: major and minor.

use std::fmt;
use std::str::FromStr;

/// A device's number, as in `179:0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver's part.
    pub major: u32,
    /// The driver's own count.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's single number, as in `st_dev` and `st_rdev`.
    #[must_use]
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// Whether no device has this number: file systems that are not on one block device alone
    /// (btrfs, overlay, tmpfs, network) are numbered with major 0.
    #[must_use]
    pub const fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A text that is not a device number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a device number; write MAJOR:MINOR, as in 179:0")]
pub struct ParseDeviceNumberError(String);

impl FromStr for DeviceNumber {
    type Err = ParseDeviceNumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once(':').and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parsed.ok_or_else(|| ParseDeviceNumberError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_printing() {
        let number = DeviceNumber { major: 179, minor: 2 };
        assert_eq!(number.to_string().parse(), Ok(number));
        assert_eq!(DeviceNumber::from_raw(rustix::fs::makedev(179, 2)), number);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", ":", "8", "8:", ":1", "8:1:2", "-1:0", "99999999999:0", "a:b"] {
            assert!(text.parse::<DeviceNumber>().is_err(), "{text}");
        }
    }
}
