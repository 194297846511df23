//! The model: a job's time is the processor's and that of its requests.
//!
//! `T = cpu + writes * (write / 0.5 ms)^-merging * write + reads * read`, where `write` and `read`
//! are what one request costs on the card. The slower a card, the longer requests wait in the
//! kernel and the more of them are merged; on cards faster than 0.5 ms a request, none are. `cpu`
//! is one number for each job, `merging` one for all: five numbers for 32 published times.
//!
//! Both are found robustly, because one card may differ from the others for reasons of its own:
//! `cpu` is the median over the cards of what their requests leave over, `merging` the value with
//! the least sum of absolute logarithms of predicted to published times.

use super::costs::Costs;
use super::job::PredictedJob;
use cardproof_facts::PublishedCard;

/// The cost of a write up to which none is merged, in seconds.
const UNMERGED_S: f64 = 0.5e-3;

/// The values of `merging` that are tried, in hundredths. The published counts of the fastest card
/// (41 700) and of the slowest (33 900) amount to 5.
const MERGING_PERCENT_MAX: u32 = 30;

/// The model with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Model {
    /// How the number of requests falls with their cost: an exponent.
    merging: f64,
    /// The processor's seconds, in the order of [`PredictedJob::ALL`].
    cpu_s: [f64; 4],
}

/// The numbers by which one job is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobNumbers {
    /// How the number of writes falls with their cost: an exponent, fitted.
    pub merging: f64,
    /// The processor's seconds, fitted.
    pub cpu_s: f64,
    /// Writes where none are merged, counted.
    pub writes: f64,
    /// Reads of about 48 KiB, counted.
    pub reads: f64,
}

impl Model {
    /// The model that fits the published times of `cards` best.
    pub(super) fn fit(cards: &[PublishedCard]) -> Self {
        let candidates = (0..=MERGING_PERCENT_MAX).map(|percent| {
            let merging = f64::from(percent) / 100.0;
            let cpu_s = PredictedJob::ALL.map(|job| median_cpu_s(cards, job, merging));
            Self { merging, cpu_s }
        });
        let misfit = |model: &Self| -> f64 {
            PredictedJob::OF_PACKAGES.into_iter().map(|job| model.misfit(cards, job)).sum()
        };
        let best = candidates.min_by(|a, b| misfit(a).total_cmp(&misfit(b)));
        best.unwrap_or(Self { merging: 0.0, cpu_s: [0.0; 4] })
    }

    /// The seconds that `job` takes where requests cost this much; `None` where it has requests of
    /// a kind whose cost is not known.
    pub(super) fn seconds(&self, job: PredictedJob, costs: &Costs) -> Option<f64> {
        Some(self.cpu_s[job as usize] + requests_s(job, costs, self.merging)?)
    }

    /// The numbers behind the prediction of `job`.
    pub(super) const fn numbers(&self, job: PredictedJob) -> JobNumbers {
        JobNumbers {
            merging: self.merging,
            cpu_s: self.cpu_s[job as usize],
            writes: job.writes(),
            reads: job.reads(),
        }
    }

    fn misfit(&self, cards: &[PublishedCard], job: PredictedJob) -> f64 {
        let logs = cards.iter().filter_map(|card| {
            let predicted = self.seconds(job, &Costs::of_published(card))?;
            Some((predicted / job.published(card).as_secs_f64()).ln().abs())
        });
        logs.sum()
    }
}

/// The seconds that the requests of `job` take.
fn requests_s(job: PredictedJob, costs: &Costs, merging: f64) -> Option<f64> {
    let write_s = costs.write_s?;
    let waiting = if job.merges() { (write_s / UNMERGED_S).max(1.0) } else { 1.0 };
    let writes_s = job.writes() * waiting.powf(-merging) * write_s;
    let reads_s = if job.reads() > 0.0 { job.reads() * costs.read_s? } else { 0.0 };
    Some(writes_s + reads_s)
}

fn median_cpu_s(cards: &[PublishedCard], job: PredictedJob, merging: f64) -> f64 {
    let mut left_over: Vec<f64> = cards
        .iter()
        .filter_map(|card| {
            let requests_s = requests_s(job, &Costs::of_published(card), merging)?;
            Some(job.published(card).as_secs_f64() - requests_s)
        })
        .collect();
    left_over.sort_by(f64::total_cmp);
    let middle = left_over.len() / 2;
    let upper = left_over.get(middle).copied().unwrap_or_default();
    let is_odd = left_over.len() % 2 == 1;
    let median =
        if is_odd || middle == 0 { upper } else { f64::midpoint(left_over[middle - 1], upper) };
    median.max(0.0)
}
