//! Findings: faults of the storage that another tool has seen, by kind and with their figures.
//!
//! A finding says more than any speed: a card that loses data is not judged by how fast it loses them.
//! It is a fact of the other tool's output, with the line it stands in; what it means and what to do
//! about it is derived from it.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::OpName;

/// A fault of the storage that another tool has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What was seen.
    pub what: FindingKind,
    /// The tool that has seen it; empty if unknown.
    #[serde(default)]
    pub tool: String,
    /// The kernel's name of the device, if the line has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The line of the text that says so, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Finding {
    /// What stands in line `line` of an output of `tool`.
    #[must_use]
    pub fn at(what: FindingKind, tool: &str, line: usize) -> Self {
        let tool = tool.to_owned();
        Self { what, tool, device: None, line: Some(line as u64), extra: Map::new() }
    }

    /// What ended a phase of `tool`.
    #[must_use]
    pub fn of_phase(what: FindingKind, tool: &str) -> Self {
        Self { line: None, ..Self::at(what, tool, 0) }
    }
}

/// What was seen, with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FindingKind {
    /// Sectors of 512 bytes that read back wrong, of those that were compared.
    WrongSectors {
        /// Sectors that read back as written.
        ok: u64,
        /// Sectors that hold something else.
        corrupted: u64,
        /// Sectors that differ in a few bits.
        changed: u64,
        /// Sectors that hold the data of another address, as counterfeits do.
        overwritten: u64,
        /// About so much from the start read back as written, and next to nothing behind it, as of a counterfeit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        right_to_bytes: Option<Bytes>,
    },
    /// Data that were lost, of all that were tested.
    DataLost {
        /// How much was lost.
        lost_bytes: Bytes,
        /// How much was tested.
        of_bytes: Bytes,
        /// About so much from the start read back as written, and next to nothing behind it, as of a counterfeit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        right_to_bytes: Option<Bytes>,
    },
    /// The device holds less than it announces.
    Counterfeit {
        /// How much it holds, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usable_bytes: Option<Bytes>,
        /// How much it announces, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        announced_bytes: Option<Bytes>,
    },
    /// The tool calls the device damaged, and does not say more.
    Damaged,
    /// The tool calls the medium likely to be defective.
    LikelyDefective,
    /// Reads or writes that failed.
    IoErrors {
        /// What failed.
        op: OpName,
        /// How often; zero if unknown.
        count: u64,
        /// Why.
        cause: ErrorCause,
        /// The numbers of the test files it happened in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<u64>,
        /// How much was moved before the first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_bytes: Option<Bytes>,
        /// Where it happened, from the start of the file or device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset_bytes: Option<Bytes>,
    },
    /// The test did not reach its end.
    Unfinished {
        /// How much was tested, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tested_bytes: Option<Bytes>,
        /// How much there is to test, if told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of_bytes: Option<Bytes>,
    },
    /// The device's own assessment of its health is "failed".
    SelfAssessmentFailed,
    /// Tests that the device made of itself and that failed.
    SelfTestsFailed {
        /// How many failed, of those that the report lists.
        count: u64,
    },
    /// A value of the device's health report is at or below the maker's limit.
    BelowThreshold {
        /// The name of the value.
        name: String,
        /// The value, as a rule from 100 down.
        value: u64,
        /// The limit.
        threshold: u64,
    },
    /// Sectors that the device has replaced by spare ones.
    ReallocatedSectors {
        /// How many.
        count: u64,
    },
    /// Sectors that the device could not read and waits to replace.
    PendingSectors {
        /// How many.
        count: u64,
    },
    /// Errors that the device could not correct.
    UncorrectableErrors {
        /// How many.
        count: u64,
    },
    /// The critical warning of an NVMe device.
    CriticalWarning {
        /// Its bits (NVM Express, SMART log): 0 spare low, 1 temperature, 2 reliability degraded,
        /// 3 read only, 4 backup of volatile memory failed.
        bits: u64,
    },
    /// Errors of the medium that an NVMe device has counted.
    MediaErrors {
        /// How many.
        count: u64,
    },
    /// The spare blocks are below the maker's limit.
    SpareBelowThreshold {
        /// What is left, in per cent.
        left_percent: u64,
        /// The limit, in per cent.
        threshold_percent: u64,
    },
    /// Spare blocks of an eMMC are used up for the most part (EXT_CSD, PRE_EOL_INFO).
    SpareLow {
        /// Whether nine tenths are used, and not eight.
        is_urgent: bool,
    },
    /// The estimated life is used up.
    LifeUsedUp {
        /// How much of it is used, in per cent; absent if the device only says "exceeded".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used_percent: Option<u64>,
    },
    /// The device had requests and ended none in a report of its load.
    Stalled {
        /// In how many reports.
        reports: u64,
        /// The most requests that waited.
        waiting: f64,
    },
    /// Messages of Linux about one kind of fault.
    KernelMessages {
        /// The fault.
        fault: KernelFault,
        /// The kernel's number of the error, such as 110 for no answer in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<u16>,
        /// What failed, where all messages agree.
        op: OpName,
        /// How many messages there are. The kernel leaves out repeats.
        count: u64,
        /// The sectors of 512 bytes that they name, each once; the first sixteen.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sectors: Vec<u64>,
        /// The file system, if one is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filesystem: Option<String>,
        /// The kernel's name of the partition, if one is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partition: Option<String>,
        /// How many data lines of a narrow bus are in use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width_bits: Option<u8>,
        /// The clock of a narrow bus.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clock_hz: Option<u64>,
        /// How long a task waited at most, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
        /// When the first was written, as printed; a number of seconds counts from the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_at: Option<String>,
        /// When the last was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_at: Option<String>,
    },
    /// A finding of a newer version.
    #[serde(other)]
    Unknown,
}

/// A fault that Linux writes into its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KernelFault {
    /// The card did not answer in time.
    NoAnswer,
    /// Data or an answer arrived with a wrong checksum.
    WrongChecksum,
    /// A command failed for another reason.
    CommandFailed,
    /// A card was found, but could not be put to use.
    NotUsable,
    /// The card remained busy.
    StuckBusy,
    /// Reads or writes failed for good.
    IoError,
    /// The device itself says that it cannot read or write a place.
    MediumError,
    /// Data that could not be written are lost.
    WriteLost,
    /// A file system met errors or wrong data.
    FilesystemError,
    /// A file system takes no more writes.
    ReadOnly,
    /// A file system was not unmounted before.
    NotUnmounted,
    /// Requests beyond the end of the device: the file system is larger than the device.
    BeyondEnd,
    /// The card did not work with all data lines.
    NarrowBus,
    /// A faster mode of the bus did not work.
    SlowMode,
    /// The command queue stopped and was started again.
    QueueRecovery,
    /// A USB device was reset.
    UsbReset,
    /// Errors on the link to a SATA device.
    LinkError,
    /// The device did not answer in time and was reset.
    DeviceTimeout,
    /// The device went away.
    Gone,
    /// Programs waited for the storage for minutes.
    TaskBlocked,
    /// The board's supply fell below 4.63 V.
    UnderVoltage,
    /// The card is write-protected.
    WriteProtected,
    /// A fault of a newer version.
    #[serde(other)]
    Unknown,
}

/// Why a read or a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// An input/output error (EIO).
    Io,
    /// Data that arrived with a wrong checksum.
    Crc,
    /// No answer in time.
    Timeout,
    /// The device or its file system takes no more writes.
    ReadOnly,
    /// The device was no longer there.
    Gone,
    /// Not told, or a cause of a newer version.
    #[serde(other)]
    Unknown,
}
