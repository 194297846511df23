//! Addresses that share one place: which distances explain the foreign sectors, and which sector a
//! given distance predicts at an address.

use std::collections::HashMap;

use super::observation::{Evidence, Found, Observation, Writes};
use super::phases::Phases;
use super::stamp::SECTOR;
use super::thinned::thinned;

const SECTOR_BYTES: u64 = SECTOR as u64;

/// No real card is smaller, so no modulus is.
const MODULUS_MIN: u64 = 1 << 20;

/// The first two sectors found at each other's address: evidence of a shared place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The address that was read, in bytes.
    pub read_bytes: u64,
    /// The address to which the found sector was written, in bytes.
    pub written_bytes: u64,
}

/// The greatest common divisor of all distances between an address and the address whose sector it
/// gave back, in bytes; `None` where no foreign sector was found or the divisor is below 1 MiB, so
/// that no wrap-around explains all of them. A wrap-around's modulus divides it.
#[must_use]
pub fn common_distance(evidence: &Evidence) -> Option<u64> {
    let common = aliases(evidence)
        .map(|alias| alias.read_bytes.abs_diff(alias.written_bytes))
        .fold(0, greatest_common_divisor);
    (common >= MODULUS_MIN).then_some(common)
}

pub(super) fn aliases(evidence: &Evidence) -> impl Iterator<Item = Alias> {
    evidence.observations.iter().filter_map(|observation| match observation.found {
        Found::Foreign { at_bytes, address_bytes } => {
            Some(Alias { read_bytes: at_bytes, written_bytes: address_bytes })
        }
        _ => None,
    })
}

/// The smaller moduli that a `distance_bytes` between two shared addresses leaves possible, one for
/// each prime by which it can be divided: a modulus that none of them is, is the distance itself.
#[must_use]
pub fn divisors_to_try(distance_bytes: u64) -> Vec<u64> {
    let mut rest = distance_bytes / SECTOR_BYTES;
    let mut divisors = Vec::new();
    let mut prime = 2;
    while rest > 1 && prime <= distance_bytes / MODULUS_MIN {
        if prime * prime > rest {
            prime = rest;
        }
        if rest.is_multiple_of(prime) {
            while rest.is_multiple_of(prime) {
                rest /= prime;
            }
            divisors.push(distance_bytes / prime);
        }
        prime += 1;
    }
    divisors.retain(|&divisor| divisor >= MODULUS_MIN);
    divisors
}

pub(super) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The moduli worth weighing: what explains the foreign sectors, and where a stretch of addresses
/// that hold data begins again behind one that holds none.
pub(super) fn candidates(evidence: &Evidence) -> Vec<u64> {
    let mut found: Vec<u64> = common_distance(evidence).into_iter().collect();
    // A record may name any number.
    let can_be = MODULUS_MIN..=evidence.announced_bytes;
    found.extend(evidence.guessed_modulus.filter(|guess| can_be.contains(guess)));
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether an observation shows that its address has a place in the flash.
const fn is_live(place: &Observation) -> bool {
    matches!(place.found, Found::Right | Found::Foreign { .. })
}

/// Into how many parts a round is cut when a modulus is guessed.
const PARTS: usize = 64;

/// Rounds shorter than this part of the device hold too few places to be seen.
const ROUNDS_MAX: u64 = 2000;

/// The modulus under which live and lost places are told apart best by one edge, as a guess within
/// a 64th of a round; `None` where none tells them apart. A chained fake whose shared addresses all
/// missed each other shows itself in this way alone.
#[must_use]
pub fn guess_modulus(evidence: &Evidence) -> Option<u64> {
    let places = settled(evidence);
    let lost = places.iter().filter(|(_, is_live)| !is_live).count();
    let size = evidence.announced_bytes;
    let sample = sample(&places);
    // An edge is clear where it puts less than a 20th of the places on the wrong side.
    let mut best = (lost.min(places.len() - lost).min(places.len().div_ceil(20)), None);
    if best.0 == 0 {
        return None;
    }
    let mut modulus = (size / ROUNDS_MAX).max(64 << 20);
    while modulus < size {
        let phases = Phases::of(modulus);
        if mistakes(&sample, phases, sample.len() / 4 + 1).is_some()
            && let Some(fewer) = mistakes(&places, phases, best.0)
        {
            best = (fewer, Some(modulus));
        }
        let rounds = (size / modulus).max(1);
        let step = modulus / PARTS as u64 / rounds;
        modulus += (step / SECTOR_BYTES).max(1) * SECTOR_BYTES;
    }
    best.1
}

/// The places that were read after enough other bytes to be lost, as (address, live);
/// [`thinned`] where they are many.
fn settled(evidence: &Evidence) -> Vec<(u64, bool)> {
    let places = || evidence.observations.iter();
    let lost = places().filter(|place| !is_live(place));
    let least = lost.map(Observation::distance_bytes).min().unwrap_or(0);
    let settled = places().filter(|place| place.distance_bytes() >= least);
    thinned(settled.map(|place| (place.offset_bytes, is_live(place))).collect())
}

/// So many live and so many lost places tell most wrong moduli.
const SAMPLE_OF_EACH: usize = 48;

/// As many live places as lost ones, evenly out of all: where few of these fit an edge, not all need
/// to be looked at.
fn sample(places: &[(u64, bool)]) -> Vec<(u64, bool)> {
    let of = |wanted: bool| {
        let all: Vec<_> =
            places.iter().copied().filter(|&(_, is_live)| is_live == wanted).collect();
        let step = (all.len() / SAMPLE_OF_EACH).max(1);
        all.into_iter().step_by(step).take(SAMPLE_OF_EACH)
    };
    of(true).chain(of(false)).collect()
}

/// How many places the best edge puts on the wrong side when addresses are folded; `None` where it is not
/// fewer than `limit`, which some of the places show already.
fn mistakes(places: &[(u64, bool)], folded: Phases, limit: usize) -> Option<usize> {
    /// After how many places the mistakes are counted.
    const AT_ONCE: usize = 256;
    // How many more lost places than live ones each part has.
    let mut lost = [0_isize; PARTS];
    let (mut live, mut fewest) = (0, 0);
    for some in places.chunks(AT_ONCE) {
        for &(address, is_live) in some {
            lost[folded.part::<PARTS>(address)] += 1 - 2 * isize::from(is_live);
            live += isize::from(is_live);
        }
        fewest = fewest_wrong(&lost, live);
        if fewest >= limit {
            return None;
        }
    }
    Some(fewest)
}

/// How many places are on the wrong side of the best edge, where the parts have so many more `lost`
/// places than live ones, and all of them have `live` live ones.
fn fewest_wrong(lost: &[isize; PARTS], live: isize) -> usize {
    let mut wrong = live;
    let mut least = isize::MAX;
    for more in lost {
        wrong += more;
        least = least.min(wrong);
    }
    least.unsigned_abs()
}

/// Where live addresses begin again between `low` and `high`: after the first returned address and
/// at most at the second. The split with the fewest places on the wrong side is taken.
#[must_use]
pub fn second_round(evidence: &Evidence, low: u64, high: u64) -> (u64, u64) {
    let inside = |place: &&Observation| place.offset_bytes >= low && place.offset_bytes < high;
    let mut places: Vec<&Observation> = evidence.observations.iter().filter(inside).collect();
    places.sort_by_key(|place| place.offset_bytes);
    let mut wrong = places.iter().filter(|place| !is_live(place)).count();
    let mut best = (wrong, 0);
    for (index, place) in places.iter().enumerate() {
        if is_live(place) {
            wrong += 1;
        } else {
            wrong -= 1;
        }
        if wrong < best.0 {
            best = (wrong, index + 1);
        }
    }
    let below = best.1.checked_sub(1).map_or(low, |last| places[last].offset_bytes);
    let above = places.get(best.1).map_or(high, |place| place.offset_bytes);
    (below, above)
}

/// Who wrote last to each place when addresses are taken modulo something.
pub(super) struct LastWriters<'a> {
    modulus: u64,
    /// Long stretches that reach each part of the folded addresses, the latest last.
    long: Vec<Vec<(u64, u64, u64)>>,
    /// Stretches longer than the modulus, which reach all parts.
    whole: Vec<(u64, u64, u64)>,
    /// The length of such a part, in bytes.
    part: u64,
    /// The sectors of short stretches by their folded address: (address, bytes written before).
    short: HashMap<u64, Vec<(u64, u64)>>,
    writes: &'a Writes,
}

/// Stretches up to this length are kept sector by sector.
const SHORT_BYTES: u64 = 16 << 10;

/// Into how many parts the folded addresses are cut.
const FOLDED_PARTS: u64 = 4096;

impl<'a> LastWriters<'a> {
    pub(super) fn new(writes: &'a Writes, modulus: u64) -> Self {
        let part = modulus.div_ceil(FOLDED_PARTS).max(SECTOR_BYTES);
        let mut long = vec![Vec::new(); modulus.div_ceil(part) as usize];
        let mut whole = Vec::new();
        let mut short: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for (start, length, before) in writes.stretches() {
            if length >= modulus {
                whole.push((start, length, before));
                continue;
            }
            if length > SHORT_BYTES {
                let first = start % modulus / part;
                // It may begin and end within a part, and reach over the last one, which is shorter.
                let parts = (length / part + 3).min(long.len() as u64);
                for number in first..first + parts {
                    let index = (number % long.len() as u64) as usize;
                    long[index].push((start, length, before));
                }
                continue;
            }
            for address in (start..start + length).step_by(SECTOR) {
                let before = before + (address - start);
                short.entry(address % modulus).or_default().push((address, before));
            }
        }
        Self { modulus, long, whole, part, short, writes }
    }

    /// The address whose data the sector at `address` holds after `until` bytes were written, and
    /// how many bytes were written before it; `None` where nothing was written there.
    pub(super) fn of(&self, address: u64, until: u64) -> Option<(u64, u64)> {
        debug_assert!(until <= self.writes.total_bytes());
        let folded = address % self.modulus;
        let of_short = self
            .short
            .get(&folded)
            .and_then(|writers| writers.iter().rev().copied().find(|&(_, before)| before < until));
        let long = &self.long[(folded / self.part) as usize];
        let last_of = |stretches: &[(u64, u64, u64)]| {
            stretches.iter().rev().find_map(|&stretch| self.in_stretch(stretch, folded, until))
        };
        [of_short, last_of(long), last_of(&self.whole)]
            .into_iter()
            .flatten()
            .max_by_key(|&(_, before)| before)
    }
}

impl LastWriters<'_> {
    /// How many bytes were written when every place had been overwritten by one stretch, the first after
    /// `from` and before `until` bytes; `None` where no stretch is so long.
    pub(super) fn all_overwritten(&self, from: u64, until: u64) -> Option<u64> {
        let ends = self.whole.iter().filter(|&&(_, _, before)| before >= from);
        ends.map(|&(_, length, before)| before + length).find(|&end| end <= until)
    }

    /// The last address of a stretch, as far as it was written after `until` bytes, that folds to
    /// `folded`, and how many bytes were written before it.
    fn in_stretch(
        &self,
        (start, length, before): (u64, u64, u64),
        folded: u64,
        until: u64,
    ) -> Option<(u64, u64)> {
        let length = length.min(until.saturating_sub(before));
        let first = start + (folded + self.modulus - start % self.modulus) % self.modulus;
        let rounds = (start + length).checked_sub(first + 1)? / self.modulus;
        let address = first + rounds * self.modulus;
        Some((address, before + (address - start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_writer_is_found_in_short_and_long_stretches() {
        let mut writes = Writes::default();
        writes.note(0, 4096);
        writes.note(10 << 20, 4096);
        writes.note(20 << 20, 1 << 20);
        let writers = LastWriters::new(&writes, 10 << 20);
        let all = writes.total_bytes();
        assert_eq!(writers.of(512, 4096), Some((512, 512)));
        assert_eq!(writers.of(512, 8192), Some(((10 << 20) + 512, 4096 + 512)));
        assert_eq!(writers.of(512, all), Some(((20 << 20) + 512, 8192 + 512)));
        assert_eq!(writers.of(5 << 20, all), None);
        let twice = LastWriters::new(&writes, 512 << 10);
        assert_eq!(twice.of(0, all).unwrap().0, (20 << 20) + (512 << 10), "the second lap");
    }

    /// Places every 40 MiB of 64 GiB, of which those are live that `is_live` says.
    fn evidence(is_live: impl Fn(u64) -> bool) -> Evidence {
        let place = |number: u64| {
            let offset_bytes = number * (40 << 20);
            let found = if is_live(offset_bytes) { Found::Right } else { Found::Constant(0) };
            Observation {
                offset_bytes,
                length_bytes: 4096,
                written_at_bytes: 0,
                read_at_bytes: 1 << 30,
                found,
                right_prefix_bytes: 0,
                live_prefix_bytes: 0,
                transient_errors: 0,
                is_random: true,
            }
        };
        let observations = (0..1638).map(place).collect();
        Evidence { announced_bytes: 64 << 30, observations, ..Evidence::default() }
    }

    #[test]
    fn a_modulus_is_guessed_from_dead_parts_alone() {
        let modulus = 4_614_320_128;
        let chained = evidence(|address| address % modulus < 3_982_221_824);
        let guess = guess_modulus(&chained).unwrap();
        assert!(guess.abs_diff(modulus) < modulus / 100, "{guess}");
        let (low, high) = second_round(&chained, modulus * 15 / 16, modulus * 17 / 16);
        assert!(low < modulus && modulus <= high && high - low <= 40 << 20, "{low} {high}");
        assert_eq!(
            guess_modulus(&evidence(|address| (address >> 20).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                >> 63
                == 0)),
            None,
            "noise"
        );
    }

    #[test]
    fn every_smaller_modulus_is_tried_by_its_prime() {
        let distance = 12 * 1000 * SECTOR_BYTES * 1000;
        for divisor in divisors_to_try(distance) {
            assert!(distance.is_multiple_of(divisor), "{divisor}");
        }
        assert_eq!(divisors_to_try(3 << 30), [3 << 29, 1 << 30]);
        assert_eq!(divisors_to_try(7 << 20), [7 << 19, 1 << 20]);
        assert!(divisors_to_try(1 << 20).is_empty());
        let large_prime = 1_000_003 * SECTOR_BYTES;
        assert!(divisors_to_try(large_prime).is_empty(), "a modulus of one sector is no card");
    }
}
