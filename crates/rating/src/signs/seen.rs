//! What was seen of a storage in use, from which signs are found.

use cardproof_kernel_log::Trouble;
use cardproof_record::FindingKind;
use serde::{Deserialize, Serialize};

/// Whether the kernel's log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogRead {
    /// It was, and covers so many days; `None` where its times are not known.
    Read {
        /// Whole days since the computer started.
        days: Option<u64>,
        /// What was read of earlier starts beside it; absent where nothing was.
        #[serde(skip_serializing_if = "Option::is_none")]
        earlier: Option<EarlierLogs>,
    },
    /// Lines of one that somebody has chosen, which do not show that there was no other error.
    Lines,
    /// This user may not read it.
    NotPermitted,
    /// There is none.
    #[default]
    Absent,
}

/// Logs of earlier starts of the computer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierLogs {
    /// Of how many starts.
    pub starts: u64,
    /// How long the computer ran after them, in whole days, as far as the logs show.
    pub days: u64,
}

impl LogRead {
    /// How many whole days of running the logs cover in all; `None` where they tell no times or were not read.
    #[must_use]
    pub fn days(self) -> Option<u64> {
        let Self::Read { days, earlier } = self else { return None };
        let before = earlier.map(|earlier| earlier.days);
        days.or(before).map(|_| days.unwrap_or(0) + before.unwrap_or(0))
    }

    /// Of how many starts of the computer logs were read, this one included.
    #[must_use]
    pub fn starts(self) -> u64 {
        match self {
            Self::Read { earlier, .. } => 1 + earlier.map_or(0, |earlier| earlier.starts),
            Self::Lines | Self::NotPermitted | Self::Absent => 0,
        }
    }
}

/// How a storage is attached, which decides what else than the storage can be at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Attachment {
    /// A card in a slot of the board.
    Slot,
    /// A chip on the board.
    Soldered,
    /// By a USB cable, adapter or reader.
    Usb,
    /// A drive by a cable of its own.
    Cable,
    /// A drive in a slot of the board, or by a way that is not known.
    Drive,
    /// Not known, or a virtual device.
    #[default]
    Unknown,
}

/// A counter of the card's host, by what it counts (Linux, `enum mmc_err_stat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCounter {
    /// A command was not answered in time. The search for a card's kind counts here as well.
    CommandTimeout,
    /// The answer to a command had a wrong checksum.
    CommandChecksum,
    /// Data did not arrive in time.
    DataTimeout,
    /// Data had a wrong checksum.
    DataChecksum,
    /// The host's own commands or transfers failed.
    HostFailure,
    /// The moment at which signals are sound could not be found.
    Tuning,
    /// The command queue failed.
    Queue,
    /// A whole request was not ended in time.
    RequestTimeout,
    /// Anything else.
    Other,
}

/// A mounted file system of the storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountedState {
    /// Its type.
    pub filesystem: String,
    /// The kernel's name of the partition.
    pub partition: String,
    /// It was mounted for writing, and takes no writes: the kernel has turned it read-only.
    pub is_turned_read_only: bool,
    /// Errors that it has noted on the device since the last repair; `None` where it keeps no such count.
    pub noted_errors: Option<u64>,
}

/// What the block layer has counted since the computer started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestMeans {
    /// Reads that were ended.
    pub reads: u64,
    /// How long they took on average, in milliseconds.
    pub read_ms: u64,
    /// Writes that were ended.
    pub writes: u64,
    /// How long they took on average, in milliseconds.
    pub write_ms: u64,
}

/// All that was seen of a storage without writing to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Whether the kernel's log was read.
    pub log: LogRead,
    /// What it tells of this storage, and of the computer's power.
    pub troubles: Vec<Trouble>,
    /// The errors in it of what was in this place before another medium came, which say nothing of this storage.
    pub errors_before: Vec<Trouble>,
    /// What the journal of earlier runs of the kernel tells of it, of the last 30 days.
    pub earlier_troubles: Vec<Trouble>,
    /// What the logs of crashes tell.
    pub crash_troubles: Vec<Trouble>,
    /// The same of logs that are older.
    pub old_troubles: Vec<Trouble>,
    /// How it is attached.
    pub attachment: Attachment,
    /// Whether the storage answers now; `None` where that is not known.
    pub is_present: Option<bool>,
    /// Whether the kernel or the card refuses all writes.
    pub is_write_protected: bool,
    /// The counters of the card's host that are not zero; `None` where they could not be read.
    pub host_counters: Option<Vec<(HostCounter, u64)>>,
    /// Its mounted file systems.
    pub mounted: Vec<MountedState>,
    /// What the block layer has counted.
    pub requests: Option<RequestMeans>,
    /// An eMMC's own report of its used life: the lower and the upper end of a band in per cent, without an
    /// upper end beyond its life.
    pub life_used_percent: Option<(u64, Option<u64>)>,
    /// How much of the spare blocks is used, by an eMMC's own report.
    pub spare_blocks: SpareBlocks,
    /// What the device's health report says that is wrong.
    pub report: Vec<FindingKind>,
    /// Whether a health report was read, even if it says nothing wrong.
    pub has_report: bool,
    /// The supply is too low now.
    pub is_low_on_power: bool,
    /// The supply has been too low since the start.
    pub was_low_on_power: bool,
    /// Test data was written and read back right (`Some(true)`) or wrong.
    pub read_back: Option<bool>,
}

/// How many spare blocks an eMMC has left, by its own report (JESD84-B51, `PRE_EOL_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpareBlocks {
    /// Not told.
    #[default]
    Untold,
    /// Less than 80 % are used.
    Normal,
    /// 80 % are used.
    Warning,
    /// 90 % are used.
    Urgent,
}

impl HostCounter {
    /// The counter that the kernel prints as `name` in `err_stats` (Linux, `drivers/mmc/core/debugfs.c`).
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "Command Timeout Occurred" => Self::CommandTimeout,
            "Command CRC Errors Occurred" => Self::CommandChecksum,
            "Data Timeout Occurred" => Self::DataTimeout,
            "Data CRC Errors Occurred" => Self::DataChecksum,
            "Auto-Cmd Error Occurred" | "ADMA Error Occurred" | "Controller Timedout errors" => {
                Self::HostFailure
            }
            "Tuning Error Occurred" => Self::Tuning,
            "CMDQ RED Errors"
            | "CMDQ GCE Errors"
            | "CMDQ ICCE Errors"
            | "CMDQ Request Timedout" => Self::Queue,
            "Request Timedout" => Self::RequestTimeout,
            _ => Self::Other,
        }
    }
}
