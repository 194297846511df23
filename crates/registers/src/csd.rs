//! CSD: an SD card's capacity, command classes and write protection, in its three versions.
//!
//! SD Physical Layer Simplified Specification 5.3. Version 1 is that of cards up to 2 GB, 2 that
//! of SDHC and SDXC, 3 that of SDUC; they differ in where the capacity stands and in nothing that
//! is shown beside it.

use cardproof_units::Bytes;

use crate::declare::register;
use crate::position::{bit, bits};
use crate::rate::{self, Scale};

/// The unit of the capacity from version 2 on.
const CAPACITY_UNIT: Bytes = Bytes::kib(512);

register! {
    /// The card-specific data register of an SD card.
    pub struct SdCsd("CSD", 16, shows = has) {
        /// The register's version less one.
        "CSD_STRUCTURE" structure: u8 = bits(127, 126) => |csd| csd.version_words();
        /// The asynchronous part of the access time; fixed from version 2 on.
        "TAAC" access_time_code: u8 = bits(119, 112)
            => |csd| rate::access_time_ns(csd.access_time_code)
                .map_or_else(|| "reserved".to_owned(), |time| format!("{} us", time / 1e3));
        /// The clocked part of the access time, in units of 100 cycles.
        "NSAC" access_clocks_hundreds: u8 = bits(111, 104)
            => |csd| format!("{} clocks", u16::from(csd.access_clocks_hundreds) * 100);
        /// The highest rate of a data line in the mode that the card was in when it was read.
        "TRAN_SPEED" transfer_rate_code: u8 = bits(103, 96)
            => |csd| rate::words(csd.transfer_rate_bits_per_s());
        /// The supported command classes, one bit each.
        "CCC" command_classes: u16 = bits(95, 84) => |csd| csd.command_classes_words();
        /// The read block's length as a power of two.
        "READ_BL_LEN" read_block_length_code: u8 = bits(83, 80)
            => |csd| format!("2^{} bytes", csd.read_block_length_code);
        /// Whether less than a block can be read.
        "READ_BL_PARTIAL" can_read_partially: bool = bit(79);
        /// Whether a written block may lie across two physical ones.
        "WRITE_BLK_MISALIGN" can_write_misaligned: bool = bit(78);
        /// Whether a read block may lie across two physical ones.
        "READ_BLK_MISALIGN" can_read_misaligned: bool = bit(77);
        /// Whether the driver strength can be set.
        "DSR_IMP" has_driver_stage: bool = bit(76);
        /// The capacity's mantissa in version 1.
        "C_SIZE" size_v1: u16 = bits(73, 62) => |csd| csd.capacity_words();
        /// The read current at the lowest voltage, version 1.
        "VDD_R_CURR_MIN" read_current_low_code: u8 = bits(61, 59);
        /// The read current at the highest voltage, version 1.
        "VDD_R_CURR_MAX" read_current_high_code: u8 = bits(58, 56);
        /// The write current at the lowest voltage, version 1.
        "VDD_W_CURR_MIN" write_current_low_code: u8 = bits(55, 53);
        /// The write current at the highest voltage, version 1.
        "VDD_W_CURR_MAX" write_current_high_code: u8 = bits(52, 50);
        /// The capacity's exponent less two in version 1.
        "C_SIZE_MULT" size_exponent_v1: u8 = bits(49, 47);
        /// The capacity in units of 512 KiB, less one, in version 2.
        "C_SIZE (v2)" size_v2: u32 = bits(69, 48) => |csd| csd.capacity_words();
        /// The capacity in units of 512 KiB, less one, in version 3.
        "C_SIZE (v3)" size_v3: u32 = bits(75, 48) => |csd| csd.capacity_words();
        /// Whether single write blocks can be erased.
        "ERASE_BLK_EN" can_erase_single_blocks: bool = bit(46);
        /// How many write blocks make an erase sector, less one.
        "SECTOR_SIZE" erase_sector_code: u8 = bits(45, 39)
            => |csd| format!("{} write blocks", u16::from(csd.erase_sector_code) + 1);
        /// How many erase sectors make a write-protect group, less one.
        "WP_GRP_SIZE" protect_group_code: u8 = bits(38, 32)
            => |csd| format!("{} erase sectors", u16::from(csd.protect_group_code) + 1);
        /// Whether groups can be write-protected.
        "WP_GRP_ENABLE" has_protect_groups: bool = bit(31);
        /// How much longer a write takes than a read, as a power of two.
        "R2W_FACTOR" write_factor_code: u8 = bits(28, 26)
            => |csd| format!("{} times the read time", 1 << csd.write_factor_code);
        /// The write block's length as a power of two.
        "WRITE_BL_LEN" write_block_length_code: u8 = bits(25, 22)
            => |csd| format!("2^{} bytes", csd.write_block_length_code);
        /// Whether less than a block can be written.
        "WRITE_BL_PARTIAL" can_write_partially: bool = bit(21);
        /// Which set of file formats [`Self::file_format`] is from.
        "FILE_FORMAT_GRP" is_other_file_format: bool = bit(15);
        /// Whether the content is a copy.
        "COPY" is_copy: bool = bit(14);
        /// Whether the card can never be written again.
        "PERM_WRITE_PROTECT" is_protected_for_good: bool = bit(13);
        /// Whether the card is write-protected until this is taken back.
        "TMP_WRITE_PROTECT" is_protected_for_now: bool = bit(12);
        /// The file format, of no use today.
        "FILE_FORMAT" file_format: u8 = bits(11, 10);
        /// The checksum as the host hands it on.
        "CRC" crc7: u8 = bits(7, 1) => |_| "some hosts replace it; not used".to_owned();
    }
}

impl SdCsd {
    /// The register's version: 1, 2 or 3; `None` where it is reserved.
    #[must_use]
    pub fn version(&self) -> Option<u8> {
        (self.structure < 3).then_some(self.structure + 1)
    }

    /// The card's capacity; `None` where the version is reserved.
    #[must_use]
    pub fn capacity(&self) -> Option<Bytes> {
        match self.version()? {
            1 => {
                let blocks = (u64::from(self.size_v1) + 1) << (self.size_exponent_v1 + 2);
                Some(Bytes(blocks << self.read_block_length_code))
            }
            2 => Some(CAPACITY_UNIT * (u64::from(self.size_v2) + 1)),
            _ => Some(CAPACITY_UNIT * (u64::from(self.size_v3) + 1)),
        }
    }

    /// The highest rate of one data line in bit/s; `None` where the code is reserved.
    #[must_use]
    pub fn transfer_rate_bits_per_s(&self) -> Option<u64> {
        rate::bits_per_s(self.transfer_rate_code, Scale::Sd)
    }

    /// Whether the card refuses writes, for now or for good.
    #[must_use]
    pub const fn is_write_protected(&self) -> bool {
        self.is_protected_for_good || self.is_protected_for_now
    }

    /// Whether command class `class`, 0 to 11, is supported; 10 is the switch function.
    #[must_use]
    pub const fn supports_class(&self, class: u8) -> bool {
        class < 12 && self.command_classes >> class & 1 == 1
    }

    /// Whether this version of the register has the field that the table calls `name`.
    fn has(&self, name: &str) -> bool {
        match name {
            "C_SIZE" | "C_SIZE_MULT" => self.version() == Some(1),
            "C_SIZE (v2)" => self.version() == Some(2),
            "C_SIZE (v3)" => self.version() == Some(3),
            _ if name.starts_with("VDD_") => self.version() == Some(1),
            _ => true,
        }
    }

    fn version_words(&self) -> String {
        match self.version() {
            Some(1) => "version 1 (SDSC)".to_owned(),
            Some(2) => "version 2 (SDHC, SDXC)".to_owned(),
            Some(_) => "version 3 (SDUC)".to_owned(),
            None => "reserved".to_owned(),
        }
    }

    fn capacity_words(&self) -> String {
        self.capacity().map_or_else(String::new, |capacity| {
            format!("{} bytes = {} sectors", capacity.get(), capacity.get() / 512)
        })
    }

    fn command_classes_words(&self) -> String {
        let classes: Vec<String> = (0..12)
            .filter(|&class| self.supports_class(class))
            .map(|class| class.to_string())
            .collect();
        format!("classes {}", classes.join(" "))
    }
}
