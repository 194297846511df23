//! A replay through a log-structured layer beside replays on the plain layout.

use cardproof_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How much faster a job is through a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogTrial {
    /// `barriers`: a flush waits. `delayed`: writes and flushes are acknowledged early and kept in
    /// order.
    pub mode: String,
    /// The time on the plain layout divided by the time through the log: above 1 the log is faster.
    /// Absent where a replay failed or fewer than two pairs were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<TimeRatio>,
    /// The times on the plain layout, in the order of the pairs.
    pub plain_ns: Vec<Nanos>,
    /// The times through the log.
    pub log_ns: Vec<Nanos>,
    /// What the log wrote, headers and moved blocks included.
    pub written_bytes: Bytes,
    /// What was handed to the log to be written.
    pub asked_bytes: Bytes,
    /// What cleaning moved.
    pub moved_bytes: Bytes,
    /// Segments that were cleaned.
    pub cleaned_segments: u64,
    /// The size of a segment.
    pub segment_bytes: Bytes,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A ratio of times with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeRatio {
    /// The best single figure.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How sure the interval is, 0 to 1.
    pub confidence: f64,
}
