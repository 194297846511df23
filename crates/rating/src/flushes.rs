//! Whether flushes are answered before the data can be on the flash: a sign of it, never a proof.
//!
//! Storage cannot make a burst durable faster than it writes continuously. If bursts with a flush
//! after each are clearly faster, a cache took the data and answered the flush. That is honest only where
//! the cache survives a power cut: a capacitor, or a part of the flash that is written faster (SLC).

use cardproof_record::{OpName, PatternName, Phase, Record, SyncMode};
use cardproof_units::{Bytes, Throughput};

use crate::disturbance;

/// A burst is suspicious above this multiple of the continuous rate; a few slices vary by less.
const FACTOR: f64 = 1.5;

/// A volatile cache fills first; what follows is the rate of what is behind it. Caches of cards and USB
/// sticks are far smaller.
const CACHE_MAX: Bytes = Bytes::mib(32);

/// Of the slices of time, the share whose rate is not above the continuous rate.
const FASTEST_SHARE: f64 = 0.9;

/// Fewer bursts say nothing.
const BURSTS_MIN: u64 = 8;

/// Writes of one size, each made durable, with rests between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// The size of each.
    pub size: Bytes,
    /// The median rate from the start of a write to the end of its flush.
    pub rate: Throughput,
}

/// What bursts with flushes show, beside continuous writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Flushes {
    /// The rate that continuous writes reach in nine of ten slices of time at most, behind any volatile
    /// cache; `None` where the phase ended before a volatile cache is surely full.
    pub continuous: Option<Throughput>,
    /// The bursts, by size; at least one.
    pub bursts: Vec<Burst>,
    /// Whether others used the storage meanwhile, so that the rates are not its own.
    pub is_disturbed: bool,
}

impl Flushes {
    /// Whether a burst was durable faster than the storage writes.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        let is_above = |rate: Throughput| self.bursts.iter().any(|it| it.rate.0 > FACTOR * rate.0);
        !self.is_disturbed && self.continuous.is_some_and(is_above)
    }
}

/// What `record` shows of flushes; `None` where it was not measured.
#[must_use]
pub fn flushes(record: &Record) -> Option<Flushes> {
    let measured = || record.phases.iter().filter(|phase| phase.is_measured());
    let continuous = measured().filter(|phase| is_sequential_write(phase)).find_map(continuous);
    let bursts: Vec<Burst> = measured().filter_map(burst).collect();
    let is_disturbed = measured().any(|phase| !disturbance::of_phase(record, phase).is_empty());
    (!bursts.is_empty()).then_some(Flushes { continuous, bursts, is_disturbed })
}

fn is_sequential_write(phase: &Phase) -> bool {
    phase.op == OpName::Write && phase.pattern == PatternName::Sequential
}

fn continuous(phase: &Phase) -> Option<Throughput> {
    if phase.rate_limit_iops.is_some() || matches!(phase.sync, SyncMode::FsyncEvery(_)) {
        return None;
    }
    let mut before = Bytes::ZERO;
    let mut rates: Vec<f64> = Vec::new();
    for slice in &phase.intervals {
        let seconds = slice.duration_ns.as_secs_f64();
        if before >= CACHE_MAX && seconds > 0.0 {
            rates.push(slice.bytes.as_f64() / seconds);
        }
        before += slice.bytes;
    }
    rates.sort_by(f64::total_cmp);
    let at = (rates.len() as f64 * FASTEST_SHARE) as usize;
    rates.get(at.min(rates.len().checked_sub(1)?)).copied().map(Throughput)
}

fn burst(phase: &Phase) -> Option<Burst> {
    let is_flushed = matches!(phase.sync, SyncMode::FsyncEvery(every) if every.get() == 1);
    let rests = phase.rate_limit_iops.is_some();
    if !is_sequential_write(phase) || !is_flushed || !rests || phase.ops < BURSTS_MIN {
        return None;
    }
    let seconds = phase.latency_ns?.p50.as_secs_f64() + phase.flush_latency_ns?.p50.as_secs_f64();
    let size = phase.block_size_bytes;
    (seconds > 0.0).then(|| Burst { size, rate: Throughput(size.as_f64() / seconds) })
}
