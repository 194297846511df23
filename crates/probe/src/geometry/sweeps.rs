//! Writing a long stretch from front to back, twice, and again after rests once a cache was full.

use cardproof_evidence::geometry::{Cliff, Observations, Recovery, Sweep, infer};
use cardproof_units::{Bytes, Nanos};

use super::bench::{Bench, ProbeError, middle};
use super::plan::Plan;

/// The size of each write: it divides every allocation unit that is no odd multiple of less.
const BLOCK: Bytes = Bytes::kib(64);

/// How often a sweep looks whether its rate has fallen, and how much is written after a fall.
const LOOK: Bytes = Bytes::mib(16);

/// A rate has fallen where the last writes take so much longer than the first.
const FALLEN: f64 = 1.33;

/// What the second sweep writes at least, so that it can see the units' ends.
const SECOND_LEAST: Bytes = Bytes::mib(640);

/// Rests that are tried to find how fast a full cache empties.
const RESTS_MOST: usize = 8;

/// Rests that empty a part of the cache, before it is enough.
const RESTS_ENOUGH: usize = 3;

/// The first rest, and the longest.
const REST_FIRST: Nanos = Nanos::from_secs(2);
const REST_MOST: Nanos = Nanos::from_secs(64);

/// A rest before a sweep where nothing is known of the cache.
const REST_BEFORE: Nanos = Nanos::from_secs(10);

/// Both sweeps and the recovery between them.
pub(super) fn sweeps(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    bench.rest(REST_BEFORE)?;
    let first = sweep(bench, plan, 0, plan.sweep)?;
    let (cliff, written) = (first.cliff, first.written);
    observations.sweeps.push(first);
    let mut rest = REST_BEFORE;
    let mut second = SECOND_LEAST.min(written);
    if let Some(cliff) = cliff {
        recover(bench, plan, cliff, observations)?;
        rest = emptying(cliff, observations);
        second = Bytes(cliff.fast.get() + 4 * LOOK.get()).max(second).min(plan.sweep);
    }
    bench.rest(rest)?;
    // On a card with room, elsewhere: the ends of units must come at the same distance there.
    let offset = if plan.scope.size.get() >= 2 * plan.sweep.get() { plan.sweep.get() } else { 0 };
    let sweep = sweep(bench, plan, offset, second)?;
    observations.sweeps.push(sweep);
    Ok(())
}

/// The time in which the cache is surely empty.
fn emptying(cliff: Cliff, observations: &Observations) -> Nanos {
    let geometry = infer(observations);
    let rate = match geometry.slc_recovery.claim().map(|claim| claim.value) {
        Some(cardproof_evidence::geometry::Value::Rate(rate)) => rate.0,
        _ => return REST_MOST,
    };
    Nanos::from_secs_f64((1.5 * cliff.fast.as_f64() / rate + 2.0).min(600.0))
}

/// Writes up to `most` bytes from `offset` on, and a little more after its rate has fallen.
fn sweep(
    bench: &mut Bench<'_>,
    plan: &Plan,
    offset: u64,
    most: Bytes,
) -> Result<Sweep, ProbeError> {
    let begun = bench.now();
    let per_look = (LOOK.get() / BLOCK.get()) as usize;
    let mut times: Vec<Nanos> = Vec::new();
    let mut slow_looks = 0;
    let writes = most.get() / BLOCK.get();
    for write in 0..writes {
        let Some(time) = bench.write(offset + write * BLOCK.get(), BLOCK.get())? else { continue };
        times.push(time);
        if times.len().is_multiple_of(per_look) {
            let late = bench.now().saturating_sub(begun) > plan.sweep_time;
            slow_looks = if has_fallen(&times, per_look) { slow_looks + 1 } else { 0 };
            if slow_looks >= 3 || late {
                break;
            }
        }
    }
    let write_ns: Vec<u64> = times.iter().map(|time| time.get()).collect();
    Ok(Sweep::new(BLOCK, &write_ns))
}

fn has_fallen(times: &[Nanos], per_look: usize) -> bool {
    let first = middle(&times[..per_look]).get() as f64;
    let last = middle(&times[times.len() - per_look..]).get() as f64;
    times.len() >= 2 * per_look && last > FALLEN * first
}

/// Lets the full cache rest and writes until it is full again, with rests of fitting lengths.
fn recover(
    bench: &mut Bench<'_>,
    plan: &Plan,
    cliff: Cliff,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    let limit = BLOCK.as_f64() * 1e9 * (0.5 / cliff.before.0 + 0.5 / cliff.after.0);
    let mut left = plan.sweep.get().saturating_sub(2 * LOOK.get());
    let mut rest = REST_FIRST;
    for _ in 0..RESTS_MOST {
        let room = Bytes(left).min(cliff.fast);
        bench.rest(rest)?;
        let fast = until_slow(bench, limit, room)?;
        left = left.saturating_sub(fast.get() + SLOW_WRITES * BLOCK.get());
        observations.recoveries.push(Recovery { rest, fast, cache: cliff.fast });
        let share = fast.as_f64() / cliff.fast.as_f64();
        let partial =
            |one: &&Recovery| (0.02..0.8).contains(&(one.fast.as_f64() / one.cache.as_f64()));
        let enough = observations.recoveries.iter().filter(partial).count() >= RESTS_ENOUGH;
        if enough || left < 8 * LOOK.get() {
            break;
        }
        rest = match share {
            share if share < 0.02 => Nanos(rest.get() * 4),
            share if share > 0.8 => Nanos(rest.get() / 5),
            share if share > 0.4 => Nanos(rest.get() * 2 / 3),
            _ => Nanos(rest.get() * 3 / 2),
        };
        if rest > REST_MOST || rest < Nanos::from_millis(50) {
            break;
        }
    }
    Ok(())
}

/// Writes in a row that must be slow before the cache counts as full.
const SLOW_WRITES: u64 = 24;

/// Writes from the front until most of the last writes take longer than `limit` nanoseconds, at most
/// `most` bytes; returns how many bytes were written before.
fn until_slow(bench: &mut Bench<'_>, limit: f64, most: Bytes) -> Result<Bytes, ProbeError> {
    let mut slow = 0;
    let mut fast = 0;
    for write in 0..most.get() / BLOCK.get() {
        let Some(time) = bench.write(write * BLOCK.get(), BLOCK.get())? else { continue };
        if time.get() as f64 > limit {
            slow += 1;
        } else {
            fast += 1 + std::mem::take(&mut slow);
        }
        if slow >= SLOW_WRITES {
            break;
        }
    }
    Ok(Bytes(fast * BLOCK.get()))
}
