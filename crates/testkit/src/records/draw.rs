//! Draws the figures of one phase: slices of time, a latency distribution, what follows from them.
//!
//! The slices come first and everything else is counted from them, so that a drawn phase never
//! contradicts itself. Chance comes from the seed and the phase's name alone.

use cardproof_record::{
    Bucket, Direction, EndedBy, Estimate, Interval, Latency, OpName, PatternName, Phase, SyncMode,
};
use cardproof_units::{Bytes, Iops, Nanos, Seed, Throughput};

const SLICE: Nanos = Nanos::from_millis(50);
const SLICES: u64 = 120;

/// A time in which nothing completes.
#[derive(Clone, Copy)]
pub(super) struct Pause {
    start: Nanos,
    length: Nanos,
}

impl Pause {
    pub(super) const fn at_ms(start: u64, length: u64) -> Self {
        Self { start: Nanos::from_millis(start), length: Nanos::from_millis(length) }
    }

    fn covers(self, slice: Nanos) -> bool {
        slice >= self.start && slice < self.end()
    }

    fn ends_in(self, slice: Nanos) -> bool {
        self.end() >= slice && self.end() < slice + SLICE
    }

    const fn end(self) -> Nanos {
        self.start.saturating_add(self.length)
    }
}

/// What a phase is to look like.
pub(super) struct Draw {
    name: &'static str,
    op: OpName,
    pattern: PatternName,
    block_size: Bytes,
    queue_depth: u16,
    iops: f64,
    sync: SyncMode,
    pauses: Vec<Pause>,
}

impl Draw {
    pub(super) fn sequential(name: &'static str, op: OpName, block_size: Bytes, iops: f64) -> Self {
        let pattern = PatternName::Sequential;
        let (queue_depth, sync) = (2, "none");
        Self {
            name,
            op,
            pattern,
            block_size,
            queue_depth,
            iops,
            sync: sync.into(),
            pauses: Vec::new(),
        }
    }

    pub(super) fn random(
        name: &'static str,
        op: OpName,
        block_size: Bytes,
        queue_depth: u16,
        iops: f64,
    ) -> Self {
        let pattern = PatternName::Random;
        Self {
            name,
            op,
            pattern,
            block_size,
            queue_depth,
            iops,
            sync: SyncMode::None,
            pauses: Vec::new(),
        }
    }

    pub(super) fn sync(mut self, sync: SyncMode) -> Self {
        self.sync = sync;
        self
    }

    pub(super) fn pausing(mut self, pauses: &[Pause]) -> Self {
        self.pauses = pauses.to_vec();
        self
    }

    pub(super) fn is_random_write(&self) -> bool {
        self.op == OpName::Write && self.pattern == PatternName::Random
    }

    /// The phase, complete with figures.
    pub(super) fn phase(&self, seed: Seed) -> Phase {
        let intervals = self.intervals(seed);
        let ops: u64 = intervals.iter().map(|slice| slice.ops).sum();
        let longest = intervals.iter().map(|slice| slice.latency_max_ns).max();
        let histogram = self.histogram(ops, longest.unwrap_or_default());
        let latency = latency_of(&histogram, ops);
        let duration = SLICE * SLICES;
        let rate = ops as f64 / duration.as_secs_f64();
        let bytes = self.block_size * ops;
        let is_synced = self.sync.fsync_every().is_some();
        let direction = |share: u64| Direction {
            ops: ops * share / 100,
            bytes: self.block_size * (ops * share / 100),
            iops: Iops((rate * share as f64 / 25.0).round() / 4.0),
            latency_ns: latency,
        };
        let is_mixed = self.op == OpName::Mixed;
        let begun = Phase::begun(self.name.to_owned(), self.op, self.pattern);
        Phase {
            read_percent: if is_mixed { 70 } else { begun.read_percent },
            block_size_bytes: self.block_size,
            span_bytes: Bytes::mib(256),
            queue_depth: self.queue_depth,
            sync: self.sync.clone(),
            ended_by: Some(EndedBy::Time),
            ops,
            bytes,
            duration_ns: duration,
            iops: Some(around(rate, self.spread(ops), Iops)),
            throughput_bytes_per_s: Some(around(
                rate * self.block_size.as_f64(),
                self.spread(ops),
                Throughput,
            )),
            latency_ns: Some(latency),
            flush_latency_ns: is_synced.then_some(latency),
            flushes: if is_synced { ops } else { 0 },
            reads: is_mixed.then(|| direction(70)),
            writes: is_mixed.then(|| direction(30)),
            histogram,
            intervals,
            ..begun
        }
    }

    /// The half width of the interval as a share of the rate: the wider, the fewer operations.
    fn spread(&self, ops: u64) -> f64 {
        let pausing = if self.pauses.is_empty() { 0.0 } else { 0.2 };
        0.012 + 1.0 / (ops.max(1) as f64).sqrt() + pausing
    }

    fn intervals(&self, seed: Seed) -> Vec<Interval> {
        let mut owed_ops = 0.0;
        (0..SLICES)
            .map(|number| {
                let start = SLICE * number;
                let noise = noise(seed, self.name, number);
                if self.pauses.iter().any(|pause| pause.covers(start)) {
                    return Interval { start_ns: start, duration_ns: SLICE, ..Interval::default() };
                }
                owed_ops += self.iops * SLICE.as_secs_f64() * (0.88 + 0.24 * noise);
                let ops = owed_ops as u64;
                owed_ops -= ops as f64;
                let pause = self.pauses.iter().find(|pause| pause.ends_in(start));
                let ordinary = Nanos::from_secs_f64(self.mean_latency() * (2.2 + 1.4 * noise));
                Interval {
                    start_ns: start,
                    duration_ns: SLICE,
                    ops,
                    bytes: self.block_size * ops,
                    latency_max_ns: match (ops, pause) {
                        (0, _) => Nanos::ZERO,
                        (_, Some(pause)) => pause.length,
                        (_, None) => ordinary,
                    },
                }
            })
            .collect()
    }

    /// In seconds, by Little's law.
    fn mean_latency(&self) -> f64 {
        f64::from(self.queue_depth) / self.iops
    }

    /// A skewed distribution around the mean: shares of the operations by multiples of it, and
    /// the longest alone in the last bucket.
    fn histogram(&self, ops: u64, longest: Nanos) -> Vec<Bucket> {
        const SHARES: [(f64, f64); 14] = [
            (0.62, 0.010),
            (0.70, 0.055),
            (0.78, 0.130),
            (0.85, 0.190),
            (0.92, 0.180),
            (1.00, 0.140),
            (1.10, 0.100),
            (1.22, 0.075),
            (1.38, 0.050),
            (1.60, 0.032),
            (1.90, 0.020),
            (2.15, 0.010),
            (2.18, 0.005),
            (2.20, 0.003),
        ];
        let mut left = ops.saturating_sub(1);
        let mut buckets = Vec::new();
        for (multiple, share) in SHARES {
            let count = ((ops as f64 * share).round() as u64).min(left);
            left -= count;
            let up_to_ns = Nanos::from_secs_f64(self.mean_latency() * multiple).min(longest);
            buckets.push(Bucket { up_to_ns, ops: count });
        }
        if let Some(middle) = buckets.get_mut(5) {
            middle.ops += left;
        }
        buckets.push(Bucket { up_to_ns: longest, ops: 1 });
        buckets.retain(|bucket| bucket.ops > 0);
        buckets
    }
}

/// A number from 0 to 1 that follows from its arguments alone.
fn noise(seed: Seed, name: &str, number: u64) -> f64 {
    (seed.derive(&format!("{name} {number}")) >> 11) as f64 / (1_u64 << 53) as f64
}

/// An interval around `value`, in quarters of a unit, so that every JSON reader reads it exactly.
fn around<Rate>(value: f64, spread: f64, unit: impl Fn(f64) -> Rate) -> Estimate<Rate> {
    let quarters = |rate: f64| unit((rate * 4.0).round() / 4.0);
    Estimate {
        estimate: quarters(value),
        low: quarters(value * (1.0 - spread)),
        high: quarters(value * (1.0 + spread)),
        confidence: 0.99,
    }
}

/// The latencies that `histogram` holds of `ops` operations.
fn latency_of(histogram: &[Bucket], ops: u64) -> Latency {
    let percentile = |share: f64| {
        let rank = (ops as f64 * share).ceil() as u64;
        let mut seen = 0;
        histogram
            .iter()
            .find(|bucket| {
                seen += bucket.ops;
                seen >= rank
            })
            .map_or(Nanos::ZERO, |bucket| bucket.up_to_ns)
    };
    let total: f64 =
        histogram.iter().map(|bucket| bucket.up_to_ns.as_secs_f64() * bucket.ops as f64).sum();
    Latency {
        min: histogram.first().map_or(Nanos::ZERO, |bucket| bucket.up_to_ns),
        mean: Nanos::from_secs_f64(total / ops.max(1) as f64),
        p50: percentile(0.5),
        p90: percentile(0.9),
        p99: percentile(0.99),
        p999: percentile(0.999),
        max: histogram.last().map_or(Nanos::ZERO, |bucket| bucket.up_to_ns),
    }
}
