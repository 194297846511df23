//! The slowest stretch of a phase: what a recording device would have met at the worst moment.
//!
//! A mean hides a stop. The time series knows when data arrived only to a slice, so the rate given
//! here is the highest that agrees with the series: a stretch is called slow only for certain.

use cardproof_record::Interval;
use cardproof_units::{Bytes, Nanos, Throughput};

/// The lowest rate at which `length` were moved in a row, at the most that `slices` allow; `None`
/// where less was moved in all, or no stretch is long enough to tell.
pub(crate) fn slowest_stretch(slices: &[Interval], length: Bytes) -> Option<Throughput> {
    let stretches = (0..slices.len()).filter_map(|start| stretch(&slices[start..], length));
    stretches.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The highest rate at which the first `length` of `slices` can have been moved. They may have
/// begun at the first slice's end and ended at the last one's start.
fn stretch(slices: &[Interval], length: Bytes) -> Option<Throughput> {
    let mut moved = Bytes::ZERO;
    let mut between = Nanos::ZERO;
    for (index, slice) in slices.iter().enumerate() {
        moved = Bytes(moved.0 + slice.bytes.0);
        if moved >= length {
            return Throughput::from_bytes(length, between);
        }
        if index > 0 {
            between = between.saturating_add(slice.duration_ns);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices of 100 ms that moved so many MiB.
    fn slices(mib: &[u64]) -> Vec<Interval> {
        let slice = |(index, mib): (usize, &u64)| Interval {
            start_ns: Nanos::from_millis(100 * index as u64),
            duration_ns: Nanos::from_millis(100),
            ops: *mib,
            bytes: Bytes::mib(*mib),
            latency_max_ns: Nanos::ZERO,
        };
        mib.iter().enumerate().map(slice).collect()
    }

    #[test]
    fn a_stop_shows_and_an_even_flow_is_not_called_slower_than_it_is() {
        let even = slowest_stretch(&slices(&[2; 20]), Bytes::mib(8)).unwrap();
        assert!(even.0 >= 20.0 * 1_048_576.0, "{even}");
        let stopping = slices(&[2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2]);
        let slowest = slowest_stretch(&stopping, Bytes::mib(8)).unwrap();
        assert!((slowest.0 - 8.0 * 1_048_576.0 / 1.0).abs() < 1.0, "{slowest}");
    }

    #[test]
    fn too_little_data_has_no_slowest_stretch() {
        assert_eq!(slowest_stretch(&slices(&[2, 2]), Bytes::mib(8)), None);
        assert_eq!(slowest_stretch(&slices(&[9]), Bytes::mib(8)), None, "within one slice");
        assert_eq!(slowest_stretch(&[], Bytes::mib(8)), None);
    }
}
