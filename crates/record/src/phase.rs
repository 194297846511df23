//! One phase of a run: one pattern of operations and what the target did with it.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Disturbance, Estimate, Latency, LatencyIntervals, Level, LimitedBy, OpName, PatternName,
    PhaseRun, PhaseState, PhaseSurroundings, Stated, SyncMode, Warning,
};

/// What ended a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// Its share of the time budget was used up.
    Time,
    /// Its estimate was precise enough.
    Precision,
    /// The interval showed on which side of a limit the rate is. A phase that never began was skipped
    /// because an earlier phase had decided the verdict.
    Decision,
    /// It had transferred all its bytes.
    Bytes,
    /// It had completed all its operations.
    Operations,
    /// The user stopped the run.
    Interrupted,
    /// An error.
    Fault,
    /// A reason of a newer version.
    #[serde(other)]
    Other,
}

/// A part of the latency distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bucket {
    /// Latencies from above the previous bucket's end up to this, inclusive.
    pub up_to_ns: Nanos,
    /// How many operations.
    pub ops: u64,
}

/// One direction of a mixed phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Direction {
    /// How many operations.
    pub ops: u64,
    /// How many bytes.
    pub bytes: Bytes,
    /// The direction's own operations a second.
    pub iops: Iops,
    /// The direction's latencies.
    pub latency_ns: Latency,
}

/// What happened in one slice of a phase's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// When it began, from the phase's start.
    pub start_ns: Nanos,
    /// How long it was.
    pub duration_ns: Nanos,
    /// Operations that completed in it.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// The longest latency among them; zero when there was none.
    pub latency_max_ns: Nanos,
}

/// How much of the data that was read was compared with the written data, byte by byte. Of another tool's test in which
/// all was right, the amount is zero where the tool does not tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Compared bytes.
    pub compared_bytes: Bytes,
    /// Bytes in blocks with wrong data.
    pub wrong_bytes: Bytes,
}

impl Verification {
    /// `compared_bytes`, all of which were as written.
    #[must_use]
    pub const fn all_right(compared_bytes: Bytes) -> Self {
        Self { compared_bytes, wrong_bytes: Bytes::ZERO }
    }
}

/// A random sample of the written data, read back and compared. The counts give the smallest share of
/// lost data that the check detects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataCheck {
    /// How many blocks were read back, each once.
    pub places: u64,
    /// The size of a block.
    pub place_bytes: Bytes,
    /// Blocks with wrong data.
    pub wrong_places: u64,
    /// Blocks that could not be read.
    #[serde(default)]
    pub unreadable_places: u64,
    /// The lowest address of a block with wrong data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong_bytes: Option<Bytes>,
    /// The lowest address read back, from the target's start.
    pub from_bytes: Bytes,
    /// The end of the highest block read back.
    pub to_bytes: Bytes,
    /// How much was written for the check alone, across the part of the span that no phase had filled.
    #[serde(default)]
    pub spread_bytes: Bytes,
    /// The time of the check, which is part of no phase.
    pub duration_ns: Nanos,
    /// Whether the reads bypassed the page cache.
    pub direct: bool,
}

/// The parts of a phase that nothing disturbed, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Undisturbed {
    /// Their time.
    pub duration_ns: Nanos,
    /// Operations a second in them, with an interval that stays valid whenever the phase was ended.
    pub iops: Estimate<Iops>,
}

/// One phase of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its name in the profile, such as `random-write-4k-qd1`.
    pub name: String,
    /// What its operations do.
    pub op: OpName,
    /// The order of its addresses.
    pub pattern: PatternName,
    /// The percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// The size of each operation.
    pub block_size_bytes: Bytes,
    /// Where the addresses begin, from the target's start.
    pub span_offset_bytes: Bytes,
    /// The range of addresses visited.
    pub span_bytes: Bytes,
    /// How many operations were kept in flight.
    pub queue_depth: u16,
    /// How writes are made durable.
    pub sync: SyncMode,
    /// The offset of every operation from its natural alignment, in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alignment_offset_bytes: Bytes,
    /// The rate limit in operations a second; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_iops: Option<Iops>,
    /// Whether it has valid figures.
    #[serde(flatten)]
    pub state: PhaseState,
    /// Why it ended; absent if it never began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
    /// Operations completed, without flushes.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// From the first submission to the last completion, a final flush included.
    pub duration_ns: Nanos,
    /// Operations a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate<Iops>>,
    /// Bytes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Estimate<Throughput>>,
    /// Operations a second with an interval that stays valid although the phase can end early because
    /// of that interval. Verdicts use it. It leaves out the start of the phase and the final flush; for
    /// sequential operations it is that of the second half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anytime_iops: Option<Estimate<Iops>>,
    /// The same of the undisturbed parts of the phase alone, where other parts were disturbed. A miss may rest
    /// on it. Absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undisturbed: Option<Undisturbed>,
    /// Rates as another tool stated them, without intervals; `iops` and `throughput_bytes_per_s`
    /// are then absent. A size, span, depth, count or duration of zero is then unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
    /// Latencies of its operations, without flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// The intervals of its latency percentiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_intervals: Option<LatencyIntervals>,
    /// Latencies of its flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_latency_ns: Option<Latency>,
    /// How many flushes completed.
    #[serde(default)]
    pub flushes: u64,
    /// The reads of a mixed phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Direction>,
    /// The writes of a mixed phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Direction>,
    /// The latency distribution, shortest first; empty buckets are left out.
    #[serde(default)]
    pub histogram: Vec<Bucket>,
    /// The time series, gapless.
    #[serde(default)]
    pub intervals: Vec<Interval>,
    /// The levels of its rate, in their order; empty if the rate stayed on one level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// The single runs of a phase that was run several times, in their order; empty for a phase that
    /// was run once. All other figures of the phase then combine all runs that count, and the
    /// intervals of its rates include the variation between runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<PhaseRun>,
    /// The byte-by-byte comparison of the data that was read; absent if nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The data check after the phase; absent if nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_check: Option<DataCheck>,
    /// What the system did during the phase; absent if it was not monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
    /// The disturbances during the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// The limit of the phase. It is computed from the other fields and only written on output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitedBy>,
    /// The first try of a phase that was disturbed and run again. Its figures are not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed_try: Option<Box<Phase>>,
    /// Doubts about this phase.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Fields of a newer version.
    #[serde(flatten, deserialize_with = "fields_of_later_versions")]
    pub extra: Map<String, Value>,
}

/// The fields left over, without those of the flattened state: serde hands an internally tagged
/// enum its fields without taking them out, and they would be written twice.
fn fields_of_later_versions<'de, D>(deserializer: D) -> Result<Map<String, Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let mut fields = Map::deserialize(deserializer)?;
    for of_the_state in ["state", "cause"] {
        fields.remove(of_the_state);
    }
    Ok(fields)
}

/// For serde, which hands a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

impl Phase {
    /// A measured phase without figures and doubts: its numbers are zero, and its writes are not made
    /// durable. The caller fills in the rest.
    #[must_use]
    pub fn begun(name: String, op: OpName, pattern: PatternName) -> Self {
        Self {
            name,
            op,
            pattern,
            read_percent: if op == OpName::Read { 100 } else { 0 },
            block_size_bytes: Bytes::ZERO,
            span_offset_bytes: Bytes::ZERO,
            span_bytes: Bytes::ZERO,
            queue_depth: 0,
            sync: SyncMode::None,
            alignment_offset_bytes: Bytes::ZERO,
            rate_limit_iops: None,
            state: PhaseState::Measured,
            ended_by: None,
            ops: 0,
            bytes: Bytes::ZERO,
            duration_ns: Nanos::ZERO,
            iops: None,
            throughput_bytes_per_s: None,
            anytime_iops: None,
            undisturbed: None,
            stated: None,
            latency_ns: None,
            latency_intervals: None,
            flush_latency_ns: None,
            flushes: 0,
            reads: None,
            writes: None,
            histogram: Vec::new(),
            intervals: Vec::new(),
            levels: Vec::new(),
            runs: Vec::new(),
            verification: None,
            data_check: None,
            surroundings: None,
            disturbances: Vec::new(),
            limited_by: None,
            disturbed_try: None,
            warnings: Vec::new(),
            extra: Map::new(),
        }
    }

    /// Whether verdicts may use this phase.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.state == PhaseState::Measured
    }

    /// Whether its rate is the full rate of the storage: without a rate limit and with aligned
    /// operations.
    #[must_use]
    pub fn is_at_full_speed(&self) -> bool {
        self.rate_limit_iops.is_none() && self.alignment_offset_bytes == Bytes::ZERO
    }

    /// Whether it was skipped because the verdict was already decided.
    #[must_use]
    pub fn was_spared(&self) -> bool {
        matches!(self.state, PhaseState::NotMeasured { .. })
            && self.ops == 0
            && self.ended_by == Some(EndedBy::Decision)
    }

    /// The best single figure of its operations a second, with an interval or only stated.
    #[must_use]
    pub fn point_iops(&self) -> Option<Iops> {
        let stated = || self.stated.and_then(|stated| stated.iops);
        self.iops.map(|iops| iops.estimate).or_else(stated)
    }

    /// The best single figure of its bytes a second, with an interval or only stated.
    #[must_use]
    pub fn point_throughput(&self) -> Option<Throughput> {
        let stated = || self.stated.and_then(|stated| stated.throughput_bytes_per_s);
        self.throughput_bytes_per_s.map(|rate| rate.estimate).or_else(stated)
    }
}
