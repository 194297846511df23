//! One phase of a run: one pattern of operations and what the target did with it.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ranges::{BYTES_PER_S_MOST, IOPS_MOST};
use crate::{
    Disturbance, LatencyIntervals, Level, LimitedBy, PhaseRun, PhaseSurroundings, SyncMode, Warning,
};

/// What the phase's operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OpName {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes.
    Mixed,
    /// Not known: what another tool does not tell, or a kind of a later version.
    #[serde(other)]
    Unknown,
}

/// In which order the phase visits addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatternName {
    /// One after the other.
    Sequential,
    /// Anywhere in the span.
    Random,
    /// Not known: what another tool does not tell, or a pattern of a later version.
    #[serde(other)]
    Unknown,
}

/// Whether a phase yielded figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum PhaseState {
    /// It did; its estimates, or the rates that its tool stated, hold.
    Measured,
    /// It was cut short by the user; what there is is kept, and no verdict is built on it.
    Partial,
    /// It did not. Its figures, if any, count for nothing.
    NotMeasured {
        /// Why, in words.
        cause: String,
    },
    /// A state of a later version: whether its figures hold is not known, so none is used.
    #[serde(other)]
    Unknown,
}

/// What ended a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// Its share of the time was spent.
    Time,
    /// Its estimate was precise enough.
    Precision,
    /// It was sure on which side of a limit its rate lies. A phase that never began was spared
    /// because an earlier one had decided.
    Decision,
    /// It had moved all its bytes.
    Bytes,
    /// It had done all its operations.
    Operations,
    /// The user stopped the run.
    Interrupted,
    /// A fault.
    Fault,
    /// Any end of a later version.
    #[serde(other)]
    Other,
}

/// A rate with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate<Rate> {
    /// The best single figure.
    pub estimate: Rate,
    /// The interval's lower end.
    pub low: Rate,
    /// The interval's upper end.
    pub high: Rate,
    /// The probability with which the interval is meant to hold the truth, between 0 and 1.
    pub confidence: f64,
}

impl Estimate<Iops> {
    /// The same with an upper end that a storage can reach: two very different runs give an interval
    /// without a sensible one.
    #[must_use]
    pub fn within_reach(self) -> Self {
        Self { high: Iops(self.high.0.min(IOPS_MOST)), ..self }
    }
}

impl Estimate<Throughput> {
    /// The same with an upper end that a storage can reach.
    #[must_use]
    pub fn within_reach(self) -> Self {
        Self { high: Throughput(self.high.0.min(BYTES_PER_S_MOST)), ..self }
    }
}

/// Rates as another tool printed them: single figures, with nothing that tells how sure they are.
///
/// They stand beside [`Estimate`] and not in it, because an interval of no width would claim
/// certainty, and one of any other width would be invented. What asks for an interval finds none
/// here, and so no verdict can be built on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stated {
    /// Operations a second, as printed, or from the bytes a second and the block size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// Bytes a second, from the tool's own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Throughput>,
    /// The reads of a mixed phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<Iops>,
    /// The writes of a mixed phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<Iops>,
}

/// Latencies of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// The shortest.
    pub min: Nanos,
    /// The arithmetic mean.
    pub mean: Nanos,
    /// Half were at most this.
    pub p50: Nanos,
    /// 90 % were at most this.
    pub p90: Nanos,
    /// 99 % were at most this.
    pub p99: Nanos,
    /// 99.9 % were at most this.
    pub p999: Nanos,
    /// The longest, exactly.
    pub max: Nanos,
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

/// How much of what was read was compared with what had been written, byte by byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Bytes compared in full.
    pub compared_bytes: Bytes,
    /// Bytes in blocks that did not hold what was written there.
    pub wrong_bytes: Bytes,
}

/// A random sample of what was written, read back and compared: counts, from which the share of lost
/// data follows that it would have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataCheck {
    /// How many places were read back, each once.
    pub places: u64,
    /// The size of each.
    pub place_bytes: Bytes,
    /// Places of which a part did not hold what was written there last.
    pub wrong_places: u64,
    /// Places that could not be read.
    #[serde(default)]
    pub unreadable_places: u64,
    /// The lowest address of a wrong place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong_bytes: Option<Bytes>,
    /// The lowest address read back, from the target's start.
    pub from_bytes: Bytes,
    /// The end of the highest place read back.
    pub to_bytes: Bytes,
    /// How much was written for the check, all over the part of the span that no phase had filled.
    #[serde(default)]
    pub spread_bytes: Bytes,
    /// How long it took, in no phase's time.
    pub duration_ns: Nanos,
    /// Whether the reads passed the page cache by.
    pub direct: bool,
}

/// One phase of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// Its name in the profile, such as `random-write-4k-qd1`.
    pub name: String,
    /// What its operations do.
    pub op: OpName,
    /// In which order.
    pub pattern: PatternName,
    /// Of 100 operations, how many read.
    pub read_percent: u8,
    /// The size of each operation.
    pub block_size_bytes: Bytes,
    /// Where the addresses begin, from the target's start.
    pub span_offset_bytes: Bytes,
    /// The range of addresses visited.
    pub span_bytes: Bytes,
    /// How many operations were kept in flight.
    pub queue_depth: u16,
    /// What makes writes durable.
    pub sync: SyncMode,
    /// How far every operation was moved off its natural alignment.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alignment_offset_bytes: Bytes,
    /// The most operations a second that were asked for; absent where there was no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_iops: Option<Iops>,
    /// Whether it yielded figures.
    #[serde(flatten)]
    pub state: PhaseState,
    /// What ended it; absent when it never began.
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
    /// Operations a second with an interval that holds at whatever time the phase was ended, also
    /// where it was ended for what the interval showed: what verdicts on limits are built on. It
    /// leaves out the phase's first moments and final flush; where operations are sequential, it
    /// is that of the second half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anytime_iops: Option<Estimate<Iops>>,
    /// Rates as another tool stated them, without intervals; `iops` and `throughput_bytes_per_s`
    /// are then absent. A size, span, depth, count or duration of zero beside them was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
    /// Latencies of its operations, without flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// How surely the percentiles of its latencies are known.
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
    /// The levels between which its rate changed, in their order; empty where it stayed on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// The single runs of a phase that was run several times, in their order; empty for one that
    /// was run once. All other figures of the phase are then those of all its runs together that
    /// count, and the intervals of its rates allow for the variation from run to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<PhaseRun>,
    /// What was verified; absent when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// What a sample of its writes held when it was over; absent where nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_check: Option<DataCheck>,
    /// What the system did meanwhile; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
    /// What came between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// What limited it: attached on output only, since it is derived from all the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitedBy>,
    /// The first try, where that was disturbed and the phase was run a second time. Its figures
    /// count for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed_try: Option<Box<Phase>>,
    /// Doubts about this phase.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Fields of a later version.
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
    /// A phase of which only this is told: it was measured without a figure and without a doubt, its
    /// numbers are zero, and nothing makes its writes durable. Whoever has more fills it in.
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

    /// Whether verdicts may be built on this phase.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.state == PhaseState::Measured
    }

    /// Whether its rate is the highest that the storage gave for what it did: it was not held to a
    /// limit, and its operations were on their natural boundaries.
    #[must_use]
    pub fn is_at_full_speed(&self) -> bool {
        self.rate_limit_iops.is_none() && self.alignment_offset_bytes == Bytes::ZERO
    }

    /// Whether it was not run because nothing depended on it any more.
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
