//! The profiles `a1` and `a2`: the quickest sound verdict on an application performance class.
//!
//! Three limits make a class: 4 KiB reads and writes a second at random addresses of 256 MiB, and a
//! sustained sequential write. Laying out the 256 MiB is the sequential test. The random writes
//! come next, since that is where cards fail, and the reads last, since they cost no wear. Each phase
//! ends as soon as its limit is decided; once one is missed the class is, and the rest is spared.
//!
//! The public text of the specification names no queue depth. Thirty-two is what the publicly known
//! checks of these limits use, and what lets a host that queues commands use the queue that A2 is
//! stated for; a card without a queue gets one command at a time all the same.

use cardproof_facts::{
    A1, A1_RATES, A2, A2_RATES, CONFIDENCE, Class, RANDOM_BLOCK, RANDOM_QUEUE_DEPTH, RandomRates,
};
use cardproof_units::{Bytes, Iops, Nanos};

use crate::{Access, Decision, Ends, PhaseSpec, Profile, Repetition, Role, TimeLimit, standard};

/// The most that the random writes may write on top of the laid-out range.
pub const RANDOM_WRITES_MAX: Bytes = Bytes::mib(64);

/// How many limits a class has.
const LIMITS: f64 = 3.0;

/// The size of the sequential writes: the unit in which Class 10 and the UHS classes are recorded,
/// and the largest request of an SD host controller under Linux.
const SEQUENTIAL_BLOCK: Bytes = Bytes::kib(512);

/// The profile for A1.
#[must_use]
pub fn a1() -> Profile {
    profile(&A1, A1_RATES, "a1", "the fastest reliable verdict on A1")
}

/// The profile for A2.
#[must_use]
pub fn a2() -> Profile {
    profile(
        &A2,
        A2_RATES,
        "a2",
        "the fastest reliable verdict on A2, on a host that uses the card's command queue and cache",
    )
}

/// The confidence of each limit's interval, so that a verdict on the class has `confidence`.
///
/// A class is wrongly called missed when any of its limits' intervals lies wrongly below; each may
/// do so with a third of what `confidence` leaves, and that is half of what its own interval leaves,
/// which may fail on either side. It is wrongly called met only when the interval of the very limit
/// that it misses lies wrongly above, which is rarer (Berger, Technometrics 24, 1982).
#[must_use]
pub fn confidence_of_each(confidence: f64) -> f64 {
    1.0 - 2.0 * (1.0 - confidence) / LIMITS
}

impl Profile {
    /// The same profile with another confidence of the verdict that it decides on, between 0 and 1.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        for phase in &mut self.phases {
            if let Some(decision) = &mut phase.ends.decision {
                decision.confidence = confidence_of_each(confidence);
            }
        }
        self
    }
}

fn profile(class: &Class, rates: RandomRates, name: &str, purpose: &str) -> Profile {
    let sequential = Iops(class.sequential_write.0 / SEQUENTIAL_BLOCK.as_f64());
    Profile {
        name: name.to_owned(),
        version: 1,
        purpose: purpose.to_owned(),
        source: "cardproof's own, for the limits of the SD specification's application classes"
            .to_owned(),
        span: standard::SPAN,
        time_budget: Nanos::from_secs(180),
        phases: vec![
            lay_out(sequential),
            random("random-write-4k-qd32", 0, rates.write),
            random("random-read-4k-qd32", 100, rates.read),
        ],
        figures: Vec::new(),
        early_ends: Vec::new(),
        notes: vec![
            format!(
                "Each phase ends when its interval lies completely above or below the limit of {}.",
                class.name
            ),
            format!("If one limit of {} is failed, the remaining phases are skipped.", class.name),
        ],
    }
}

fn lay_out(limit: Iops) -> PhaseSpec {
    PhaseSpec {
        name: "sequential-write-512k".to_owned(),
        role: Role::LayOut,
        access: Access::Sequential,
        block_size: SEQUENTIAL_BLOCK,
        queue_depth: 2,
        ends: Ends {
            bytes: Some(standard::SPAN),
            // The random phases need the whole range.
            decision: Some(Decision { only_a_miss_ends_it: true, ..decision(limit) }),
            ..Ends::SHARED
        },
        ..random("", 0, limit)
    }
}

fn random(name: &str, read_percent: u8, limit: Iops) -> PhaseSpec {
    PhaseSpec {
        name: name.to_owned(),
        role: Role::Measure,
        access: Access::Random(Repetition::Allowed),
        span: None,
        arrangement: Default::default(),
        read_percent,
        block_size: RANDOM_BLOCK,
        alignment_offset: Bytes::ZERO,
        queue_depth: RANDOM_QUEUE_DEPTH,
        fsync_every: None,
        flush_at_end: read_percent < 100,
        rate_limit: None,
        ends: Ends {
            bytes: (read_percent < 100).then_some(RANDOM_WRITES_MAX),
            decision: Some(decision(limit)),
            ..Ends::SHARED
        },
    }
}

fn decision(limit: Iops) -> Decision {
    Decision {
        limit,
        confidence: confidence_of_each(CONFIDENCE),
        only_a_miss_ends_it: false,
        a_miss_ends_the_run: true,
    }
}

impl Ends {
    /// An equal share of the time, with those that are left.
    pub(crate) const SHARED: Self =
        Self { time: TimeLimit::Share(1), bytes: None, ops: None, precision: None, decision: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wear_is_bounded() {
        for profile in [a1(), a2()] {
            assert_eq!(profile.bytes_written_max(), Some(Bytes::mib(256 + 64)));
        }
    }

    #[test]
    fn the_error_is_split_among_the_limits() {
        assert!((confidence_of_each(0.99) - 0.993_333_333).abs() < 1e-9);
        let each: Vec<f64> = a1()
            .with_confidence(0.9)
            .phases
            .iter()
            .filter_map(|phase| phase.ends.decision.map(|decision| decision.confidence))
            .collect();
        assert_eq!(each, [confidence_of_each(0.9); 3]);
    }
}
