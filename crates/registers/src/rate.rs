//! The two coded scales that SD cards and MMC share: the transfer rate TRAN_SPEED and the access
//! time TAAC, each a mantissa and a power of ten (SD Physical Layer Simplified Specification
//! tables 5-5 and 5-6; JESD84-B51 tables 62 and 64).

/// Ten times the mantissa of an SD card's codes 0 to 15; code 0 is reserved.
const SD_MANTISSA_TENTHS: [u64; 16] =
    [0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80];

/// Ten times the mantissa of an MMC's: 26 and 52 MHz stand where an SD card has 25 and 50.
const MMC_MANTISSA_TENTHS: [u64; 16] =
    [0, 10, 12, 13, 15, 20, 26, 30, 35, 40, 45, 52, 55, 60, 70, 80];

/// A tenth of the unit of TRAN_SPEED's codes 0 to 3, in bit/s.
const RATE_TENTHS: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Whose scale it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// An SD card's.
    Sd,
    /// An MMC's.
    Mmc,
}

/// The rate of one data line in bit/s that TRAN_SPEED's `code` stands for; `None` where it is
/// reserved.
pub(super) fn bits_per_s(code: u8, scale: Scale) -> Option<u64> {
    let tenth = RATE_TENTHS.get(usize::from(code & 7))?;
    let mantissa = match scale {
        Scale::Sd => SD_MANTISSA_TENTHS[usize::from(code >> 3 & 0xf)],
        Scale::Mmc => MMC_MANTISSA_TENTHS[usize::from(code >> 3 & 0xf)],
    };
    (code & 0x80 == 0 && mantissa > 0).then_some(tenth * mantissa)
}

/// The rate in words.
pub(super) fn words(bits_per_s: Option<u64>) -> String {
    bits_per_s.map_or_else(
        || "reserved".to_owned(),
        |rate| format!("{} Mbit/s for each data line", rate as f64 / 1e6),
    )
}

/// The asynchronous part of the access time in nanoseconds that TAAC's `code` stands for; `None`
/// where it is reserved.
pub(super) fn access_time_ns(code: u8) -> Option<f64> {
    let unit_ns = 10_f64.powi(i32::from(code & 7));
    let mantissa = SD_MANTISSA_TENTHS[usize::from(code >> 3 & 0xf)];
    (code & 0x80 == 0 && mantissa > 0).then_some(unit_ns * mantissa as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_the_specifications_mean_their_rates() {
        for (code, expected) in [
            (0x32, Some(25_000_000)),
            (0x5a, Some(50_000_000)),
            (0x0b, Some(100_000_000)),
            (0x2b, Some(200_000_000)),
            (0x00, None),
            (0x0c, None),
            (0xb2, None),
        ] {
            assert_eq!(bits_per_s(code, Scale::Sd), expected, "{code:#x}");
        }
        assert_eq!(bits_per_s(0x32, Scale::Mmc), Some(26_000_000));
        assert_eq!(bits_per_s(0x5a, Scale::Mmc), Some(52_000_000));
    }

    #[test]
    fn an_sdhc_cards_access_time_is_a_millisecond() {
        assert_eq!(access_time_ns(0x0e), Some(1e6));
        assert_eq!(access_time_ns(0x07), None);
    }
}
