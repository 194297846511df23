//! A rate that may be looked at any time, and the measurement be stopped for what was seen.
//!
//! The completions of a card are not independent: it pauses to tidy up, and it drifts. So the
//! time since the start is cut into few long batches, whatever its length; what matters is how
//! their means scatter, for that holds the pauses (method of batch means, with several numbers of
//! batches of which the worst counts). Around the mean lies the boundary of a confidence sequence,
//! with Student's t for the few batches. To that comes what no scatter within the window can show,
//! as a time by which the window may have been too long or too short:
//!
//! - one longest pause, seen or of the length that the SD specification allows, more or less in
//!   the window;
//! - a drift of the card's speed slower than the window, as far as swing times period stay below
//!   [`DRIFT`]: whatever the phase, the mean of a triangle wave of swing a and period p is off by
//!   at most a p / (4 t).
//!
//! Assumptions: one level over the window, but for drift; pauses that come at least several times
//! in the window or are no longer than stated. What breaks them is a card that changes its level
//! after the window; no measurement of the window can know.

use cardproof_units::{Iops, Nanos};

use crate::RateInterval;
use crate::batches::Batches;
use crate::boundary::{MixtureBoundary, with_freedom};

/// The numbers of batches of which the worst counts. Fewer see rarer pauses, more waste fewer
/// degrees of freedom.
const BATCH_COUNTS: [usize; 3] = [10, 20, 40];

/// The length of a batch at the beginning.
const BATCH: Nanos = Nanos::from_millis(10);

/// The boundary is narrowest at this time: a verdict worth waiting for should come by then.
const BEST_TIME: Nanos = Nanos::from_secs(8);

/// How long a card may be busy with one write: 250 ms (SD Physical Layer Specification, write
/// timeout of high-capacity cards). A pause as long as this may have been missed by chance.
const BUSY_MAX: Nanos = Nanos::from_millis(250);

/// Slow drifts are allowed for as far as their swing to either side times their period is at most
/// four times this: 5 % in 20 s.
const DRIFT: Nanos = Nanos::from_millis(250);

/// With fewer operations in a batch on average, its scatter is that of the counting itself.
const OPS_IN_BATCH_MIN: u64 = 3;

/// Below so many operations their number alone is uncertain as that of a Poisson process.
const OPS_FEW: u64 = 30;

/// A rate over a growing window.
#[derive(Clone, Debug)]
pub struct RateSequence {
    start: Nanos,
    end: Nanos,
    ops: u64,
    batches: Batches,
    last_op: Nanos,
    longest_gap: Nanos,
}

impl RateSequence {
    /// A window that begins at `start`.
    #[must_use]
    pub fn new(start: Nanos) -> Self {
        Self {
            start,
            end: start,
            ops: 0,
            batches: Batches::new(start, BATCH),
            last_op: start,
            longest_gap: Nanos::ZERO,
        }
    }

    /// Notes that `ops` operations completed since the last call, the latest of them at `time`.
    pub fn observe(&mut self, time: Nanos, ops: u64) {
        let time = time.max(self.end);
        self.longest_gap = self.longest_gap.max(time.saturating_sub(self.last_op));
        self.batches.add(time, ops);
        self.end = time;
        if ops > 0 {
            self.ops += ops;
            self.last_op = time;
        }
    }

    /// The rate so far and the interval that holds the true one with `confidence` at this and all
    /// other times together; `None` while the window is too short to be cut into batches, or for a
    /// confidence outside 0 to 1.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<RateInterval> {
        let seconds = self.end.saturating_sub(self.start).as_secs_f64();
        let errors =
            MixtureBoundary::new(confidence)?.standard_errors(seconds / BEST_TIME.as_secs_f64());
        let (fewest, most) = self.range(errors)?;
        // One pause or swing of the speed more, or one less, in the same time.
        let slower = seconds + (DRIFT + self.longest_gap.max(BUSY_MAX)).as_secs_f64();
        // Of few operations the scatter itself holds the gaps.
        let pause = if self.ops < OPS_FEW { Nanos::ZERO } else { self.longest_gap };
        let faster = seconds - (DRIFT + pause).as_secs_f64();
        let high = if faster > 0.0 { most / faster } else { f64::INFINITY };
        let estimate = self.ops as f64 / seconds;
        high.is_finite().then(|| RateInterval {
            estimate: Iops(estimate),
            low: Iops(known_digits(fewest / slower)),
            high: Iops(known_digits(high)),
        })
    }

    /// The fewest and the most operations that the true rate makes in the window, drift and rare
    /// pauses aside.
    fn range(&self, errors: f64) -> Option<(f64, f64)> {
        let scatter = BATCH_COUNTS
            .iter()
            .filter(|&&count| self.ops >= OPS_IN_BATCH_MIN * count as u64)
            .filter_map(|&count| {
                let freedom = with_freedom(errors, count - 1);
                self.batches.relative_error(count).map(|error| error * freedom)
            })
            .reduce(f64::max);
        if self.ops < OPS_FEW {
            return self
                .batches
                .are_at_least(BATCH_COUNTS[0])
                .then(|| poisson_range(self.ops, errors));
        }
        let ops = self.ops as f64;
        let part = scatter? + 1.0 / ops;
        Some((ops * (1.0 - part).max(0.0), ops * (1.0 + part)))
    }
}

/// A rate to six digits: finer is not known, and the last digits of a quantile depend on the
/// machine's mathematical library, which no record should show.
fn known_digits(rate: f64) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(rate.log10().floor() as i32 - 5);
    (rate / unit).round() * unit
}

/// The means of the Poisson distributions from which `ops` is `errors` standard errors away: the
/// score interval (Garwood 1936 gives nearly the same).
fn poisson_range(ops: u64, errors: f64) -> (f64, f64) {
    let ops = ops as f64;
    let middle = ops + errors * errors / 2.0;
    let half = errors * (ops + errors * errors / 4.0).sqrt();
    (middle - half, middle + half)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn steady(ops_per_ms: u64, ms: u64) -> RateSequence {
        let mut sequence = RateSequence::new(Nanos::from_secs(9));
        for time in 1..=ms {
            sequence.observe(Nanos::from_secs(9) + Nanos::from_millis(time), ops_per_ms);
        }
        sequence
    }

    #[test]
    fn a_steady_rate_is_known_to_what_may_have_been_missed() {
        let RateInterval { estimate, low, high } = steady(2, 5_000).interval(0.99).unwrap();
        assert_eq!(estimate.0, 2000.0);
        // A pause and a drift of 250 ms each in 5 s, and one operation of 10,000 at the edge.
        assert!((low.0 - 2000.0 * 0.9999 / 1.1).abs() < 1.0, "{low}");
        assert!((high.0 - 2000.0 * 1.0001 / (1.0 - 0.0502)).abs() < 1.0, "{high}");
    }

    #[test]
    fn nothing_is_said_too_early_and_a_dead_card_is_known_to_be_slow() {
        assert_eq!(steady(2, 99).interval(0.99), None);
        assert_eq!(steady(2, 2_000).interval(1.0), None);
        let dead = steady(0, 5_000).interval(0.99).unwrap();
        assert_eq!((dead.estimate.0, dead.low.0), (0.0, 0.0));
        assert!(dead.high.0 < 5.0, "{}", dead.high);
    }

    /// Whether the interval ever leaves the true rate in `seconds`, looked at every 100 ms: a card
    /// with jitter and pauses of random length at random times.
    fn is_ever_wrong(base_s: f64, pause_s: f64, every_s: f64, seconds: f64, seed: u64) -> bool {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let truth = 1.0 / (base_s * (1.0 + pause_s / every_s));
        let mut sequence = RateSequence::new(Nanos::ZERO);
        let (mut time, mut next_look) = (0.0, 0.1);
        while time < seconds {
            let service = base_s * (0.5 + uniform());
            time += service;
            if uniform() < service / every_s {
                time += pause_s * (0.5 + uniform());
            }
            sequence.observe(Nanos::from_secs_f64(time), 1);
            if time >= next_look {
                next_look = time + 0.1;
                let known = sequence.interval(0.99);
                if known.is_some_and(|rate| truth < rate.low.0 || truth > rate.high.0) {
                    return true;
                }
            }
        }
        false
    }

    #[test]
    fn however_often_it_is_looked_at_it_holds_the_true_rate() {
        for (base_s, pause_s, every_s) in
            [(0.002, 0.2, 2.0), (0.0005, 0.1, 0.4), (0.0004, 0.0, 1.0)]
        {
            let wrong =
                (0..200).filter(|&seed| is_ever_wrong(base_s, pause_s, every_s, 20.0, seed));
            let wrong = wrong.count();
            // A chance of at most 1 % each: 2 of 200 on average, above 7 in one of 1000 tests.
            assert!(wrong <= 7, "{wrong} of 200 with pauses of {pause_s} s");
        }
    }
}
