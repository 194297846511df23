//! One limit against one figure: passed, failed, undecided, or cannot be tested from this record.
//!
//! A condition that can only raise a figure rules out a pass and not a fail; one that can only lower
//! it, the reverse.

use cardproof_facts::{Class, RANDOM_SPAN};
use cardproof_record::{PatternName, Phase, Record, WarningCode};
use cardproof_units::{Bytes, Nanos, Throughput};

use crate::bus::Bus;
use crate::doubts::Doubt;
use crate::pick::{BoundedRate, Finding};
use crate::quantity::{ClassLimit, Rate};
use crate::reason::{Judged, Open, Reason, Weighed};
use crate::scope::range_of;
use crate::slowdown::slowdown_max;
use crate::stretch::slowest_stretch;

/// A rate that is so many times its limit, or less than that part of it, is not close to it: where its interval contains
/// the limit, the rate was uneven.
const UNEVEN: f64 = 2.0;

/// An interval that claims less than this cannot carry a verdict.
const CONFIDENCE_MIN: f64 = 0.9;

/// Up to this capacity a card is SDHC, and its allocation unit is at most 4 MiB; above, at most 64
/// MiB (SD Physical Layer Specification 3.01, table of maximum AU sizes).
const SDHC_MAX: Bytes = Bytes::gib(32);

/// What is left out at the start of a phase for a verdict.
const SETTLING: Nanos = Nanos::from_millis(100);

/// What every ruling on a record looks at.
pub(crate) struct Grounds<'r> {
    pub(crate) record: &'r Record,
    pub(crate) doubts: &'r [Doubt],
    pub(crate) bus: Option<Bus>,
}

/// One figure before its limit.
struct Case<'r> {
    figure: BoundedRate,
    limit: ClassLimit,
    class: &'r Class,
    phase: &'r Phase,
    doubts: Vec<WarningCode>,
}

impl Grounds<'_> {
    /// What `limit` of `class` comes to.
    pub(crate) fn rule_on(&self, class: &Class, limit: ClassLimit) -> Reason {
        let quantity = limit.quantity;
        let finding = Finding::find(self.record, |phase| quantity.is_measured_by(phase));
        let Finding::Measured { index, phase } = finding else {
            return Reason::NotMeasured { quantity, cause: finding.cause() };
        };
        if let Some(doubt) = self.doubts.iter().find(|doubt| doubt.forbids_verdict_on(index)) {
            return Reason::RateInDoubt { quantity, doubt: doubt.warning.clone() };
        }
        let Some(figure) = quantity.figure(phase) else {
            return Reason::NoFigure { quantity, cause: finding.cause() };
        };
        let doubts = self.doubts.iter().filter(|doubt| doubt.phase.is_none_or(|of| of == index));
        let doubts = doubts.map(|doubt| doubt.warning.code).collect();
        Reason::Limit(self.rule(&Case { figure, limit, class, phase, doubts }))
    }

    /// Whether the storage misses `limit` even if the bus took no time at all: bus and storage work one
    /// after the other at worst, so the time of the bus is at most what it needs for the data.
    pub(crate) fn misses_on_any_bus(&self, limit: ClassLimit) -> bool {
        let finding = Finding::find(self.record, |phase| limit.quantity.is_measured_by(phase));
        let Finding::Measured { phase, .. } = finding else { return false };
        let (Some(bus), Some(figure)) = (&self.bus, limit.quantity.figure(phase)) else {
            return false;
        };
        let reached = ClassLimit { at_least: figure.high, ..limit }.needs();
        bus.without(reached).is_some_and(|rate| rate < limit.needs())
    }

    fn rule(&self, case: &Case<'_>) -> Judged {
        let undisturbed = undisturbed_miss(case);
        Judged {
            quantity: case.limit.quantity,
            figure: undisturbed.unwrap_or(case.figure),
            is_of_undisturbed: undisturbed.is_some(),
            at_least: case.limit.at_least,
            weighed: self.weigh(case),
            is_unsteady: case.doubts.contains(&WarningCode::Unsteady),
        }
    }

    /// Whether the figure meets the limit.
    fn weigh(&self, case: &Case<'_>) -> Weighed {
        let least = case.limit.at_least.per_second();
        if case.figure.confidence < CONFIDENCE_MIN {
            return Weighed::Open(Open::LowConfidence);
        }
        if let Some(parts) = undisturbed_miss(case) {
            return self.weigh_sound_miss(case, parts.high);
        }
        if case.figure.high.per_second() < least {
            return self.weigh_miss(case);
        }
        if case.figure.low.per_second() < least {
            let is_near =
                (least / UNEVEN..=least * UNEVEN).contains(&case.figure.estimate.per_second());
            return Weighed::Open(if is_near { Open::LimitInInterval } else { Open::TooUneven });
        }
        match self.what_raises(case) {
            Some(why) => Weighed::Open(why),
            None => Weighed::Met { range: range_of(self.record, case.phase) },
        }
    }

    fn weigh_miss(&self, case: &Case<'_>) -> Weighed {
        if let Some(why) = what_harms(self.record, case) {
            return Weighed::Open(why);
        }
        self.weigh_sound_miss(case, case.figure.high)
    }

    /// A miss that is not the run's, with the rate that the storage reaches at the most.
    fn weigh_sound_miss(&self, case: &Case<'_>, high: Rate) -> Weighed {
        let reached = ClassLimit { at_least: high, ..case.limit }.needs();
        match self.bus.as_ref().filter(|bus| bus.may_set(reached)) {
            Some(bus) => Weighed::BusNearLimit(bus.clone()),
            None => Weighed::Missed,
        }
    }

    /// Why a figure above its limit is not a pass.
    fn what_raises(&self, case: &Case<'_>) -> Option<Open> {
        let short = if case.class.is_application() {
            short_span(case)
        } else {
            short_recording(self.record, case)
        };
        let of_doubt = || {
            let known = [
                (WarningCode::MaybeUnwritten, Open::UnwrittenReads),
                (WarningCode::Faults, Open::Faults),
            ];
            known.into_iter().find(|(code, _)| case.doubts.contains(code)).map(|(_, why)| why)
        };
        short.or_else(of_doubt)
    }
}

/// The figure of the undisturbed parts of the phase, where it is below the limit and the whole phase was disturbed.
fn undisturbed_miss(case: &Case<'_>) -> Option<BoundedRate> {
    let reduced = case.doubts.contains(&WarningCode::QueueDepthReduced);
    if reduced || !case.doubts.contains(&WarningCode::Disturbed) {
        return None;
    }
    let least = case.limit.at_least.per_second();
    let parts = case.limit.quantity.undisturbed_figure(case.phase)?;
    let is_contradicted = case.figure.low.per_second() >= least;
    let is_sure = parts.confidence >= CONFIDENCE_MIN && parts.high.per_second() < least;
    (is_sure && !is_contradicted).then_some(parts)
}

/// Why a figure below its limit is not a fail.
fn what_harms(record: &Record, case: &Case<'_>) -> Option<Open> {
    if case.doubts.contains(&WarningCode::QueueDepthReduced) {
        return Some(Open::DepthReduced);
    }
    if !case.doubts.contains(&WarningCode::Disturbed) {
        return None;
    }
    let slowdown = slowdown_max(record, case.phase, judged_time(case));
    let least = case.limit.at_least.per_second();
    let may_be_met = slowdown.is_none_or(|factor| factor * case.figure.high.per_second() >= least);
    may_be_met.then_some(Open::Disturbed)
}

/// The time of the phase that the figure rests on, at the least. Of sequential writes that is half of what was
/// written, in whichever half; the disturbance may have been in it alone.
fn judged_time(case: &Case<'_>) -> Nanos {
    let phase = case.phase;
    if phase.anytime_iops.is_none() || phase.pattern != PatternName::Sequential {
        return phase.duration_ns.saturating_sub(SETTLING);
    }
    let half = phase.bytes.as_f64() / 2.0;
    let rate = case.figure.high.per_second();
    if rate > 0.0 { Nanos::from_secs_f64(half / rate) } else { Nanos::ZERO }
}

fn short_span(case: &Case<'_>) -> Option<Open> {
    let span = case.phase.span_bytes;
    let is_short = span < RANDOM_SPAN || case.doubts.contains(&WarningCode::SpanReduced);
    is_short.then_some(Open::SpanReduced(span))
}

/// A recording class is for every allocation unit, so a whole one must have been written, and no
/// stretch of that length may have been slower for certain.
fn short_recording(record: &Record, case: &Case<'_>) -> Option<Open> {
    let (unit, written) = (allocation_unit(record), case.phase.bytes);
    if case.doubts.contains(&WarningCode::SpanReduced) {
        return Some(Open::RangeReduced(case.phase.span_bytes));
    }
    if written < unit {
        return Some(Open::TooLittleWritten { written, unit });
    }
    let Rate::Throughput(least) = case.limit.at_least else { return None };
    let slowest: Throughput = slowest_stretch(&case.phase.intervals, unit)?;
    (slowest < least).then_some(Open::SlowStretch { unit, slowest })
}

/// The card's allocation unit, or the largest that a card of this capacity may have.
fn allocation_unit(record: &Record) -> Bytes {
    let device = &record.conditions.device;
    let told = device.card.as_ref().and_then(|card| card.allocation_unit_bytes);
    told.filter(|unit| *unit > Bytes::ZERO).unwrap_or({
        let is_sdhc = device.size_bytes.is_some_and(|size| size <= SDHC_MAX);
        if is_sdhc { Bytes::mib(4) } else { Bytes::mib(64) }
    })
}
