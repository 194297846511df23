//! How long the test takes: known once the first places and the first filler were written.
//!
//! The speed of writing cannot be known before something was written, so the estimate comes from the
//! test's own first writes. They are followed by a flush, so that a cache between here and the device
//! does not pass for its speed.

use cardproof_units::Nanos;

/// The estimate is made after so many bytes of filler, or an eighth of it, if that is less …
const BYTES_MIN: u64 = 8 << 20;

/// … and after so long, or an eighth of the filler. Caches and limits of a slow device make its first
/// second unlike the rest.
const TIME_MIN: Nanos = Nanos::from_millis(5000);

/// What was measured so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    filler_bytes: u64,
    filler_time: Nanos,
    spread_bytes: u64,
    spread_time: Nanos,
    places: u64,
    places_time: Nanos,
    pieces_bytes: u64,
    pieces_time: Nanos,
    pub(super) estimate: Option<Estimate>,
}

/// How long the test takes on an honest device, estimated once, from its first writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// From the beginning until all is written.
    pub writing: Nanos,
    /// Reading back.
    pub reading: Nanos,
}

impl Estimate {
    /// Both together.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.writing + self.reading
    }
}

/// What is left to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) filler_bytes: u64,
    /// Bytes of filler in pieces.
    pub(super) spread_bytes: u64,
    pub(super) places_to_read: u64,
    /// Bytes that are read in long pieces.
    pub(super) pieces_bytes: u64,
}

impl Pace {
    /// Notes that `bytes` of filler took so long to write; none for a flush.
    pub(super) fn note_filler(&mut self, bytes: u64, took: Nanos) {
        self.filler_bytes += bytes;
        self.filler_time += took;
    }

    /// Notes that `bytes` of a piece of filler took so long to write: it may take longer than as much in
    /// one stretch.
    pub(super) fn note_spread(&mut self, bytes: u64, took: Nanos) {
        self.spread_bytes += bytes;
        self.spread_time += took;
    }

    /// Notes that a place took so long to read.
    pub(super) fn note_place(&mut self, took: Nanos) {
        self.places += 1;
        self.places_time += took;
    }

    /// Notes that a long piece took so long to read.
    pub(super) fn note_piece(&mut self, bytes: u64, took: Nanos) {
        self.pieces_bytes += bytes;
        self.pieces_time += took;
    }

    /// Whether enough of the `filler`, and of `spread` bytes in pieces, is written for an estimate.
    pub(super) fn is_ready(&self, filler: u64, spread: u64) -> bool {
        let is_enough = self.filler_bytes >= BYTES_MIN && self.filler_time >= TIME_MIN;
        let has_pieces = spread == 0 || self.spread_bytes > 0;
        self.estimate.is_none() && has_pieces && (is_enough || self.filler_bytes >= filler / 8)
    }

    /// How long `work` takes at the measured pace; `None` before the estimate.
    pub(super) fn left(&self, work: Work) -> Option<Nanos> {
        self.estimate.map(|_| self.writing(work) + self.reading(work))
    }

    /// Makes the estimate: `elapsed` and what `work` takes.
    pub(super) fn make_estimate(&mut self, elapsed: Nanos, work: Work) {
        let writing = elapsed + self.writing(work);
        self.estimate = Some(Estimate { writing, reading: self.reading(work) });
    }

    fn writing(&self, work: Work) -> Nanos {
        at_pace(self.filler_time, self.filler_bytes, work.filler_bytes)
            + at_pace(self.spread_time, self.spread_bytes, work.spread_bytes)
    }

    fn reading(&self, work: Work) -> Nanos {
        at_pace(self.places_time, self.places, work.places_to_read)
            + at_pace(self.pieces_time, self.pieces_bytes, work.pieces_bytes)
    }
}

/// How long `left` takes if `done` took `time`.
fn at_pace(time: Nanos, done: u64, left: u64) -> Nanos {
    Nanos::from_secs_f64(time.as_secs_f64() / done.max(1) as f64 * left as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_what_was_and_what_is_left() {
        let mut pace = Pace::default();
        pace.note_filler(8 << 20, Nanos::from_secs(6));
        assert!(pace.is_ready(1 << 30, 0));
        pace.note_place(Nanos::from_millis(10));
        let work = Work { filler_bytes: 24 << 20, places_to_read: 100, ..Work::default() };
        assert_eq!(pace.left(work), None, "nothing is said before the estimate");
        pace.make_estimate(Nanos::from_secs(5), work);
        let estimate = pace.estimate.unwrap();
        assert_eq!(estimate.writing, Nanos::from_secs(5 + 18));
        assert_eq!(estimate.total(), Nanos::from_secs(5 + 18 + 1));
        assert!(!pace.is_ready(1 << 30, 0), "it is made once");
    }

    #[test]
    fn pieces_have_a_pace_of_their_own() {
        let mut pace = Pace::default();
        pace.note_filler(128 << 20, Nanos::from_secs(6));
        assert!(!pace.is_ready(1 << 30, 1 << 30), "of pieces nothing is known");
        pace.note_spread(8 << 20, Nanos::from_secs(1));
        assert!(pace.is_ready(1 << 30, 1 << 30));
        let work = Work { spread_bytes: 80 << 20, ..Work::default() };
        pace.make_estimate(Nanos::ZERO, work);
        assert_eq!(pace.estimate.unwrap().writing, Nanos::from_secs(10));
    }

    #[test]
    fn a_fast_device_is_measured_for_longer() {
        let mut pace = Pace::default();
        pace.note_filler(16 << 20, Nanos::from_millis(20));
        assert!(!pace.is_ready(1 << 30, 0));
        pace.note_filler(112 << 20, Nanos::from_millis(140));
        assert!(pace.is_ready(1 << 30, 0), "an eighth of it is enough");
    }
}
