//! Reports of one run at intervals (`--status-interval`): the last holds all that those before it told.
//!
//! They are told from reports of several runs by their times and by figures that only grow. Where that
//! leaves a doubt, both stay.

use super::document::{Direction, Directions, Document, JobOutput};
use super::find::Found;

/// How far times can be apart that fio took one after the other, in milliseconds.
const LATE_MS: f64 = 250.0;

/// How long a run can do nothing, between one job and the next, in milliseconds.
const PAUSE_MS: f64 = 1000.0;

/// The last report of each run, and whether there were others.
pub(super) fn last_of_each_run(found: Vec<Found>) -> (Vec<Found>, bool) {
    let count = found.len();
    let mut last: Vec<Found> = Vec::new();
    for one in found {
        if last.last().is_some_and(|before| goes_on(&before.document, &one.document)) {
            last.pop();
        }
        last.push(one);
    }
    let has_others = last.len() < count;
    (last, has_others)
}

/// Whether `new` is a later report of the run that `old` is of.
fn goes_on(old: &Document, new: &Document) -> bool {
    let pairs = || old.jobs.0.iter().zip(&new.jobs.0);
    old.version == new.version
        && old.global == new.global
        && old.jobs.0.len() == new.jobs.0.len()
        && pairs().all(|(old, new)| is_same_job(old, new) && has_grown(old, new))
        && have_times_of_one_run(old, new)
}

fn is_same_job(old: &JobOutput, new: &JobOutput) -> bool {
    let starts = old.job_start.zip(new.job_start);
    old.name == new.name && old.options == new.options && starts.is_none_or(|(old, new)| old == new)
}

/// Whether all figures are those of more operations of the same job, or of as many.
fn has_grown(old: &JobOutput, new: &JobOutput) -> bool {
    let (old, new) = (directions(old), directions(new));
    old.len() == new.len()
        && old.iter().zip(&new).all(|(old, new)| {
            let extremes = |it: &Direction| {
                let spread = it.clat_ns.as_ref().or(it.clat.as_ref());
                spread.map(|spread| (spread.min, spread.max))
            };
            let is_wider = match (extremes(old), extremes(new)) {
                (Some((min, max)), Some((new_min, new_max))) if max > 0.0 => {
                    new_min <= min && new_max >= max
                }
                _ => true,
            };
            let is_longer = new.runtime >= old.runtime && new.io_bytes >= old.io_bytes;
            is_longer && new.total_ios >= old.total_ios && is_wider
        })
}

/// Whether the run of `new` began before `old` was printed, and both tell of the time between them.
fn have_times_of_one_run(old: &Document, new: &Document) -> bool {
    let Some((before, after)) = old.timestamp_ms.zip(new.timestamp_ms) else { return false };
    let Some(between) = after.checked_sub(before).map(|ms| ms as f64) else { return false };
    let runtime = |job: &JobOutput| {
        directions(job).iter().map(|direction| direction.runtime).fold(0.0, f64::max)
    };
    let times =
        || old.jobs.0.iter().zip(&new.jobs.0).map(|(old, new)| (runtime(old), runtime(new)));
    let more: f64 = times().map(|(old, new)| new - old).sum();
    let longest = times().map(|(_, new)| new).fold(0.0, f64::max);
    more > 0.0
        && more + PAUSE_MS >= between
        && longest > between
        && times().all(|(old, new)| new - old <= between + LATE_MS)
}

fn directions(job: &JobOutput) -> Vec<&Direction> {
    match job.directions() {
        Some(Directions::Apart(read, write)) => vec![read, write],
        Some(Directions::United(all)) => vec![all],
        None => Vec::new(),
    }
}
