//! A closer look at a fake: its modulus, and where its flash ends, to the sector.
//!
//! Each round writes places between the last address that is known to hold data and the first that
//! is known not to, then as much filler as clears the hidden store, then reads. The interval shrinks
//! by the number of places in each round.

use cardproof_evidence::capacity::{
    Evidence, Finding, Found, Kind, Observation, common_distance, divisors_to_try, guess_modulus,
    infer, second_round, stamp::SECTOR,
};

use super::again;
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

/// More lost places than one in so many are worth a guess.
const LOST_PART: usize = 20;

/// Filler beside what the store needs, so that its bound need not be exact.
const MARGIN: u64 = 1 << 20;

/// Gathers what may decide between the kinds of card at the addresses of the plan alone.
fn decide(experiment: &mut Experiment<'_>) -> Result<(), DriveError> {
    for _ in 0..ROUNDS_MAX {
        if experiment.is_stopped {
            return Ok(());
        }
        let finding = infer(&experiment.evidence);
        let has_more = again::gather(experiment, &finding)?
            || (!is_clearly_fake(&finding) && experiment.finish_plan()?);
        if !has_more {
            return Ok(());
        }
    }
    Ok(())
}

/// Narrows down what the evidence leaves open of a fake.
pub(super) fn narrow(experiment: &mut Experiment<'_>) -> Result<(), DriveError> {
    if experiment.plan.is_confined {
        return decide(experiment);
    }
    let mut width = u64::MAX;
    let mut round = None;
    for _ in 0..ROUNDS_MAX {
        if experiment.is_stopped {
            return Ok(());
        }
        let finding = infer(&experiment.evidence);
        if confirm_shared(experiment)? || again::gather(experiment, &finding)? {
            continue;
        }
        let is_fake = is_clearly_fake(&finding);
        // Until the smallest distance is known, several rounds of a chained fake look like holes.
        if is_fake && !finding.kind.holds_front() && try_divisors(experiment, &finding)? {
            continue;
        }
        // Of what keeps nothing nothing is narrowed down.
        if (!finding.kind.holds_front() && is_fake) || experiment.keeps_nothing() {
            return Ok(());
        }
        if !is_fake {
            if experiment.finish_plan()? {
                continue;
            }
            if has_many_lost(&experiment.evidence) && guess_round(&mut experiment.evidence) {
                continue;
            }
            return Ok(());
        }
        experiment.set_stage(Stage::Narrowing);
        if !finding.is_clean(&experiment.evidence) && look_longer(experiment)? {
            continue;
        }
        if confirm_round(experiment, &finding)? {
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
    Ok(guess_round(&mut experiment.evidence))
}

/// Guesses a modulus where none is known or guessed yet; whether there is one.
fn guess_round(evidence: &mut Evidence) -> bool {
    if common_distance(evidence).is_some() || evidence.guessed_modulus.is_some() {
        return false;
    }
    evidence.guessed_modulus = guess_modulus(evidence);
    evidence.guessed_modulus.is_some()
}

/// Whether so many places are lost that a guess has something to explain. The dead parts of a chained
/// fake look like damage as long as nobody sees that they come at equal distances.
fn has_many_lost(evidence: &Evidence) -> bool {
    let lost = evidence.observations.iter().filter(|place| !place.is_right()).count();
    lost * LOST_PART > evidence.observations.len()
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
        if found.1 - found.0 > PLACE {
            return Some(found);
        }
        // The guess is right on average. Either end of an interval is less so, and in many rounds its
        // error adds up to where nothing fits; so it is replaced only once it is exact.
        experiment.evidence.guessed_modulus = Some(found.1);
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
    let shared = common_distance(&experiment.evidence);
    let Some(modulus) = finding.modulus_bytes.or(shared) else { return Vec::new() };
    let distances = match shared {
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
            // Not every distance is a multiple of the device's block. The two then share a part.
            let block = experiment.plan.random_length;
            experiment.write_place(high / block * block, PLACE, false)?;
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

/// Tests the first round of a wrap-around as a whole, once: its end may hold nothing, and be hidden
/// by a store that keeps only what has no flash. Whether there was something to test.
fn confirm_round(experiment: &mut Experiment<'_>, finding: &Finding) -> Result<bool, DriveError> {
    let modulus = common_distance(&experiment.evidence).filter(|&m| {
        let is_tried = untried(experiment, finding).is_empty();
        finding.kind == Kind::Wrap && is_tried && m < experiment.plan.size
    });
    let Some(modulus) = modulus.filter(|_| !experiment.is_round_tested) else { return Ok(false) };
    experiment.is_round_tested = true;
    let places = spread(0, modulus - PLACE, experiment.plan.size);
    let store = experiment.plan.size - experiment.plan.filler_start;
    let mut written = Vec::with_capacity(places.len());
    for &place in &places {
        written.push(experiment.write_place(place, PLACE, false)?);
        if !experiment.goes_on() {
            return Ok(true);
        }
    }
    clear_store(experiment, store, &written)?;
    experiment.read_places(&written)?;
    Ok(true)
}

/// Writes filler where a fake has no flash until the hidden store holds nothing of `places`: at the
/// end of the addresses, or, where they start again, at the end of each round.
fn clear_store(
    experiment: &mut Experiment<'_>,
    store: u64,
    places: &[Written],
) -> Result<(), DriveError> {
    let size = experiment.plan.size;
    let needed = (store + store / 4 + MARGIN).min(size);
    let is_free = |from: u64, to: u64| {
        places.iter().all(|place| {
            let start = place.stamp.address_bytes;
            to <= start || start + place.length <= from
        })
    };
    let mut done = 0;
    let block = experiment.plan.random_length;
    for (start, end) in filler(size, common_distance(&experiment.evidence), needed, block) {
        if done >= needed {
            break;
        }
        if is_free(start, end) {
            let stamp = experiment.stamp(start);
            experiment.write_stamped(stamp, start, end - start)?;
            done += end - start;
        }
        if !experiment.goes_on() {
            return Ok(());
        }
    }
    let _ = experiment.drive.flush()?;
    Ok(())
}

/// The chunks of filler: `needed` bytes up to the end of the addresses, or the ends of all rounds of
/// `modulus`, the second round first, each further chunk before the one before it. All begin and end
/// with a block of the device.
fn filler(
    size: u64,
    modulus: Option<u64>,
    needed: u64,
    block: u64,
) -> Box<dyn Iterator<Item = (u64, u64)>> {
    let Some(modulus) = modulus.filter(|&modulus| modulus >= CHUNK && modulus <= size) else {
        let start = (size - needed) / PLACE * PLACE;
        let chunks = (start..size).step_by(CHUNK as usize);
        return Box::new(chunks.map(move |start| (start, size.min(start + CHUNK))));
    };
    let rounds = size / modulus;
    // The first round holds the places that are tested.
    let first = if rounds > 1 { 1 } else { 0 };
    let chunk = move |number: u64| {
        let (depth, round) = (number / (rounds - first), first + number % (rounds - first));
        let end = ((round + 1) * modulus - depth * CHUNK) / block * block;
        (end - CHUNK, end)
    };
    Box::new((0..modulus / CHUNK * (rounds - first)).map(chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_lies_where_a_fake_has_no_flash() {
        let plain: Vec<_> = filler(100 << 20, None, 3 << 20, 512).collect();
        assert_eq!(plain.first().copied(), Some((97 << 20, 98 << 20)));
        assert_eq!(plain.last().copied(), Some((99 << 20, 100 << 20)));
        let rounds: Vec<_> = filler(100 << 20, Some(30 << 20), 3 << 20, 512).take(4).collect();
        let mib = |from: u64| (from << 20, (from + 1) << 20);
        assert_eq!(rounds, [mib(59), mib(89), mib(58), mib(88)]);
        let one: Vec<_> = filler(100 << 20, Some(70 << 20), 3 << 20, 512).take(2).collect();
        assert_eq!(one, [mib(69), mib(68)]);
        let odd = (30 << 20) + 512;
        let mut of_blocks = filler(100 << 20, Some(odd), 3 << 20, 4096);
        assert!(of_blocks.all(|(start, end)| start % 4096 == 0 && end % 4096 == 0));
    }
}
