//! The kernel's version and whose kernel it is, from its release.

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelVersion {
    /// Major and minor number.
    pub(crate) number: (u32, u32),
    /// Whether the release is one of Raspberry Pi's, which has patches of its own.
    pub(crate) is_raspberry_pi: bool,
}

impl KernelVersion {
    /// From `release`, such as `Linux 6.12.34+rpt-rpi-v8` or the part after `Linux`.
    pub(crate) fn parse(release: &str) -> Option<Self> {
        let release = release.strip_prefix("Linux ").unwrap_or(release);
        let mut parts = release.split(|c: char| !c.is_ascii_digit());
        let number = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let own = ["rpt-rpi", "-rpi", "-v7", "-v8", "-2712", "raspi"];
        Some(Self { number, is_raspberry_pi: own.iter().any(|mark| release.contains(mark)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read() {
        let parse = |text| KernelVersion::parse(text).map(|v| (v.number, v.is_raspberry_pi));
        assert_eq!(parse("Linux 6.12.34+rpt-rpi-v8"), Some(((6, 12), true)));
        assert_eq!(parse("Linux 6.1.21-v8+"), Some(((6, 1), true)));
        assert_eq!(parse("6.18.44-fc"), Some(((6, 18), false)));
        for garbage in ["", "Linux", "x.y", "6", "6.x", "99999999999.1"] {
            assert_eq!(parse(garbage), None, "{garbage}");
        }
    }
}
