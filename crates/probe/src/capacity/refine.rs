//! A closer look at a fake: its modulus, and where its flash ends, to the sector.
//!
//! Each round writes places between the last address that is known to hold data and the first that
//! is known not to, then as much filler as clears the hidden store, then reads. The interval shrinks
//! by the number of places in each round.

use cardproof_evidence::capacity::{
    Finding, Found, Kind, Observation, common_distance, divisors_to_try, guess_modulus, infer,
    second_round, stamp::SECTOR,
};

use super::experiment::{Experiment, Stage, Written, is_clearly_fake};
use super::plan::{CHUNK, PLACE};
use crate::DriveError;

/// How many places a round of narrowing has.
const PLACES: u64 = 256;

/// Rounds after which the bounds are left as they are.
const ROUNDS_MAX: usize = 14;

/// Pairs of addresses for each distance that is tried.
const PAIRS: u64 = 3;

/// A guessed modulus is right within this part of it.
const GUESS_PART: u64 = 16;

/// Filler beside what the store needs, so that its bound need not be exact.
const MARGIN: u64 = 1 << 20;

/// Narrows down what the evidence leaves open of a fake.
pub(super) fn narrow(experiment: &mut Experiment<'_>) -> Result<(), DriveError> {
    let mut width = u64::MAX;
    let mut round = None;
    for _ in 0..ROUNDS_MAX {
        if experiment.is_stopped {
            return Ok(());
        }
        let finding = infer(&experiment.evidence);
        if confirm_shared(experiment)? {
            continue;
        }
        if !is_clearly_fake(&finding) {
            return Ok(());
        }
        experiment.set_stage(Stage::Narrowing);
        if !finding.is_clean(&experiment.evidence) && look_longer(experiment)? {
            continue;
        }
        let interval = open_interval(experiment, &finding, &mut round);
        let is_shared = common_distance(&experiment.evidence).is_some();
        let is_closed = round.is_some_and(|(low, high)| high - low <= PLACE);
        if (is_shared || is_closed || interval.is_none()) && try_divisors(experiment, &finding)? {
            continue;
        }
        let Some((low, high)) = interval else { return Ok(()) };
        if high - low >= width && width <= PLACE {
            return Ok(());
        }
        width = high - low;
        let places = spread(low, high, experiment.plan.size);
        test(experiment, &finding, &places)?;
    }
    Ok(())
}

/// Gathers more evidence where no kind of fake explains what is there: the filler to its end, which
/// puts places under it whatever the modulus; then a guess at the modulus. Whether there was more.
fn look_longer(experiment: &mut Experiment<'_>) -> Result<bool, DriveError> {
    if experiment.evidence.filler_bytes == 0 && !experiment.plan.is_full {
        experiment.finish_filler()?;
        return Ok(true);
    }
    let evidence = &mut experiment.evidence;
    if common_distance(evidence).is_none() && evidence.guessed_modulus.is_none() {
        evidence.guessed_modulus = guess_modulus(evidence);
        return Ok(evidence.guessed_modulus.is_some());
    }
    Ok(false)
}

/// The addresses between which an edge lies, if they are not neighbours: where the second round of a
/// chained fake begins, as long as that is only a guess, else where its flash ends. `round` holds
/// what is known of the second round so far.
fn open_interval(
    experiment: &mut Experiment<'_>,
    finding: &Finding,
    round: &mut Option<(u64, u64)>,
) -> Option<(u64, u64)> {
    let guess = experiment.evidence.guessed_modulus;
    if let Some(guess) = guess.filter(|_| common_distance(&experiment.evidence).is_none()) {
        let (low, high) = round.unwrap_or((guess - guess / GUESS_PART, guess + guess / GUESS_PART));
        let found = second_round(&experiment.evidence, low, high);
        *round = Some(found);
        experiment.evidence.guessed_modulus = Some(found.1);
        if found.1 - found.0 > PLACE {
            return Some(found);
        }
    }
    let is_open = finding.size.high > finding.size.low && finding.kind != Kind::Wrap;
    is_open.then_some((finding.size.low, finding.size.high))
}

/// Places over an interval and one on either side of it, on the grid of places.
fn spread(low: u64, high: u64, size: u64) -> Vec<u64> {
    let low = (low / PLACE).saturating_sub(1);
    let high = high.div_ceil(PLACE) + 1;
    let last = (size - PLACE) / PLACE;
    let count = (high - low).min(PLACES);
    let mut places: Vec<u64> = (0..=count)
        .map(|number| ((low + (high - low) * number / count).min(last)) * PLACE)
        .collect();
    places.dedup();
    places
}

/// Writes `places`, clears the store, and reads them back.
fn test(
    experiment: &mut Experiment<'_>,
    finding: &Finding,
    places: &[u64],
) -> Result<(), DriveError> {
    let mut written = Vec::with_capacity(places.len());
    for &place in places {
        written.push(experiment.write_place(place, PLACE, false)?);
        if !experiment.goes_on() {
            return Ok(());
        }
    }
    clear_store(experiment, finding.cleared_after_bytes, &written)?;
    experiment.read_places(&written)
}

/// The distances at which addresses may share a place and that were not tried yet: what is smaller
/// than the one that explains the shared addresses, or where a second round seems to begin.
fn untried(experiment: &Experiment<'_>, finding: &Finding) -> Vec<u64> {
    let Some(modulus) = finding.modulus_bytes else { return Vec::new() };
    let distances = match common_distance(&experiment.evidence) {
        Some(distance) if distance == modulus => divisors_to_try(distance),
        Some(_) => Vec::new(),
        // A guess is right within a place.
        None => (0..=PLACE / SECTOR as u64).map(|back| modulus - back * SECTOR as u64).collect(),
    };
    let tried = &experiment.evidence.unshared_distances;
    distances.into_iter().filter(|distance| !tried.contains(distance)).collect()
}

/// Tries the distance of two addresses that share a place, where too few pairs show it to be sure: a
/// single one may be a misdirected write. Whether there was something to try.
fn confirm_shared(experiment: &mut Experiment<'_>) -> Result<bool, DriveError> {
    let Some(distance) = common_distance(&experiment.evidence) else { return Ok(false) };
    let is_foreign = |place: &&Observation| matches!(place.found, Found::Foreign { .. });
    let seen = experiment.evidence.observations.iter().filter(is_foreign);
    let (mut pairs, mut needed) = (0, 0);
    for place in seen {
        pairs += 1;
        needed = place.distance_bytes().max(needed);
    }
    let is_tried = experiment.evidence.unshared_distances.contains(&distance);
    if pairs >= PAIRS || is_tried {
        return Ok(false);
    }
    experiment.set_stage(Stage::Narrowing);
    try_distances(experiment, &[distance], needed)?;
    Ok(true)
}

/// Tries the distances that the evidence leaves possible; whether there were any.
fn try_divisors(experiment: &mut Experiment<'_>, finding: &Finding) -> Result<bool, DriveError> {
    let divisors = untried(experiment, finding);
    if divisors.is_empty() {
        return Ok(false);
    }
    try_distances(experiment, &divisors, finding.cleared_after_bytes)?;
    Ok(true)
}

/// Writes pairs of places that lie at each of `distances`, clears a store of `store` bytes, and reads
/// the first of each pair: it holds the second's data if they share a place.
fn try_distances(
    experiment: &mut Experiment<'_>,
    distances: &[u64],
    store: u64,
) -> Result<(), DriveError> {
    let mut written = Vec::new();
    for (number, &distance) in distances.iter().enumerate() {
        for pair in 0..PAIRS {
            let number = number as u64 * PAIRS + pair;
            let low = (number * 8 + 1) * PLACE * 3;
            // Both lie below the filler that clears the store, if there is room at all.
            let room = experiment.plan.size.saturating_sub(distance + PLACE);
            let low = low % room.min(distance / 2).max(PLACE) / PLACE * PLACE;
            let high = low + distance;
            if high + PLACE > experiment.plan.size {
                continue;
            }
            let first = experiment.write_place(low, PLACE, false)?;
            experiment.write_place(high / SECTOR as u64 * SECTOR as u64, PLACE, false)?;
            written.push(first);
        }
    }
    clear_store(experiment, store, &written)?;
    experiment.read_places(&written)?;
    // A distance that did share places is the common distance from now on, and is not asked for
    // again: only smaller ones are.
    experiment.evidence.unshared_distances.extend(distances);
    Ok(())
}

/// Writes filler at the end of the addresses until the hidden store holds nothing of `places`.
fn clear_store(
    experiment: &mut Experiment<'_>,
    store: u64,
    places: &[Written],
) -> Result<(), DriveError> {
    let needed = store + store / 4 + MARGIN;
    let size = experiment.plan.size;
    let is_free = |from: u64, to: u64| {
        places.iter().all(|place| {
            let start = place.stamp.address_bytes;
            to <= start || start + place.length <= from
        })
    };
    let mut next = size.saturating_sub(needed) / PLACE * PLACE;
    while next < size {
        let length = CHUNK.min(size - next);
        if is_free(next, next + length) {
            let stamp = experiment.stamp(next);
            experiment.write_stamped(stamp, next, length)?;
        }
        next += length;
        if !experiment.goes_on() {
            return Ok(());
        }
    }
    let _ = experiment.drive.flush()?;
    Ok(())
}
