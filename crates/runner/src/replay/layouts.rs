//! A job on the plain layout and through a log, in pairs on the same target.
//!
//! Of each pair the order changes, so that what one leaves behind weighs on both. The log is laid
//! out anew for each replay; what waits in it at the end is written, and that counts.

use std::sync::atomic::AtomicBool;

use cardproof_io::Target;
use cardproof_log_layout::{LogError, LogLayout, Mode, Options};
use cardproof_record::{LogTrial, PhaseState, Replay, ReplayedRequests, TimeRatio};
use cardproof_stats::RatioInterval;
use cardproof_trace::TraceReader;
use cardproof_units::{Bytes, Nanos, with_causes};

use super::{ReplayPlan, ReplayProgress, replay};
use crate::monitor::Watcher;

/// How sure the interval of the ratio is.
const CONFIDENCE: f64 = 0.95;

/// How a layout is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutPlan {
    /// What a flush means to the log.
    pub mode: Mode,
    /// How many pairs of replays; from 2 on there is an interval.
    pub pairs: u32,
    /// How much of the target, from its start, the log may use.
    pub within: Bytes,
}

/// What came of it.
#[derive(Debug)]
pub struct LayoutsTried {
    /// The first replay on the plain layout.
    pub plain: Option<Replay>,
    /// What all replays on the plain layout read.
    pub plain_read: Bytes,
    /// What all replays on the plain layout wrote.
    pub plain_written: Bytes,
    /// The comparison.
    pub trial: LogTrial,
    /// Whether every replay reached its end, was stopped, or failed.
    pub state: PhaseState,
}

/// Replays `trace` on `target` as `plan` says: on the plain layout and through a log, in turn. What
/// `beside` sees is kept with the first replay on the plain layout.
pub fn replay_layouts(
    target: &mut dyn Target,
    trace: &TraceReader<'_>,
    plan: &ReplayPlan,
    layouts: &LayoutPlan,
    progress: &mut dyn FnMut(ReplayProgress),
    stop: &AtomicBool,
    mut beside: Option<Watcher<'_>>,
) -> LayoutsTried {
    let options = Options {
        size: Some(plan.span),
        within: Some(layouts.within),
        ..Options::new(layouts.mode, plan.seed.derive("log layout"))
    };
    let mut tried = LayoutsTried {
        plain: None,
        plain_read: Bytes::ZERO,
        plain_written: Bytes::ZERO,
        trial: blank(layouts.mode, options.segment),
        state: PhaseState::Measured,
    };
    for turn in 0..2 * layouts.pairs {
        // Plain, log, log, plain, and so on.
        let is_plain = turn % 4 == 0 || turn % 4 == 3;
        let state = if is_plain {
            let done = replay(target, trace, plan, progress, stop, beside.take());
            tried.trial.plain_ns.push(done.duration_ns);
            let state = done.state.clone();
            tried.plain_read += moved(&done.reads);
            tried.plain_written += moved(&done.writes);
            tried.plain.get_or_insert(done);
            state
        } else {
            match through_log(target, trace, plan, options, progress, stop, &mut tried.trial) {
                Ok(state) => state,
                Err(error) => PhaseState::NotMeasured { cause: with_causes(&error) },
            }
        };
        if state != PhaseState::Measured {
            tried.state = state;
            return tried;
        }
    }
    tried.trial.ratio = ratio(&tried.trial, plan.seed.derive("layouts"));
    tried
}

fn moved(requests: &Option<ReplayedRequests>) -> Bytes {
    requests.as_ref().map_or(Bytes::ZERO, |requests| requests.bytes)
}

fn blank(mode: Mode, segment: Bytes) -> LogTrial {
    LogTrial {
        mode: mode.name().to_owned(),
        ratio: None,
        plain_ns: Vec::new(),
        log_ns: Vec::new(),
        written_bytes: Bytes::ZERO,
        asked_bytes: Bytes::ZERO,
        moved_bytes: Bytes::ZERO,
        cleaned_segments: 0,
        segment_bytes: segment,
        extra: Default::default(),
    }
}

/// One replay through a fresh log.
fn through_log(
    target: &mut dyn Target,
    trace: &TraceReader<'_>,
    plan: &ReplayPlan,
    options: Options,
    progress: &mut dyn FnMut(ReplayProgress),
    stop: &AtomicBool,
    trial: &mut LogTrial,
) -> Result<PhaseState, LogError> {
    let mut log = LogLayout::format(target, options)?;
    let plan = ReplayPlan { lay_out: false, ..plan.clone() };
    let done = replay(&mut log, trace, &plan, progress, stop, None);
    let before = log.now();
    log.settle()?;
    let tail = log.now().saturating_sub(before);
    let counts = log.counts();
    trial.log_ns.push(done.duration_ns + tail);
    trial.written_bytes += counts.written;
    trial.asked_bytes += counts.asked;
    trial.moved_bytes += counts.moved;
    trial.cleaned_segments += counts.cleaned_segments;
    Ok(done.state)
}

fn ratio(trial: &LogTrial, seed: u64) -> Option<TimeRatio> {
    let rates = |times: &[Nanos]| -> Vec<f64> {
        times.iter().map(|time| 1.0 / time.as_secs_f64().max(1e-9)).collect()
    };
    let (plain, log) = (rates(&trial.plain_ns), rates(&trial.log_ns));
    let RatioInterval { estimate, low, high } =
        RatioInterval::paired(&plain, &log, CONFIDENCE, seed)?;
    Some(TimeRatio { estimate, low, high, confidence: CONFIDENCE })
}
