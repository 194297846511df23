//! The reasons of verdicts in sentences.

use std::fmt;

use cardproof_facts::RANDOM_SPAN;
use cardproof_record::{self as record, LimitedRate, Transport};

use crate::quantity::Quantity;
use crate::reason::{Judged, Open, Reason, Weighed};
use crate::wording;

use super::scope::in_short;

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
            Self::Doubt { phase: Some(phase), doubt } => write!(f, "{phase}: {doubt}"),
            Self::Doubt { phase: None, doubt } => doubt.fmt(f),
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
            Self::RateInDoubt { quantity, doubt: why } => {
                write!(f, "{}: no verdict; {why}", quantity.label())
            }
            Self::NoFigure { quantity, cause: why } => {
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
            Self::QueueUnknown { why } => why.fmt(f),
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
                let range = range.as_ref().map_or_else(String::new, in_short);
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
