//! Compared setups: file systems with their options, or ways of keeping a database, that did the
//! same jobs in turns on one storage.

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::Warning;

/// What came of comparing setups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSetups {
    /// How often each setup was to take its turn.
    pub rounds: u32,
    /// On what file systems were made; absent where none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<SetupGround>,
    /// What was compared, each with a baseline of its own.
    #[serde(default)]
    pub comparisons: Vec<SetupComparison>,
    /// What could not be tried, and what helps.
    #[serde(default)]
    pub not_tried: Vec<SetupNotTried>,
}

/// On what file systems were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupGround {
    /// `loop image` or `device`.
    pub kind: String,
    /// How large each file system was.
    pub size_bytes: Bytes,
}

/// Setups that took turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupComparison {
    /// What was compared, such as file systems.
    pub title: String,
    /// The setup that all ratios are to; it is the first of the results.
    pub baseline: String,
    /// The confidence of the ratios' intervals.
    pub confidence: f64,
    /// Each job of each setup, job by job.
    pub results: Vec<SetupResult>,
    /// What makes all of these figures doubtful.
    #[serde(default)]
    pub doubts: Vec<Warning>,
}

/// One job of one setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupResult {
    /// The setup, such as `ext4-noatime`.
    pub setup: String,
    /// The job, such as `fsync-4k`.
    pub job: String,
    /// The job in words.
    pub deed: String,
    /// The unit of the rates.
    pub unit: String,
    /// The rate in each measured round.
    pub rates: Vec<f64>,
    /// Their geometric mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// How many times as fast as the baseline, from pairs of the same round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<SetupRatio>,
    /// Why a turn has no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// What the setup costs in safety or otherwise.
    pub costs: String,
    /// What the setup is fit for.
    pub fit_for: SetupUse,
}

/// How many times as fast as the baseline, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupRatio {
    /// The estimate.
    pub estimate: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// What a setup is fit for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SetupUse {
    /// Any use, a system's own file system included.
    Anything,
    /// Pictures, music, exchange: it has no owners, rights or links, so no system can be on it.
    StorageOnly,
    /// Nothing with data that matter; measured to show what safety costs. Also anything that a newer
    /// version knows.
    #[serde(other)]
    Nothing,
}

/// What could not be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetupNotTried {
    /// Which setup.
    pub setup: String,
    /// Why, and what helps.
    pub reason: String,
}

impl ComparedSetups {
    /// Whether anything was measured.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        self.comparisons.iter().any(SetupComparison::has_figures)
    }
}

impl SetupComparison {
    /// Whether anything was measured.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        self.results.iter().any(|result| !result.rates.is_empty())
    }

    /// The jobs that were done: their names and what they are in words.
    #[must_use]
    pub fn jobs(&self) -> Vec<(&str, &str)> {
        let mut jobs: Vec<(&str, &str)> = Vec::new();
        for result in &self.results {
            if !jobs.iter().any(|(job, _)| *job == result.job) {
                jobs.push((&result.job, &result.deed));
            }
        }
        jobs
    }

    /// The results of the job called `job`, the baseline first.
    pub fn of_job(&self, job: &str) -> impl Iterator<Item = &SetupResult> {
        self.results.iter().filter(move |result| result.job == job)
    }
}
