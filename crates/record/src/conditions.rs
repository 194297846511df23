//! The conditions of a measurement: target, device, host, file system, settings.
//!
//! Every field that could not be read is `None` (absent in JSON), never a guess.

use crate::limit::is_false;
use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{BusInfo, CardInfo, EngineName, Transport, Unknown};

/// All conditions that can change a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The target and how it was accessed.
    pub target: TargetInfo,
    /// The storage device below it.
    #[serde(default)]
    pub device: DeviceInfo,
    /// The computer.
    #[serde(default)]
    pub host: HostInfo,
    /// The file system the target is on, if it is on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FilesystemInfo>,
    /// Settings of the system that change figures.
    #[serde(default)]
    pub settings: SettingsInfo,
    /// What could not be read, why, and what is needed for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Unknown>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What kind of thing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory in which cardproof laid out a file of its own.
    #[default]
    Directory,
    /// An existing file.
    File,
    /// A block device.
    BlockDevice,
    /// A simulated card.
    Simulated,
    /// The null target, which measures cardproof itself.
    Null,
    /// Unknown: not in another tool's output, or a kind of a newer version.
    #[serde(other)]
    Unknown,
}

impl TargetKind {
    /// Which clock measured on it, where it is not that of the computer: a simulated run has one of its own.
    #[must_use]
    pub const fn clock(self) -> Option<&'static str> {
        match self {
            Self::Simulated => Some("in simulated time"),
            _ => None,
        }
    }

    /// That the times and speeds which are told of it are of a clock of its own, in a sentence; `None` where they are
    /// not.
    #[must_use]
    pub fn note_on_time(self) -> Option<String> {
        self.clock()
            .map(|clock| format!("Times and speeds are those of the simulated card, {clock}."))
    }
}

/// What was driven, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetInfo {
    /// What kind of thing it is.
    pub kind: TargetKind,
    /// How large it is: the test file's size, or the whole device's; zero where not known.
    pub size_bytes: Bytes,
    /// The unit of its addresses.
    pub logical_block_bytes: Bytes,
    /// The engine that drove it; empty where not known.
    pub engine: EngineName,
    /// Why a better engine was not in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_fallback: Option<String>,
    /// Whether operations passed the page cache by. Where the kind is not known each phase
    /// tells by a warning if it did not.
    pub direct: bool,
    /// Why they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffered_reason: Option<String>,
    /// Whether writing was refused.
    pub read_only: bool,
    /// Whether the file system says that every byte of it was written before the run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub written_before: bool,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The storage device, as far as it is known without root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceInfo {
    /// The kernel's name of the whole device, such as `mmcblk0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The maker's name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The vendor's name, where given apart from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The revision of the firmware or of the product, where given apart from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// How it is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The size of the whole device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// Whether the kernel calls it removable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removable: Option<bool>,
    /// Whether the kernel takes it for a spinning disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// The bus limit in bytes a second, if the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_ceiling_bytes_per_s: Option<u64>,
    /// What the link is, in words, such as `USB 2.0, 480 Mbit/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What an SD card or an eMMC says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardInfo>,
    /// The bus between host and card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<BusInfo>,
    /// The one device that it rests on, such as the card below a mapped device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneath: Option<Box<DeviceInfo>>,
    /// How many devices the target rests on, where they are several and none is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_count: Option<u32>,
    /// What kind of layer the device is, in words, such as `loop over a file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The driver of a USB bridge: `uas` or `usb-storage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usb_driver: Option<String>,
    /// The vendor's and the product's number of a USB bridge, such as `152d:0578`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usb_id: Option<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl DeviceInfo {
    /// The device itself, then what it rests on, layer by layer; the last is the storage.
    pub fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |device| device.beneath.as_deref())
    }

    /// The storage beneath all layers: the device itself where it rests on no other.
    #[must_use]
    pub fn lowest(&self) -> &Self {
        self.layers().last().unwrap_or(self)
    }
}

/// The computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostInfo {
    /// The board's or machine's model, such as `Raspberry Pi 4 Model B Rev 1.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// The kernel's name and release, such as `Linux 6.12.34+rpt-rpi-v8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The processor architecture, such as `aarch64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// How many processors are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// How much memory the machine has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<Bytes>,
    /// The system on the chip, such as `brcm,bcm2711`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soc: Option<String>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The file system the target is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesystemInfo {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// Its mount options, without those that hold paths.
    #[serde(default)]
    pub options: Vec<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// What an ordinary user could still write before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<Bytes>,
    /// Where its partition begins on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_start_bytes: Option<Bytes>,
    /// Whether that is at the beginning of an allocation unit of the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_aligned: Option<bool>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Settings of the system that change figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingsInfo {
    /// The I/O scheduler in use, such as `none` or `mq-deadline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// How many requests the block layer queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u32>,
    /// How far the kernel reads ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<Bytes>,
    /// The volatile write cache as the kernel reports it: `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// The processor frequency governor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The highest clock that the processors are allowed, in Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_clock_max_hz: Option<u64>,
    /// The settings of the device that this one rests on, which has a queue of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneath: Option<Box<SettingsInfo>>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
