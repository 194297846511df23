//! Why a class is passed, failed, undecided or cannot be tested: values with their figures.
//!
//! Rules decide by these; the sentence of each is made in `words/reason.rs` and read by nobody but people.

use cardproof_facts::Family;
use cardproof_record::{Outcome, ReasonCode, Transport, Warning};
use cardproof_units::{Bytes, Throughput};

use crate::bus::Bus;
use crate::pick::{BoundedRate, NoFigure};
use crate::quantity::{Quantity, Rate};
use crate::queue_and_cache::QueueState;
use crate::scope::Range;

/// A reason of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// A doubt about all of the record, with the name of the phase that raises it.
    Doubt {
        phase: Option<String>,
        doubt: Warning,
    },
    NoIntervals {
        tool: String,
    },
    ReadOnly,
    RunFailed,
    BusTooSlow {
        bus: Bus,
        class: &'static str,
    },
    NotMeasured {
        quantity: Quantity,
        cause: NoFigure,
    },
    /// A doubt about the phase that measured it.
    RateInDoubt {
        quantity: Quantity,
        doubt: Warning,
    },
    NoFigure {
        quantity: Quantity,
        cause: NoFigure,
    },
    /// A figure before its limit.
    Limit(Judged),
    Simulated,
    /// The storage is of this kind, and not an SD card.
    NotSeenAsSdCard {
        storage: Option<Transport>,
        class: &'static str,
    },
    /// How a recording class was measured, and what differs from its own test.
    Method {
        written: Bytes,
        block: Bytes,
        is_of_second_half: bool,
        family: Family,
    },
    Claimed {
        class: &'static str,
    },
    QueueInUse {
        class: &'static str,
    },
    QueueMissing {
        why: QueueState,
        class: &'static str,
    },
    QueueNotUsed {
        why: QueueState,
        class: &'static str,
    },
    QueueUnknown {
        why: QueueState,
    },
    OtherClass {
        class: &'static str,
        outcome: Outcome,
    },
}

/// A figure, its limit, and what one is to the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) quantity: Quantity,
    pub(crate) figure: BoundedRate,
    /// Whether the figure is that of the parts of the phase that nothing disturbed.
    pub(crate) is_of_undisturbed: bool,
    pub(crate) at_least: Rate,
    pub(crate) weighed: Weighed,
    /// Whether the rate changed during the phase.
    pub(crate) is_unsteady: bool,
}

/// What a figure is to its limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Weighed {
    /// Met, over a part of the storage where a range is given.
    Met {
        range: Option<Range>,
    },
    Missed,
    /// Missed, and the rate is near what the bus carries.
    BusNearLimit(Bus),
    Open(Open),
}

/// Why a figure is neither a pass nor a fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Open {
    LowConfidence,
    LimitInInterval,
    TooUneven,
    DepthReduced,
    Disturbed,
    /// The span of an application class.
    SpanReduced(Bytes),
    /// The span of a recording class.
    RangeReduced(Bytes),
    TooLittleWritten {
        written: Bytes,
        unit: Bytes,
    },
    SlowStretch {
        unit: Bytes,
        slowest: Throughput,
    },
    UnwrittenReads,
    Faults,
}

impl Reason {
    /// The outcome of the limit that it is about; without one nothing can be tested.
    pub(crate) const fn outcome(&self) -> Outcome {
        match self {
            Self::Limit(Judged { weighed, .. }) => match weighed {
                Weighed::Met { .. } => Outcome::Meets,
                Weighed::Missed => Outcome::Misses,
                Weighed::BusNearLimit(_) => Outcome::NotTestable,
                Weighed::Open(_) => Outcome::Undecided,
            },
            _ => Outcome::NotTestable,
        }
    }

    pub(crate) const fn code(&self) -> ReasonCode {
        match self {
            Self::Doubt { .. } => ReasonCode::Doubt,
            Self::NoIntervals { .. } => ReasonCode::NoIntervals,
            Self::ReadOnly => ReasonCode::ReadOnly,
            Self::RunFailed => ReasonCode::RunFailed,
            Self::BusTooSlow { .. } => ReasonCode::BusTooSlow,
            Self::NotMeasured { .. } => ReasonCode::NotMeasured,
            Self::RateInDoubt { .. } => ReasonCode::RateInDoubt,
            Self::NoFigure { .. } => ReasonCode::NoFigure,
            Self::Limit(judged) => judged.code(),
            Self::Simulated => ReasonCode::Simulated,
            Self::NotSeenAsSdCard { .. } => ReasonCode::NotSeenAsSdCard,
            Self::Method { .. } => ReasonCode::Method,
            Self::Claimed { .. } => ReasonCode::Claimed,
            Self::QueueInUse { .. } => ReasonCode::QueueInUse,
            Self::QueueMissing { .. } => ReasonCode::QueueMissing,
            Self::QueueNotUsed { .. } => ReasonCode::QueueNotUsed,
            Self::QueueUnknown { .. } => ReasonCode::QueueUnknown,
            Self::OtherClass { .. } => ReasonCode::OtherClass,
        }
    }

    pub(crate) const fn quantity(&self) -> Option<Quantity> {
        match self {
            Self::NotMeasured { quantity, .. }
            | Self::RateInDoubt { quantity, .. }
            | Self::NoFigure { quantity, .. }
            | Self::Limit(Judged { quantity, .. }) => Some(*quantity),
            Self::Method { .. } => Some(Quantity::SequentialWrite),
            _ => None,
        }
    }
}

impl Judged {
    const fn code(&self) -> ReasonCode {
        match &self.weighed {
            Weighed::Met { .. } => ReasonCode::LimitMet,
            Weighed::Missed if self.is_of_undisturbed => ReasonCode::LimitMissedUndisturbed,
            Weighed::Missed => ReasonCode::LimitMissed,
            Weighed::BusNearLimit(_) => ReasonCode::BusNearLimit,
            Weighed::Open(open) => match open {
                Open::LowConfidence => ReasonCode::LowConfidence,
                Open::LimitInInterval => ReasonCode::LimitInInterval,
                Open::TooUneven => ReasonCode::TooUneven,
                Open::DepthReduced => ReasonCode::DepthReduced,
                Open::Disturbed => ReasonCode::Disturbed,
                Open::SpanReduced(_) | Open::RangeReduced(_) => ReasonCode::RangeReduced,
                Open::TooLittleWritten { .. } => ReasonCode::TooLittleWritten,
                Open::SlowStretch { .. } => ReasonCode::SlowStretch,
                Open::UnwrittenReads => ReasonCode::UnwrittenReads,
                Open::Faults => ReasonCode::Faults,
            },
        }
    }
}
