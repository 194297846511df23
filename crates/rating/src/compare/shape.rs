//! What is compared: phases of one shape, found by what they did and not by what they are called.

use std::fmt;

use cardproof_record::{OpName, PatternName, Phase, Record};
use cardproof_stats::{RunRate, Variation};
use cardproof_units::Bytes;

/// Up to this block size people speak of operations a second, above it of bytes.
const IOPS_BLOCK_MAX: Bytes = Bytes::kib(64);

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
    pub fn of(phase: &Phase) -> Self {
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
        self.block_size <= IOPS_BLOCK_MAX && self.pattern != PatternName::Sequential
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

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.block_size > Bytes::ZERO {
            write!(f, "{} ", self.block_size.to_string().replacen(".0 ", " ", 1))?;
        }
        match self.pattern {
            PatternName::Sequential => f.write_str("sequential ")?,
            PatternName::Random => f.write_str("random ")?,
            PatternName::Unknown => {}
        }
        match self.op {
            OpName::Read => f.write_str("read")?,
            OpName::Write => f.write_str("write")?,
            _ if self.read_percent > 0 => write!(f, "mix, {} % reads", self.read_percent)?,
            _ => f.write_str("transfer")?,
        }
        if self.queue_depth > 0 {
            write!(f, ", depth {}", self.queue_depth)?;
        }
        match self.fsync_every {
            Some(1) => f.write_str(", fsync after each"),
            Some(every) => write!(f, ", fsync every {every}"),
            None => Ok(()),
        }
    }
}

/// All shapes that were measured in `records`, in the order in which they first come.
pub(super) fn shapes_in<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for phase in records.flat_map(|record| &record.phases).filter(|phase| is_comparable(phase)) {
        let shape = Shape::of(phase);
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
    /// The phase's own interval, where there is one record of it.
    own: Option<RunRate>,
}

impl<'r> Measured<'r> {
    /// The first measured phase of `shape` in each of `records`; `None` where one has none.
    pub(super) fn of(shape: &Shape, records: &[&'r Record]) -> Option<Self> {
        let found: Option<Vec<(&Record, usize, &Phase)>> =
            records.iter().map(|record| find(shape, record)).collect();
        let found = found?;
        let &(record, index, phase) = found.first()?;
        let is_iops = shape.is_told_in_iops();
        let runs: Option<Vec<RunRate>> = match found.as_slice() {
            [(_, _, only)] if only.runs.len() > 1 => only
                .runs
                .iter()
                .filter(|run| run.counts)
                .map(|run| run_rate(run.iops, run.throughput_bytes_per_s, is_iops))
                .collect(),
            several => several.iter().map(|(_, _, phase)| phase_rate(phase, is_iops)).collect(),
        };
        let own = phase_rate(phase, is_iops).filter(|_| found.len() == 1);
        let runs = runs.filter(|runs| !runs.is_empty())?;
        Some(Self { record, phase, index, runs, own })
    }

    /// The rate of all runs: their geometric mean.
    pub(super) fn rate(&self) -> f64 {
        let logs: f64 = self.runs.iter().map(|run| run.rate.ln()).sum();
        (logs / self.runs.len() as f64).exp()
    }

    /// All runs as one.
    pub(super) fn as_one_run(&self) -> RunRate {
        match (self.own, self.runs.as_slice()) {
            (Some(own), _) => own,
            (None, [only]) => *only,
            (None, runs) => {
                let confidence = runs[0].confidence;
                let all = Variation::of(runs, confidence);
                let half_width = all.map(|all| all.high / all.mean - 1.0);
                RunRate { rate: self.rate(), half_width, confidence }
            }
        }
    }

    /// The interval of the rate.
    pub(super) fn between(&self) -> Option<[f64; 2]> {
        if self.runs.len() > 1 {
            let all = Variation::of(&self.runs, self.runs[0].confidence)?;
            return Some([all.low, all.high]);
        }
        let run = self.as_one_run();
        let half = run.rate * run.half_width?;
        Some([(run.rate - half).max(0.0), run.rate + half])
    }
}

/// Whether the rate of `phase` is one of its storage, which a shape does not tell.
fn is_comparable(phase: &Phase) -> bool {
    phase.is_measured() && phase.is_at_full_speed()
}

fn find<'r>(shape: &Shape, record: &'r Record) -> Option<(&'r Record, usize, &'r Phase)> {
    let mut phases = record.phases.iter().enumerate();
    let (index, phase) =
        phases.find(|(_, phase)| is_comparable(phase) && Shape::of(phase) == *shape)?;
    Some((record, index, phase))
}

/// The rate of `phase`; without an interval where it was only stated.
fn phase_rate(phase: &Phase, is_iops: bool) -> Option<RunRate> {
    run_rate(phase.iops, phase.throughput_bytes_per_s, is_iops).or_else(|| {
        let stated = if is_iops {
            phase.point_iops().map(|iops| iops.0)
        } else {
            phase.point_throughput().map(|rate| rate.0)
        };
        let is_sound = |rate: &f64| rate.is_finite() && *rate > 0.0;
        stated.filter(is_sound).map(|rate| RunRate {
            rate,
            half_width: None,
            confidence: super::CONFIDENCE,
        })
    })
}

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
