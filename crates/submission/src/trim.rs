//! Long series made short before they are shared: neighbours are joined, and nothing is lost from the sums.

use cardproof_record::{Bucket, EnduranceFailures, Interval, Phase, Record, Trial};

/// The most buckets of a distribution of latencies.
pub const BUCKETS_MAX: usize = 48;

/// The most slices of a phase's time.
pub const INTERVALS_MAX: usize = 60;

/// The most cycles of an endurance run in which places turned bad.
pub(crate) const FAILURES_MAX: usize = 128;

/// `record` with its long series joined.
pub(crate) fn trimmed(record: &Record) -> Record {
    let mut record = record.clone();
    record.phases.iter_mut().for_each(trim);
    match &mut record.trial {
        Some(Trial::Endurance(run)) => {
            run.failures = joined(&run.failures, FAILURES_MAX, |a: &mut EnduranceFailures, b| {
                a.cycle = b.cycle;
                a.places += b.places;
                a.pages += b.pages;
            });
        }
        // What the journal of a capacity test means is shared beside the record.
        Some(Trial::Capacity(_)) => record.trial = None,
        Some(Trial::Setups(_) | Trial::PowerCuts(_) | Trial::Integrity(_) | Trial::Layout(_))
        | None => {}
    }
    record
}

fn trim(phase: &mut Phase) {
    phase.histogram = joined(&phase.histogram, BUCKETS_MAX, |a: &mut Bucket, b| {
        a.ops += b.ops;
        a.up_to_ns = b.up_to_ns;
    });
    phase.intervals = joined(&phase.intervals, INTERVALS_MAX, |a: &mut Interval, b| {
        a.duration_ns += b.duration_ns;
        a.ops += b.ops;
        a.bytes += b.bytes;
        a.latency_max_ns = a.latency_max_ns.max(b.latency_max_ns);
    });
    if let Some(surroundings) = &mut phase.surroundings {
        // Readings of heat and clock: every nth tells the same course.
        let step = surroundings.moments.len().div_ceil(INTERVALS_MAX).max(1);
        let last = surroundings.moments.last().copied();
        let mut kept: Vec<_> = surroundings.moments.iter().copied().step_by(step).collect();
        if kept.len() == INTERVALS_MAX {
            kept.pop();
        }
        if kept.last() != last.as_ref() {
            kept.extend(last);
        }
        surroundings.moments = kept;
    }
}

/// `entries` with neighbours joined so that at most `count_max` are left.
fn joined<T: Clone>(entries: &[T], count_max: usize, join: impl Fn(&mut T, &T)) -> Vec<T> {
    let size = entries.len().div_ceil(count_max).max(1);
    let groups = entries.chunks(size);
    groups
        .filter_map(|group| {
            let (first, rest) = group.split_first()?;
            let mut whole = first.clone();
            rest.iter().for_each(|entry| join(&mut whole, entry));
            Some(whole)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_and_the_sum_stays() {
        let entries: Vec<u64> = (0..1000).collect();
        for count_max in [1, 7, 64, 999, 1000, 2000] {
            let short = joined(&entries, count_max, |a, b| *a += b);
            assert!(short.len() <= count_max);
            assert_eq!(short.iter().sum::<u64>(), 499_500);
        }
        assert!(joined(&[] as &[u64], 5, |a, b| *a += b).is_empty());
    }
}
