//! CID: who made the card, its product name, serial number and month.
//!
//! SD Physical Layer Simplified Specification 5.2; JESD84-B51 7.2. The checksum at the end is
//! shown and never used as a test of anything: several host controllers replace that byte.

use crate::declare::register;
use crate::makers::{mmc_maker, sd_maker};
use crate::position::{bit, bits};
use crate::{Month, ProductName, Serial};

/// The first year that an SD card can name.
const SD_YEAR_MIN: u16 = 2000;

/// The first year that an MMC can name.
const MMC_YEAR_MIN: u16 = 1997;

/// How many years an MMC's four bits span.
const MMC_YEARS: u16 = 16;

/// SanDisk's number, under which years are told that its devices' revision has no room for.
const SANDISK: u8 = 0x45;

register! {
    /// The card identification register of an SD card.
    pub struct SdCid("CID", 16) {
        /// The manufacturer's number, given out by the SD Association: of a maker of controllers
        /// or of a reseller, not of a brand.
        "MID" manufacturer_id: u8 = bits(127, 120)
            => |cid| possibly(sd_maker(cid.manufacturer_id, Some(cid.oem_id)));
        /// The OEM's or the application's number, mostly two letters.
        "OID" oem_id: u16 = bits(119, 104) => |cid| letters(cid.oem_id);
        /// The product's name.
        "PNM" name: ProductName = bits(103, 64);
        /// The hardware revision, 0 to 15.
        "PRV (hardware)" hardware_revision: u8 = bits(63, 60);
        /// The firmware revision, 0 to 15.
        "PRV (firmware)" firmware_revision: u8 = bits(59, 56);
        /// The serial number.
        "PSN" serial: Serial = bits(55, 24);
        /// The year of making, from 2000 on.
        "MDT (year)" year_code: u8 = bits(19, 12) => |cid| year_in_words(cid.year());
        /// The month of making; 1 is January.
        "MDT (month)" month_code: u8 = bits(11, 8)
            => |cid| cid.manufactured().map_or_else(|| "no such month".to_owned(), |month| month.to_string());
        /// The checksum as the host hands it on.
        "CRC" crc7: u8 = bits(7, 1) => |_| "some hosts replace it; not used".to_owned();
    }
}

impl SdCid {
    /// The year of making.
    #[must_use]
    pub fn year(&self) -> u16 {
        SD_YEAR_MIN + u16::from(self.year_code)
    }

    /// The month of making, where it is one.
    #[must_use]
    pub fn manufactured(&self) -> Option<Month> {
        Month::new(self.year(), self.month_code)
    }
}

register! {
    /// The device identification register of an eMMC.
    pub struct MmcCid("CID", 16) {
        /// The manufacturer's number, given out by JEDEC.
        "MID" manufacturer_id: u8 = bits(127, 120)
            => |cid| possibly(mmc_maker(cid.manufacturer_id, Some(cid.kernel_oem_id())));
        /// How the device is built in: 0 a card, 1 soldered, 2 on top of another chip.
        "CBX" build: u8 = bits(113, 112) => |cid| cid.build_words().to_owned();
        /// The OEM's or the application's number. The kernel's `oemid` puts six reserved bits and
        /// CBX before it, see [`MmcCid::kernel_oem_id`].
        "OID" oem_id: u8 = bits(111, 104);
        /// The product's name.
        "PNM" name: ProductName = bits(103, 56);
        /// The product's revision, a decimal digit before and after the point.
        "PRV" product_revision: u8 = bits(55, 48) => |cid| cid.product_revision_words();
        /// The serial number.
        "PSN" serial: Serial = bits(47, 16);
        /// The month of making; 1 is January.
        "MDT (month)" month_code: u8 = bits(15, 12);
        /// The year of making, in one of three spans that only EXT_CSD_REV tells apart.
        "MDT (year)" year_code: u8 = bits(11, 8) => |cid| cid.possible_years();
        /// The checksum as the host hands it on.
        "CRC" crc7: u8 = bits(7, 1) => |_| "some hosts replace it; not used".to_owned();
        /// The end bit, always set in a register read from a device.
        "end bit" is_ended: bool = bit(0);
    }
}

impl MmcCid {
    /// The year of making, of the sixteen that begin with the first one that `ext_csd_revision` can
    /// mean: 1997, 2010 from eMMC 4.41 on, 2023 from revision 9 on (JESD84-B51B). SanDisk keeps
    /// revision 8 and uses the codes of 2010 to 2012 again for 2026 to 2028, as Linux knows
    /// (`MMC_QUIRK_BROKEN_MDT`); eMMC 5.0, revision 7, is of 2013, so that no such device is older.
    #[must_use]
    pub fn year(&self, ext_csd_revision: u8) -> u16 {
        let first = match (ext_csd_revision, self.manufacturer_id) {
            (0..=4, _) => MMC_YEAR_MIN,
            (7..=8, SANDISK) => 2013,
            (5..=8, _) => 2010,
            (9.., _) => 2023,
        };
        let year = MMC_YEAR_MIN + u16::from(self.year_code);
        // Two spans on, no year is before the first.
        first + (year + 2 * MMC_YEARS - first) % MMC_YEARS
    }

    /// The years that the code stands for at one revision or another.
    fn possible_years(&self) -> String {
        let mut years = [0, 5, 8, 9].map(|revision| self.year(revision)).to_vec();
        years.sort_unstable();
        years.dedup();
        let years: Vec<String> = years.iter().map(u16::to_string).collect();
        format!("{}, by EXT_CSD_REV", years.join(" or "))
    }

    /// The month of making, where it is one; for the revision see [`Self::year`].
    #[must_use]
    pub fn manufactured(&self, ext_csd_revision: u8) -> Option<Month> {
        Month::new(self.year(ext_csd_revision), self.month_code)
    }

    /// The OEM's number as the kernel prints it: bits 119 to 104, with six reserved bits and CBX
    /// in its upper half.
    #[must_use]
    pub fn kernel_oem_id(&self) -> u16 {
        u16::from(self.build) << 8 | u16::from(self.oem_id)
    }

    /// The product's revision as `6.2`; a digit above 9 is written in hex.
    #[must_use]
    pub fn product_revision_words(&self) -> String {
        format!("{:x}.{:x}", self.product_revision >> 4, self.product_revision & 0xf)
    }

    fn build_words(&self) -> &'static str {
        match self.build {
            0 => "a removable card",
            1 => "soldered (BGA)",
            2 => "on top of another chip (POP)",
            _ => "reserved",
        }
    }
}

fn possibly(maker: Option<&'static str>) -> String {
    maker.map_or_else(|| "no maker known".to_owned(), |maker| format!("perhaps {maker}"))
}

/// The number as its two letters, if it is two.
fn letters(oem_id: u16) -> String {
    let bytes = oem_id.to_be_bytes();
    let are_letters = bytes.iter().all(u8::is_ascii_graphic);
    if are_letters { bytes.iter().map(|&byte| byte as char).collect() } else { String::new() }
}
/// Cards made after this year are a mistake in the register.
const YEAR_MAX: u16 = 2060;

fn year_in_words(year: u16) -> String {
    if year > YEAR_MAX { format!("{year}: cannot be true") } else { year.to_string() }
}
