//! What is known of a phase's rate at any time, and whether that decides its limit.
//!
//! The first moments are left out: a card takes its first writes into memory and is then faster
//! than it is for long. A sequential writing is judged by the second half of what it writes, since
//! "sustained" is what a card can do after its fast cache is full; half of 256 MiB is two of the
//! largest allocation units that the SD specification allows. Cards do not get faster by being
//! written to, so that a miss in the first half counts at once.

use cardproof_facts::CONFIDENCE;
use cardproof_record::Estimate;
use cardproof_stats::{RateInterval, RateSequence};
use cardproof_units::{Iops, Nanos};
use cardproof_workload::{Access, Decision, PhaseSpec, application};

/// How much of a phase's beginning is left out.
const SETTLING: Nanos = Nanos::from_millis(100);

/// Before this no limit is decided: so long it takes for pauses to show.
const DECISION_MIN: Nanos = Nanos::from_secs(2);

/// A limit is looked at this often.
const LOOK_EVERY: Nanos = Nanos::from_millis(100);

/// The rate of a phase so far, in one window or in two halves.
pub(crate) struct Anytime {
    confidence: f64,
    /// How many operations each half has, where they are told apart.
    ops_of_half: Option<u64>,
    first_half: Option<RateInterval>,
    is_first_half: bool,
    decided: Option<RateInterval>,
    settled_at: Nanos,
    open: RateSequence,
    ops_seen: u64,
    next_look: Nanos,
    is_over: bool,
}

impl Anytime {
    /// Nothing yet, of the phase `spec` that begins at `start`.
    pub(crate) fn new(spec: &PhaseSpec, start: Nanos) -> Self {
        let confidence = match spec.ends.decision {
            Some(decision) => decision.confidence,
            None => application::confidence_of_each(CONFIDENCE),
        };
        let halves = spec.ends.bytes.filter(|_| spec.access == Access::Sequential && spec.writes());
        Self {
            confidence,
            ops_of_half: halves.map(|bytes| bytes.get() / spec.block_size.get().max(1) / 2),
            first_half: None,
            is_first_half: true,
            decided: None,
            settled_at: start + SETTLING,
            open: RateSequence::new(start),
            ops_seen: 0,
            next_look: start + DECISION_MIN,
            is_over: false,
        }
    }

    /// Notes that by `now`, when one of them completed, `ops` had completed since the start.
    pub(crate) fn observe(&mut self, now: Nanos, ops: u64) {
        if self.is_over {
            return;
        }
        if now < self.settled_at {
            self.open = RateSequence::new(now);
            self.ops_seen = ops;
            return;
        }
        self.open.observe(now, ops - self.ops_seen);
        self.ops_seen = ops;
        if self.is_first_half && self.ops_of_half.is_some_and(|half| ops >= half) {
            self.first_half = self.interval_of_open();
            self.is_first_half = false;
            self.open = RateSequence::new(now);
        }
    }

    /// Nothing that is observed from here on counts.
    pub(crate) const fn end(&mut self) {
        self.is_over = true;
    }

    /// The rate as it goes into a record: as it was when the limit was decided, or at the end.
    pub(crate) fn estimate(&self) -> Option<Estimate<Iops>> {
        let RateInterval { estimate, low, high } = self.decided.or_else(|| self.interval())?;
        Some(Estimate { estimate, low, high, confidence: self.confidence }.within_reach())
    }

    /// Whether it is sure on which side of the limit the rate lies, as far as that ends the phase;
    /// looked at only now and then, since it costs more than a look at the clock.
    pub(crate) fn has_decided(&mut self, decision: &Decision, now: Nanos) -> bool {
        if now < self.next_look {
            return false;
        }
        self.next_look = now + LOOK_EVERY;
        // What is still in flight when the phase ends may widen the interval again; an interval that
        // holds at all times together held then.
        self.decided = self.interval().filter(|rate| {
            let is_above = rate.low >= decision.limit;
            rate.high < decision.limit || (is_above && !decision.only_a_miss_ends_it)
        });
        self.decided.is_some()
    }

    /// Whether it is sure on which side of each of `limits` the rate lies.
    pub(crate) fn has_left(&self, limits: &[Iops]) -> bool {
        limits.is_empty()
            || self.interval().is_some_and(|rate| {
                limits.iter().all(|limit| rate.high < *limit || rate.low >= *limit)
            })
    }

    /// Those of `limits` below which the rate surely lies.
    pub(crate) fn misses(&self, limits: &[Iops]) -> Vec<Iops> {
        let Some(rate) = self.interval() else { return Vec::new() };
        limits.iter().copied().filter(|limit| rate.high < *limit).collect()
    }

    /// The rate of the half that is being measured, as soon as there is one.
    fn interval(&self) -> Option<RateInterval> {
        self.interval_of_open().or(self.first_half)
    }

    /// With two halves, each may use half of the error.
    fn interval_of_open(&self) -> Option<RateInterval> {
        let halves = if self.ops_of_half.is_some() { 2.0 } else { 1.0 };
        self.open.interval(1.0 - (1.0 - self.confidence) / halves)
    }
}
