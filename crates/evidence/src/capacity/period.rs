//! Parts with and without flash that come again at equal distances.

use super::likelihood::ln_sum;
use super::observation::{Evidence, Observation};
use super::phases::Phases;
use super::thinned::thinned;

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
        let (flash, lost, mixed) = &mut self.parts[part_of(phase, period)];
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

/// In which of [`PARTS`] parts of `period` the phase lies.
fn part_of(phase: u64, period: u64) -> usize {
    let part = phase / period.div_ceil(PARTS as u64).max(1);
    (part as usize).min(PARTS - 1)
}

/// The period by which good and lost places are told apart best, a multiple of 4 KiB or right within a
/// 64th over all addresses; `None` where none tells them apart.
#[must_use]
pub fn guess_period(evidence: &Evidence) -> Option<u64> {
    let places = Places::settled(evidence);
    let sample = places.sample();
    let fewer = places.right.len().min(places.lost.len());
    // A period explains three quarters of the fewer ones, or it is none.
    let (mut best, mut found) = (fewer.div_ceil(4), None);
    if best == 0 {
        return None;
    }
    let mut period = PERIOD_MIN;
    while period <= evidence.announced_bytes / 2 {
        let phases = Phases::of(period);
        if sample.mistakes::<PARTS_OF_SAMPLE>(phases) * 4 <= sample.len()
            && let wrong = places.mistakes::<PARTS>(phases)
            && wrong < best
        {
            (best, found) = (wrong, Some(period));
        }
        let rounds = (evidence.announced_bytes / period).max(1);
        period += (period / PARTS as u64 / rounds).next_multiple_of(PAGE).max(PAGE);
    }
    found
}

/// The addresses of good places and of lost ones, in bytes.
#[derive(Clone, Debug, Default)]
struct Places {
    right: Vec<u64>,
    lost: Vec<u64>,
}

impl Places {
    /// The places that were read after as much as lost the first of the random ones;
    /// [`thinned`] where they are many.
    fn settled(evidence: &Evidence) -> Self {
        let random = || evidence.observations.iter().filter(|place| place.is_random);
        let lost = random().filter(|place| !place.is_right()).map(Observation::distance_bytes);
        let least = lost.min().unwrap_or(0);
        let all = evidence.observations.iter().filter(|place| place.distance_bytes() >= least);
        let (right, lost): (Vec<_>, Vec<_>) =
            thinned(all.collect()).into_iter().partition(|place: &&Observation| place.is_right());
        let addresses = |places: Vec<&Observation>| {
            places.into_iter().map(|place| place.offset_bytes).collect()
        };
        Self { right: addresses(right), lost: addresses(lost) }
    }

    /// As many good places as lost ones, evenly out of all.
    fn sample(&self) -> Self {
        let of = |all: &[u64]| {
            let step = (all.len() / SAMPLE_OF_EACH).max(1);
            all.iter().copied().step_by(step).take(SAMPLE_OF_EACH).collect()
        };
        Self { right: of(&self.right), lost: of(&self.lost) }
    }

    fn len(&self) -> usize {
        self.right.len() + self.lost.len()
    }

    /// How many places are unlike most of their part of the period.
    fn mistakes<const COUNT: usize>(&self, phases: Phases) -> usize {
        let count = |places: &[u64]| {
            let mut counts = [0_u32; COUNT];
            for &address in places {
                counts[phases.part::<COUNT>(address)] += 1;
            }
            counts
        };
        let (right, lost) = (count(&self.right), count(&self.lost));
        right.iter().zip(lost).map(|(&right, lost)| right.min(lost) as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::observation::Found;
    use super::*;

    #[test]
    fn a_period_is_found_in_a_full_test_whose_places_lie_at_equal_distances() {
        const MIB: u64 = 1 << 20;
        let place = |number: u64| Observation {
            offset_bytes: number * MIB,
            length_bytes: MIB,
            written_at_bytes: 0,
            read_at_bytes: 64 << 30,
            found: if number % 8 < 4 { Found::Right } else { Found::Constant(0) },
            right_prefix_bytes: 0,
            live_prefix_bytes: 0,
            transient_errors: 0,
            is_random: false,
        };
        let observations = (0..64 << 10).map(place).collect();
        let evidence = Evidence { announced_bytes: 64 << 30, observations, ..Evidence::default() };
        assert_eq!(guess_period(&evidence), Some(8 * MIB));
    }
}
