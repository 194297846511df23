//! Counts in equal batches of time, in bounded memory: when there are too many, pairs become one.

use cardproof_units::Nanos;

/// More batches than this are merged in pairs.
const BATCHES_MAX: usize = 80;

/// Counts of operations in equal batches of time, from a start, without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    ended: Vec<u64>,
    open: u64,
    open_end: Nanos,
    length: Nanos,
}

impl Batches {
    /// Batches from `start`, each of `length` at first, which is not zero.
    pub(crate) fn new(start: Nanos, length: Nanos) -> Self {
        Self {
            ended: Vec::with_capacity(BATCHES_MAX),
            open: 0,
            open_end: start.saturating_add(length),
            length,
        }
    }

    /// Adds `ops` that completed before `time`, not before earlier ones.
    pub(crate) fn add(&mut self, time: Nanos, ops: u64) {
        while time > self.open_end {
            self.ended.push(std::mem::take(&mut self.open));
            if self.ended.len() == BATCHES_MAX {
                self.halve();
            }
            self.open_end = self.open_end.saturating_add(self.length);
        }
        self.open += ops;
    }

    fn halve(&mut self) {
        self.ended = self.ended.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        self.ended.reserve(BATCHES_MAX / 2);
        self.length = self.length * 2;
    }

    /// Whether at least `count` batches have ended.
    pub(crate) fn are_at_least(&self, count: usize) -> bool {
        self.ended.len() >= count
    }

    /// The standard error of the mean count, as a part of that mean, from `count` groups of whole
    /// batches; what does not fill them is left out at the beginning. `None` with fewer batches
    /// than groups, or without operations.
    pub(crate) fn relative_error(&self, count: usize) -> Option<f64> {
        let length = self.ended.len() / count;
        if length == 0 {
            return None;
        }
        let (_, used) = self.ended.split_at(self.ended.len() - length * count);
        let sums = || used.chunks_exact(length).map(|group| group.iter().sum::<u64>() as f64);
        let mean = sums().sum::<f64>() / count as f64;
        let squares = sums().map(|sum| (sum - mean).powi(2)).sum::<f64>();
        let variance = squares / (count as f64 - 1.0);
        (mean > 0.0).then(|| (variance / count as f64).sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn merging_loses_no_operation() {
        let mut batches = Batches::new(Nanos(7), Nanos(10));
        for time in 8..50_000 {
            batches.add(Nanos(time), 1);
        }
        assert!(batches.ended.len() < BATCHES_MAX && batches.ended.len() >= BATCHES_MAX / 2);
        assert_eq!(batches.ended.iter().sum::<u64>() + batches.open, 49_992);
        assert!(batches.ended.iter().all(|&ops| ops == batches.length.get()));
    }

    #[test]
    fn the_error_of_two_kinds_of_batches_by_hand() {
        let mut batches = Batches::new(Nanos(0), Nanos(10));
        for number in 0..10 {
            batches.add(Nanos(10 * number + 5), if number % 2 == 0 { 90 } else { 110 });
        }
        batches.add(Nanos(101), 0);
        // Standard deviation 10.541 over the square root of 10, of a mean of 100.
        assert!((batches.relative_error(10).unwrap() - 0.033_333).abs() < 1e-5);
        assert_eq!(batches.relative_error(5).unwrap(), 0.0);
        assert_eq!(batches.relative_error(11), None);
    }
}
