//! What is tried once more where something was wrong, because a second look tells a fake from damage.
//!
//! - Two addresses that gave each other's data are written again: a misdirected write is not repeated.
//! - Lost places are written and read at once, and read again after as many other writes as had lost
//!   them: flash that is broken does not hold them at once, a hidden store does.
//! - Where all that was written late is lost, what was written first is written again: a card that
//!   takes no more data because it has died does not take this either.
//!
//! The counts are kept; the places themselves are no observations, since they are not chosen freely.

use std::collections::HashSet;

use cardproof_evidence::capacity::{
    Finding, Found, Kind, Observation, Retried, examine, guess_period,
};

use super::experiment::{Experiment, Stage, Written, is_clearly_fake};
use super::plan::CHUNK;
use crate::DriveError;

/// How many places are tried again at most.
const PLACES: usize = 32;

/// Fewer lost places say too little of the kind of loss.
const LOST_LEAST: usize = 8;

/// Filler beside what the store needs, so that its bound need not be exact.
const MARGIN: u64 = 1 << 20;

/// Gathers what may decide between the kinds of card that `finding` leaves possible; whether there was
/// something to gather.
pub(super) fn gather(
    experiment: &mut Experiment<'_>,
    finding: &Finding,
) -> Result<bool, DriveError> {
    if experiment.is_stopped {
        return Ok(false);
    }
    if experiment.keeps_nothing() {
        return read_at_once(experiment);
    }
    let is_told = is_clearly_fake(finding)
        && finding.kind.holds_front()
        && finding.is_clean(&experiment.evidence);
    if is_told || experiment.evidence.filler_bytes == 0 {
        return Ok(false);
    }
    if share_again(experiment)? || seek_period(experiment) {
        return Ok(true);
    }
    let may_be_full =
        finding.hypotheses.iter().any(|&(kind, chance)| kind == Kind::FillsUp && chance > 1e-3);
    if may_be_full && experiment.evidence.rewritten.tried == 0 {
        rewrite(experiment)?;
        return Ok(true);
    }
    read_at_once(experiment)
}

/// Writes pairs of addresses that gave each other's data again, once; whether there are any.
fn share_again(experiment: &mut Experiment<'_>) -> Result<bool, DriveError> {
    let block = experiment.plan.random_length;
    if experiment.evidence.shared_again.tried > 0 {
        return Ok(false);
    }
    let of = |place: &Observation| match place.found {
        Found::Foreign { at_bytes, address_bytes } => {
            Some((at_bytes / block * block, address_bytes / block * block, place.distance_bytes()))
        }
        _ => None,
    };
    let mut taken = HashSet::new();
    let is_apart = |&(first, second, _): &(u64, u64, u64)| {
        // A place that is written twice does not hold what was written first.
        let is_free = !taken.contains(&first) && !taken.contains(&second);
        if is_free {
            taken.extend([first, second]);
        }
        is_free
    };
    let seen = experiment.evidence.observations.iter().filter_map(of);
    let pairs: Vec<(u64, u64, u64)> = seen.filter(is_apart).take(PLACES).collect();
    let Some(needed) = pairs.iter().map(|pair| pair.2).min() else { return Ok(false) };
    experiment.set_stage(Stage::Narrowing);
    let mut firsts = Vec::new();
    for &(first, _, _) in &pairs {
        firsts.push(experiment.write_place(first, block, false)?);
    }
    for &(_, second, _) in &pairs {
        experiment.write_place(second, block, false)?;
    }
    clear(experiment, needed, &firsts)?;
    let mut shared_again = Retried::default();
    for first in &firsts {
        let is_foreign = |found| matches!(found, Found::Foreign { .. });
        shared_again.tried += 1;
        shared_again.again += u64::from(found(experiment, first)?.is_some_and(is_foreign));
    }
    experiment.evidence.shared_again = shared_again;
    Ok(true)
}

/// Looks for a period of good and lost parts, once; whether there is one.
fn seek_period(experiment: &mut Experiment<'_>) -> bool {
    if experiment.is_period_sought || lost(experiment).len() < LOST_LEAST {
        return false;
    }
    experiment.is_period_sought = true;
    experiment.evidence.guessed_period = guess_period(&experiment.evidence);
    experiment.evidence.guessed_period.is_some()
}

/// The places that were lost and gave no other address's data.
fn lost(experiment: &Experiment<'_>) -> Vec<Observation> {
    let is_lost = |place: &&Observation| {
        !place.is_right() && !matches!(place.found, Found::Foreign { .. } | Found::WriteFailed)
    };
    experiment.evidence.observations.iter().filter(is_lost).copied().collect()
}

/// Writes what was written first and is right again, and reads it.
fn rewrite(experiment: &mut Experiment<'_>) -> Result<(), DriveError> {
    experiment.set_stage(Stage::Narrowing);
    let right = experiment.evidence.observations.iter().filter(|place| place.is_right());
    let mut right: Vec<Observation> = right.copied().collect();
    right.sort_by_key(|place| place.written_at_bytes);
    right.dedup_by_key(|place| place.offset_bytes);
    right.truncate(PLACES);
    let mut written = Vec::new();
    for place in right {
        written.push(experiment.write_place(
            place.offset_bytes,
            place.length_bytes.min(CHUNK),
            false,
        )?);
    }
    let mut rewritten = Retried::default();
    for place in &written {
        rewritten.tried += 1;
        rewritten.again += u64::from(found(experiment, place)? == Some(Found::Right));
    }
    experiment.evidence.rewritten = rewritten;
    Ok(())
}

/// Writes lost places and reads each at once, then all again after as many other bytes as had lost them;
/// whether there were any.
fn read_at_once(experiment: &mut Experiment<'_>) -> Result<bool, DriveError> {
    let mut lost = lost(experiment);
    if experiment.evidence.right_at_once.tried > 0 || lost.len() < LOST_LEAST {
        return Ok(false);
    }
    experiment.set_stage(Stage::Narrowing);
    let random = lost.iter().filter(|place| place.is_random).map(Observation::distance_bytes);
    let needed = random.min().unwrap_or(0);
    lost.sort_by_key(|place| place.offset_bytes);
    lost.dedup_by_key(|place| place.offset_bytes);
    let step = lost.len().div_ceil(PLACES);
    let (mut tried, mut right) = (0, Vec::new());
    for place in lost.into_iter().step_by(step) {
        let place =
            experiment.write_place(place.offset_bytes, place.length_bytes.min(CHUNK), false)?;
        tried += 1;
        if found(experiment, &place)? == Some(Found::Right) {
            right.push(place);
        }
    }
    if !right.is_empty() {
        clear(experiment, needed, &right)?;
    }
    let mut again = 0;
    for place in &right {
        again += u64::from(found(experiment, place)? != Some(Found::Right));
    }
    experiment.evidence.right_at_once = Retried { tried, again };
    Ok(true)
}

/// What `place` gives; `None` where it fails.
fn found(experiment: &mut Experiment<'_>, place: &Written) -> Result<Option<Found>, DriveError> {
    let read = experiment.drive.read(place.stamp.address_bytes, place.length)?;
    Ok(read.ok().map(|data| examine(place.stamp, data, None).found))
}

/// Writes filler over all addresses, but not over `places`, until `needed` bytes and a quarter more are
/// written.
fn clear(
    experiment: &mut Experiment<'_>,
    needed: u64,
    places: &[Written],
) -> Result<(), DriveError> {
    let needed = needed + needed / 4 + MARGIN;
    let mut done = 0;
    for number in 0.. {
        let Some((start, length)) = chunk(experiment, number) else { break };
        let is_free = places.iter().all(|place| {
            let from = place.stamp.address_bytes;
            start + length <= from || from + place.length <= start
        });
        if is_free {
            let stamp = experiment.stamp(start);
            experiment.write_stamped(stamp, start, length)?;
            done += length;
        }
        if done >= needed || !experiment.goes_on() {
            break;
        }
    }
    let _ = experiment.drive.flush()?;
    Ok(())
}

/// A part of the filler all over the addresses: the pieces of the plan, then its end; of a plan without
/// pieces chunks at equal distances, first of one phase, then of the next.
fn chunk(experiment: &Experiment<'_>, number: u64) -> Option<(u64, u64)> {
    const STRIDE: u64 = 61;
    let plan = experiment.plan;
    if !plan.pieces.is_empty() {
        let in_pieces = plan.pieces.len() as u64 * plan.piece_length.div_ceil(CHUNK);
        let at_end = |number: u64| plan.end_chunk(number.checked_sub(in_pieces)?);
        return plan.piece_chunk(number).or_else(|| at_end(number));
    }
    let chunks = plan.size / CHUNK;
    let in_phase = chunks.div_ceil(STRIDE);
    let index = number % in_phase * STRIDE + number / in_phase;
    let start = index.min(chunks.checked_sub(1)?) * CHUNK;
    (number < in_phase * STRIDE).then_some((start, CHUNK))
}
