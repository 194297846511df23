//! What is true of a simulated card and its computer, and what nobody may look at who judges it.
//!
//! From public facts: a survey of 223 cards has the first error at 4,634 writes of the whole card on average where
//! cards of all brands went on to 9,000 until a thousandth of them was bad; cards end read-only, silent, or at once and
//! without a sign; a reader's contacts and a weak supply make the same errors as a card. How long trouble shows before
//! an end is in no public figure: the times here are assumptions, drawn widely.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How a card ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Ever more places cannot be read.
    WearsOut,
    /// It takes no writes any more.
    Locks,
    /// It returns other data than were written.
    ReturnsOtherData,
    /// It takes writes and forgets them.
    ForgetsWrites,
    /// It does not answer in time, ever more often.
    TimesOut,
    /// Addresses from a place on fail at once.
    Shrinks,
    /// It is gone from one moment to the next.
    Vanishes,
    /// It becomes slow, and then stops.
    SlowsDown,
}

pub(super) const KINDS: [(Kind, &str); 8] = [
    (Kind::WearsOut, "ever more unreadable places"),
    (Kind::Locks, "locks itself read-only"),
    (Kind::ReturnsOtherData, "returns other data"),
    (Kind::ForgetsWrites, "forgets what is written"),
    (Kind::TimesOut, "stops answering, by and by"),
    (Kind::Shrinks, "shrinks at once"),
    (Kind::Vanishes, "is gone at once"),
    (Kind::SlowsDown, "becomes slow, and stops"),
];

/// Years are looked at, in days.
pub(super) const HORIZON_DAYS: usize = 4 * 365;

/// The truth of one life.
#[derive(Clone, Debug)]
pub(super) struct Hidden {
    pub(super) kind: Kind,
    /// When it ends; beyond the horizon it is still alive.
    pub(super) end_day: f64,
    /// When its trouble begins to show; `None` where the end comes without a sign.
    pub(super) trouble_day: Option<f64>,
    /// Gigabytes that are written on an ordinary day.
    pub(super) gb_a_day: f64,
    /// How far days lie apart: the standard deviation of the logarithm.
    pub(super) spread: f64,
    /// A day on which another use begins, and how much more it writes.
    pub(super) other_use: Option<(f64, f64)>,
    /// Gigabytes that the maker rates it for.
    pub(super) rated_gb: f64,
    /// Whether it reports its used life, as an eMMC.
    pub(super) reports_life: bool,
    /// When the contacts of the reader become bad.
    pub(super) bad_reader_day: Option<f64>,
    /// Whether the supply is weak.
    pub(super) is_power_weak: bool,
    /// Whether the program may read the kernel's log.
    pub(super) may_read_log: bool,
    /// Whether there is a journal of earlier starts.
    pub(super) has_journal: bool,
}

/// A random number from 0 to 1, with neither end.
pub(super) fn share(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

pub(super) fn happens(random: &mut Xoshiro256PlusPlus, probability: f64) -> bool {
    share(random) < probability
}

/// A normal deviate (Box and Muller).
pub(super) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (one, two) = (share(random), share(random));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

/// A lognormal deviate with this median.
fn around(random: &mut Xoshiro256PlusPlus, median: f64, sigma: f64) -> f64 {
    median * (sigma * normal(random)).exp()
}

impl Hidden {
    /// The life called `number`: kinds in turn, the rest by chance.
    pub(super) fn draw(number: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let kind = KINDS[number % KINDS.len()].0;
        let gb_a_day = around(random, 4.0, 1.0);
        // Of such a workload the rated life is some years, and true lives are around it.
        let rated_days = around(random, 700.0, 0.6);
        let end_day = match kind {
            Kind::WearsOut | Kind::Locks | Kind::SlowsDown => {
                rated_days * around(random, 1.3, 0.35)
            }
            _ => -1200.0 * share(random).ln(),
        };
        let lead_days = match kind {
            Kind::WearsOut => Some(end_day * (1.0 - (0.5 + 0.2 * normal(random)).clamp(0.1, 0.98))),
            Kind::Locks => happens(random, 0.5).then(|| around(random, 20.0, 1.0)),
            Kind::ReturnsOtherData => Some(around(random, 30.0, 1.2)),
            Kind::TimesOut => Some(around(random, 40.0, 1.0)),
            Kind::SlowsDown => Some(around(random, 90.0, 0.8)),
            Kind::ForgetsWrites | Kind::Shrinks | Kind::Vanishes => None,
        };
        let horizon = HORIZON_DAYS as f64;
        let reports_life = happens(random, 0.4);
        Self {
            kind,
            end_day,
            trouble_day: lead_days.map(|lead| (end_day - lead).max(0.0)),
            gb_a_day,
            spread: 0.2 + 0.4 * share(random),
            other_use: happens(random, 0.3)
                .then(|| (horizon * share(random), around(random, 1.0, 0.7))),
            rated_gb: rated_days * gb_a_day,
            reports_life,
            // What is soldered has no contacts.
            bad_reader_day: (!reports_life && happens(random, 0.08))
                .then(|| horizon * share(random)),
            is_power_weak: happens(random, 0.15),
            may_read_log: happens(random, 0.9),
            has_journal: happens(random, 0.5),
        }
    }

    /// How far the trouble has come on `day`, from 0 at its begin to 1 at the end; `None` before.
    pub(super) fn progress(&self, day: f64) -> Option<f64> {
        let begin = self.trouble_day.filter(|&begin| begin <= day)?;
        let all = (self.end_day - begin).max(1.0);
        Some(((day - begin) / all).min(1.0))
    }
}
