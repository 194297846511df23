//! What an SD card or an eMMC says of itself, and what the host gives it: facts, as far as they
//! could be read. What a card claims is kept apart from what it was measured to do.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a card's registers say. Its serial number is never here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardInfo {
    /// The manufacturer's number as the kernel prints it, such as `0x03`: of a maker of
    /// controllers or of a reseller, not of a brand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manufacturer_id: Option<String>,
    /// The OEM's number as the kernel prints it, such as `0x5344`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oem_id: Option<String>,
    /// Who uses these numbers according to public tables, which disagree with one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker_maybe: Option<String>,
    /// The product's name in the CID register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// What cards with this name in the register were sold as, with the evidence; another product may print
    /// the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products_maybe: Vec<String>,
    /// The hardware revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware_revision: Option<u8>,
    /// The firmware revision, as text: eMMC has eight bytes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_revision: Option<String>,
    /// The month in which it was made, such as `2018-08`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manufactured: Option<String>,
    /// The version of the specification that it follows, such as `6.xx` or `5.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// The capacity by its CSD or EXT_CSD register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<Bytes>,
    /// The classes that it claims.
    #[serde(default)]
    pub claims: Claims,
    /// The size of its allocation unit, in which it prefers to be written and erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_unit_bytes: Option<Bytes>,
    /// Command queueing.
    #[serde(default)]
    pub command_queue: Feature,
    /// The most commands that it queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_queue_depth: Option<u16>,
    /// Its volatile cache.
    #[serde(default)]
    pub cache: Feature,
    /// Whether it is write-protected, for a time or for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_protected: Option<bool>,
    /// An eMMC's worse estimate of its used life, as the upper end of a band of ten percent;
    /// above 100 where its life is exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life_used_percent_max: Option<u8>,
    /// An eMMC's spare blocks: `normal`, `warning` or `urgent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_blocks: Option<String>,
    /// Signs of a counterfeit in numbers, names, serial number or capacity, in words. They prove
    /// nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counterfeit_signs: Vec<String>,
    /// What the kernel works around for this card, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<String>,
    /// Whether a kernel's list names the card as one that an erase or a trim harms, or for which a trim does not
    /// work; absent where the card's numbers could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harmed_by_trimming: Option<bool>,
    /// Whether a kernel's list names the card as one whose cache must stay off; absent where the card's numbers
    /// could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_is_faulty: Option<bool>,
    /// With which cards the kernel uses the command queue of SD cards, where it has such a setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_setting: Option<QueueSetting>,
    /// Whether Raspberry Pi's kernel lists the SD card as one whose command queue works; absent where the card's
    /// numbers could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_is_trusted: Option<bool>,
    /// The product's revision, where a register tells it: an eMMC's CID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_revision: Option<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The classes that a card claims in its registers. None of them is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claims {
    /// The speed class: 2, 4, 6 or 10 for C2 to C10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_class: Option<u8>,
    /// The UHS speed grade: 1 or 3 for U1 or U3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uhs_grade: Option<u8>,
    /// The video speed class: 6 to 90 for V6 to V90.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video_class: Option<u8>,
    /// The application performance class: 1 or 2 for A1 or A2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_class: Option<u8>,
}

/// With which SD cards a kernel uses their command queue: the values of `dtparam=sd_cqe` of Raspberry Pi's kernels
/// for the Raspberry Pi 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueSetting {
    /// 0: with none.
    Off,
    /// 1, the default since 2025-01: with those on the kernel's list of working cards.
    TrustedCards,
    /// 2: with all A2 cards but those on the kernel's list of faulty ones.
    AllButFaulty,
    /// The setting of kernels before 2025-01, which was on or absent: with all A2 cards but faulty ones.
    OnWithoutList,
    /// A setting of a newer version.
    #[serde(other)]
    Unknown,
}

/// A feature that works only where card, kernel and host all have it and it is switched on.
/// Each answer is absent where it cannot be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Feature {
    /// Whether the card has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<bool>,
    /// Whether the kernel can use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<bool>,
    /// Whether the host controller can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<bool>,
    /// Whether it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Where each answer comes from, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// The bus between host and card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusInfo {
    /// The mode, such as `sd uhs DDR50` or `mmc HS200`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<u64>,
    /// How many data lines are in use: 1, 4 or 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width_bits: Option<u8>,
    /// The signal voltage in millivolts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_voltage_millivolts: Option<u32>,
    /// The host controller's driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Where this was read, such as `debugfs` or `kernel log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Something that could not be found out: it is no guess, it is a fact of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unknown {
    /// What is not known, such as `bus mode, clock, width and voltage`.
    pub what: String,
    /// Why, such as `debugfs is open to root only`.
    pub reason: String,
    /// What would be needed, such as `run as root`.
    pub needed: String,
}
