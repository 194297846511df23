//! A recorded job, replayed: how long it took and what it waited for.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::{Disturbance, Latency, PhaseState, PhaseSurroundings};

/// One replay of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replay {
    /// What the trace calls itself.
    pub trace: String,
    /// Whether it was replayed to its end.
    #[serde(flatten)]
    pub state: PhaseState,
    /// From the first request to the end of the last; of a replay that was cut short, to there.
    pub duration_ns: Nanos,
    /// How long the job took where it was recorded.
    pub recorded_ns: Nanos,
    /// How many of the trace's requests were replayed.
    pub requests: u64,
    /// How many there are.
    pub requests_of: u64,
    /// What the job's thinking was multiplied by; 0 where it did not think.
    pub think_factor: f64,
    /// The most requests under way at a time.
    pub queue_depth: u16,
    /// How the trace's addresses were laid on the target.
    pub layout: ReplayLayout,
    /// The time in which the job was thinking, whatever the storage did meanwhile.
    pub thought_ns: Nanos,
    /// The time in which the job could not go on without the storage.
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
    /// What came between the replay and its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// What was seen of the system meanwhile, unless nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
}

/// How a trace's addresses were laid on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplayLayout {
    /// As they were recorded.
    Kept,
    /// The parts of the device that the trace touches lie side by side.
    Packed,
    /// The same, and some share a place.
    Wrapped,
    /// In a way of a later version.
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
