//! Indications: whether stated figures, which have no interval, are further from a limit than cards
//! usually vary between runs.
//!
//! Two rounds of the same cards on one board differ by 3.4 % in the median and by 22 % at the 90th
//! percentile (T. Kaiser, 2018); five runs of fio on one board vary by 6.8 % in random writes, 0.8 % in
//! random reads and 1.3 % in dd (one standard deviation). So a figure beyond a limit by more than 22 %
//! makes one side of it likely. An indication is no verdict: it meets no requirement unless it is asked
//! for.

use cardproof_facts::{CLASSES, Class, RandomRates};
use cardproof_record::{Likelihood, OpName, PatternName, Phase, Record, SyncMode, WarningCode};
use cardproof_stats::geometric_mean;
use cardproof_units::{Bytes, Iops, Throughput};

use crate::doubts::{Doubt, doubts};
use crate::findings;
use crate::pick::{BoundedRate, is_sequential, is_synced};
use crate::quantity::{ClassLimit, Quantity, Rate, limits_of};
use crate::stated::{NoPass, why_no_pass};
use cardproof_facts::PUBLISHED_CARDS;

/// Two rounds of one card differ by at most this factor in nine of ten cases.
pub(crate) const VARIATION: f64 = 1.22;

/// Memory answers faster than this; where the page cache may have been in use, such reads say nothing.
const MEMORY_FROM: Iops = Iops(30_000.0);

/// The queue depths at which a random rate is looked for, the class's own first.
const DEPTHS: [u16; 6] = [32, 64, 16, 8, 4, 1];

/// Whether a class is likely met, and what this rests on.
#[derive(Clone, Debug)]
pub(crate) struct Indicated {
    pub(crate) class: &'static Class,
    pub(crate) outcome: Likelihood,
    /// The most important first.
    pub(crate) basis: Vec<Ground>,
}

/// What an indication rests on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ground {
    /// This class, which the class includes, is probably not passed.
    Includes(&'static str),
    /// The sequential write was not measured; every published card with such random writes has this rate or more.
    PublishedHave(Throughput),
    /// Nothing speaks for it.
    Nothing { quantity: Quantity, why: Nothing },
    /// A figure beside its limit.
    Figure {
        quantity: Quantity,
        rate: Rate,
        /// The tool that stated it, and how many figures it is the mean of.
        tool: String,
        count: usize,
        at_least: Rate,
        place: Place,
        /// Whether it is unknown whether the page cache was used, where that does not decide.
        is_cache_unknown: bool,
    },
}

/// Why no figure speaks for a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    NotMeasured,
    RateLimited,
    Synced,
    Buffered,
    DepthUnknown,
}

/// Where a figure lies beside its limit, and what makes that unclear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Above(Option<But>),
    Near,
    Below(Option<But>),
}

/// What makes it unclear on which side of its limit a figure lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum But {
    /// It may be of the page cache.
    PageCache,
    /// The phase cannot show a pass.
    NoPass(NoPass),
    /// The limit is for a queue depth of 32.
    OtherDepth,
    /// It is unknown whether the host used the card's queue.
    QueueUnknown,
    /// The host did not use the card's queue.
    QueueUnused,
    /// Larger blocks may be faster.
    SmallBlocks,
}

/// The indications of `record` for each class, in the order of [`CLASSES`]. A class without a figure has
/// none. There are none at all if the figures have intervals or if wrong data was found.
pub(crate) fn indicated(record: &Record) -> Vec<Indicated> {
    let has_interval =
        |phase: &Phase| phase.iops.is_some() || phase.throughput_bytes_per_s.is_some();
    let is_forbidden = || doubts(record).iter().any(Doubt::forbids_all);
    let is_of_faulty_storage = findings::casts_doubt(record);
    if !record.is_imported()
        || is_of_faulty_storage
        || record.phases.iter().any(has_interval)
        || is_forbidden()
    {
        return Vec::new();
    }
    let mut all: Vec<Indicated> = Vec::with_capacity(CLASSES.len());
    for class in &CLASSES {
        if let Some(own) = of_class(record, class) {
            let own = beside_lower(own, class, &all);
            all.push(own);
        }
    }
    all
}

/// The indication `own` of `class` beside those of `lower` classes: what likely misses a class likely misses each one
/// that includes it.
fn beside_lower(own: Indicated, class: &Class, lower: &[Indicated]) -> Indicated {
    let missed = lower.iter().rev().filter(|it| it.outcome == Likelihood::LikelyMisses);
    let included = missed.map(|it| it.class).find(|lower| class.includes(lower));
    let Some(included) = included.filter(|_| own.outcome != Likelihood::LikelyMisses) else {
        return own;
    };
    let why = Ground::Includes(included.name);
    let basis = std::iter::once(why).chain(own.basis).collect();
    Indicated { outcome: Likelihood::LikelyMisses, basis, ..own }
}

/// Those indications of `record` that tell something: of the application classes, unless they are unclear because nothing
/// random was measured, and of the most demanding recording class that is likely met and the least demanding that is
/// likely missed.
pub(crate) fn telling(record: &Record) -> Vec<Indicated> {
    let all = indicated(record);
    let is_application = |it: &&Indicated| it.class.is_application();
    let of_recording =
        |outcome| move |it: &&Indicated| !is_application(it) && it.outcome == outcome;
    let has_random = record.phases.iter().any(|it| it.pattern == PatternName::Random);
    let is_told = |it: &&Indicated| has_random || it.outcome != Likelihood::Unclear;
    let best = all.iter().rfind(of_recording(Likelihood::LikelyMeets));
    let worst = all.iter().find(of_recording(Likelihood::LikelyMisses));
    let application = all.iter().filter(is_application).filter(is_told);
    application.chain(best).chain(worst).cloned().collect()
}

/// The figures that speak for one limit: their mean, and how many there are.
struct Evidence<'r> {
    rate: f64,
    count: usize,
    depth: u16,
    is_cache_unknown: bool,
    /// Whether the blocks are so small that the storage can do more.
    is_lower_bound: bool,
    /// Where they come from.
    phases: Vec<&'r Phase>,
}

/// What one limit came to.
struct Weighed {
    likelihood: Likelihood,
    reason: Ground,
    is_measured: bool,
    /// The figure as a part of its limit.
    share: f64,
}

fn of_class(record: &Record, class: &'static Class) -> Option<Indicated> {
    let mut weighed: Vec<Weighed> =
        limits_of(class).into_iter().map(|limit| weigh(record, class, limit)).collect();
    if !weighed.iter().any(|limit| limit.is_measured) {
        return None;
    }
    fill_in_sequential(class, &mut weighed);
    let has = |likelihood| weighed.iter().any(|limit| limit.likelihood == likelihood);
    let outcome = if has(Likelihood::LikelyMisses) {
        Likelihood::LikelyMisses
    } else if has(Likelihood::Unclear) {
        Likelihood::Unclear
    } else {
        Likelihood::LikelyMeets
    };
    // The figure that is furthest below its limit decides.
    weighed.sort_by(|a, b| {
        let order = (a.likelihood != outcome).cmp(&(b.likelihood != outcome));
        order.then(a.share.total_cmp(&b.share))
    });
    let basis = weighed.into_iter().map(|limit| limit.reason);
    Some(Indicated { class, outcome, basis: basis.collect() })
}

/// Takes the sequential limit of an application class for met where it was not measured and both random
/// limits are likely met: every published card with such random writes exceeds it.
fn fill_in_sequential(class: &Class, weighed: &mut [Weighed]) {
    let (Some(RandomRates { write, .. }), [read, random_write, sequential]) =
        (class.random, weighed)
    else {
        return;
    };
    let are_met = [&read.likelihood, &random_write.likelihood]
        .iter()
        .all(|likelihood| **likelihood == Likelihood::LikelyMeets);
    let published = PUBLISHED_CARDS.iter().filter(|card| card.random_write >= write);
    let slowest = published.map(|card| card.sequential_write.0).fold(f64::INFINITY, f64::min);
    if sequential.is_measured || !are_met || slowest < class.sequential_write.0 * VARIATION {
        return;
    }
    sequential.likelihood = Likelihood::LikelyMeets;
    sequential.reason = Ground::PublishedHave(Throughput(slowest));
}

fn weigh(record: &Record, class: &Class, limit: ClassLimit) -> Weighed {
    let quantity = limit.quantity;
    let Some(evidence) = evidence(record, quantity) else {
        let reason = Ground::Nothing { quantity, why: why_nothing_speaks(record, quantity) };
        let likelihood = Likelihood::Unclear;
        return Weighed { likelihood, reason, is_measured: false, share: f64::INFINITY };
    };
    let least = limit.at_least.per_second();
    let is_random = limit.quantity != Quantity::SequentialWrite;
    let is_memory = evidence.is_cache_unknown && is_random && evidence.rate > MEMORY_FROM.0;
    // What needs the card's queue is not missed by what was perhaps measured without it.
    let needs_queue = class.needs_queue_and_cache && is_random;
    let has_no_depth = needs_queue && evidence.depth < 32;
    let queue = uses_queue(record);
    let (likelihood, place) = if is_memory {
        (Likelihood::Unclear, Place::Above(Some(But::PageCache)))
    } else if evidence.rate > least * VARIATION {
        match evidence.phases.iter().find_map(|phase| why_no_pass(record, phase, limit.at_least)) {
            Some(why) => (Likelihood::Unclear, Place::Above(Some(But::NoPass(why)))),
            None => (Likelihood::LikelyMeets, Place::Above(None)),
        }
    } else if evidence.rate * VARIATION >= least {
        (Likelihood::Unclear, Place::Near)
    } else if has_no_depth {
        (Likelihood::Unclear, Place::Below(Some(But::OtherDepth)))
    } else if needs_queue && queue != Some(true) {
        let why = match queue {
            None => But::QueueUnknown,
            Some(_) => But::QueueUnused,
        };
        (Likelihood::Unclear, Place::Below(Some(why)))
    } else if evidence.is_lower_bound {
        (Likelihood::Unclear, Place::Below(Some(But::SmallBlocks)))
    } else {
        (Likelihood::LikelyMisses, Place::Below(None))
    };
    let rate = match limit.at_least {
        Rate::Iops(_) => Rate::Iops(Iops(evidence.rate)),
        Rate::Throughput(_) => Rate::Throughput(Throughput(evidence.rate)),
    };
    let reason = Ground::Figure {
        quantity,
        rate,
        tool: record.tool.name.clone(),
        count: evidence.count,
        at_least: limit.at_least,
        place,
        is_cache_unknown: evidence.is_cache_unknown && !is_memory,
    };
    Weighed { likelihood, reason, is_measured: true, share: evidence.rate / least }
}

/// Whether the figures were measured with the card's command queue on; `None` where nobody says.
fn uses_queue(record: &Record) -> Option<bool> {
    record.conditions.device.card.as_ref()?.command_queue.enabled
}

/// The stated figures of `quantity`.
fn evidence(record: &Record, quantity: Quantity) -> Option<Evidence<'_>> {
    match quantity {
        Quantity::RandomRead => random(record, OpName::Read),
        Quantity::RandomWrite => random(record, OpName::Write),
        Quantity::SequentialWrite => sequential(record),
    }
}

/// Why no figure of `record` speaks for `quantity`: there is none, or what there is tells something else.
fn why_nothing_speaks(record: &Record, quantity: Quantity) -> Nothing {
    let is_of = |phase: &&Phase| match quantity {
        Quantity::RandomRead => is_random_4k(phase, OpName::Read),
        Quantity::RandomWrite => is_random_4k(phase, OpName::Write),
        Quantity::SequentialWrite => is_sequential(phase, OpName::Write),
    };
    let Some(phase) = record.phases.iter().filter(|phase| phase.is_measured()).find(is_of) else {
        return Nothing::NotMeasured;
    };
    if has(phase, WarningCode::RateLimited) {
        Nothing::RateLimited
    } else if is_synced(phase) {
        Nothing::Synced
    } else if has(phase, WarningCode::Buffered) {
        Nothing::Buffered
    } else {
        Nothing::DepthUnknown
    }
}

fn is_random_4k(phase: &Phase, op: OpName) -> bool {
    phase.op == op
        && phase.pattern == PatternName::Random
        && phase.block_size_bytes == Bytes::kib(4)
}

fn has(phase: &Phase, code: WarningCode) -> bool {
    phase.warnings.iter().any(|warning| warning.code == code)
}

/// Whether a class may be judged from `phase`, whatever tool measured it: it says something of the
/// storage and not of memory, of a limit that the tool was given, or of what syncs cost. This is the only
/// place that decides it.
fn is_of_storage(phase: &Phase) -> bool {
    let is_flushed = phase.op == OpName::Write && phase.sync == SyncMode::FlushAtEnd;
    let is_sequential = phase.pattern == PatternName::Sequential;
    phase.is_measured()
        && !is_synced(phase)
        && !has(phase, WarningCode::RateLimited)
        && (!has(phase, WarningCode::Buffered) || is_flushed && is_sequential)
}

fn random(record: &Record, op: OpName) -> Option<Evidence<'_>> {
    let fits = |phase: &&Phase| is_random_4k(phase, op) && is_of_storage(phase);
    let of_depth = |depth: u16| {
        let phases = record.phases.iter().filter(fits).filter(|phase| phase.queue_depth == depth);
        mean(&phases.collect::<Vec<_>>(), |phase| Some(phase.point_iops()?.0))
    };
    DEPTHS.into_iter().find_map(of_depth)
}

fn sequential(record: &Record) -> Option<Evidence<'_>> {
    let all = || record.phases.iter().filter(|phase| is_of_storage(phase));
    let rate = |phase: &Phase| Some(phase.point_throughput()?.0);
    let large: Vec<&Phase> = all()
        .filter(|phase| is_sequential(phase, OpName::Write) || is_of_unknown_block(phase))
        .collect();
    if let Some(largest) = large.iter().map(|phase| phase.block_size_bytes).max() {
        let largest: Vec<&Phase> =
            large.into_iter().filter(|phase| phase.block_size_bytes == largest).collect();
        return mean(&largest, rate);
    }
    let is_small =
        |phase: &&Phase| phase.op == OpName::Write && phase.pattern == PatternName::Sequential;
    let small: Vec<&Phase> = all().filter(is_small).collect();
    let fastest = small
        .into_iter()
        .max_by(|a, b| rate(a).partial_cmp(&rate(b)).unwrap_or(std::cmp::Ordering::Equal))?;
    // The kernel joins what goes through the page cache.
    let is_lower_bound = !has(fastest, WarningCode::Buffered);
    mean(&[fastest], rate).map(|evidence| Evidence { is_lower_bound, ..evidence })
}

/// Whether `phase` fills files in blocks of its own choosing, as f3write does.
fn is_of_unknown_block(phase: &Phase) -> bool {
    phase.op == OpName::Write
        && phase.pattern == PatternName::Sequential
        && phase.block_size_bytes == Bytes::ZERO
}

/// The geometric mean of the rates of `phases`; nothing where there is none.
fn mean<'r>(phases: &[&'r Phase], rate: impl Fn(&Phase) -> Option<f64>) -> Option<Evidence<'r>> {
    let rates: Vec<f64> =
        phases.iter().filter_map(|phase| rate(phase)).filter(|rate| *rate > 0.0).collect();
    let first = phases.first()?;
    Some(Evidence {
        rate: geometric_mean(&rates)?,
        count: rates.len(),
        depth: first.queue_depth,
        is_cache_unknown: phases.iter().any(|phase| has(phase, WarningCode::CacheUnknown)),
        is_lower_bound: false,
        phases: phases.to_vec(),
    })
}

/// A stated rate with the range in which other runs of the card may lie.
pub(crate) fn widened(rate: Rate) -> BoundedRate {
    let scaled = |factor: f64| match rate {
        Rate::Iops(iops) => Rate::Iops(Iops(iops.0 * factor)),
        Rate::Throughput(rate) => Rate::Throughput(Throughput(rate.0 * factor)),
    };
    BoundedRate {
        estimate: rate,
        low: scaled(1.0 / VARIATION),
        high: scaled(VARIATION),
        confidence: 0.0,
    }
}
