//! EXT_CSD: what an eMMC says of its capacity, features, bus mode and health.
//!
//! JESD84-B51 7.4. In which order a dump has the bytes is [`crate::ByteOrder`]'s matter.

use cardproof_units::Bytes;

use crate::declare::register;
use crate::ext_csd_words as words;
use crate::position::{byte, bytes};

/// The unit of CACHE_SIZE: a kilobit.
const CACHE_UNIT: Bytes = Bytes(128);

/// The unit of HC_ERASE_GRP_SIZE.
const ERASE_GROUP_UNIT: Bytes = Bytes::kib(512);

/// The unit of BOOT_SIZE_MULT and RPMB_SIZE_MULT.
const BOOT_UNIT: Bytes = Bytes::kib(128);

register! {
    /// The extended device-specific data register of an eMMC.
    pub struct ExtCsd("EXT_CSD", 512) {
        /// Whether command queueing is switched on.
        "CMDQ_MODE_EN" queue_mode: u8 = byte(15)
            => |csd| words::on_off(csd.is_queue_on()).to_owned();
        /// Whether the volatile cache is switched on.
        "CACHE_CTRL" cache_control: u8 = byte(33)
            => |csd| words::on_off(csd.is_cache_on()).to_owned();
        /// What happens to data at a loss of power during a write; 1 bit for each partition.
        "WR_REL_SET" write_reliability: u8 = byte(167);
        /// The size of the replay-protected partition in units of 128 KiB.
        "RPMB_SIZE_MULT" rpmb_units: u8 = byte(168)
            => |csd| words::size(BOOT_UNIT * u64::from(csd.rpmb_units));
        /// Which partition boots and which is accessed.
        "PARTITION_CONFIG" partition_config: u8 = byte(179);
        /// The bus width in use.
        "BUS_WIDTH" bus_width_code: u8 = byte(183)
            => |csd| words::bus_width(csd.bus_width_code).to_owned();
        /// Whether HS400 with an enhanced strobe is supported.
        "STROBE_SUPPORT" has_strobe: bool = byte(184);
        /// The bus timing in use, in the low half; the driver strength in the high half.
        "HS_TIMING" timing_code: u8 = byte(185)
            => |csd| csd.timing().unwrap_or("reserved").to_owned();
        /// The register's revision.
        "EXT_CSD_REV" revision: u8 = byte(192) => |csd| match csd.specification() {
            Some(version) => format!("eMMC {version}"),
            None => "no known version".to_owned(),
        };
        /// The version of the CSD.
        "CSD_STRUCTURE" csd_structure: u8 = byte(194);
        /// The bus modes that the device can be used in, one bit each.
        "DEVICE_TYPE" device_type: u8 = byte(196) => |csd| words::modes(csd.device_type);
        /// The capacity in sectors of 512 bytes.
        "SEC_COUNT" sectors: u32 = bytes(212, 215) => |csd| match csd.capacity() {
            Some(capacity) => format!("{} bytes", capacity.get()),
            None => "see C_SIZE in CSD".to_owned(),
        };
        /// The size of a write-protect group in erase groups.
        "HC_WP_GRP_SIZE" protect_group: u8 = byte(221);
        /// How long erasing a group may take, in units of 300 ms.
        "ERASE_TIMEOUT_MULT" erase_timeout_units: u8 = byte(223)
            => |csd| format!("{} ms", u32::from(csd.erase_timeout_units) * 300);
        /// The erase group in units of 512 KiB.
        "HC_ERASE_GRP_SIZE" erase_group_units: u8 = byte(224)
            => |csd| csd.erase_group().map_or_else(|| "not given".to_owned(), words::size);
        /// The size of each boot partition in units of 128 KiB.
        "BOOT_SIZE_MULT" boot_units: u8 = byte(226)
            => |csd| words::size(BOOT_UNIT * u64::from(csd.boot_units));
        /// Ways of erasing: bit 0 secure, bit 4 trim, bit 6 sanitise.
        "SEC_FEATURE_SUPPORT" erase_features: u8 = byte(231)
            => |csd| words::erase_features(csd.erase_features);
        /// The size of the volatile cache in kilobits.
        "CACHE_SIZE" cache_kilobits: u32 = bytes(249, 252)
            => |csd| csd.cache_size().map_or_else(|| "no cache".to_owned(), words::size);
        /// The firmware's version.
        "FIRMWARE_VERSION" firmware: u64 = bytes(254, 261);
        /// How much of the spare blocks is used up.
        "PRE_EOL_INFO" pre_eol_code: u8 = byte(267)
            => |csd| csd.spare_blocks().unwrap_or("not given").to_owned();
        /// Used life of the first kind of memory (mostly SLC) in steps of ten percent.
        "DEVICE_LIFE_TIME_EST_TYP_A" life_a_code: u8 = byte(268)
            => |csd| words::life(csd.life_a_code);
        /// Used life of the second kind of memory (mostly MLC) in steps of ten percent.
        "DEVICE_LIFE_TIME_EST_TYP_B" life_b_code: u8 = byte(269)
            => |csd| words::life(csd.life_b_code);
        /// How many commands can be queued, less one, in the low five bits.
        "CMDQ_DEPTH" queue_depth_code: u8 = byte(307) => |csd| match csd.command_queue_depth() {
            Some(depth) => format!("depth {depth}"),
            None => "no command queue".to_owned(),
        };
        /// Whether commands can be queued.
        "CMDQ_SUPPORT" queue_support: u8 = byte(308)
            => |csd| words::yes_no(csd.has_queue()).to_owned();
        /// Bit 0: whether background operations are supported.
        "BKOPS_SUPPORT" background_support: u8 = byte(502)
            => |csd| words::yes_no(csd.background_support & 1 == 1).to_owned();
    }
}

impl ExtCsd {
    /// The version of the specification, such as `5.1`; `None` for revisions to come.
    #[must_use]
    pub const fn specification(&self) -> Option<&'static str> {
        match self.revision {
            0 => Some("4.0"),
            1 => Some("4.1"),
            2 => Some("4.2"),
            3 => Some("4.3"),
            5 => Some("4.41"),
            6 => Some("4.5"),
            7 => Some("5.0"),
            8 => Some("5.1"),
            9 => Some("5.1B"),
            _ => None,
        }
    }

    /// The capacity; `None` up to 2 GB, where CSD has it.
    #[must_use]
    pub fn capacity(&self) -> Option<Bytes> {
        (self.sectors > 0).then_some(Bytes(512) * u64::from(self.sectors))
    }

    /// The bus timing in use, in the kernel's words; `None` where the code is reserved.
    #[must_use]
    pub const fn timing(&self) -> Option<&'static str> {
        match self.timing_code & 0xf {
            0 => Some("legacy"),
            1 => Some("high-speed"),
            2 => Some("HS200"),
            3 => Some("HS400"),
            _ => None,
        }
    }

    /// How many data lines are in use; `None` where the code is reserved.
    #[must_use]
    pub const fn bus_width_bits(&self) -> Option<u8> {
        match self.bus_width_code & 0xf {
            0 => Some(1),
            1 | 5 => Some(4),
            2 | 6 => Some(8),
            _ => None,
        }
    }

    /// Whether the device can be used in HS200 at any voltage.
    #[must_use]
    pub const fn has_hs200(&self) -> bool {
        self.device_type & 0x30 != 0
    }

    /// Whether the device can be used in HS400 at any voltage.
    #[must_use]
    pub const fn has_hs400(&self) -> bool {
        self.device_type & 0xc0 != 0
    }

    /// The erase group in its high-capacity form; `None` where it is not given.
    #[must_use]
    pub fn erase_group(&self) -> Option<Bytes> {
        (self.erase_group_units > 0).then_some(ERASE_GROUP_UNIT * u64::from(self.erase_group_units))
    }

    /// The size of the volatile cache; `None` where there is none.
    #[must_use]
    pub fn cache_size(&self) -> Option<Bytes> {
        (self.cache_kilobits > 0).then_some(CACHE_UNIT * u64::from(self.cache_kilobits))
    }

    /// Whether the volatile cache is switched on.
    #[must_use]
    pub const fn is_cache_on(&self) -> bool {
        self.cache_control & 1 == 1
    }

    /// Whether command queueing is supported.
    #[must_use]
    pub const fn has_queue(&self) -> bool {
        self.queue_support & 1 == 1
    }

    /// Whether command queueing is switched on.
    #[must_use]
    pub const fn is_queue_on(&self) -> bool {
        self.queue_mode & 1 == 1
    }

    /// How many commands can be queued, 1 to 32; `None` where none can.
    #[must_use]
    pub fn command_queue_depth(&self) -> Option<u16> {
        self.has_queue().then_some(u16::from(self.queue_depth_code & 0x1f) + 1)
    }

    /// The state of the spare blocks: `normal`, `warning` or `urgent`; `None` where not given.
    #[must_use]
    pub const fn spare_blocks(&self) -> Option<&'static str> {
        match self.pre_eol_code {
            1 => Some("normal"),
            2 => Some("warning"),
            3 => Some("urgent"),
            _ => None,
        }
    }

    /// The worse of the two estimates of used life, as the upper end of its band in percent: 10
    /// to 100, or 110 where it is exceeded; `None` where neither is given.
    #[must_use]
    pub fn life_used_percent_max(&self) -> Option<u8> {
        let given = [self.life_a_code, self.life_b_code].into_iter();
        given.filter(|code| (1..=0xb).contains(code)).max().map(|code| code * 10)
    }

    /// The firmware's version as the kernel prints it: eight bytes in hex; `None` where it is
    /// all zeros.
    #[must_use]
    pub fn firmware_words(&self) -> Option<String> {
        // The kernel prints the bytes in their order, and the number has the first one lowest.
        (self.firmware != 0).then(|| format!("{:#018x}", self.firmware.swap_bytes()))
    }
}
