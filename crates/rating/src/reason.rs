//! Why a class is passed, failed, undecided or cannot be tested: values with their figures.
//!
//! Rules decide by these; the sentence of each is made here and read by nobody but people.

use std::fmt;

use cardproof_facts::{Family, RANDOM_SPAN};
use cardproof_record::{self as record, LimitedRate, Outcome, ReasonCode, Transport};
use cardproof_units::{Bytes, Throughput};

use crate::bus::Bus;
use crate::pick::BoundedRate;
use crate::quantity::{Quantity, Rate};
use crate::wording;

/// A reason of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// A doubt about all of the record, in words.
    Doubt(String),
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
        cause: String,
    },
    /// A doubt about the phase that measured it, in words.
    RateInDoubt {
        quantity: Quantity,
        doubt: String,
    },
    NoFigure {
        quantity: Quantity,
        cause: String,
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
        why: String,
        class: &'static str,
    },
    QueueNotUsed {
        why: String,
        class: &'static str,
    },
    QueueUnknown {
        why: String,
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
    /// Met, over the range that is named.
    Met {
        range: String,
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
            Self::Doubt(_) => ReasonCode::Doubt,
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

    const fn quantity(&self) -> Option<Quantity> {
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

impl From<Reason> for record::Reason {
    fn from(reason: Reason) -> Self {
        let rate = reason.quantity().map(|quantity| match quantity {
            Quantity::RandomRead => LimitedRate::RandomRead,
            Quantity::RandomWrite => LimitedRate::RandomWrite,
            Quantity::SequentialWrite => LimitedRate::SequentialWrite,
        });
        Self { code: reason.code(), rate, text: reason.to_string() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doubt(words) => f.write_str(words),
            Self::NoIntervals { tool } => write!(
                f,
                "the output of {tool} has no intervals, so the uncertainty of its figures is unknown"
            ),
            Self::ReadOnly => f.write_str("the target was read-only, so writes were not measured"),
            Self::RunFailed => f.write_str("an error ended the run, so there is no verdict"),
            Self::BusTooSlow { bus, class } => {
                write!(f, "{}, less than {class} requires", bus.carries())
            }
            Self::NotMeasured { quantity, cause } => {
                write!(f, "{}: not measured: {cause}", quantity.label())
            }
            Self::RateInDoubt { quantity, doubt: why }
            | Self::NoFigure { quantity, cause: why } => {
                write!(f, "{}: no verdict; {why}", quantity.label())
            }
            Self::Limit(judged) => judged.fmt(f),
            Self::Simulated => f.write_str("this is a simulated card"),
            Self::NotSeenAsSdCard { storage: None, class } => write!(
                f,
                "the kind of storage is unknown: the {class} limits are for comparison only"
            ),
            Self::NotSeenAsSdCard { storage: Some(Transport::Usb), class } => write!(
                f,
                "attached by USB: the {class} limits are for comparison, and the reader may be slower \
                 than the card"
            ),
            Self::NotSeenAsSdCard { storage: Some(other), class } => {
                write!(f, "not an SD card ({other}): the {class} limits are for comparison only")
            }
            Self::Method { written, block, is_of_second_half, family } => {
                let half = ", and the rate is that of the second half";
                let part = if *is_of_second_half { half } else { "" };
                let (differs, source) = (family.differs(), family.source());
                write!(
                    f,
                    "this test wrote {written} in blocks of {block}{part}; {differs}; source: {source}"
                )
            }
            Self::Claimed { class } => write!(f, "the card claims {class} in its registers"),
            Self::QueueInUse { class } => {
                write!(f, "command queue and cache are in use, as {class} requires")
            }
            Self::QueueMissing { why, class } => write!(f, "{why}; {class} requires both"),
            Self::QueueNotUsed { why, class } => write!(
                f,
                "{class} assumes that the host uses the card's command queue and cache; {why}"
            ),
            Self::QueueUnknown { why } => f.write_str(why),
            Self::OtherClass { class, outcome } => {
                write!(f, "for comparison, {class}: {}", wording::outcome(*outcome))
            }
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, limit) = (self.quantity.label(), self.at_least);
        let part = if self.is_of_undisturbed { " while undisturbed" } else { "" };
        match &self.weighed {
            // The interval of a miss stands in the table of the phases.
            Weighed::Missed => {
                write!(f, "{label}: {}{part}, below the limit of {limit}", self.figure.estimate)?;
            }
            Weighed::Met { range } => {
                let figure = wording::figure(&self.figure);
                write!(f, "{label}: {figure}{part}, above the limit of {limit}{range}")?;
            }
            Weighed::BusNearLimit(bus) => {
                let figure = wording::figure(&self.figure);
                write!(
                    f,
                    "{label}: {figure}{part}, limit {limit} not reached, and the {} may be the cause: the rate is near \
                     its limit",
                    bus.label()
                )?;
            }
            Weighed::Open(why) => {
                write!(
                    f,
                    "{label}: {}{part}, limit {limit}: {why}",
                    wording::figure(&self.figure)
                )?;
            }
        }
        if self.is_unsteady { f.write_str(" (the rate changed during the phase)") } else { Ok(()) }
    }
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LowConfidence => f.write_str("too little confidence for a verdict"),
            Self::LimitInInterval => f.write_str("too close to the limit to tell"),
            Self::TooUneven => {
                f.write_str("the rate was too uneven: its interval contains the limit")
            }
            Self::DepthReduced => f.write_str(
                "the requested queue depth was not reached, which can only lower the rate",
            ),
            Self::Disturbed => f.write_str("the run was disturbed, which can only lower the rate"),
            Self::SpanReduced(span) => write!(
                f,
                "the test range was {span}, the class requires {RANDOM_SPAN}, and a smaller range gives \
                 higher rates"
            ),
            Self::RangeReduced(span) => {
                write!(f, "the test range was only {span}, and a smaller range gives higher rates")
            }
            Self::TooLittleWritten { written, unit } => write!(
                f,
                "only {written} were written, less than an allocation unit, which may be {unit}"
            ),
            Self::SlowStretch { unit, slowest } => write!(
                f,
                "the slowest stretch of {unit} had {slowest}, and every allocation unit must reach \
                 the limit"
            ),
            Self::UnwrittenReads => f.write_str("reads of unwritten blocks may be too fast"),
            Self::Faults => f.write_str("some operations failed"),
        }
    }
}
