//! The columns of the table `phases`: one row a phase of a submission.

use std::borrow::Cow;
use std::rc::Rc;

use cardproof_record::{Estimate, Phase};

use super::runs::Run;
use super::sheet::{Column, Of};
use super::values::{column, whole, word};

/// A row of `phases`: a phase of a run.
pub(super) struct PhaseOf {
    pub(super) run: Rc<Run>,
    pub(super) at: usize,
}

impl PhaseOf {
    fn phase(&self) -> &Phase {
        &self.run.record.phases[self.at]
    }
}

/// Whether a warning of the phase or of its run forbids to judge by it.
fn is_in_doubt(row: &PhaseOf) -> bool {
    let warnings = row.phase().warnings.iter().chain(&row.run.record.warnings);
    warnings.into_iter().any(|warning| warning.code.forbids_verdict())
}

fn warnings(row: &PhaseOf) -> Option<Cow<'static, str>> {
    let warnings = &row.phase().warnings;
    let words: Vec<Cow<'static, str>> =
        warnings.iter().filter_map(|warning| word(&warning.code)).collect();
    (!words.is_empty()).then(|| Cow::Owned(words.join(",")))
}

fn rate<Rate: Copy>(
    estimate: Option<&Estimate<Rate>>,
    of: fn(&Estimate<Rate>) -> Rate,
    number: fn(Rate) -> f64,
) -> Option<f64> {
    estimate.map(|estimate| number(of(estimate)))
}

macro_rules! latency {
    ($field:ident) => {
        Of::Whole(|row: &PhaseOf| row.phase().latency_ns.map(|it| whole(it.$field.get())))
    };
}

macro_rules! iops {
    ($field:ident) => {
        Of::Real(|row: &PhaseOf| rate(row.phase().iops.as_ref(), |it| it.$field, |it| it.0))
    };
}

macro_rules! throughput {
    ($field:ident) => {
        Of::Real(|row: &PhaseOf| {
            rate(row.phase().throughput_bytes_per_s.as_ref(), |it| it.$field, |it| it.0)
        })
    };
}

/// One row a phase of a submission.
pub(super) static PHASES: &[Column<PhaseOf>] = &[
    column("run", Of::Name(|p| p.run.kept.id.as_str().into()), "id in runs"),
    column("position", Of::Count(|p| whole(p.at as u64)), "place of the phase in its run, from 0"),
    column("month", Of::Name(|p| p.run.kept.month.as_str().into()), "as in runs"),
    column("origin", Of::Name(|p| p.run.kept.origin.as_str().into()), "as in runs"),
    column("model", Of::Name(|p| p.run.kept.model.as_str().into()), "as in runs"),
    column("host", Of::Name(|p| p.run.kept.host.as_str().into()), "as in runs"),
    column("name", Of::Name(|p| p.phase().name.as_str().into()), "name of the phase"),
    column("op", Of::Text(|p| word(&p.phase().op)), "read, write or mixed"),
    column("pattern", Of::Text(|p| word(&p.phase().pattern)), "sequential or random"),
    column("read_percent", Of::Count(|p| i64::from(p.phase().read_percent)), "share of reads"),
    column(
        "block_size_bytes",
        Of::Count(|p| whole(p.phase().block_size_bytes.get())),
        "size of an operation",
    ),
    column(
        "span_offset_bytes",
        Of::Count(|p| whole(p.phase().span_offset_bytes.get())),
        "start of the test range",
    ),
    column(
        "span_bytes",
        Of::Count(|p| whole(p.phase().span_bytes.get())),
        "length of the test range",
    ),
    column("queue_depth", Of::Count(|p| i64::from(p.phase().queue_depth)), "operations in flight"),
    column("sync", Of::Text(|p| word(&p.phase().sync)), "none, flush-at-end or fsync-every-N"),
    column("state", Of::Text(|p| word(&p.phase().state)), "measured, partial or not_measured"),
    column("ended_by", Of::Text(|p| word(p.phase().ended_by.as_ref()?)), "reason for the end"),
    column("ops", Of::Count(|p| whole(p.phase().ops)), "completed operations"),
    column("bytes", Of::Count(|p| whole(p.phase().bytes.get())), "transferred bytes"),
    column("duration_ns", Of::Count(|p| whole(p.phase().duration_ns.get())), "duration"),
    column("iops", iops!(estimate), "operations a second"),
    column("iops_low", iops!(low), "lower end of the interval"),
    column("iops_high", iops!(high), "upper end of the interval"),
    column("bytes_per_s", throughput!(estimate), "bytes a second"),
    column("bytes_per_s_low", throughput!(low), "lower end of the interval"),
    column("bytes_per_s_high", throughput!(high), "upper end of the interval"),
    column(
        "confidence",
        Of::Real(|p| p.phase().iops.map(|it| it.confidence)),
        "confidence level of the intervals, 0 to 1",
    ),
    column(
        "stated_iops",
        Of::Real(|p| p.phase().stated.and_then(|it| it.iops).map(|it| it.0)),
        "operations a second as another tool printed them, without an interval",
    ),
    column(
        "stated_bytes_per_s",
        Of::Real(|p| p.phase().stated.and_then(|it| it.throughput_bytes_per_s).map(|it| it.0)),
        "bytes a second as another tool printed them",
    ),
    column("latency_min_ns", latency!(min), "shortest latency"),
    column("latency_mean_ns", latency!(mean), "mean latency"),
    column("latency_p50_ns", latency!(p50), "median latency"),
    column("latency_p90_ns", latency!(p90), "90th percentile"),
    column("latency_p99_ns", latency!(p99), "99th percentile"),
    column("latency_p999_ns", latency!(p999), "99.9th percentile"),
    column("latency_max_ns", latency!(max), "longest latency"),
    column("flushes", Of::Count(|p| whole(p.phase().flushes)), "flushes"),
    column(
        "limited_by",
        Of::Text(|p| word(&p.phase().limited_by.as_ref()?.limit)),
        "what limited the phase",
    ),
    column(
        "in_doubt",
        Of::Flag(|p| Some(is_in_doubt(p))),
        "whether a warning of the phase or its run forbids a verdict",
    ),
    column("warnings", Of::Text(warnings), "codes of the phase's warnings, with commas between"),
];
