//! Takes the measurements of one phase: latencies, time series, totals.

use std::borrow::Cow;

use cardproof_io::{Completion, OpKind};
use cardproof_record::{
    Bucket, Direction, Estimate, Interval, Latency, LatencyIntervals, Level, OwnActivity,
};
use cardproof_stats::{LatencyHistogram, LatencySummary, RateInterval, Slice, TimeSeries};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use cardproof_workload::{Decision, PhaseSpec};

use crate::anytime::Anytime;
use crate::shape;
use crate::undisturbed::UndisturbedParts;

/// Fine enough for the batches of an estimate in a phase of one second.
const SLICE: Nanos = Nanos::from_millis(10);

/// More slices than this are merged in pairs: after 41 s.
const SLICES_MAX: usize = 4096;

/// Fine enough to see a pause, coarse enough to be kept.
const INTERVAL: Nanos = Nanos::from_millis(50);

/// A quarter of a power of ten is less than a factor of two.
const BUCKETS_PER_DECADE: u32 = 20;

/// The confidence of every interval in a record.
pub(crate) const CONFIDENCE: f64 = 0.99;

/// Histograms kept for the whole run, so that a phase allocates nothing.
pub(crate) struct Histograms {
    pub(crate) reads: LatencyHistogram,
    pub(crate) writes: LatencyHistogram,
    pub(crate) flushes: LatencyHistogram,
}

impl Histograms {
    pub(crate) fn new() -> Option<Self> {
        let histogram = || LatencyHistogram::new().ok();
        Some(Self { reads: histogram()?, writes: histogram()?, flushes: histogram()? })
    }

    /// Forgets the phase before.
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.flushes.clear();
    }
}

/// The measurements of one phase so far.
pub(crate) struct Meter<'a> {
    histograms: &'a mut Histograms,
    series: TimeSeries,
    pub(crate) anytime: Anytime,
    pub(crate) undisturbed: UndisturbedParts,
    start: Nanos,
    end: Nanos,
    pub(crate) bytes_read: Bytes,
    pub(crate) bytes_written: Bytes,
}

impl<'a> Meter<'a> {
    /// Nothing yet, of the phase `spec` that begins at `start`, into `histograms` that are empty.
    pub(crate) fn new(histograms: &'a mut Histograms, spec: &PhaseSpec, start: Nanos) -> Self {
        Self {
            histograms,
            series: TimeSeries::new(start, SLICE, SLICES_MAX),
            anytime: Anytime::new(spec, start),
            undisturbed: UndisturbedParts::new(spec, start),
            start,
            end: start,
            bytes_read: Bytes::ZERO,
            bytes_written: Bytes::ZERO,
        }
    }

    /// Takes one finished operation that moved `bytes`.
    #[inline]
    pub(crate) fn record(&mut self, completion: &Completion, bytes: Bytes) {
        let latency = completion.latency();
        match completion.kind {
            OpKind::Read => {
                self.histograms.reads.record(latency);
                self.bytes_read += bytes;
            }
            OpKind::Write => {
                self.histograms.writes.record(latency);
                self.bytes_written += bytes;
            }
            OpKind::Flush | OpKind::Discard => {
                self.histograms.flushes.record(latency);
                self.end = self.end.max(completion.completed);
                return;
            }
        }
        self.series.record(completion.completed, bytes, latency);
        self.end = self.end.max(completion.completed);
    }

    /// Ends the slices before `now`, completions or not.
    pub(crate) fn advance(&mut self, now: Nanos) {
        self.series.advance(now);
        self.anytime.observe(now, self.ops());
        self.undisturbed.observe(now, self.ops());
    }

    /// Whether it is sure on which side of the limit the rate lies, as far as that ends the phase. A miss beside a
    /// disturbance is not sure.
    pub(crate) fn has_decided(&mut self, decision: &Decision, now: Nanos) -> bool {
        if self.undisturbed.is_below(decision.limit) {
            return true;
        }
        let misses = self.anytime.misses(&[decision.limit]);
        self.anytime.has_decided(decision, now)
            && !self.undisturbed.are_in_doubt(now, misses.into_iter())
    }

    /// Whether it is sure on which side of each of `limits` the rate lies.
    pub(crate) fn has_left(&mut self, limits: &[Iops], now: Nanos) -> bool {
        let misses = self.anytime.misses(limits);
        self.anytime.has_left(limits) && !self.undisturbed.are_in_doubt(now, misses.into_iter())
    }

    /// What the run itself has done in the phase so far, in operations of `block_size`.
    pub(crate) fn own(&self, block_size: Bytes, is_direct: bool) -> OwnActivity {
        OwnActivity {
            block_size_bytes: block_size,
            ops: self.ops(),
            flushes: self.flushes(),
            read_bytes: self.bytes_read,
            written_bytes: self.bytes_written,
            direct: is_direct,
            fetched: false,
        }
    }

    /// Ends the slices before the last operation so far, and with it the rate that holds at any
    /// time: what comes later is none of its time.
    pub(crate) fn end_rate(&mut self) {
        self.advance(self.end);
        self.anytime.end();
    }

    /// When the phase began.
    pub(crate) const fn start(&self) -> Nanos {
        self.start
    }

    /// When the slice that is open ends.
    pub(crate) fn next_slice(&self) -> Nanos {
        self.series.current().0 + self.series.slice_duration()
    }

    pub(crate) fn ops(&self) -> u64 {
        self.histograms.reads.count() + self.histograms.writes.count()
    }

    pub(crate) fn flushes(&self) -> u64 {
        self.histograms.flushes.count()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes_read + self.bytes_written
    }

    pub(crate) fn duration(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }

    /// The interval of the rate as known so far.
    pub(crate) fn rate(&self, confidence: f64) -> Option<RateInterval> {
        RateInterval::new(self.ops(), self.duration(), self.series.finished(), confidence)
    }

    /// What happened in the last half second of finished slices: the sum, and its time.
    pub(crate) fn recent(&self) -> (Slice, Nanos) {
        let wanted = (Nanos::from_millis(500).get() / self.series.slice_duration().get()).max(1);
        let slices = self.series.finished();
        let recent = &slices[slices.len().saturating_sub(wanted as usize)..];
        let sum = recent.iter().fold(Slice::default(), |sum, &slice| sum.merged(slice));
        (sum, self.series.slice_duration() * recent.len() as u64)
    }

    /// The rate as it goes into a record.
    pub(crate) fn iops(&self) -> Option<Estimate<Iops>> {
        let RateInterval { estimate, low, high } = self.rate(CONFIDENCE)?;
        Some(Estimate { estimate, low, high, confidence: CONFIDENCE }.within_reach())
    }

    /// The throughput as it goes into a record: the rate, at the mean size of its operations.
    pub(crate) fn throughput(&self) -> Option<Estimate<Throughput>> {
        let Estimate { estimate, low, high, confidence } = self.iops()?;
        let mean_bytes = self.bytes().as_f64() / self.ops() as f64;
        let scaled = |iops: Iops| Throughput(iops.0 * mean_bytes);
        let whole = Estimate {
            estimate: scaled(estimate),
            low: scaled(low),
            high: scaled(high),
            confidence,
        };
        Some(whole.within_reach())
    }

    /// The latencies of reads and writes together.
    pub(crate) fn latency(&self) -> Option<Latency> {
        self.merged().summary().map(latency_of)
    }

    /// How surely the percentiles of these are known, with `in_flight` operations at a time.
    pub(crate) fn latency_intervals(&self, in_flight: u16) -> Option<LatencyIntervals> {
        shape::latency_intervals(&self.merged(), in_flight)
    }

    /// The levels of the rate; none where it stayed on one.
    pub(crate) fn levels(&self) -> Vec<Level> {
        shape::levels(self.series.finished(), self.series.slice_duration())
    }

    /// The distribution of the latencies of reads and writes together.
    pub(crate) fn buckets(&self) -> Vec<Bucket> {
        let buckets = self.merged().buckets(BUCKETS_PER_DECADE);
        buckets
            .into_iter()
            .map(|bucket| Bucket { up_to_ns: bucket.up_to, ops: bucket.ops })
            .collect()
    }

    pub(crate) fn flush_latency(&self) -> Option<Latency> {
        self.histograms.flushes.summary().map(latency_of)
    }

    /// Each direction by itself.
    pub(crate) fn directions(&self) -> (Option<Direction>, Option<Direction>) {
        let direction = |histogram: &LatencyHistogram, bytes| {
            Some(Direction {
                ops: histogram.count(),
                bytes,
                iops: Iops::from_ops(histogram.count(), self.duration())?,
                latency_ns: latency_of(histogram.summary()?),
            })
        };
        (
            direction(&self.histograms.reads, self.bytes_read),
            direction(&self.histograms.writes, self.bytes_written),
        )
    }

    /// The time series as it goes into a record.
    pub(crate) fn intervals(&mut self) -> Vec<Interval> {
        self.advance(self.end);
        let slice = self.series.slice_duration();
        let group = (INTERVAL.get() / slice.get()).max(1) as usize;
        let mut intervals: Vec<Interval> = Vec::new();
        for (number, slices) in (0_u64..).zip(self.series.finished().chunks(group)) {
            let sum = slices.iter().fold(Slice::default(), |sum, &slice| sum.merged(slice));
            let start = slice * group as u64 * number;
            intervals.push(interval_of(start, slice * slices.len() as u64, sum));
        }
        let (open_start, open) = self.series.current();
        let rest = self.end.saturating_sub(open_start);
        match intervals.last_mut() {
            // An operation that ended just when its slice began leaves a slice of no time.
            Some(last) if rest == Nanos::ZERO => {
                last.ops += open.ops;
                last.bytes += open.bytes;
                last.latency_max_ns = last.latency_max_ns.max(open.latency_max);
            }
            _ => intervals.push(interval_of(open_start.saturating_sub(self.start), rest, open)),
        }
        intervals
    }

    /// Both directions in one histogram: the only one used, where only one is.
    fn merged(&self) -> Cow<'_, LatencyHistogram> {
        let Histograms { reads, writes, .. } = &*self.histograms;
        match (reads.count(), writes.count()) {
            (_, 0) => Cow::Borrowed(reads),
            (0, _) => Cow::Borrowed(writes),
            _ => Cow::Owned(reads.merged(writes)),
        }
    }
}

fn interval_of(start_ns: Nanos, duration_ns: Nanos, slice: Slice) -> Interval {
    let Slice { ops, bytes, latency_max } = slice;
    Interval { start_ns, duration_ns, ops, bytes, latency_max_ns: latency_max }
}

pub(crate) fn latency_of(summary: LatencySummary) -> Latency {
    let LatencySummary { min, mean, p50, p90, p99, p999, max } = summary;
    Latency { min, mean, p50, p90, p99, p999, max }
}
