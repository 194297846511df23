//! What writing a long stretch from front to back shows: the ends of allocation units, and the end
//! of the fast part of the flash.
//!
//! A card that maps by unit erases one when it has filled another, so every so many writes one takes
//! longer. The distance of those is the allocation unit, if they come evenly. A card with an SLC
//! cache writes at a lower rate from some point on; the bytes written until then fitted the cache.

use cardproof_units::{Bytes, Nanos, Throughput};

use super::finding::{Claim, Finding, Mapping, Value};
use super::fit::{agreed, median};

/// One stretch, written from front to back after a rest, without the times of its single writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// The size of each write.
    pub block: Bytes,
    /// How many bytes were written altogether.
    pub written: Bytes,
    /// The even distance of writes that take longer than the others, where there is one.
    pub longer_every: Option<Bytes>,
    /// Where the rate fell for good, if it did.
    pub cliff: Option<Cliff>,
    /// The rate in equal parts of the stretch.
    pub course: Vec<Throughput>,
}

impl Sweep {
    /// What matters of writes of `block`, each of which took so many nanoseconds.
    #[must_use]
    pub fn new(block: Bytes, write_ns: &[u64]) -> Self {
        let cliff = Cliff::find(block, write_ns);
        let parts = write_ns.chunks(write_ns.len().div_ceil(PARTS).max(1));
        let rate = |part: &[u64]| {
            Throughput::from_bytes(Bytes(block.get() * part.len() as u64), Nanos(part.iter().sum()))
        };
        Self {
            block,
            written: Bytes(block.get() * write_ns.len() as u64),
            longer_every: distance(block, write_ns, cliff),
            cliff,
            course: parts.filter_map(rate).collect(),
        }
    }
}

/// Where a sweep's rate falls for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// How many bytes were written fast.
    pub fast: Bytes,
    /// The rate before.
    pub before: Throughput,
    /// The rate after.
    pub after: Throughput,
}

/// Writing that was fast again for a while after a rest, on a card whose cache was full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// How long the card rested.
    pub rest: Nanos,
    /// How many bytes were written fast after it.
    pub fast: Bytes,
    /// The size of the cache as the same series found it.
    pub cache: Bytes,
}

/// The rate after a cliff over that before, at most.
const CLIFF_MOST: f64 = 0.75;

/// How many equal parts a stretch is looked at in.
const PARTS: usize = 256;

/// Parts on either side at least.
const PARTS_LEAST: usize = 4;

/// A longer write is at least so many scatters above the middle, and so much of it.
const LONGER_SCATTERS: f64 = 8.0;
const LONGER_SHARE: f64 = 0.08;

/// Unit ends that must be seen.
const ENDS_LEAST: usize = 4;

impl Cliff {
    /// The one place where the rate of writes of `block` falls and stays low.
    #[must_use]
    pub fn find(block: Bytes, write_ns: &[u64]) -> Option<Self> {
        let per_part = write_ns.len().div_ceil(PARTS).max(1);
        let parts: Vec<f64> = write_ns
            .chunks(per_part)
            .filter_map(|part| median(&part.iter().map(|&ns| ns as f64).collect::<Vec<_>>()))
            .collect();
        let split = split(&parts)?;
        let at = exact(write_ns, split * per_part, per_part, &parts, split);
        let rate = |parts: &[f64]| Some(Throughput(block.as_f64() * 1e9 / median(parts)?));
        let (before, after) = (rate(&parts[..split])?, rate(&parts[split..])?);
        Some(Self { fast: Bytes(block.get() * at as u64), before, after })
    }
}

/// The part where the time rises for good, if both sides are even.
fn split(parts: &[f64]) -> Option<usize> {
    if parts.len() < 2 * PARTS_LEAST {
        return None;
    }
    let deviation = |split: usize| {
        let (before, after) = parts.split_at(split);
        let around = |side: &[f64]| {
            let middle = median(side).unwrap_or(0.0);
            side.iter().map(|time| (time - middle).abs()).sum::<f64>()
        };
        around(before) + around(after)
    };
    let last = parts.len() - PARTS_LEAST;
    let best = (PARTS_LEAST..=last)
        .map(|split| (split, deviation(split)))
        .min_by(|one, other| one.1.total_cmp(&other.1))?
        .0;
    let (before, after) = parts.split_at(best);
    let (fast, slow) = (median(before)?, median(after)?);
    let middle = f64::midpoint(fast, slow);
    let strays = before.iter().filter(|time| **time > middle).count()
        + after.iter().filter(|time| **time < middle).count();
    (fast / slow <= CLIFF_MOST && strays * 20 <= parts.len()).then_some(best)
}

/// The write at which the fall begins, looked for around the write `near`.
fn exact(write_ns: &[u64], near: usize, within: usize, parts: &[f64], split: usize) -> usize {
    let middle = |parts: &[f64]| median(parts).unwrap_or(0.0);
    let limit = f64::midpoint(middle(&parts[..split]), middle(&parts[split..]));
    let from = near.saturating_sub(2 * within);
    let to = (near + 2 * within).min(write_ns.len());
    let slow_before =
        |at: usize| write_ns[from..at].iter().filter(|&&ns| ns as f64 > limit).count();
    let fast_after = |at: usize| write_ns[at..to].iter().filter(|&&ns| ns as f64 <= limit).count();
    (from..=to).min_by_key(|&at| slow_before(at) + fast_after(at)).unwrap_or(near)
}

/// The allocation unit that the sweeps show of a card whose mapping may be `known`.
pub(super) fn unit(sweeps: &[Sweep], known: Option<Mapping>, missing: Option<&str>) -> Finding {
    if sweeps.is_empty() {
        return Finding::unmeasured(missing);
    }
    let units: Vec<Option<Bytes>> = sweeps.iter().map(|sweep| sweep.longer_every).collect();
    let clear: Vec<Bytes> = units.iter().flatten().copied().collect();
    match agreed(&units) {
        Some(Some(unit)) => {
            let probability = if units.len() > 1 { 0.96 } else { 0.85 };
            let notes = vec![format!("every {unit}, a write takes longer")];
            let method = "write step";
            Finding::Claimed(Claim { value: Value::Bytes(unit), probability, method, notes })
        }
        None if clear.len() > 1 => Finding::CannotBeSeen("the write passes disagree".to_owned()),
        _ => {
            let by_page = if known == Some(Mapping::Units) { "" } else { ", as with page mapping" };
            Finding::CannotBeSeen(format!("the writes show no pattern either{by_page}"))
        }
    }
}

/// The even distance of a sweep's longer writes before its cliff.
fn distance(block: Bytes, write_ns: &[u64], cliff: Option<Cliff>) -> Option<Bytes> {
    let before_cliff = match cliff {
        Some(cliff) => usize::try_from(cliff.fast.get() / block.get()).ok()?,
        None => write_ns.len(),
    };
    let until = before_cliff.min(write_ns.len());
    let times: Vec<f64> = write_ns[..until].iter().map(|&ns| ns as f64).collect();
    let middle = median(&times)?;
    let scatter = median(&times.iter().map(|time| (time - middle).abs()).collect::<Vec<_>>())?;
    let limit = middle + (LONGER_SCATTERS * scatter).max(LONGER_SHARE * middle);
    let longer: Vec<usize> =
        times.iter().enumerate().filter(|(_, time)| **time > limit).map(|(at, _)| at).collect();
    let gaps: Vec<f64> = longer.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let gap = median(&gaps)?;
    let even = gaps.iter().filter(|each| (**each - gap).abs() < 0.5).count();
    let ends = longer.len();
    let expected = times.len() as f64 / gap;
    let is_comb = ends > ENDS_LEAST
        && gap >= 2.0
        && even * 10 >= gaps.len() * 9
        && (ends as f64) >= 0.8 * expected;
    is_comb.then(|| Bytes(block.get() * gap as u64))
}

/// The SLC cache that the sweeps show.
pub(super) fn slc_cache(sweeps: &[Sweep], missing: Option<&str>) -> Finding {
    let Some(longest) = sweeps.iter().map(|sweep| sweep.written).max() else {
        return Finding::unmeasured(missing);
    };
    let cliffs: Vec<Cliff> = sweeps.iter().filter_map(|sweep| sweep.cliff).collect();
    if cliffs.is_empty() {
        return Finding::CannotBeSeen(format!(
            "the write rate did not drop during {longest} of sequential writes"
        ));
    }
    if cliffs.len() < sweeps.len() {
        return Finding::CannotBeSeen("the write rate drops in some passes only".to_owned());
    }
    let sizes: Vec<Bytes> = cliffs.iter().map(|cliff| cliff.fast).collect();
    let (least, most) = (sizes.iter().min(), sizes.iter().max());
    let (Some(least), Some(most)) = (least, most) else { return Finding::unmeasured(missing) };
    if least.as_f64() < 0.9 * most.as_f64() {
        return Finding::CannotBeSeen(format!(
            "the passes disagree: the rate drops after {least} and after {most}. Possible causes: a \
             cache that was not empty at the start, or a cache of variable size"
        ));
    }
    let probability = if sizes.len() > 1 { 0.95 } else { 0.8 };
    let (before, after) = (cliffs[0].before, cliffs[0].after);
    let notes = vec![format!("the write rate drops from {before} to {after}")];
    let method = "bytes written until the rate drops";
    Finding::Claimed(Claim { value: Value::Bytes(*most), probability, method, notes })
}

/// The rate at which an idle card empties its cache.
pub(super) fn slc_recovery(recoveries: &[Recovery], missing: Option<&str>) -> Finding {
    // A rest that emptied the cache wholly, or nothing of it, says little of the rate.
    let partial: Vec<f64> = recoveries
        .iter()
        .filter(|one| one.fast > Bytes::ZERO && one.fast.as_f64() < 0.9 * one.cache.as_f64())
        .map(|one| one.fast.as_f64() / one.rest.as_secs_f64())
        .collect();
    if recoveries.is_empty() {
        let reason = missing.unwrap_or("no SLC cache was found");
        return Finding::CannotBeSeen(reason.to_owned());
    }
    let (Some(rate), true) = (median(&partial), partial.len() >= 2) else {
        return Finding::CannotBeSeen(
            "no pause emptied the cache partly: it becomes empty at once, or stays full".to_owned(),
        );
    };
    if partial.iter().any(|one| (one / rate - 1.0).abs() > 0.15) {
        return Finding::CannotBeSeen("pauses of different length give different rates".to_owned());
    }
    let notes = vec![format!("pauses that emptied a part of the cache: {}", partial.len())];
    let value = Value::Rate(Throughput(rate));
    let method = "bytes written fast again after a pause";
    Finding::Claimed(Claim { value, probability: 0.9, method, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_distances_of_longer_writes_are_the_unit() {
        let every = |units: usize, writes: usize| -> Vec<u64> {
            let time = |at: usize| {
                6_000_000
                    + if (at + 1).is_multiple_of(units) {
                        3_000_000
                    } else {
                        (at % 7) as u64 * 10_000
                    }
            };
            (0..writes).map(time).collect()
        };
        let found =
            |times: Vec<u64>| unit(&[Sweep::new(Bytes::kib(64), &times)], None, None).bytes();
        assert_eq!(found(every(24, 240)), Some(Bytes::kib(1536)), "no power of two");
        assert_eq!(found(every(64, 640)), Some(Bytes::mib(4)));
        assert_eq!(found(every(1000, 640)), None, "no end within the stretch");
        let mut uneven = every(1000, 640);
        for at in [10, 50, 170, 190, 400, 410] {
            uneven[at] += 5_000_000;
        }
        assert_eq!(found(uneven), None, "pauses at uneven distances");
    }

    #[test]
    fn a_cliff_is_a_fall_that_stays() {
        let mut times = vec![1_000_000; 1000];
        assert_eq!(Cliff::find(Bytes::kib(64), &times), None);
        times.extend(vec![3_000_000; 200]);
        let cliff = Cliff::find(Bytes::kib(64), &times).unwrap();
        assert_eq!(cliff.fast, Bytes(64_000 * 1024));
        assert!(cliff.before.0 / cliff.after.0 > 2.9);
        times.extend(vec![1_000_000; 600]);
        assert_eq!(Cliff::find(Bytes::kib(64), &times), None, "a fall that comes back");
    }
}
