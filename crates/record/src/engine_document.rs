//! What one phase of any shape did and what it cost, for scripts: its fields stay as they are.

use cardproof_units::{Bytes, Iops, Nanos};
use serde::Serialize;

use crate::{Latency, PhaseState};

/// What `engine --json` prints. Its form has no name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct EngineDocument {
    /// The engine that issued the operations.
    pub engine: &'static str,
    /// Why another engine than the fastest was used.
    pub engine_fallback: Option<String>,
    /// Whether operations went past the page cache.
    pub direct: bool,
    /// Whether the figures are valid.
    #[serde(flatten)]
    pub state: PhaseState,
    /// Operations completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Time of the phase in nanoseconds.
    pub duration_ns: Nanos,
    /// Operations a second.
    pub iops: Option<Iops>,
    /// Latency in nanoseconds; null where none was timed.
    #[cfg_attr(feature = "schema", schemars(extend("unevaluatedProperties" = false)))]
    pub latency_ns: Option<Latency>,
    /// Latency of flushes in nanoseconds; null where none was made.
    #[cfg_attr(feature = "schema", schemars(extend("unevaluatedProperties" = false)))]
    pub flush_latency_ns: Option<Latency>,
    /// Flushes made.
    pub flushes: u64,
    /// User time of the process in nanoseconds.
    pub cpu_user_ns: Option<Nanos>,
    /// System time of the process in nanoseconds.
    pub cpu_system_ns: Option<Nanos>,
    /// Peak resident memory.
    pub memory_peak_bytes: Option<Bytes>,
    /// Share of one processor that the monitor used, 0 to 1; absent without a monitor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_cpu_share: Option<f64>,
}
