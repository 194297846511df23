//! In which states a device was, by a log of iostat.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

/// What a device did in one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogState {
    /// Small writes.
    SmallWrites,
    /// Large writes.
    LargeWrites,
    /// Small reads.
    SmallReads,
    /// Large reads.
    LargeReads,
    /// Reads and writes by turns.
    Mixed,
    /// A little of anything.
    Background,
    /// Nothing.
    Idle,
    /// Nothing was ended, though requests waited.
    Stalled,
}

/// One state and all reports in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateShare {
    /// The state.
    pub state: LogState,
    /// How many reports.
    pub reports: u64,
    /// How long they took together; `None` where the log does not say.
    pub time: Option<Nanos>,
    /// Transactions a second, on average.
    pub transactions_per_s: Iops,
    /// Bytes read and written a second, on average.
    pub bytes_per_s: Throughput,
    /// The mean size of a transaction.
    pub mean_bytes: Bytes,
}
