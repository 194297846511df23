//! What one request costs on a card, from its micro-benchmarks.

use cardproof_record::{OpName, PatternName, Phase, Record, Warning};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::doubts::{Doubt, doubts};
use crate::indications::VARIATION;
use crate::pick::{BoundedRate, Finding, NoFigure, is_sequential, is_synced};
use crate::shown::shown_rate;
use cardproof_facts::PublishedCard;

/// The size up to which small reads are measured.
const MEASURED_READ: Bytes = Bytes::kib(16);

/// The size of a boot's reads.
const BOOT_READ: Bytes = Bytes::kib(48);

/// Seconds for one request of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    /// A write of 4 KiB, one at a time. `None` where it is not bounded.
    pub(super) write_s: Option<f64>,
    /// A read of 48 KiB, one at a time. `None` where it is not known or not bounded.
    pub(super) read_s: Option<f64>,
}

impl Costs {
    /// The costs at these rates: 4 KiB random writes, and 16 KiB random and sequential reads.
    fn at(write: Iops, read: Option<(Iops, Throughput)>) -> Self {
        let read_s = read.and_then(|(small, sequential)| {
            let rest = (BOOT_READ.as_f64() - MEASURED_READ.as_f64()) / sequential.0;
            seconds(small).map(|small| small + rest).filter(|seconds| seconds.is_finite())
        });
        Self { write_s: seconds(write), read_s }
    }

    /// The costs of a published card.
    pub(super) fn of_published(card: &PublishedCard) -> Self {
        Self::at(card.random_write, Some((card.random_read_16k, card.sequential_read)))
    }
}

fn seconds(rate: Iops) -> Option<f64> {
    (rate.0 > 0.0).then(|| 1.0 / rate.0)
}

/// What requests cost on the card of a record: at best knowledge, and at both ends of the figures'
/// intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Priced {
    pub(super) cheapest: Costs,
    pub(super) best: Costs,
    pub(super) dearest: Costs,
    /// Whether every figure has an interval.
    pub(super) is_bounded: bool,
}

/// A rate with its ends; where another tool stated it without, they are how far cards vary.
#[derive(Clone, Copy)]
struct Span {
    low: f64,
    best: f64,
    high: f64,
    is_interval: bool,
}

/// Why no job can be predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum NoPrediction {
    /// A doubt forbids it.
    InDoubt {
        /// The name of the phase that raises it.
        phase: Option<String>,
        /// The doubt.
        doubt: Warning,
    },
    /// There is no figure of small writes.
    NoWrites(NoFigure),
}

impl Priced {
    /// The costs that `record` shows, or why it shows none.
    pub(super) fn from_record(record: &Record) -> Result<Self, NoPrediction> {
        let doubts = doubts(record);
        if let Some(doubt) = doubts.iter().find(|doubt| doubt.forbids_all()) {
            return Err(NoPrediction::InDoubt {
                phase: doubt.phase_of(record).map(|phase| phase.name.clone()),
                doubt: doubt.warning.clone(),
            });
        }
        let write = Finding::of_random_4k(record, OpName::Write, 1);
        let write = trusted(&doubts, write)
            .and_then(iops)
            .filter(|write| write.best > 0.0)
            .ok_or_else(|| NoPrediction::NoWrites(write.cause()))?;
        let small = trusted(&doubts, Finding::find(record, is_small_read)).and_then(iops);
        let sequential = Finding::find(record, |phase| is_sequential(phase, OpName::Read));
        let sequential = trusted(&doubts, sequential).and_then(throughput);
        let at = |end: fn(&Span) -> f64| {
            let read = small.zip(sequential);
            let read = read.map(|(a, b)| (Iops(end(&a)), Throughput(end(&b))));
            Costs::at(Iops(end(&write)), read)
        };
        let figures = [Some(write), small, sequential];
        Ok(Self {
            is_bounded: figures.iter().flatten().all(|figure| figure.is_interval),
            cheapest: at(|span| span.high),
            best: at(|span| span.best),
            dearest: at(|span| span.low),
        })
    }
}

fn is_small_read(phase: &Phase) -> bool {
    phase.op == OpName::Read
        && phase.pattern == PatternName::Random
        && phase.block_size_bytes == MEASURED_READ
        && phase.queue_depth == 1
        && phase.is_at_full_speed()
        && !is_synced(phase)
}

/// The phase, unless a doubt forbids to build on it.
fn trusted<'r>(doubts: &[Doubt], finding: Finding<'r>) -> Option<&'r Phase> {
    let Finding::Measured { index, phase } = finding else { return None };
    (!doubts.iter().any(|doubt| doubt.forbids_verdict_on(index))).then_some(phase)
}

fn iops(phase: &Phase) -> Option<Span> {
    let stated = || phase.stated.and_then(|stated| stated.iops).map(|iops| iops.0);
    shown_rate(phase).map(Span::from).or_else(|| stated().map(Span::stated))
}

fn throughput(phase: &Phase) -> Option<Span> {
    let stated = || phase.stated.and_then(|stated| stated.throughput_bytes_per_s);
    let stated = || stated().map(|rate| Span::stated(rate.0));
    shown_rate(phase).map(Span::from).or_else(stated)
}

impl Span {
    /// A stated rate, and how far other runs of the card may lie from it.
    fn stated(rate: f64) -> Self {
        Self { low: rate / VARIATION, best: rate, high: rate * VARIATION, is_interval: false }
    }
}

impl From<BoundedRate> for Span {
    fn from(figure: BoundedRate) -> Self {
        Self {
            low: figure.low.per_second(),
            best: figure.estimate.per_second(),
            high: figure.high.per_second(),
            is_interval: true,
        }
    }
}
