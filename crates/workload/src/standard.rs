//! The `standard` profile: what a card does for a computer that runs from it, in a minute.
//!
//! A span of 256 MiB is laid out and worked in, the range over which the SD specification's
//! application classes have their random operations. Laying it out may take 45 % of the time: a
//! card that cannot fill 256 MiB in 27 s writes less than 10 MB/s and misses every application
//! class whatever else it does. All other phases end as soon as their figure is known to 2 %, and those
//! on which the classes rest when their limits are decided too, as far as there is time.

use cardproof_facts::{A1_RATES, A2_RATES, CONFIDENCE, RANDOM_SPAN};
use cardproof_units::{Bytes, Nanos};

use crate::{Access, Ends, PhaseSpec, Precision, Profile, Repetition, Role, TimeLimit};

/// The span that is laid out and worked in: the one of the application classes.
pub const SPAN: Bytes = RANDOM_SPAN;

/// The most that each of the phases with small writes may write. It bounds the wear; cards never
/// reach it in their time, fast disks reach it after their figure is known.
const SMALL_WRITES_MAX: Bytes = Bytes::mib(128);

/// The same for the `check` profile.
const CHECK_WRITES_MAX: Bytes = Bytes::mib(64);

const PRECISION: Precision = Precision {
    relative_half_width: 0.02,
    confidence: CONFIDENCE,
    time_min: Nanos::from_millis(1500),
    limits: &[],
};

/// As [`PRECISION`], and sure enough for verdicts on A1 and A2.
const READS: Precision = Precision { limits: &[A1_RATES.read, A2_RATES.read], ..PRECISION };
const WRITES: Precision = Precision { limits: &[A1_RATES.write, A2_RATES.write], ..PRECISION };

/// The profile.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        name: "standard".to_owned(),
        version: 1,
        purpose:
            "the speed of a system on this storage, and whether it passes A1 and A2, in a minute"
                .to_owned(),
        source: "cardproof's own, over the 256 MiB of the SD specification's application classes"
            .to_owned(),
        span: SPAN,
        time_budget: Nanos::from_secs(60),
        phases: phases(),
        figures: Vec::new(),
        early_ends: Vec::new(),
        notes: Vec::new(),
    }
}

/// The `check` profile: the phases of [`profile`] that the grades and the classes A1 and A2 rest on, in
/// three quarters of its time and with half of its wear.
#[must_use]
pub fn check() -> Profile {
    let fsync = small("overwrite-4k-fsync", 0, Bytes::kib(4), 1, 9);
    let mut phases = vec![
        lay_out(),
        PhaseSpec {
            role: Role::MeasureAndVerify,
            access: Access::Sequential,
            ..small("sequential-read-1m", 100, Bytes::mib(1), 2, 8)
        },
        small("random-read-4k-qd1", 100, Bytes::kib(4), 1, 9),
        until(READS, small("random-read-4k-qd32", 100, Bytes::kib(4), 32, 9)),
        small("random-write-4k-qd1", 0, Bytes::kib(4), 1, 10),
        until(WRITES, small("random-write-4k-qd32", 0, Bytes::kib(4), 32, 10)),
        PhaseSpec { fsync_every: Some(1), flush_at_end: false, ..fsync },
    ];
    for phase in phases.iter_mut().filter(|phase| phase.ends.bytes == Some(SMALL_WRITES_MAX)) {
        phase.ends.bytes = Some(CHECK_WRITES_MAX);
    }
    Profile {
        name: "check".to_owned(),
        purpose: "the speed part of cardproof check: the grades, A1 and A2, in at most 45 seconds"
            .to_owned(),
        time_budget: Nanos::from_secs(45),
        phases,
        ..profile()
    }
}

fn phases() -> Vec<PhaseSpec> {
    let fsync = small("overwrite-4k-fsync", 0, Bytes::kib(4), 1, 6);
    vec![
        lay_out(),
        PhaseSpec {
            role: Role::MeasureAndVerify,
            access: Access::Sequential,
            ..small("sequential-read-1m", 100, Bytes::mib(1), 2, 6)
        },
        small("random-read-4k-qd1", 100, Bytes::kib(4), 1, 6),
        until(READS, small("random-read-4k-qd32", 100, Bytes::kib(4), 32, 6)),
        small("random-read-16k-qd1", 100, Bytes::kib(16), 1, 5),
        small("random-write-4k-qd1", 0, Bytes::kib(4), 1, 7),
        until(WRITES, small("random-write-4k-qd32", 0, Bytes::kib(4), 32, 7)),
        small("random-write-16k-qd1", 0, Bytes::kib(16), 1, 5),
        PhaseSpec { fsync_every: Some(1), flush_at_end: false, ..fsync },
        small("random-mixed-4k-70-30-qd32", 70, Bytes::kib(4), 32, 7),
    ]
}

fn lay_out() -> PhaseSpec {
    PhaseSpec {
        name: "sequential-write-1m".to_owned(),
        role: Role::LayOut,
        access: Access::Sequential,
        span: None,
        arrangement: Default::default(),
        read_percent: 0,
        block_size: Bytes::mib(1),
        alignment_offset: Bytes::ZERO,
        queue_depth: 2,
        fsync_every: None,
        flush_at_end: true,
        rate_limit: None,
        ends: Ends {
            time: TimeLimit::Share(45),
            bytes: Some(SPAN),
            ops: None,
            precision: None,
            decision: None,
        },
    }
}

/// The same phase, ended by another precision.
fn until(precision: Precision, phase: PhaseSpec) -> PhaseSpec {
    PhaseSpec { ends: Ends { precision: Some(precision), ..phase.ends }, ..phase }
}

/// A phase that ends when its figure is known or its share of the time is spent.
fn small(
    name: &str,
    read_percent: u8,
    block_size: Bytes,
    queue_depth: u16,
    time_share: u32,
) -> PhaseSpec {
    PhaseSpec {
        name: name.to_owned(),
        role: Role::Measure,
        access: Access::Random(Repetition::Allowed),
        span: None,
        arrangement: Default::default(),
        read_percent,
        block_size,
        alignment_offset: Bytes::ZERO,
        queue_depth,
        fsync_every: None,
        flush_at_end: read_percent < 100,
        rate_limit: None,
        ends: Ends {
            time: TimeLimit::Share(time_share),
            bytes: (read_percent < 100).then_some(SMALL_WRITES_MAX),
            ops: None,
            precision: Some(PRECISION),
            decision: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_percent() {
        for phases in [phases(), check().phases] {
            let share = |phase: &PhaseSpec| match phase.ends.time {
                TimeLimit::Share(share) => share,
                other => panic!("{other:?}"),
            };
            assert_eq!(phases.iter().map(share).sum::<u32>(), 100);
        }
    }

    #[test]
    fn the_wear_is_bounded() {
        assert_eq!(profile().bytes_written_max(), Some(Bytes::mib(256 + 5 * 128)));
        assert_eq!(check().bytes_written_max(), Some(Bytes::mib(256 + 3 * 64)));
        assert_eq!(
            profile().with_span(Bytes::mib(64)).bytes_written_max(),
            Some(Bytes::mib(64 + 5 * 128))
        );
    }
}
