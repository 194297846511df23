//! Parts with and without flash that come again at equal distances.

use super::likelihood::ln_sum;
use super::observation::{Evidence, Observation};

/// Into how many parts a period is cut.
const PARTS: usize = 64;

/// And for the few places of a sample.
const PARTS_OF_SAMPLE: usize = 8;

/// Flash is divided in pages of this size, in bytes, so no period is finer.
const PAGE: u64 = 4096;

/// The shortest period that is looked for: two pages.
const PERIOD_MIN: u64 = 2 * PAGE;

/// So many good and so many lost places tell most wrong periods.
const SAMPLE_OF_EACH: usize = 48;

/// The parts of a period, each with flash, without, or with a border in it.
#[derive(Clone, Debug)]
pub(super) struct Stripes {
    /// For each part the logarithms of the chance of its places as each of the three.
    parts: [(f64, f64, f64); PARTS],
}

impl Default for Stripes {
    fn default() -> Self {
        Self { parts: [(0.0, 0.0, 0.0); PARTS] }
    }
}

impl Stripes {
    /// Adds a place at `phase` of `period` with the logarithms of its chances with and without flash.
    pub(super) fn add(&mut self, phase: u64, period: u64, ln_flash: f64, ln_lost: f64) {
        let (flash, lost, mixed) = &mut self.parts[part_of::<PARTS>(phase, period)];
        *flash += ln_flash;
        *lost += ln_lost;
        *mixed += ln_sum(ln_flash, ln_lost) + 0.5_f64.ln();
    }

    /// The logarithm of the chance of all of them, with the prior of a period: one of a million.
    pub(super) fn ln_chance(&self) -> f64 {
        const LN_PERIOD: f64 = -14.0;
        let third = -(3.0_f64).ln();
        let of_part =
            |&(flash, lost, mixed): &(f64, f64, f64)| ln_sum(ln_sum(flash, lost), mixed) + third;
        LN_PERIOD + self.parts.iter().map(of_part).sum::<f64>()
    }
}

/// In which of so many parts of `period` the phase lies.
fn part_of<const COUNT: usize>(phase: u64, period: u64) -> usize {
    let part = phase / period.div_ceil(COUNT as u64).max(1);
    (part as usize).min(COUNT - 1)
}

/// The period by which good and lost places are told apart best, a multiple of 4 KiB or right within a
/// 64th over all addresses; `None` where none tells them apart.
#[must_use]
pub fn guess_period(evidence: &Evidence) -> Option<u64> {
    let places = settled(evidence);
    let lost = places.iter().filter(|(_, is_right)| !is_right).count();
    let fewer = lost.min(places.len() - lost);
    let sample = sample(&places);
    let mut best = (fewer, None);
    let mut period = PERIOD_MIN;
    while period <= evidence.announced_bytes / 2 {
        if mistakes::<PARTS_OF_SAMPLE>(&sample, period) * 4 <= sample.len()
            && let wrong = mistakes::<PARTS>(&places, period)
            && wrong < best.0
        {
            best = (wrong, Some(period));
        }
        let rounds = (evidence.announced_bytes / period).max(1);
        period += (period / PARTS as u64 / rounds).next_multiple_of(PAGE).max(PAGE);
    }
    best.1.filter(|_| best.0 * 4 < fewer)
}

/// The places chosen at random, as (address, right).
fn settled(evidence: &Evidence) -> Vec<(u64, bool)> {
    let random = || evidence.observations.iter().filter(|place| place.is_random);
    let lost = random().filter(|place| !place.is_right()).map(Observation::distance_bytes);
    let least = lost.min().unwrap_or(0);
    let all = evidence.observations.iter().filter(|place| place.distance_bytes() >= least);
    all.map(|place| (place.offset_bytes, place.is_right())).collect()
}

/// As many good places as lost ones, evenly out of all.
fn sample(places: &[(u64, bool)]) -> Vec<(u64, bool)> {
    let of = |wanted: bool| {
        let all: Vec<_> = places.iter().copied().filter(|&(_, right)| right == wanted).collect();
        let step = (all.len() / SAMPLE_OF_EACH).max(1);
        all.into_iter().step_by(step).take(SAMPLE_OF_EACH)
    };
    of(true).chain(of(false)).collect()
}

/// How many places are unlike most of their part of the period.
fn mistakes<const COUNT: usize>(places: &[(u64, bool)], period: u64) -> usize {
    let mut counts = [(0_usize, 0_usize); COUNT];
    for &(address, is_right) in places {
        let (right, lost) = &mut counts[part_of::<COUNT>(address % period, period)];
        if is_right { *right += 1 } else { *lost += 1 }
    }
    counts.iter().map(|&(right, lost)| right.min(lost)).sum()
}
