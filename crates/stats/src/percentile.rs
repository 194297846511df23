//! How surely a latency percentile is known, whatever the shape of the distribution.
//!
//! The ends are order statistics, so nothing is assumed of the shape. What is assumed is that
//! latencies are independent, and those of operations in flight together are not: a pause makes
//! all of them long at once. So as many operations as were in flight count as one. Pauses that
//! come in groups are still taken for independent ones, which makes the interval of a far
//! percentile too narrow where a phase saw few of them.

use cardproof_units::Nanos;

use crate::LatencyHistogram;
use crate::student::quantile_ranks;

/// Between which latencies a percentile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyInterval {
    /// The lower end: the shortest latency that was seen, or more.
    pub low: Nanos,
    /// The upper end; `None` where too few operations were seen to bound it.
    pub high: Option<Nanos>,
}

impl LatencyHistogram {
    /// The interval that holds the `quantile` (between 0 and 1) of the storage's own distribution
    /// with `confidence` (between 0 and 1), when `in_flight` operations shared their waits;
    /// `None` of an empty histogram or where a share is none.
    #[must_use]
    pub fn quantile_interval(
        &self,
        quantile: f64,
        confidence: f64,
        in_flight: u16,
    ) -> Option<LatencyInterval> {
        let shared = u64::from(in_flight.max(1)).min(self.count());
        let ranks = quantile_ranks(self.count().checked_div(shared)?, quantile, confidence)?;
        let min = self.summary()?.min;
        Some(LatencyInterval {
            low: ranks.low.map_or(min, |rank| self.at_rank((rank - 1) * shared + 1)),
            high: ranks.high.map(|rank| self.at_rank(rank * shared)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn of(latencies: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new().unwrap();
        latencies.into_iter().for_each(|nanos| histogram.record(Nanos(nanos)));
        histogram
    }

    #[test]
    fn the_ends_are_the_values_of_their_ranks() {
        let interval = of(1..=100).quantile_interval(0.5, 0.95, 1).unwrap();
        assert_eq!(interval, LatencyInterval { low: Nanos(40), high: Some(Nanos(61)) });
    }

    #[test]
    fn operations_in_flight_together_count_as_one() {
        let alone = of(1..=800).quantile_interval(0.5, 0.95, 1).unwrap();
        let together = of(1..=800).quantile_interval(0.5, 0.95, 8).unwrap();
        assert_eq!(together, LatencyInterval { low: Nanos(313), high: Some(Nanos(488)) });
        assert!(alone.low > together.low && alone.high < together.high, "{alone:?}");
    }

    #[test]
    fn a_percentile_beyond_what_was_seen_has_no_upper_end() {
        let interval = of(1..=500).quantile_interval(0.999, 0.99, 1).unwrap();
        assert_eq!(interval.high, None);
        assert!(interval.low >= Nanos(497), "{interval:?}");
        assert_eq!(of([]).quantile_interval(0.5, 0.99, 1), None);
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let seed = 20_261_121;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = move || {
            // Mostly about a millisecond, one of fifty a pause: nothing like a normal.
            let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            if uniform < 0.98 { (1e6 * (1.0 + uniform)) as u64 } else { (2e8 * uniform) as u64 }
        };
        let truth = Nanos((1e6 * 1.9) as u64);
        let runs = 1000;
        let holding = (0..runs)
            .filter(|_| {
                let sample = of(std::iter::repeat_with(&mut draw).take(400));
                let interval = sample.quantile_interval(0.9, 0.95, 1).unwrap();
                interval.low <= truth && interval.high.is_none_or(|high| truth <= high)
            })
            .count();
        assert!(holding >= 940, "only {holding} of {runs} hold it, seed {seed}");
    }
}
