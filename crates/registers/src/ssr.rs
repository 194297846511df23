//! SSR, the SD Status: the classes that a card claims, its allocation unit, its erase times, and
//! whether it has a cache and command queueing.
//!
//! SD Physical Layer Simplified Specification 4.10.2. All of it are claims: none is measured.

use cardproof_units::Bytes;

use crate::declare::register;
use crate::position::{bit, bits};

/// AU sizes of codes Bh to Fh in MiB.
const LARGE_AU_MIB: [u64; 5] = [12, 16, 24, 32, 64];

register! {
    /// The SD Status.
    pub struct SdStatus("SD Status", 64) {
        /// The bus width in use when it was read: 0 for 1 line, 2 for 4.
        "DAT_BUS_WIDTH" bus_width_code: u8 = bits(511, 510) => |ssr| match ssr.bus_width_bits() {
            Some(width) => format!("{width} bit"),
            None => "reserved".to_owned(),
        };
        /// Whether the card is in secured mode.
        "SECURED_MODE" is_secured: bool = bit(509);
        /// The type of card; 0 is an ordinary one.
        "SD_CARD_TYPE" card_type: u16 = bits(495, 480) => |ssr| match ssr.card_type {
            0 => "ordinary read/write card".to_owned(),
            1 => "read-only card".to_owned(),
            2 => "card to be written once".to_owned(),
            _ => "reserved".to_owned(),
        };
        /// The size of the protected area.
        "SIZE_OF_PROTECTED_AREA" protected_area: u32 = bits(479, 448);
        /// The speed class's code.
        "SPEED_CLASS" speed_class_code: u8 = bits(447, 440) => |ssr| match ssr.speed_class() {
            Some(class) => format!("claims class {class}"),
            None => "no class".to_owned(),
        };
        /// The rate of moving data inside the card in MB/s; without meaning in class 10.
        "PERFORMANCE_MOVE" move_rate_mb_per_s: u8 = bits(439, 432)
            => |ssr| match ssr.move_rate_mb_per_s {
                0 => "not given".to_owned(),
                u8::MAX => "infinite".to_owned(),
                rate => format!("{rate} MB/s"),
            };
        /// The allocation unit's code.
        "AU_SIZE" au_code: u8 = bits(431, 428) => |ssr| size_words(ssr.au_size());
        /// How many allocation units are erased within the erase timeout; 0 is "not given".
        "ERASE_SIZE" erase_aus: u16 = bits(423, 408) => |ssr| match ssr.erase_aus {
            0 => "not given".to_owned(),
            count => format!("{count} AUs at a time"),
        };
        /// How long erasing that many takes, in seconds.
        "ERASE_TIMEOUT" erase_timeout_s: u8 = bits(407, 402)
            => |ssr| format!("{} s", ssr.erase_timeout_s);
        /// What is added to it, in seconds.
        "ERASE_OFFSET" erase_offset_s: u8 = bits(401, 400)
            => |ssr| format!("{} s", ssr.erase_offset_s);
        /// The UHS speed grade.
        "UHS_SPEED_GRADE" uhs_grade_code: u8 = bits(399, 396) => |ssr| match ssr.uhs_grade() {
            Some(grade) => format!("claims U{grade}"),
            None => "no grade".to_owned(),
        };
        /// The allocation unit in UHS modes.
        "UHS_AU_SIZE" uhs_au_code: u8 = bits(395, 392) => |ssr| size_words(ssr.uhs_au_size());
        /// The video speed class, as its number.
        "VIDEO_SPEED_CLASS" video_class_code: u8 = bits(391, 384)
            => |ssr| match ssr.video_class() {
                Some(class) => format!("claims V{class}"),
                None => "no class".to_owned(),
            };
        /// The allocation unit of the video speed class in MiB.
        "VSC_AU_SIZE" video_au_mib: u16 = bits(377, 368) => |ssr| size_words(ssr.video_au_size());
        /// Where a suspended recording goes on.
        "SUS_ADDR" suspension_address: u32 = bits(367, 346), Unverified
            => |_| "its unit is not certain".to_owned();
        /// The application performance class.
        "APP_PERF_CLASS" application_class_code: u8 = bits(339, 336)
            => |ssr| match ssr.application_class() {
                Some(class) => format!("claims A{class}"),
                None => "no class".to_owned(),
            };
        /// How many commands can be queued, less one; 0 where none can.
        "PERFORMANCE_ENHANCE (queue)" queue_code: u8 = bits(335, 331)
            => |ssr| match ssr.command_queue_depth() {
                Some(depth) => format!("command queue of depth {depth}"),
                None => "no command queue".to_owned(),
            };
        /// Whether the card has a cache that the host can switch on.
        "PERFORMANCE_ENHANCE (cache)" has_cache: bool = bit(330);
        /// Whether the host can start maintenance.
        "PERFORMANCE_ENHANCE (host)" has_host_maintenance: bool = bit(329);
        /// Whether the card does maintenance by itself.
        "PERFORMANCE_ENHANCE (card)" has_card_maintenance: bool = bit(328);
        /// Whether the card takes discards.
        "DISCARD_SUPPORT" has_discard: bool = bit(313);
        /// Whether the card can erase its whole user area logically.
        "FULE_SUPPORT" has_full_erase: bool = bit(312);
    }
}

impl SdStatus {
    /// Whether no field says anything: the register could not be read, or the card is so old that
    /// it has none. Then the absence of a feature is not known either.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        *self == Self::decode(&[0; 64])
    }

    /// How many data lines were in use; `None` where the code is reserved.
    #[must_use]
    pub const fn bus_width_bits(&self) -> Option<u8> {
        match self.bus_width_code {
            0 => Some(1),
            2 => Some(4),
            _ => None,
        }
    }

    /// The claimed speed class: 2, 4, 6 or 10; `None` for class 0 and reserved codes.
    #[must_use]
    pub const fn speed_class(&self) -> Option<u8> {
        match self.speed_class_code {
            1 => Some(2),
            2 => Some(4),
            3 => Some(6),
            4 => Some(10),
            _ => None,
        }
    }

    /// The claimed UHS speed grade: 1 or 3.
    #[must_use]
    pub fn uhs_grade(&self) -> Option<u8> {
        Some(self.uhs_grade_code).filter(|grade| matches!(grade, 1 | 3))
    }

    /// The claimed video speed class: 6, 10, 30, 60 or 90.
    #[must_use]
    pub fn video_class(&self) -> Option<u8> {
        Some(self.video_class_code).filter(|class| matches!(class, 6 | 10 | 30 | 60 | 90))
    }

    /// The claimed application performance class: 1 or 2.
    #[must_use]
    pub fn application_class(&self) -> Option<u8> {
        Some(self.application_class_code).filter(|class| matches!(class, 1 | 2))
    }

    /// The allocation unit, 16 KiB to 64 MiB; `None` where it is not given.
    #[must_use]
    pub fn au_size(&self) -> Option<Bytes> {
        au_size(self.au_code)
    }

    /// The allocation unit in UHS modes; `None` where it is not given.
    #[must_use]
    pub fn uhs_au_size(&self) -> Option<Bytes> {
        au_size(self.uhs_au_code)
    }

    /// The allocation unit of the video speed class; `None` where it is not given.
    #[must_use]
    pub fn video_au_size(&self) -> Option<Bytes> {
        (self.video_au_mib > 0).then_some(Bytes::mib(u64::from(self.video_au_mib)))
    }

    /// How many commands the card queues, 2 to 32; `None` where it queues none.
    #[must_use]
    pub fn command_queue_depth(&self) -> Option<u16> {
        (self.queue_code > 0).then_some(u16::from(self.queue_code) + 1)
    }
}

/// The size that an AU code stands for; `None` for 0, "not given".
fn au_size(code: u8) -> Option<Bytes> {
    match code {
        1..=0xa => Some(Bytes::kib(16 << (code - 1))),
        0xb..=0xf => LARGE_AU_MIB.get(usize::from(code - 0xb)).map(|&size| Bytes::mib(size)),
        _ => None,
    }
}

fn size_words(size: Option<Bytes>) -> String {
    size.map_or_else(
        || "not given".to_owned(),
        |size| {
            if size.is_multiple_of(Bytes::mib(1)) {
                format!("{} MiB", size.get() >> 20)
            } else {
                format!("{} KiB", size.get() >> 10)
            }
        },
    )
}
