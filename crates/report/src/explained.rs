//! The published form of an explained log: `cardproof.explained/1`, the answer of `watch --explain LOG --json`.

use cardproof_rating::limits::{LogExplanation, StateShare};
use cardproof_rating::words::log::story;
use cardproof_record::LimitedBy;
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::Serialize;

/// The name and version of the form.
pub const EXPLAINED_SCHEMA: &str = "cardproof.explained/1";

/// The answer of `watch --explain LOG --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedDocument<'t> {
    /// Name and version of this form.
    schema: &'static str,
    /// The devices of the log.
    devices: Vec<ExplainedDevice<'t>>,
    /// The programs that wrote, the one with the most first; of iotop and pidstat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writers: Vec<ExplainedWriter<'t>>,
    /// All storage together; of vmstat, dstat and sar.
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<ExplainedTotals>,
}

/// One device of the log.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct ExplainedDevice<'t> {
    /// Its name.
    device: &'t str,
    /// Reports of it.
    reports: u64,
    /// How long, in nanoseconds; null if the log does not tell the interval.
    time_ns: Option<Nanos>,
    /// What was read.
    read_bytes: Bytes,
    /// What was written.
    written_bytes: Bytes,
    /// The longest mean time of a read in one report, in nanoseconds; only with `iostat -x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_await_max_ns: Option<Nanos>,
    /// The longest mean time of a write in one report, in nanoseconds; only with `iostat -x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    write_await_max_ns: Option<Nanos>,
    /// The most requests that waited in a report in which none ended; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    stalled_requests_max: Option<f64>,
    /// The cause that limited the device in most of its reports.
    limited_by: LimitedBy,
    /// What it did, by state.
    states: Vec<ExplainedState>,
    /// The explanation in sentences.
    words: Vec<String>,
}

/// The reports in which the device was in one state.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct ExplainedState {
    /// What the device did, in words.
    state: &'static str,
    /// How many reports.
    reports: u64,
    /// How long, in nanoseconds; null if the log does not tell the interval.
    time_ns: Option<Nanos>,
    /// Requests a second.
    #[cfg_attr(feature = "schema", schemars(with = "f64", range(min = 0.0)))]
    transactions_per_s: Iops,
    /// Bytes a second.
    #[cfg_attr(feature = "schema", schemars(with = "f64", range(min = 0.0)))]
    bytes_per_s: Throughput,
    /// Mean size of a request.
    mean_bytes: Bytes,
}

/// A program.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedWriter<'t> {
    /// Its name, without its arguments.
    pub program: &'t str,
    /// What it wrote since the monitor began, where the monitor adds up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<Bytes>,
    /// What it wrote a second, on average over all reports, where the monitor tells rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0.0)))]
    pub written_bytes_per_s: Option<Throughput>,
    /// The device whose journal it writes, of a task of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_of: Option<&'t str>,
}

/// All storage together.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedTotals {
    /// Reports that count.
    pub reports: u64,
    /// The mean share of the processors' time in which they waited for storage, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub iowait: Option<f64>,
    /// The largest of them.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub iowait_max: Option<f64>,
    /// The most tasks that waited at once.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub blocked_tasks_max: Option<f64>,
    /// Bytes read a second on average.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0.0)))]
    pub read_bytes_per_s: Option<Throughput>,
    /// Bytes written a second on average.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>", range(min = 0.0)))]
    pub written_bytes_per_s: Option<Throughput>,
}

impl<'t> ExplainedDocument<'t> {
    /// What a log of iostat tells of its devices.
    #[must_use]
    pub fn of_devices(explanations: &'t [LogExplanation]) -> Self {
        let devices = explanations.iter().map(ExplainedDevice::new).collect();
        Self { schema: EXPLAINED_SCHEMA, devices, writers: Vec::new(), totals: None }
    }

    /// What another monitor tells, which does not say which device limits.
    #[must_use]
    pub const fn of_monitor(
        writers: Vec<ExplainedWriter<'t>>,
        totals: Option<ExplainedTotals>,
    ) -> Self {
        Self { schema: EXPLAINED_SCHEMA, devices: Vec::new(), writers, totals }
    }
}

impl<'t> ExplainedDevice<'t> {
    fn new(explanation: &'t LogExplanation) -> Self {
        Self {
            device: &explanation.device,
            reports: explanation.reports,
            time_ns: explanation.time,
            read_bytes: explanation.read,
            written_bytes: explanation.written,
            read_await_max_ns: explanation.read_await_max,
            write_await_max_ns: explanation.write_await_max,
            stalled_requests_max: explanation.stalled_requests_max,
            limited_by: explanation.limited_by.clone().into(),
            states: explanation.states.iter().map(ExplainedState::new).collect(),
            words: story(explanation),
        }
    }
}

impl ExplainedState {
    const fn new(share: &StateShare) -> Self {
        Self {
            state: share.state.words(),
            reports: share.reports,
            time_ns: share.time,
            transactions_per_s: share.transactions_per_s,
            bytes_per_s: share.bytes_per_s,
            mean_bytes: share.mean_bytes,
        }
    }
}
