//! Latencies of any number of operations in bounded memory.

use cardproof_units::Nanos;
use hdrhistogram::Histogram;

/// The longest latency told apart from longer ones; the exact maximum is kept beside it.
const LONGEST: Nanos = Nanos::from_secs(600);

/// Percentiles are exact to three significant digits.
const DIGITS: u8 = 3;

/// A histogram of latencies from 1 ns to 10 minutes, to three significant digits.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    // Two bytes of count would overflow in a minute; four do not in an hour.
    histogram: Histogram<u32>,
    min: Nanos,
    max: Nanos,
    sum_ns: u128,
}

/// The figures that are kept of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySummary {
    /// The shortest, exactly.
    pub min: Nanos,
    /// The arithmetic mean, exactly.
    pub mean: Nanos,
    /// The median.
    pub p50: Nanos,
    /// The 90th percentile.
    pub p90: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The 99.9th percentile.
    pub p999: Nanos,
    /// The longest, exactly.
    pub max: Nanos,
}

/// How many latencies lie above the bucket before and at most at this one's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBucket {
    /// The bucket's end, inclusive.
    pub up_to: Nanos,
    /// How many.
    pub ops: u64,
}

impl LatencyHistogram {
    /// An empty histogram; about 140 KiB, of which only what is used is touched.
    ///
    /// # Errors
    /// Never with these bounds; the library's own error is passed on.
    pub fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            histogram: Histogram::new_with_bounds(1, LONGEST.get(), DIGITS)?,
            min: Nanos(u64::MAX),
            max: Nanos::ZERO,
            sum_ns: 0,
        })
    }

    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.histogram.saturating_record(latency.get());
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.sum_ns += u128::from(latency.get());
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.histogram.reset();
        (self.min, self.max, self.sum_ns) = (Nanos(u64::MAX), Nanos::ZERO, 0);
    }

    /// The latencies of both together.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let mut both = self.clone();
        // The bounds are the same, so every value fits.
        both.histogram += &other.histogram;
        both.min = both.min.min(other.min);
        both.max = both.max.max(other.max);
        both.sum_ns += other.sum_ns;
        both
    }

    /// How many latencies there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The latency of `rank`, from 1, among all of them sorted.
    pub(crate) fn at_rank(&self, rank: u64) -> Nanos {
        // Half a rank lower, so that no rounding reaches for the next one.
        let quantile = (rank as f64 - 0.5) / self.count().max(1) as f64;
        Nanos(self.histogram.value_at_quantile(quantile)).clamp(self.min, self.max)
    }

    /// The figures; `None` of an empty histogram.
    #[must_use]
    pub fn summary(&self) -> Option<LatencySummary> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let at =
            |quantile| Nanos(self.histogram.value_at_quantile(quantile)).clamp(self.min, self.max);
        Some(LatencySummary {
            min: self.min,
            mean: Nanos(u64::try_from(self.sum_ns / u128::from(count)).unwrap_or(u64::MAX)),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: self.max,
        })
    }

    /// The distribution in buckets whose ends are `per_decade` to each power of ten, shortest
    /// first, without empty ones.
    #[must_use]
    pub fn buckets(&self, per_decade: u32) -> Vec<LatencyBucket> {
        let mut buckets: Vec<LatencyBucket> = Vec::new();
        for step in self.histogram.iter_recorded() {
            let up_to = bucket_end(step.value_iterated_to(), per_decade).min(self.max);
            let ops = u64::from(step.count_at_value());
            match buckets.last_mut() {
                Some(last) if last.up_to == up_to => last.ops += ops,
                _ => buckets.push(LatencyBucket { up_to, ops }),
            }
        }
        buckets
    }
}

/// The smallest bucket end that is not below `nanos`.
fn bucket_end(nanos: u64, per_decade: u32) -> Nanos {
    let steps = f64::from(per_decade);
    let index = ((nanos.max(1) as f64).log10() * steps - 1e-9).ceil();
    Nanos(10_f64.powf(index / steps).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new().unwrap();
        latencies.into_iter().for_each(|nanos| histogram.record(Nanos(nanos)));
        histogram
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_latencies() {
        let summary = of((1..=10_000).map(|n| n * 1000)).summary().unwrap();
        let near = |found: Nanos, wanted: u64| {
            assert!(found.get().abs_diff(wanted) <= wanted / 500, "{found} is not {wanted} ns");
        };
        assert_eq!(summary.min, Nanos(1000));
        assert_eq!(summary.mean, Nanos(5_000_500));
        near(summary.p50, 5_000_000);
        near(summary.p90, 9_000_000);
        near(summary.p99, 9_900_000);
        near(summary.p999, 9_990_000);
        assert_eq!(summary.max, Nanos(10_000_000));
    }

    #[test]
    fn a_pause_longer_than_the_histogram_is_kept_exactly() {
        let summary = of([5, Nanos::from_secs(3600).get()]).summary().unwrap();
        assert_eq!(summary.max, Nanos::from_secs(3600));
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(of([]).summary(), None);
        let mut histogram = of([7]);
        histogram.clear();
        assert_eq!((histogram.summary(), histogram.count()), (None, 0));
    }

    #[test]
    fn merging_is_recording_all_in_one() {
        let merged = of([5, 70, 900]).merged(&of([3, 70, 12_345]));
        let all = of([5, 70, 900, 3, 70, 12_345]);
        assert_eq!((merged.summary(), merged.buckets(5)), (all.summary(), all.buckets(5)));
    }

    #[test]
    fn buckets_hold_every_operation_once_in_order() {
        let buckets = of([10, 11, 500, 1_000, 1_000_000, 1_000_001]).buckets(10);
        assert_eq!(buckets.iter().map(|bucket| bucket.ops).sum::<u64>(), 6);
        assert!(buckets.windows(2).all(|pair| pair[0].up_to < pair[1].up_to));
        assert_eq!(buckets.first().map(|bucket| bucket.up_to), Some(Nanos(10)));
    }
}
