//! A comparison of setups as JSON: what was measured, with its conditions, and no path.

use cardproof_record::{DeviceInfo, HostInfo, Warning};
use cardproof_units::{Bytes, Seed};
use serde::Serialize;

use super::advice::advice;
use super::contest::{CONFIDENCE, Contest, Task};

/// The form's name and version.
const SCHEMA: &str = "cardproof.setups/1";

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    schema: &'static str,
    created: String,
    version: &'static str,
    seed: Seed,
    /// Whether every turn was had.
    pub(super) is_complete: bool,
    rounds: u32,
    confidence: f64,
    /// On what file systems were made: `loop image` or `device`; absent where none were.
    pub(super) ground: Option<&'static str>,
    /// How large that was.
    pub(super) ground_bytes: Option<Bytes>,
    device: DeviceInfo,
    host: HostInfo,
    comparisons: Vec<Comparison>,
    /// What could not be tried, and what helps.
    pub(super) not_tried: Vec<NotTried>,
}

/// What was not tried.
#[derive(Clone, Debug, Serialize)]
pub(super) struct NotTried {
    pub(super) setup: String,
    pub(super) reason: String,
}

#[derive(Debug, Serialize)]
struct Comparison {
    title: String,
    baseline: String,
    results: Vec<Outcome>,
    /// What makes all of these figures doubtful; then nothing is advised.
    doubts: Vec<Warning>,
    advice: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    setup: String,
    job: &'static str,
    unit: &'static str,
    /// The rate in each measured round.
    rates: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// How many times as fast as the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<Ratio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_measured: Option<String>,
    costs: &'static str,
}

#[derive(Debug, Serialize)]
struct Ratio {
    estimate: f64,
    low: f64,
    high: f64,
}

/// What is known beside the contests.
pub(super) struct Circumstances {
    pub(super) created: String,
    pub(super) seed: Seed,
    pub(super) rounds: u32,
    pub(super) device: DeviceInfo,
    pub(super) host: HostInfo,
}

impl Document {
    /// The document of `contests`.
    pub(super) fn new(circumstances: Circumstances, contests: &[Contest]) -> Self {
        let Circumstances { created, seed, rounds, device, host } = circumstances;
        Self {
            schema: SCHEMA,
            created,
            version: env!("CARGO_PKG_VERSION"),
            seed,
            is_complete: true,
            rounds,
            confidence: CONFIDENCE,
            ground: None,
            ground_bytes: None,
            device,
            host,
            comparisons: contests.iter().map(comparison).collect(),
            not_tried: Vec::new(),
        }
    }
}

fn comparison(contest: &Contest) -> Comparison {
    let tasks = contest.tasks.iter();
    let results = tasks.flat_map(|&task| {
        (0..contest.contestants.len()).map(move |index| outcome(contest, index, task))
    });
    Comparison {
        title: contest.title.clone(),
        baseline: contest.contestants[0].name.clone(),
        results: results.collect(),
        doubts: contest.doubts.clone(),
        advice: advice(contest),
    }
}

fn outcome(contest: &Contest, index: usize, task: Task) -> Outcome {
    let contestant = &contest.contestants[index];
    Outcome {
        setup: contestant.name.clone(),
        job: task.name(),
        unit: task.unit(),
        rates: contest.rates(index, task),
        mean: contest.mean(index, task),
        ratio: contest.ratio(index, task).map(|ratio| Ratio {
            estimate: ratio.estimate,
            low: ratio.low,
            high: ratio.high,
        }),
        not_measured: contest.cause(index, task).map(str::to_owned),
        costs: contestant.costs,
    }
}
