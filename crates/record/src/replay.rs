//! A recorded job, replayed: how long it took and what it waited for.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::{Disturbance, Latency, PhaseState, PhaseSurroundings};

/// One replay of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replay {
    /// The name of the trace.
    pub trace: String,
    /// Whether the replay is complete.
    #[serde(flatten)]
    pub state: PhaseState,
    /// From the first request to the end of the last one that was replayed.
    pub duration_ns: Nanos,
    /// The duration of the original job.
    pub recorded_ns: Nanos,
    /// How many of the trace's requests were replayed.
    pub requests: u64,
    /// How many requests the trace has.
    pub requests_of: u64,
    /// The factor for the computing time between requests; 0 leaves it out.
    pub think_factor: f64,
    /// The most requests under way at a time.
    pub queue_depth: u16,
    /// How the trace's addresses were mapped to the target.
    pub layout: ReplayLayout,
    /// The time that the job spent computing.
    pub thought_ns: Nanos,
    /// The time that the job waited for the storage.
    pub waited: Waiting,
    /// The reads, unless there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<ReplayedRequests>,
    /// The writes, unless there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<ReplayedRequests>,
    /// The flushes, unless there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<ReplayedRequests>,
    /// How many epochs ended with a flush or a durable write.
    pub epochs: u64,
    /// How long the epochs took, unless there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch_ns: Option<Latency>,
    /// Discards that were left out because the target has none.
    #[serde(default)]
    pub discards_left_out: u64,
    /// The disturbances of the replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// What the system did during the replay, if it was monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
}

/// How a trace's addresses were mapped to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayLayout {
    /// As they were recorded.
    Kept,
    /// The address ranges of the trace are moved together.
    Packed,
    /// The same, and some ranges overlap.
    Wrapped,
    /// A mapping of a newer version.
    #[serde(other)]
    Other,
}

/// What a job waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    /// Data to be read.
    pub reads_ns: Nanos,
    /// Data to be written.
    pub writes_ns: Nanos,
    /// Flushes and discards.
    pub flushes_ns: Nanos,
}

impl Waiting {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.reads_ns + self.writes_ns + self.flushes_ns
    }
}

/// The requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedRequests {
    /// How many; a request that was cut in pieces counts once for each.
    pub ops: u64,
    /// What they moved.
    pub bytes: Bytes,
    /// How long they took.
    pub latency_ns: Latency,
}
