//! From a phase that was run to its entry in the record.

use cardproof_record::{
    EndedBy, OpName, PatternName, Phase, PhaseState, SyncMode, Verification, Warning, WarningCause,
};
use cardproof_units::{Bytes, with_causes};
use cardproof_workload::{Access, PhaseSpec};

use crate::meter::Meter;
use crate::phase::PhaseEnd;

/// Where and how a phase was run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseRange {
    pub(crate) span_offset: Bytes,
    pub(crate) span: Bytes,
    pub(crate) queue_depth: u16,
}

/// The entry of a phase that did not begin.
pub(crate) fn not_begun(spec: &PhaseSpec, place: PhaseRange, cause: &str) -> Phase {
    let op = match spec.read_percent {
        100 => OpName::Read,
        0 => OpName::Write,
        _ => OpName::Mixed,
    };
    let pattern = match spec.access {
        Access::Sequential => PatternName::Sequential,
        Access::Random(_) => PatternName::Random,
    };
    Phase {
        read_percent: spec.read_percent,
        block_size_bytes: spec.block_size,
        span_offset_bytes: place.span_offset,
        span_bytes: place.span,
        queue_depth: place.queue_depth,
        sync: match (spec.fsync_every, spec.flush_at_end) {
            (Some(every), _) => SyncMode::every(every),
            (None, true) => SyncMode::FlushAtEnd,
            (None, false) => SyncMode::None,
        },
        alignment_offset_bytes: spec.alignment_offset,
        rate_limit_iops: spec.rate_limit,
        state: PhaseState::NotMeasured { cause: cause.to_owned() },
        ..Phase::begun(spec.name.clone(), op, pattern)
    }
}

/// The entry of a phase that was not run because an earlier one had decided.
pub(crate) fn spared(spec: &PhaseSpec, place: PhaseRange, cause: &str) -> Phase {
    Phase { ended_by: Some(EndedBy::Decision), ..not_begun(spec, place, cause) }
}

/// The entry of a phase that was run.
pub(crate) fn run(
    spec: &PhaseSpec,
    place: PhaseRange,
    meter: &mut Meter<'_>,
    end: &PhaseEnd,
) -> Phase {
    let state = match (&end.error, end.ended_by) {
        (Some(error), _) => PhaseState::NotMeasured { cause: with_causes(error) },
        (None, Some(EndedBy::Interrupted)) => PhaseState::Partial,
        (None, _) if meter.ops() == 0 => PhaseState::NotMeasured {
            cause: "no operation completed in the time of the phase".to_owned(),
        },
        (None, _) => PhaseState::Measured,
    };
    // Figures of a phase that failed would be mistaken for measurements.
    let has_figures = !matches!(state, PhaseState::NotMeasured { .. });
    let mut phase = Phase {
        state,
        ended_by: end.ended_by,
        ops: meter.ops(),
        bytes: meter.bytes(),
        duration_ns: meter.duration(),
        flushes: meter.flushes(),
        verification: Some(end.verification)
            .filter(|verification| *verification != Verification::default()),
        intervals: meter.intervals(),
        ..not_begun(spec, place, "")
    };
    if has_figures {
        phase.iops = meter.iops();
        phase.throughput_bytes_per_s = meter.throughput();
        phase.anytime_iops = meter.anytime.estimate();
        phase.latency_ns = meter.latency();
        phase.latency_intervals = meter.latency_intervals(place.queue_depth);
        phase.levels = meter.levels();
        phase.flush_latency_ns = meter.flush_latency();
        phase.histogram = meter.buckets();
        if spec.reads() && spec.writes() {
            (phase.reads, phase.writes) = meter.directions();
        }
    }
    phase.warnings = warnings(spec, place, &phase);
    phase
}

fn warnings(spec: &PhaseSpec, place: PhaseRange, phase: &Phase) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if place.queue_depth < spec.queue_depth {
        let (used, wanted) = (place.queue_depth, spec.queue_depth);
        warnings.push(WarningCause::DepthLowered { used, wanted }.into());
    }
    if let Some(Verification { compared_bytes, wrong_bytes }) = phase.verification
        && wrong_bytes > Bytes::ZERO
    {
        warnings.push(WarningCause::ReadBackWrong { wrong_bytes, compared_bytes }.into());
    }
    warnings
}
