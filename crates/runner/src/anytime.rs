//! What is known of a phase's rate at any time, and whether that decides its limit.
//!
//! The first moments are left out: a card takes its first writes into memory and is then faster
//! than it is for long. A sequential writing is judged by the slower half of what it writes, since
//! "sustained" is what a card can do after its fast cache is full; half of 256 MiB is two of the
//! largest allocation units that the SD specification allows.

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

/// The rate of a phase so far, in one stretch or in two halves.
pub(crate) struct Anytime {
    confidence: f64,
    /// How many operations each stretch has, where there is more than one.
    ops_each: Option<u64>,
    ended: Option<RateInterval>,
    settled_at: Nanos,
    open: RateSequence,
    ops_seen: u64,
    next_look: Nanos,
}

impl Anytime {
    /// Nothing yet, of the phase `spec` that begins at `start`.
    pub(crate) fn new(spec: &PhaseSpec, start: Nanos) -> Self {
        let confidence = match spec.ends.decision {
            Some(decision) => decision.confidence,
            None => application::confidence_of_each(application::CONFIDENCE),
        };
        let halves = spec.ends.bytes.filter(|_| spec.access == Access::Sequential && spec.writes());
        Self {
            confidence,
            ops_each: halves.map(|bytes| bytes.get() / spec.block_size.get().max(1) / 2),
            ended: None,
            settled_at: start + SETTLING,
            open: RateSequence::new(start),
            ops_seen: 0,
            next_look: start + DECISION_MIN,
        }
    }

    /// Notes that by `now`, when one of them completed, `ops` had completed since the start.
    pub(crate) fn observe(&mut self, now: Nanos, ops: u64) {
        if now < self.settled_at {
            self.open = RateSequence::new(now);
            self.ops_seen = ops;
            return;
        }
        self.open.observe(now, ops - self.ops_seen);
        self.ops_seen = ops;
        if self.ops_each.is_some_and(|each| self.ended.is_none() && ops >= each) {
            self.ended = self.interval_of_open();
            self.open = RateSequence::new(now);
        }
    }

    /// The rate, of the slower stretch, as it goes into a record.
    pub(crate) fn estimate(&self) -> Option<Estimate<Iops>> {
        let RateInterval { estimate, low, high } = self.interval()?;
        Some(Estimate { estimate, low, high, confidence: self.confidence })
    }

    /// Whether it is sure on which side of the limit the rate lies, as far as that ends the phase;
    /// looked at only now and then, since it costs more than a look at the clock.
    pub(crate) fn has_decided(&mut self, decision: &Decision, now: Nanos) -> bool {
        if now < self.next_look {
            return false;
        }
        self.next_look = now + LOOK_EVERY;
        self.interval().is_some_and(|rate| {
            let is_above = rate.low >= decision.limit;
            rate.high < decision.limit || (is_above && !decision.only_a_miss_ends_it)
        })
    }

    /// The slower of all stretches: each end is the lower one, and holds as each stretch's own
    /// interval leaves a part of the error.
    fn interval(&self) -> Option<RateInterval> {
        match (self.ended, self.interval_of_open()) {
            (Some(ended), Some(open)) => Some(slower(ended, open)),
            (ended, open) => ended.or(open),
        }
    }

    fn interval_of_open(&self) -> Option<RateInterval> {
        let stretches = if self.ops_each.is_some() { 2.0 } else { 1.0 };
        self.open.interval(1.0 - (1.0 - self.confidence) / stretches)
    }
}

fn slower(one: RateInterval, other: RateInterval) -> RateInterval {
    let lower = |a: Iops, b: Iops| if b < a { b } else { a };
    RateInterval {
        estimate: lower(one.estimate, other.estimate),
        low: lower(one.low, other.low),
        high: lower(one.high, other.high),
    }
}
