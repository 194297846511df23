//! The modes of the SD and eMMC buses: their names, their nominal clocks, what they carry.
//!
//! Names and numbers are those of Linux's `timing spec` in debugfs (mmc_ios_show); nominal clocks
//! are those of the SD Physical Layer Simplified Specification, chapter 3.9, and of JEDEC
//! JESD84-B51, table 4. UHS-II has numbers from Linux 6.13 on, for which debugfs has no word but `invalid`; its
//! rates are those of the SD Association's UHS-II addendum: 780 Mbit/s and 1.56 Gbit/s on each of two lanes, ten
//! bits for a byte, and both lanes in one direction at half duplex. An SD Express card is an NVMe device on one lane
//! of PCIe of the third generation.

use cardproof_units::Bytes;

/// A mode of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusMode {
    Legacy,
    MmcHighSpeed,
    SdHighSpeed,
    Sdr12,
    Sdr25,
    Sdr50,
    Sdr104,
    Ddr50,
    MmcDdr52,
    Hs200,
    Hs400,
    Hs400EnhancedStrobe,
    SdExpress,
    UhsIiA,
    UhsIiAHalfDuplex,
    UhsIiB,
    UhsIiBHalfDuplex,
    /// Of which range is not known.
    UhsIi,
}

/// Those with a clock and data lines, in the order of Linux's numbers; the last shares the one before it.
const PARALLEL: [BusMode; 12] = [
    BusMode::Legacy,
    BusMode::MmcHighSpeed,
    BusMode::SdHighSpeed,
    BusMode::Sdr12,
    BusMode::Sdr25,
    BusMode::Sdr50,
    BusMode::Sdr104,
    BusMode::Ddr50,
    BusMode::MmcDdr52,
    BusMode::Hs200,
    BusMode::Hs400,
    BusMode::Hs400EnhancedStrobe,
];

/// Those with serial lanes, with Linux's numbers.
const SERIAL: [(Option<usize>, BusMode); 7] = [
    (Some(11), BusMode::SdExpress),
    (Some(12), BusMode::SdExpress),
    (Some(13), BusMode::UhsIiA),
    (Some(14), BusMode::UhsIiAHalfDuplex),
    (Some(15), BusMode::UhsIiB),
    (Some(16), BusMode::UhsIiBHalfDuplex),
    (None, BusMode::UhsIi),
];

impl BusMode {
    /// The mode that Linux's `timing spec` numbers so; kernels before 3.10 or so have no word for
    /// some of them, but the number.
    pub(crate) fn of_timing(number: usize, words: &str) -> Option<Self> {
        match PARALLEL.get(number) {
            Some(Self::Hs400) if words.contains("enhanced strobe") => {
                Some(Self::Hs400EnhancedStrobe)
            }
            Some(Self::Hs400EnhancedStrobe) | None => {
                let serial = SERIAL.iter().find(|(own, _)| *own == Some(number));
                serial.map(|(_, mode)| *mode)
            }
            Some(mode) => Some(*mode),
        }
    }

    /// The mode called `name`.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let serial = SERIAL.into_iter().map(|(_, mode)| mode);
        PARALLEL.into_iter().chain(serial).find(|mode| mode.name() == name)
    }

    /// The mode in the kernel's line on a new card, such as
    /// `mmc0: new ultra high speed SDR104 SDXC card at address aaaa`.
    pub(crate) fn of_log(line: &str) -> Option<Self> {
        let words = line.split_once(": new ")?.1.split_once(" card at address")?.0;
        let has = |word: &str| words.split(' ').any(|other| other == word);
        let is_mmc = has("MMC");
        if !is_mmc && !["SD", "SDHC", "SDXC", "SDUC", "SDcombo"].into_iter().any(has) {
            return None;
        }
        Some(match () {
            () if has("HS400") && words.contains("Enhanced strobe") => Self::Hs400EnhancedStrobe,
            () if has("HS400") => Self::Hs400,
            () if has("HS200") => Self::Hs200,
            () if has("SDR104") => Self::Sdr104,
            () if has("SDR50") => Self::Sdr50,
            () if has("DDR50") => Self::Ddr50,
            () if has("SDR25") => Self::Sdr25,
            () if has("SDR12") => Self::Sdr12,
            () if is_mmc && has("DDR") => Self::MmcDdr52,
            () if has("UHS-II") => Self::UhsIi,
            () if has("Express") => Self::SdExpress,
            // A mode of later kernels.
            () if has("ultra") || words.contains("UHS") => return None,
            () if words.contains("high speed") && is_mmc => Self::MmcHighSpeed,
            () if words.contains("high speed") => Self::SdHighSpeed,
            () => Self::Legacy,
        })
    }

    /// The name in a record.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::MmcHighSpeed => "mmc high-speed",
            Self::SdHighSpeed => "sd high-speed",
            Self::Sdr12 => "sd uhs SDR12",
            Self::Sdr25 => "sd uhs SDR25",
            Self::Sdr50 => "sd uhs SDR50",
            Self::Sdr104 => "sd uhs SDR104",
            Self::Ddr50 => "sd uhs DDR50",
            Self::MmcDdr52 => "mmc DDR52",
            Self::Hs200 => "mmc HS200",
            Self::Hs400 => "mmc HS400",
            Self::Hs400EnhancedStrobe => "mmc HS400 enhanced strobe",
            Self::SdExpress => "sd express",
            Self::UhsIiA => "sd uhs-II A",
            Self::UhsIiAHalfDuplex => "sd uhs-II A half duplex",
            Self::UhsIiB => "sd uhs-II B",
            Self::UhsIiBHalfDuplex => "sd uhs-II B half duplex",
            Self::UhsIi => "sd uhs-II",
        }
    }

    /// What a mode with serial lanes carries at most; `None` of one with a clock and data lines.
    pub(crate) const fn serial_rate(self) -> Option<Bytes> {
        Some(match self {
            Self::SdExpress => Bytes(985_000_000),
            Self::UhsIiA => Bytes(78_000_000),
            Self::UhsIiAHalfDuplex | Self::UhsIiB => Bytes(156_000_000),
            Self::UhsIiBHalfDuplex | Self::UhsIi => Bytes(312_000_000),
            _ => return None,
        })
    }

    /// The highest clock that the mode allows, in Hz.
    pub(crate) const fn clock_max_hz(self) -> u64 {
        match self {
            Self::Legacy => 26_000_000,
            Self::Sdr12 => 25_000_000,
            Self::SdHighSpeed | Self::Sdr25 | Self::Ddr50 => 50_000_000,
            Self::MmcHighSpeed | Self::MmcDdr52 => 52_000_000,
            Self::Sdr50 => 100_000_000,
            Self::Sdr104 => 208_000_000,
            Self::Hs200 | Self::Hs400 | Self::Hs400EnhancedStrobe => 200_000_000,
            // The reference clock, of which each lane carries a multiple.
            Self::UhsIiA
            | Self::UhsIiAHalfDuplex
            | Self::UhsIiB
            | Self::UhsIiBHalfDuplex
            | Self::UhsIi => 52_000_000,
            Self::SdExpress => 100_000_000,
        }
    }

    /// Bits on each line in each clock: two where both edges carry data.
    pub(crate) const fn bits_per_clock(self) -> u64 {
        match self {
            Self::Ddr50 | Self::MmcDdr52 | Self::Hs400 | Self::Hs400EnhancedStrobe => 2,
            _ => 1,
        }
    }

    /// The most data lines that the mode can have.
    pub(crate) const fn width_max_bits(self) -> u8 {
        match self {
            Self::MmcHighSpeed
            | Self::MmcDdr52
            | Self::Hs200
            | Self::Hs400
            | Self::Hs400EnhancedStrobe => 8,
            _ => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_for_a_new_card_name_its_mode() {
        let cases = [
            ("ultra high speed SDR104 SDXC", Some(BusMode::Sdr104)),
            ("UHS-I speed DDR50 SDHC", Some(BusMode::Ddr50)),
            ("high speed SDHC", Some(BusMode::SdHighSpeed)),
            ("SD", Some(BusMode::Legacy)),
            ("high speed MMC", Some(BusMode::MmcHighSpeed)),
            ("high speed DDR MMC", Some(BusMode::MmcDdr52)),
            ("HS200 MMC", Some(BusMode::Hs200)),
            ("HS400 MMC", Some(BusMode::Hs400)),
            ("HS400 Enhanced strobe MMC", Some(BusMode::Hs400EnhancedStrobe)),
            ("UHS-II speed SDXC", Some(BusMode::UhsIi)),
            ("UHS-III speed SDXC", None),
            ("SDIO", None),
            ("", None),
        ];
        for (words, expected) in cases {
            let line = format!("mmc0: new {words} card at address aaaa");
            assert_eq!(BusMode::of_log(&line), expected, "{words}");
        }
    }

    #[test]
    fn names_and_numbers_agree_with_the_kernels() {
        let cases = [(0, "legacy"), (2, "sd high-speed"), (6, "sd uhs SDR104"), (9, "mmc HS200")];
        for (number, name) in cases {
            let mode = BusMode::of_timing(number, name).unwrap();
            assert_eq!((mode.name(), BusMode::of_name(name)), (name, Some(mode)));
        }
        let strobe = BusMode::of_timing(10, "mmc HS400 enhanced strobe");
        assert_eq!(strobe, Some(BusMode::Hs400EnhancedStrobe));
        assert_eq!(BusMode::of_timing(7, "invalid"), Some(BusMode::Ddr50));
        for (number, name, mb_per_s) in [
            (11, "sd express", 985),
            (12, "sd express", 985),
            (13, "sd uhs-II A", 78),
            (14, "sd uhs-II A half duplex", 156),
            (15, "sd uhs-II B", 156),
            (16, "sd uhs-II B half duplex", 312),
        ] {
            let mode = BusMode::of_timing(number, "invalid").unwrap();
            assert_eq!((mode.name(), BusMode::of_name(name)), (name, Some(mode)));
            assert_eq!(mode.serial_rate(), Some(Bytes(mb_per_s * 1_000_000)));
        }
        assert_eq!(BusMode::of_timing(17, "invalid"), None);
    }
}
