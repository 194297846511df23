//! What is measured in one setting: when a run ends, and what was seen.

use cardproof_stats::{LatencyHistogram, LatencySummary, RateInterval};
use cardproof_units::{Bytes, Nanos};

use crate::{Journal, Setting};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so many transactions, not zero.
    pub transactions: u32,
    /// Or after so long, but for the transaction under way.
    pub time: Nanos,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A limit was reached.
    Complete,
    /// It was asked to stop.
    Stopped,
    /// It could not go on; its figures are none.
    Failed {
        /// Why, and what to do.
        cause: String,
    },
}

/// What was seen of one setting.
#[derive(Clone, Debug)]
pub struct Run {
    /// The setting.
    pub setting: Setting,
    /// How it ended.
    pub end: End,
    /// Transactions that were committed.
    pub transactions: u64,
    /// From the first to the end of the last.
    pub duration: Nanos,
    /// How long they took; absent without any.
    pub latency: Option<LatencyHistogram>,
    /// Transactions a second, with their interval.
    pub rate: Option<RateInterval>,
}

impl Run {
    /// Whether its figures may be used.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.end == End::Complete && self.rate.is_some()
    }

    /// Latencies of single transactions; absent without any.
    #[must_use]
    pub fn latency_summary(&self) -> Option<LatencySummary> {
        self.latency.as_ref().and_then(LatencyHistogram::summary)
    }
}

impl Setting {
    /// How many transactions a run in this setting makes where time allows: enough for several
    /// copies of the log where that is all that costs.
    #[must_use]
    pub const fn transactions_wanted(self) -> u32 {
        match self.is_durable() {
            true => 1000,
            false => 4000,
        }
    }

    /// About what a transaction writes to the storage: pages of the database and of its journal,
    /// and what the file system adds. A third to a half more than was counted on ext4
    /// (`docs/design/sqlite.md`).
    #[must_use]
    pub const fn bytes_a_transaction(self) -> Bytes {
        match (self.is_durable(), self.journal) {
            (true, Journal::Wal) => Bytes::kib(40),
            (true, _) => Bytes::kib(110),
            (false, _) => Bytes::kib(12),
        }
    }
}
