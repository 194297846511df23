//! CSD of an MMC or eMMC, as far as it still says something: above 2 GB the capacity is in
//! EXT_CSD, and most else is as well.
//!
//! JESD84-B51 7.3.

use cardproof_units::Bytes;

use crate::declare::register;
use crate::position::{bit, bits};
use crate::rate::{self, Scale};

/// The C_SIZE that says "see EXT_CSD".
const SIZE_ELSEWHERE: u16 = 0xfff;

register! {
    /// The device-specific data register of an MMC.
    pub struct MmcCsd("CSD", 16) {
        /// The register's version; 3 refers to EXT_CSD.
        "CSD_STRUCTURE" structure: u8 = bits(127, 126) => |csd| match csd.structure {
            3 => "by EXT_CSD".to_owned(),
            version => format!("version 1.{version}"),
        };
        /// The family of the specification; 4 for all of MMC 4.x and eMMC.
        "SPEC_VERS" specification: u8 = bits(125, 122) => |csd| match csd.specification {
            4 => "4.x or later".to_owned(),
            other => format!("{other}.x"),
        };
        /// The asynchronous part of the access time.
        "TAAC" access_time_code: u8 = bits(119, 112)
            => |csd| rate::access_time_ns(csd.access_time_code)
                .map_or_else(|| "reserved".to_owned(), |time| format!("{} us", time / 1e3));
        /// The clocked part of the access time, in units of 100 cycles.
        "NSAC" access_clocks_hundreds: u8 = bits(111, 104)
            => |csd| format!("{} clocks", u16::from(csd.access_clocks_hundreds) * 100);
        /// The highest rate of a data line without high-speed modes.
        "TRAN_SPEED" transfer_rate_code: u8 = bits(103, 96)
            => |csd| rate::words(csd.transfer_rate_bits_per_s());
        /// The supported command classes, one bit each.
        "CCC" command_classes: u16 = bits(95, 84);
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
        /// The capacity's mantissa; FFFh above 2 GB.
        "C_SIZE" size: u16 = bits(73, 62) => |csd| csd.capacity().map_or_else(
            || "see SEC_COUNT in EXT_CSD".to_owned(),
            |capacity| format!("{} bytes", capacity.get()),
        );
        /// The capacity's exponent less two.
        "C_SIZE_MULT" size_exponent: u8 = bits(49, 47);
        /// The erase group's first factor less one.
        "ERASE_GRP_SIZE" erase_group_size: u8 = bits(46, 42);
        /// The erase group's second factor less one.
        "ERASE_GRP_MULT" erase_group_factor: u8 = bits(41, 37)
            => |csd| format!("{} write blocks", csd.erase_group_blocks());
        /// How many erase groups make a write-protect group, less one.
        "WP_GRP_SIZE" protect_group_code: u8 = bits(36, 32);
        /// Whether groups can be write-protected.
        "WP_GRP_ENABLE" has_protect_groups: bool = bit(31);
        /// How much longer a write takes than a read, as a power of two.
        "R2W_FACTOR" write_factor_code: u8 = bits(28, 26);
        /// The write block's length as a power of two.
        "WRITE_BL_LEN" write_block_length_code: u8 = bits(25, 22)
            => |csd| format!("2^{} bytes", csd.write_block_length_code);
        /// Whether less than a block can be written.
        "WRITE_BL_PARTIAL" can_write_partially: bool = bit(21);
        /// Whether the content is a copy.
        "COPY" is_copy: bool = bit(14);
        /// Whether the device can never be written again.
        "PERM_WRITE_PROTECT" is_protected_for_good: bool = bit(13);
        /// Whether the device is write-protected until this is taken back.
        "TMP_WRITE_PROTECT" is_protected_for_now: bool = bit(12);
        /// The checksum as the host hands it on.
        "CRC" crc7: u8 = bits(7, 1) => |_| "some hosts replace it; not used".to_owned();
    }
}

impl MmcCsd {
    /// The device's capacity; `None` above 2 GB, where EXT_CSD has it.
    #[must_use]
    pub fn capacity(&self) -> Option<Bytes> {
        let blocks = (u64::from(self.size) + 1) << (self.size_exponent + 2);
        (self.size != SIZE_ELSEWHERE).then_some(Bytes(blocks << self.read_block_length_code))
    }

    /// The highest rate of one data line in bit/s; `None` where the code is reserved.
    #[must_use]
    pub fn transfer_rate_bits_per_s(&self) -> Option<u64> {
        rate::bits_per_s(self.transfer_rate_code, Scale::Mmc)
    }

    /// How many write blocks make an erase group, where EXT_CSD does not say otherwise.
    #[must_use]
    pub fn erase_group_blocks(&self) -> u16 {
        (u16::from(self.erase_group_size) + 1) * (u16::from(self.erase_group_factor) + 1)
    }

    /// Whether the device refuses writes, for now or for good.
    #[must_use]
    pub const fn is_write_protected(&self) -> bool {
        self.is_protected_for_good || self.is_protected_for_now
    }
}
