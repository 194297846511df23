//! Transactions in one setting, each timed.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_stats::{LatencyHistogram, LatencySummary, RateInterval, TimeSeries};
use cardproof_units::{Bytes, Nanos};
use rusqlite::params;

use crate::row;
use crate::{Database, DatabaseError, Journal, Setting, Synchronous};

/// The slices from which a rate's interval is computed, and how many there may be.
const SLICE: Nanos = Nanos::from_millis(10);
const SLICES_MAX: usize = 3000;

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
    /// The run of a setting that could not be run.
    fn failed(setting: Setting, error: &DatabaseError) -> Self {
        Self {
            setting,
            end: End::Failed { cause: error.to_string() },
            transactions: 0,
            duration: Nanos::ZERO,
            latency: None,
            rate: None,
        }
    }

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

    /// Whether each transaction waits for the storage.
    const fn is_durable(self) -> bool {
        !self.is_extreme() && matches!(self.synchronous, Synchronous::Full)
    }
}

impl Database {
    /// Commits one row after the other in `setting` until a limit is reached or `stop` is set: a
    /// new row and a changed one in turn. `clock` is read around each transaction; the interval
    /// has `confidence`, between 0 and 1.
    ///
    /// What fails is told in the run.
    pub fn run(
        &mut self,
        setting: Setting,
        limits: Limits,
        confidence: f64,
        clock: &dyn Fn() -> Nanos,
        stop: &AtomicBool,
    ) -> Run {
        let tally = match self.set(setting) {
            Ok(()) => Tally::new(clock()),
            Err(error) => return Run::failed(setting, &error),
        };
        match tally {
            Ok(mut tally) => {
                let end = match self.commit_all(limits, &mut tally, clock, stop) {
                    Ok(end) => end,
                    Err(error) => End::Failed { cause: error.to_string() },
                };
                tally.into_run(setting, end, confidence)
            }
            Err(error) => Run::failed(setting, &error),
        }
    }

    fn commit_all(
        &mut self,
        limits: Limits,
        tally: &mut Tally,
        clock: &dyn Fn() -> Nanos,
        stop: &AtomicBool,
    ) -> Result<End, DatabaseError> {
        let (connection, rows) = self.parts()?;
        let mut insert = connection.prepare(row::INSERT).map_err(DatabaseError::of)?;
        let mut update = connection.prepare(row::UPDATE).map_err(DatabaseError::of)?;
        for number in 0..limits.transactions {
            if stop.load(Ordering::Relaxed) {
                return Ok(End::Stopped);
            }
            let start = clock();
            if start.saturating_sub(tally.start) >= limits.time {
                return Ok(End::Complete);
            }
            let changed = if number % 2 == 0 {
                let row::New { id, device, changed_at, state } = rows.add();
                insert.execute(params![id, device, changed_at, state])
            } else {
                let (id, state) = rows.change();
                update.execute(params![id, state])
            };
            if changed.map_err(DatabaseError::of)? != 1 {
                return Err(DatabaseError::Refused("a transaction changed no row".to_owned()));
            }
            tally.add(start, clock());
        }
        Ok(End::Complete)
    }
}

/// What is counted while transactions run.
struct Tally {
    start: Nanos,
    end: Nanos,
    latency: LatencyHistogram,
    series: TimeSeries,
}

impl Tally {
    fn new(start: Nanos) -> Result<Self, DatabaseError> {
        let latency =
            LatencyHistogram::new().map_err(|error| DatabaseError::Refused(error.to_string()))?;
        Ok(Self { start, end: start, latency, series: TimeSeries::new(start, SLICE, SLICES_MAX) })
    }

    fn add(&mut self, start: Nanos, end: Nanos) {
        let latency = end.saturating_sub(start);
        self.latency.record(latency);
        self.series.record(end, Bytes::ZERO, latency);
        self.end = end;
    }

    fn into_run(self, setting: Setting, end: End, confidence: f64) -> Run {
        let duration = self.end.saturating_sub(self.start);
        let transactions = self.latency.count();
        let rate = match end {
            End::Failed { .. } => None,
            _ => RateInterval::new(transactions, duration, self.series.finished(), confidence),
        };
        let latency = (transactions > 0).then_some(self.latency);
        Run { setting, end, transactions, duration, latency, rate }
    }
}
