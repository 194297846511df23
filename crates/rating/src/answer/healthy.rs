//! Does it keep data? From errors in the kernel's log, from what the device reports of its wear, and from
//! data that a run read back.

use serde::Serialize;

use super::{Known, Standing};
use crate::data::alarm;

/// An eMMC whose life is used up to this share is to be watched, in per cent.
const WATCHED_PERCENT: u8 = 90;

/// Errors of the device in the kernel's log since the computer started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelErrors {
    /// Reads and writes that failed.
    pub failed_requests: u64,
    /// Transfers that failed and were repeated by the driver: checksum errors and time-outs.
    pub repeated_transfers: u64,
    /// Errors that a file system on it reported.
    pub filesystem_errors: u64,
}

impl KernelErrors {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.failed_requests + self.repeated_transfers + self.filesystem_errors
    }
}

/// Whether the kernel's log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogRead {
    /// It was, and covers so many days; `None` where its times are not known.
    Read {
        /// Whole days since the computer started.
        days: Option<u64>,
    },
    /// This user may not read it.
    NotPermitted,
    /// There is none.
    #[default]
    Absent,
}

/// What is known of a device's health without writing to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Whether the kernel's log was read.
    pub log: LogRead,
    /// What it says.
    pub errors: KernelErrors,
    /// The kernel has turned the file system read-only, or it is mounted so because of errors.
    pub is_turned_read_only: bool,
    /// The device's own report of its used life, the upper end of a band of ten per cent; above 100 where
    /// it is beyond its life.
    pub life_used_percent_max: Option<u8>,
    /// The device reports that few spare blocks are left.
    pub is_short_of_spare_blocks: bool,
}

/// What is known of its health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Healthy {
    /// No sign of trouble where signs were looked for.
    Yes {
        /// Where they were looked for.
        log: LogRead,
        /// Test data was written and read back right.
        is_read_back: bool,
        /// The device's own report, if it makes one.
        life_used_percent_max: Option<u8>,
    },
    /// Errors that a driver could repeat, or a life that nears its end.
    Watch {
        /// The errors.
        errors: KernelErrors,
        /// The device's own report, if it makes one.
        life_used_percent_max: Option<u8>,
    },
    /// Requests fail, a file system broke, data was read wrong, or the device is beyond its life: copy the
    /// data now.
    CopyNow {
        /// The errors.
        errors: KernelErrors,
        /// Data was read back wrong or could not be read.
        has_wrong_data: bool,
        /// The file system was turned read-only.
        is_turned_read_only: bool,
        /// The device's own report, if it makes one.
        life_used_percent_max: Option<u8>,
    },
    /// The test of its capacity has shown that it does not keep data.
    LosesData,
    /// Nothing could be looked at.
    NotKnown {
        /// Why the log says nothing.
        log: LogRead,
    },
}

impl Healthy {
    pub(super) fn new(known: &Known<'_>) -> Self {
        let Health { log, errors, is_turned_read_only, life_used_percent_max, .. } = known.health;
        let has_wrong_data = known.speed.is_some_and(|record| alarm(record).is_some());
        let is_beyond_life = life_used_percent_max.is_some_and(|used| used > 100);
        let fails = errors.failed_requests + errors.filesystem_errors > 0;
        if fails || has_wrong_data || is_turned_read_only || is_beyond_life {
            return Self::CopyNow {
                errors,
                has_wrong_data,
                is_turned_read_only,
                life_used_percent_max,
            };
        }
        let is_near_end = life_used_percent_max.is_some_and(|used| used > WATCHED_PERCENT);
        if errors.total() > 0 || is_near_end || known.health.is_short_of_spare_blocks {
            return Self::Watch { errors, life_used_percent_max };
        }
        let is_read_back = known.speed.is_some_and(|record| record.data_check.is_some());
        let is_log_read = matches!(log, LogRead::Read { .. });
        if is_log_read || life_used_percent_max.is_some() || is_read_back {
            Self::Yes { log, is_read_back, life_used_percent_max }
        } else {
            Self::NotKnown { log }
        }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes { .. } => Standing::Good,
            Self::Watch { .. } => Standing::Warning,
            Self::CopyNow { .. } | Self::LosesData => Standing::Bad,
            Self::NotKnown { .. } => Standing::Unknown,
        }
    }
}
