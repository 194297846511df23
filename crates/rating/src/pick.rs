//! Finds the phase that measured a quantity, by its operations and not by its name.
//!
//! A profile may rename its phases, and imported records have other names. If several phases fit, the
//! one with the most bytes is used, since its rate is closest to the sustained rate.

use cardproof_record::{
    EndedBy, Estimate, OpName, PatternName, Phase, PhaseState, Record, State, WarningCode,
};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use crate::quantity::Rate;

/// The smallest block that counts as sequential recording: the unit in which Class 10 and the
/// UHS classes are measured (512 KB).
const RECORDING_UNIT: Bytes = Bytes::kib(512);

/// The outcome of looking for a phase.
#[derive(Clone, Copy, Debug)]
pub enum Finding<'r> {
    /// It was measured.
    Measured {
        /// Its place in the record.
        index: usize,
        /// The phase.
        phase: &'r Phase,
    },
    /// The record has the phase, but no figure of it.
    NotMeasured(&'r Phase),
    /// The record has no such phase.
    Absent {
        /// Whether the run ended early.
        ended_early: bool,
    },
}

impl<'r> Finding<'r> {
    /// The phase of `record` for which `fits` holds.
    pub fn find(record: &'r Record, fits: impl Fn(&Phase) -> bool) -> Self {
        let fitting = || record.phases.iter().enumerate().filter(|(_, phase)| fits(phase));
        let measured = fitting().filter(|(_, phase)| phase.is_measured());
        match measured.max_by_key(|(_, phase)| phase.bytes) {
            Some((index, phase)) => Self::Measured { index, phase },
            None => match fitting().next() {
                Some((_, phase)) => Self::NotMeasured(phase),
                None => Self::Absent { ended_early: record.state != State::Complete },
            },
        }
    }

    /// The phase of `record` that does 4 KiB operations of one kind at random with `queue_depth`
    /// in flight, without a flush after every few.
    #[must_use]
    pub fn of_random_4k(record: &'r Record, op: OpName, queue_depth: u16) -> Self {
        Self::find(record, |phase| is_random_4k(phase, op, queue_depth) && !is_synced(phase))
    }

    /// The best single figure of the phase's operations a second, if it has a sound one.
    #[must_use]
    pub fn iops(self) -> Option<Iops> {
        let rate = BoundedRate::of_iops(self.measured()?)?;
        Some(Iops(rate.estimate.per_second()))
    }

    /// The rate that another tool stated of the phase without an interval, as `point` has it.
    pub(crate) fn stated<Unit>(self, point: impl Fn(&Phase) -> Option<Unit>) -> Option<Unit> {
        self.measured().filter(|phase| phase.stated.is_some()).and_then(point)
    }

    /// The phase, if it was measured.
    #[must_use]
    pub const fn measured(self) -> Option<&'r Phase> {
        match self {
            Self::Measured { phase, .. } => Some(phase),
            Self::NotMeasured(_) | Self::Absent { .. } => None,
        }
    }

    /// Why there is no usable figure.
    #[must_use]
    pub fn cause(self) -> NoFigure {
        match self {
            Self::Measured { phase, .. } if phase.stated.is_some() => NoFigure::StatedAlone,
            Self::Measured { .. } => NoFigure::Unusable,
            Self::Absent { ended_early: true } => NoFigure::RunEnded,
            Self::Absent { ended_early: false } => NoFigure::NoSuchPhase,
            Self::NotMeasured(phase) => match &phase.state {
                PhaseState::NotMeasured { cause } => NoFigure::NotMeasured(cause.clone()),
                PhaseState::Partial => NoFigure::CutShort,
                PhaseState::Measured => NoFigure::Missing,
                PhaseState::Unknown => NoFigure::OfNewerVersion,
            },
        }
    }
}

/// Why there is no usable figure of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoFigure {
    /// Another tool stated it without an interval.
    StatedAlone,
    /// It is not finite, negative, or outside of its interval.
    Unusable,
    /// The run ended before the phase.
    RunEnded,
    /// The run has no such phase.
    NoSuchPhase,
    /// The phase was not measured, for the cause that its record names.
    NotMeasured(String),
    /// The phase was cut short.
    CutShort,
    /// The record of the phase has none.
    Missing,
    /// A newer version of cardproof has written the state of the phase.
    OfNewerVersion,
}

/// A rate with its interval: finite, not negative, and the right way round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedRate {
    /// The best single figure.
    pub estimate: Rate,
    /// The interval's lower end.
    pub low: Rate,
    /// The interval's upper end.
    pub high: Rate,
    /// The confidence level of the interval, 0 to 1.
    pub confidence: f64,
}

/// In less time than this an interval that holds at any time says little: it allows for a pause
/// that is not over yet.
const ANYTIME_DURATION_MIN: Nanos = Nanos::from_secs(2);

/// The interval that holds at any time, where it is needed. A fast disk is through with its bytes
/// before that interval is of use; its phase ended for what it had done and not for what was seen,
/// so the ordinary interval holds.
fn anytime_iops(phase: &Phase) -> Option<Estimate<Iops>> {
    let by_plan = matches!(phase.ended_by, Some(EndedBy::Bytes | EndedBy::Operations));
    let is_short = phase.duration_ns < ANYTIME_DURATION_MIN;
    phase.anytime_iops.filter(|_| !(by_plan && is_short))
}

impl BoundedRate {
    /// The phase's operations a second, if it has sound ones.
    #[must_use]
    pub fn of_iops(phase: &Phase) -> Option<Self> {
        phase.iops.and_then(|estimate| Self::checked(estimate, Rate::Iops))
    }

    /// The phase's bytes a second, if it has sound ones.
    #[must_use]
    pub fn of_throughput(phase: &Phase) -> Option<Self> {
        phase.throughput_bytes_per_s.and_then(|estimate| Self::checked(estimate, Rate::Throughput))
    }

    /// As [`of_iops`](Self::of_iops), with the interval that holds at whatever time the phase was
    /// ended, where there is one.
    #[must_use]
    pub fn of_iops_at_any_time(phase: &Phase) -> Option<Self> {
        match anytime_iops(phase) {
            Some(estimate) => Self::in_operations(estimate),
            None => Self::of_iops(phase),
        }
    }

    /// As [`of_throughput`](Self::of_throughput), with the interval that holds at whatever time
    /// the phase was ended, where there is one: of the second half, where that writes in sequence.
    #[must_use]
    pub fn of_throughput_at_any_time(phase: &Phase) -> Option<Self> {
        match anytime_iops(phase) {
            Some(iops) => Self::in_blocks(iops, phase.block_size_bytes),
            None => Self::of_throughput(phase),
        }
    }

    /// Operations a second, if they are sound.
    pub(crate) fn in_operations(iops: Estimate<Iops>) -> Option<Self> {
        Self::checked(iops, Rate::Iops)
    }

    /// Bytes a second of operations of `block` each, if they are sound.
    pub(crate) fn in_blocks(iops: Estimate<Iops>, block: Bytes) -> Option<Self> {
        let bytes = |iops: Iops| Rate::Throughput(Throughput(iops.0 * block.as_f64()));
        Self::checked(iops, bytes)
    }

    fn checked<Unit>(estimate: Estimate<Unit>, rate: impl Fn(Unit) -> Rate) -> Option<Self> {
        let figure = Self {
            estimate: rate(estimate.estimate),
            low: rate(estimate.low),
            high: rate(estimate.high),
            confidence: estimate.confidence,
        };
        figure.is_sound().then_some(figure)
    }

    fn is_sound(&self) -> bool {
        let rates = [self.low, self.estimate, self.high].map(Rate::per_second);
        rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0)
            && rates.is_sorted()
            && (0.0..=1.0).contains(&self.confidence)
    }
}

/// Whether `phase` does 4 KiB operations of one kind at random with `queue_depth` in flight, as fast
/// as it can.
pub(crate) fn is_random_4k(phase: &Phase, op: OpName, queue_depth: u16) -> bool {
    phase.op == op
        && phase.is_at_full_speed()
        && phase.pattern == PatternName::Random
        && phase.block_size_bytes == Bytes::kib(4)
        && phase.queue_depth == queue_depth
}

/// A sequential rate that is not compared with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherSequential {
    /// The size of its blocks; `None` where it went through the page cache.
    pub block: Option<Bytes>,
    /// The rate.
    pub rate: Throughput,
}

/// The sequential rate of smaller blocks or of the page cache that `record` has, which is another quantity; `None`
/// where it has none.
pub(crate) fn smaller_sequential(record: &Record, op: OpName) -> Option<OtherSequential> {
    let is_smaller = |phase: &&Phase| {
        phase.op == op
            && phase.is_measured()
            && phase.pattern == PatternName::Sequential
            && phase.block_size_bytes > Bytes::ZERO
            && phase.block_size_bytes < RECORDING_UNIT
            && !is_synced(phase)
    };
    let rate = |phase: &Phase| phase.point_throughput().map_or(0.0, |rate| rate.0);
    let fastest = record
        .phases
        .iter()
        .filter(is_smaller)
        .max_by(|one, other| rate(one).total_cmp(&rate(other)))?;
    let is_buffered = fastest.warnings.iter().any(|it| it.code == WarningCode::Buffered);
    let block = (!is_buffered).then_some(fastest.block_size_bytes);
    Some(OtherSequential { block, rate: Throughput(rate(fastest)) })
}

/// Whether `phase` was to have more in flight than the target took.
pub(crate) fn is_depth_reduced(phase: &Phase) -> bool {
    phase.warnings.iter().any(|warning| warning.code == WarningCode::QueueDepthReduced)
}

/// Whether every few writes of `phase` wait until they are durable.
pub(crate) fn is_synced(phase: &Phase) -> bool {
    phase.sync.fsync_every().is_some()
}

/// Whether `phase` does operations of one kind one after the other, as large as in recording, as fast
/// as it can.
pub(crate) fn is_sequential(phase: &Phase, op: OpName) -> bool {
    phase.op == op
        && phase.is_at_full_speed()
        && phase.pattern == PatternName::Sequential
        && phase.block_size_bytes >= RECORDING_UNIT
        && !is_synced(phase)
}
