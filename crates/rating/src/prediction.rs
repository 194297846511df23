//! Predicted times of whole jobs on one reference board, from a card's micro-benchmarks.
//!
//! The time of a job is the processor time, the same on every card, and the time of its requests, which
//! depends on the card. The numbers of requests come from block traces of such jobs, and the
//! processor's times from eight published cards; nothing else is fitted but how far a slow card
//! merges requests. `docs/design/prediction.md` says how well this holds, and where it does not.
//!
//! The prediction is for one board only. It does not include changes when a card becomes fuller, hotter
//! or older, nor another processor.

mod costs;
mod job;
mod model;
mod validation;

use cardproof_record::Record;
use cardproof_units::Nanos;

pub use job::PredictedJob;
pub use model::JobNumbers;
pub use validation::{LeftOut, LeftOutCard, Method, leave_one_out};

pub use costs::NoPrediction;

use costs::{Costs, Priced};
use model::Model;

use crate::published;
use cardproof_facts::{PUBLISHED_CARDS, PublishedCard};

/// How long a job would take on the reference board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The job.
    pub job: PredictedJob,
    /// The best single figure.
    pub time: Nanos,
    /// The lower end of the range. The range covers the errors on eight published cards, each predicted
    /// from the other seven, and the intervals of the figures. None of the eight is outside; some other
    /// cards will be.
    pub low: Nanos,
    /// The upper end of the range; `None` if a figure's interval begins at 0.
    pub high: Option<Nanos>,
    /// Whether every figure behind it has an interval. If another tool stated one without an interval,
    /// the range allows for the usual variation between runs, and is an indication.
    pub is_bounded: bool,
}

/// The times of all jobs that can be predicted from `record`, in the order of [`PredictedJob::ALL`].
///
/// # Errors
/// No job can be predicted; the reason.
pub fn predictions(record: &Record) -> Result<Vec<Prediction>, NoPrediction> {
    let priced = Priced::from_record(record)?;
    let model = Model::fit(&PUBLISHED_CARDS);
    let like = published::like(record);
    Ok(PredictedJob::ALL
        .into_iter()
        .filter_map(|job| predict(&model, job, &priced, like))
        .collect())
}

/// The numbers by which `job` is predicted, fitted to all eight published cards.
#[must_use]
pub fn numbers(job: PredictedJob) -> JobNumbers {
    Model::fit(&PUBLISHED_CARDS).numbers(job)
}

fn predict(
    model: &Model,
    job: PredictedJob,
    priced: &Priced,
    like: Option<&PublishedCard>,
) -> Option<Prediction> {
    let seconds = |costs: &Costs| model.seconds(job, costs);
    let [least, most] = leave_one_out(Method::Requests, job).published_to_predicted();
    // A published card with the same figures took what it took; the model need not guess.
    let time = like
        .filter(|_| !priced.is_bounded)
        .map_or_else(|| seconds(&priced.best), |card| Some(job.published(card).as_secs_f64()))?;
    let low = seconds(&priced.cheapest)? * least;
    let high = seconds(&priced.dearest).map(|seconds| seconds * most);
    Some(Prediction {
        job,
        time: Nanos::from_secs_f64(time),
        low: Nanos::from_secs_f64(low.min(time)),
        high: high.map(|high| Nanos::from_secs_f64(high.max(time))),
        is_bounded: priced.is_bounded,
    })
}
