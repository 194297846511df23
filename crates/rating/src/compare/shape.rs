//! What is compared: phases of one shape, found by what they did and not by what they are called.

use cardproof_record::{DisturbanceKind, OpName, PatternName, Phase, Record};
use cardproof_stats::{RunRate, Variation, geometric_mean};
use cardproof_units::Bytes;

use crate::disturbance::{is_disturbed, of_phase};
use crate::pick::BoundedRate;
use crate::quantity::Rate;
use crate::shown::{is_size_told_in_iops, shown_rate};
use crate::slowdown::faster_alone;

/// What varies from run to run, as a standard deviation: five runs on one Raspberry Pi 4 with an SD
/// card (the published logs of one owner) gave 6.8 % for random writes, 0.8 % for random reads, and
/// 1.3 % for sequential writes.
const RANDOM_WRITE_CV: f64 = 0.068;
const RANDOM_READ_CV: f64 = 0.008;
const SEQUENTIAL_CV: f64 = 0.013;

/// What a phase did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What its operations do.
    pub op: OpName,
    /// In which order.
    pub pattern: PatternName,
    /// Of 100 operations, how many read.
    pub read_percent: u8,
    /// The size of each.
    pub block_size: Bytes,
    /// How many are in flight.
    pub queue_depth: u16,
    /// After how many writes it waits until they are durable; `None` where at most at the end.
    pub fsync_every: Option<u32>,
}

impl Shape {
    /// The shape of `phase`.
    #[must_use]
    pub fn from_phase(phase: &Phase) -> Self {
        Self {
            op: phase.op,
            pattern: phase.pattern,
            read_percent: phase.read_percent,
            block_size: phase.block_size_bytes,
            queue_depth: phase.queue_depth,
            fsync_every: phase.sync.fsync_every(),
        }
    }

    /// 4 KiB at random, one at a time.
    #[must_use]
    pub fn random_4k(op: OpName) -> Self {
        Self {
            op,
            pattern: PatternName::Random,
            read_percent: if op == OpName::Read { 100 } else { 0 },
            block_size: Bytes::kib(4),
            queue_depth: 1,
            fsync_every: None,
        }
    }

    /// The unit of its rates.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.is_told_in_iops() { "IOPS" } else { "bytes/s" }
    }

    /// Whether operations a second are its unit.
    #[must_use]
    pub fn is_told_in_iops(&self) -> bool {
        is_size_told_in_iops(self.block_size)
    }

    /// The standard deviation from run to run that single runs are allowed, as a part of the rate.
    pub(super) fn run_cv(&self) -> f64 {
        match (self.pattern, self.op) {
            (PatternName::Sequential, _) => SEQUENTIAL_CV,
            (_, OpName::Read) => RANDOM_READ_CV,
            _ => RANDOM_WRITE_CV,
        }
    }
}

/// All shapes that were measured in `records`, in the order in which they first come.
pub(super) fn shapes_in<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for phase in records.flat_map(|record| &record.phases).filter(|phase| is_comparable(phase)) {
        let shape = Shape::from_phase(phase);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

/// What one card has of one shape.
pub(super) struct Measured<'r> {
    /// The record of its first run, for its conditions.
    pub(super) record: &'r Record,
    /// The phase in it, and its place.
    pub(super) phase: &'r Phase,
    pub(super) index: usize,
    /// Its runs, at least one, with rates above 0 in the shape's unit.
    pub(super) runs: Vec<RunRate>,
    /// Its rate in the shape's unit.
    rate: f64,
    /// The interval of that rate.
    between: Option<[f64; 2]>,
    /// All runs as one.
    as_one_run: RunRate,
    /// What disturbed any of its runs, each kind once.
    pub(super) disturbed_by: Vec<DisturbanceKind>,
    /// How many times as fast it could have been without that, at the most.
    pub(super) faster_alone: f64,
}

impl<'r> Measured<'r> {
    /// The first measured phase of `shape` in each of `records`; `None` where one has none. Of one
    /// record rate and interval are those that its report shows, of several those of their mean.
    pub(super) fn new(shape: &Shape, records: &[&'r Record]) -> Option<Self> {
        let found: Option<Vec<(&Record, usize, &Phase)>> =
            records.iter().map(|record| find(shape, record)).collect();
        let found = found?;
        let &(record, index, phase) = found.first()?;
        let is_iops = shape.is_told_in_iops();
        let shown: Option<Vec<Shown>> =
            found.iter().map(|(_, _, phase)| Shown::from_phase(phase, is_iops)).collect();
        let mut shown = shown?;
        if let ([only], Some(rate)) = (shown.as_mut_slice(), mean_of_stated(shape, record)) {
            only.rate = rate;
        }
        let runs: Vec<RunRate> = match shown.as_slice() {
            [_] if phase.runs.len() > 1 => {
                let counting = phase.runs.iter().filter(|run| run.counts);
                let rates =
                    counting.map(|run| run_rate(run.iops, run.throughput_bytes_per_s, is_iops));
                rates.collect::<Option<Vec<RunRate>>>()?
            }
            several => several.iter().map(Shown::as_run).collect(),
        };
        if runs.is_empty() {
            return None;
        }
        let (rate, between, as_one_run) = match shown.as_slice() {
            [only] => (only.rate, only.between(), only.as_run()),
            _ => together(&runs),
        };
        let disturbed_by = disturbed_by(&found);
        let faster_alone =
            found.iter().map(|(record, _, phase)| faster_alone(record, phase, phase.duration_ns));
        let faster_alone = faster_alone.fold(1.0, f64::max);
        Some(Self {
            record,
            phase,
            index,
            runs,
            rate,
            between,
            as_one_run,
            disturbed_by,
            faster_alone,
        })
    }

    /// The rate: of several records, their geometric mean.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// All runs as one.
    pub(super) fn as_one_run(&self) -> RunRate {
        self.as_one_run
    }

    /// The interval of the rate.
    pub(super) fn between(&self) -> Option<[f64; 2]> {
        self.between
    }
}

/// The kinds of disturbances of the phases `found`; what a run noted without a kind is one of another kind.
fn disturbed_by(found: &[(&Record, usize, &Phase)]) -> Vec<DisturbanceKind> {
    let mut kinds: Vec<DisturbanceKind> = Vec::new();
    for (record, _, phase) in found {
        let told = of_phase(record, phase);
        let is_untold = told.is_empty() && is_disturbed(record, phase);
        let of_this = told.iter().map(|disturbance| disturbance.kind);
        for kind in of_this.chain(is_untold.then_some(DisturbanceKind::Other)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// The geometric mean of `runs`, its interval, and both as one run.
fn together(runs: &[RunRate]) -> (f64, Option<[f64; 2]>, RunRate) {
    let logs: f64 = runs.iter().map(|run| run.rate.ln()).sum();
    let rate = (logs / runs.len() as f64).exp();
    let confidence = runs.first().map_or(super::CONFIDENCE, |run| run.confidence);
    let all = Variation::new(runs, confidence);
    let half_width = all.map(|all| all.high / all.mean - 1.0);
    (rate, all.map(|all| [all.low, all.high]), RunRate { rate, half_width, confidence })
}

/// The rate of a phase as its report shows it, in the unit of its shape.
struct Shown {
    rate: f64,
    bounds: Option<BoundedRate>,
}

impl Shown {
    /// The rate of `phase`, without an interval where it was only stated; `None` where it has no rate
    /// above 0.
    fn from_phase(phase: &Phase, is_iops: bool) -> Option<Self> {
        let is_sound = |rate: &f64| rate.is_finite() && *rate > 0.0;
        if let Some(bounds) = shown_rate(phase) {
            let rate = Some(bounds.estimate.per_second()).filter(is_sound)?;
            return Some(Self { rate, bounds: Some(bounds) });
        }
        let stated = if is_iops {
            phase.point_iops().map(|iops| iops.0)
        } else {
            phase.point_throughput().map(|rate| rate.0)
        };
        Some(Self { rate: stated.filter(is_sound)?, bounds: None })
    }

    fn between(&self) -> Option<[f64; 2]> {
        self.bounds.map(|bounds| [bounds.low, bounds.high].map(Rate::per_second))
    }

    fn as_run(&self) -> RunRate {
        RunRate {
            rate: self.rate,
            half_width: self.bounds.map(|bounds| bounds.high.per_second() / self.rate - 1.0),
            confidence: self.bounds.map_or(super::CONFIDENCE, |bounds| bounds.confidence),
        }
    }
}

/// Whether the rate of `phase` is one of its storage, which a shape does not tell.
fn is_comparable(phase: &Phase) -> bool {
    phase.is_measured() && phase.is_at_full_speed()
}

fn find<'r>(shape: &Shape, record: &'r Record) -> Option<(&'r Record, usize, &'r Phase)> {
    let mut phases = record.phases.iter().enumerate();
    let (index, phase) =
        phases.find(|(_, phase)| is_comparable(phase) && Shape::from_phase(phase) == *shape)?;
    Some((record, index, phase))
}

/// The geometric mean of the rates of `shape` that another tool stated of several runs in one output;
/// `None` where there are no several.
fn mean_of_stated(shape: &Shape, record: &Record) -> Option<f64> {
    let fits = |phase: &&Phase| {
        phase.stated.is_some() && is_comparable(phase) && Shape::from_phase(phase) == *shape
    };
    let shown =
        record.phases.iter().filter(fits).map(|it| Shown::from_phase(it, shape.is_told_in_iops()));
    let rates: Vec<f64> = shown.flatten().map(|shown| shown.rate).collect();
    geometric_mean(&rates).filter(|_| rates.len() > 1)
}

/// The rate of one of several runs of a phase.
fn run_rate(
    iops: Option<cardproof_record::Estimate<cardproof_units::Iops>>,
    throughput: Option<cardproof_record::Estimate<cardproof_units::Throughput>>,
    is_iops: bool,
) -> Option<RunRate> {
    let (rate, high, confidence) = if is_iops {
        let iops = iops?;
        (iops.estimate.0, iops.high.0, iops.confidence)
    } else {
        let rate = throughput?;
        (rate.estimate.0, rate.high.0, rate.confidence)
    };
    let is_sound = rate.is_finite() && rate > 0.0 && high >= rate && high.is_finite();
    is_sound.then(|| RunRate { rate, half_width: Some(high / rate - 1.0), confidence })
}
