//! The rate of a phase in those of its parts that nothing disturbed.
//!
//! A disturbance only slows. So a miss that these parts show by themselves is one of the storage, and a phase that
//! misses while it is disturbed goes on until they show it, or for [`PATIENCE`] at most. A part is what the monitor
//! sees between two looks. The parts are put together on a clock on which the others took no time, and after each
//! disturbed part some time is left out, in which what was queued beside it is still on its way.

use cardproof_facts::CONFIDENCE;
use cardproof_record::{Estimate, Undisturbed};
use cardproof_stats::{RateInterval, RateSequence};
use cardproof_units::{Iops, Nanos};
use cardproof_workload::{PhaseSpec, application};

/// How much is left out at the start of the phase and after each disturbed part.
const SETTLING: Nanos = Nanos::from_millis(100);

/// With less undisturbed time no limit is missed: so long it takes for pauses to show.
const DECISION_MIN: Nanos = Nanos::from_secs(2);

/// How long a disturbed phase that misses a limit goes on for an undisturbed part that decides.
const PATIENCE: Nanos = Nanos::from_secs(20);

/// Without a look of the monitor for so many slices, what came meanwhile is left out.
const PENDING_MAX: usize = 1024;

/// The undisturbed parts of a phase so far.
pub(crate) struct UndisturbedParts {
    confidence: f64,
    /// On a clock that begins at zero and stands still outside of these parts.
    rate: RateSequence,
    time: Nanos,
    /// Since when operations of the part that is not over count; `None` until something was counted in it.
    since: Option<Nanos>,
    counts_from: Nanos,
    /// What completed in the part that is not over, and until when.
    pending: Vec<(Nanos, u64)>,
    ops_seen: u64,
    has_disturbed: bool,
    in_doubt_since: Option<Nanos>,
}

impl UndisturbedParts {
    /// Nothing yet, of the phase `spec` that begins at `start`.
    pub(crate) fn new(spec: &PhaseSpec, start: Nanos) -> Self {
        let confidence = spec
            .ends
            .decision
            .map_or(application::confidence_of_each(CONFIDENCE), |decision| decision.confidence);
        Self {
            // The whole phase and its undisturbed parts may each use half of the error.
            confidence: 1.0 - (1.0 - confidence) / 2.0,
            rate: RateSequence::new(Nanos::ZERO),
            time: Nanos::ZERO,
            since: None,
            counts_from: start + SETTLING,
            pending: Vec::with_capacity(PENDING_MAX),
            ops_seen: 0,
            has_disturbed: false,
            in_doubt_since: None,
        }
    }

    /// Notes that by `now` `ops` operations had completed since the start.
    pub(crate) fn observe(&mut self, now: Nanos, ops: u64) {
        let completed = ops - self.ops_seen;
        self.ops_seen = ops;
        if now < self.counts_from {
            return;
        }
        if self.pending.len() >= PENDING_MAX {
            self.pending.clear();
            self.since = None;
        }
        match self.since {
            Some(_) => self.pending.push((now, completed)),
            None => self.since = Some(now),
        }
    }

    /// Notes that a part is over at `now`, and whether it was disturbed.
    pub(crate) fn end_part(&mut self, now: Nanos, is_disturbed: bool) {
        if is_disturbed {
            self.has_disturbed = true;
            self.since = None;
            self.counts_from = now + SETTLING;
        } else if let (Some(since), Some(&(end, _))) = (self.since, self.pending.last()) {
            for &(at, ops) in &self.pending {
                self.rate.observe(self.time + at.saturating_sub(since), ops);
            }
            self.time += end.saturating_sub(since);
            self.since = Some(end);
        }
        self.pending.clear();
    }

    /// Whether a part was disturbed.
    pub(crate) const fn has_disturbed(&self) -> bool {
        self.has_disturbed
    }

    /// Whether these parts alone show that the rate is below `limit`.
    pub(crate) fn is_below(&self, limit: Iops) -> bool {
        self.time >= DECISION_MIN && self.interval().is_some_and(|rate| rate.high < limit)
    }

    /// Whether the phase should go on at `now`: some part of it was disturbed, and of one of the limits that it
    /// `misses` its undisturbed parts do not show that yet.
    pub(crate) fn are_in_doubt(
        &mut self,
        now: Nanos,
        mut misses: impl Iterator<Item = Iops>,
    ) -> bool {
        if !self.has_disturbed || !misses.any(|limit| !self.is_below(limit)) {
            return false;
        }
        let since = *self.in_doubt_since.get_or_insert(now);
        now.saturating_sub(since) < PATIENCE
    }

    /// These parts as they go into a record.
    pub(crate) fn estimate(&self) -> Option<Undisturbed> {
        let RateInterval { estimate, low, high } = self.interval()?;
        let iops = Estimate { estimate, low, high, confidence: self.confidence }.within_reach();
        Some(Undisturbed { duration_ns: self.time, iops })
    }

    fn interval(&self) -> Option<RateInterval> {
        self.rate.interval(self.confidence)
    }
}
