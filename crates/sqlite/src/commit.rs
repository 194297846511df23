//! Transactions in one setting, each timed.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_stats::{LatencyHistogram, RateInterval, TimeSeries};
use cardproof_units::{Bytes, Nanos, with_causes};
use rusqlite::params;

use crate::row;
use crate::{Database, DatabaseError, End, Limits, Run, Setting};

/// The slices from which a rate's interval is computed, and how many there may be.
const SLICE: Nanos = Nanos::from_millis(10);
const SLICES_MAX: usize = 3000;

impl Run {
    /// The run of a setting that could not be run.
    fn failed(setting: Setting, error: &DatabaseError) -> Self {
        Self {
            setting,
            end: End::Failed { cause: with_causes(error) },
            transactions: 0,
            duration: Nanos::ZERO,
            latency: None,
            rate: None,
        }
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
                    Err(error) => End::Failed { cause: with_causes(&error) },
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
        let mut insert = connection.prepare(row::INSERT).map_err(DatabaseError::from_sqlite)?;
        let mut update = connection.prepare(row::UPDATE).map_err(DatabaseError::from_sqlite)?;
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
            if changed.map_err(DatabaseError::from_sqlite)? != 1 {
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
