//! What happened when: completions in equal slices of time.
//!
//! Slices are fine at first and are merged in pairs when there would be too many, so that a
//! long phase takes no more memory than a short one.

use cardproof_units::{Bytes, Nanos};

/// The completions in one slice of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// How many operations completed.
    pub ops: u64,
    /// How many bytes they moved.
    pub bytes: Bytes,
    /// The longest latency among them.
    pub latency_max: Nanos,
}

impl Slice {
    /// Both together.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            ops: self.ops + other.ops,
            bytes: self.bytes + other.bytes,
            latency_max: self.latency_max.max(other.latency_max),
        }
    }
}

/// Completions over time, from a start, without gaps.
#[derive(Clone, Debug)]
pub struct TimeSeries {
    start: Nanos,
    slice_duration: Nanos,
    slice_end: Nanos,
    slices_max: usize,
    finished: Vec<Slice>,
    current: Slice,
}

impl TimeSeries {
    /// A series from `start` with slices of `slice_duration`, not zero, of which at most
    /// `slices_max`, at least 2 and even, are kept before they are merged.
    #[must_use]
    pub fn new(start: Nanos, slice_duration: Nanos, slices_max: usize) -> Self {
        let slice_duration = slice_duration.max(Nanos(1));
        Self {
            start,
            slice_duration,
            slice_end: start.saturating_add(slice_duration),
            slices_max: slices_max.max(2).next_multiple_of(2),
            finished: Vec::new(),
            current: Slice::default(),
        }
    }

    /// Adds a completion at `time`; one from before the current slice counts in the current one.
    #[inline]
    pub fn record(&mut self, time: Nanos, bytes: Bytes, latency: Nanos) {
        if time >= self.slice_end {
            self.advance(time);
        }
        self.current.ops += 1;
        self.current.bytes += bytes;
        self.current.latency_max = self.current.latency_max.max(latency);
    }

    /// Ends every slice that lies wholly before `time`. Returns whether any did.
    pub fn advance(&mut self, time: Nanos) -> bool {
        let mut advanced = false;
        while time >= self.slice_end {
            advanced = true;
            self.finished.push(std::mem::take(&mut self.current));
            if self.finished.len() == self.slices_max {
                self.halve();
            }
            self.slice_end = self.slice_end.saturating_add(self.slice_duration);
        }
        advanced
    }

    /// Merges slices in pairs.
    fn halve(&mut self) {
        let half = self.finished.len() / 2;
        for index in 0..half {
            let pair = [self.finished[2 * index], self.finished[2 * index + 1]];
            self.finished[index] = pair[0].merged(pair[1]);
        }
        self.finished.truncate(half);
        self.slice_duration = self.slice_duration * 2;
    }

    /// The finished slices, all of [`slice_duration`](Self::slice_duration).
    #[must_use]
    pub fn finished(&self) -> &[Slice] {
        &self.finished
    }

    /// The slice that is still open: its start, and what completed in it so far.
    #[must_use]
    pub fn current(&self) -> (Nanos, Slice) {
        (self.slice_end.saturating_sub(self.slice_duration), self.current)
    }

    /// How long each slice is.
    #[must_use]
    pub const fn slice_duration(&self) -> Nanos {
        self.slice_duration
    }

    /// Where the series starts.
    #[must_use]
    pub const fn start(&self) -> Nanos {
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_leaves_empty_slices() {
        let mut series = TimeSeries::new(Nanos(100), Nanos(10), 100);
        series.record(Nanos(105), Bytes(1), Nanos(3));
        series.record(Nanos(136), Bytes(2), Nanos(30));
        let ops: Vec<u64> = series.finished().iter().map(|slice| slice.ops).collect();
        assert_eq!(ops, [1, 0, 0]);
        assert_eq!(
            series.current(),
            (Nanos(130), Slice { ops: 1, bytes: Bytes(2), latency_max: Nanos(30) })
        );
    }

    #[test]
    fn merging_loses_no_operation_and_no_maximum() {
        let mut series = TimeSeries::new(Nanos::ZERO, Nanos(10), 4);
        for time in 0..1000 {
            series.record(Nanos(time), Bytes(2), Nanos(if time == 500 { 77 } else { 1 }));
        }
        series.advance(Nanos(1000));
        let total = series.finished().iter().fold(series.current().1, |sum, &s| sum.merged(s));
        assert_eq!(total, Slice { ops: 1000, bytes: Bytes(2000), latency_max: Nanos(77) });
        assert!(series.finished().len() < 4);
        let spanned = series.slice_duration() * series.finished().len() as u64;
        assert_eq!(series.current().0, spanned);
    }
}
