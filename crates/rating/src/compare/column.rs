//! The quantities by which cards are chosen: the columns of the table of a comparison.
//!
//! A column finds its phase by its shape, so that records of different profiles and tools fill it
//! alike. It takes no phase that is only similar: a cell stays empty rather than wrong.

use cardproof_record::{DisturbanceKind, Level, OpName, Phase, Record};
use cardproof_stats::{RunRate, Variation};
use cardproof_units::Bytes;
use serde::Serialize;

use super::likeness::{FoundDoubts, InDoubt};
use super::shape::{Measured, Shape};
use crate::pick::{Finding, NoFigure, OtherSequential, is_sequential, smaller_sequential};
use crate::reference::is_published;
use crate::slowdown::faster_alone;

/// A quantity by which cards are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// 4 KiB random reads, one in flight, in operations a second.
    RandomRead,
    /// 4 KiB random writes, one in flight, without a flush after each, in operations a second.
    RandomWrite,
    /// 4 KiB random writes, one in flight, a flush after each, in operations a second.
    SyncedWrite,
    /// The longest sequential read, in bytes a second.
    SequentialRead,
    /// The longest sequential write, in bytes a second.
    SequentialWrite,
    /// What lasts of it once a cache is full: of several levels of the rate the lowest, in bytes a second.
    SustainedWrite,
}

/// Whether `record` has a figure in at least one column, so that it can stand beside others.
#[must_use]
pub fn has_compared_figure(record: &Record) -> bool {
    Column::ALL.into_iter().any(|column| column.of(&[record]).is_some())
}

impl Column {
    /// The columns of a table, in its order. [`SustainedWrite`](Self::SustainedWrite) is none of them: it
    /// is the sequential write, except where that has several levels.
    pub const ALL: [Self; 5] = [
        Self::RandomRead,
        Self::RandomWrite,
        Self::SyncedWrite,
        Self::SequentialRead,
        Self::SequentialWrite,
    ];

    /// The column of the table whose phase measures this one too.
    #[must_use]
    pub const fn of_table(self) -> Self {
        match self {
            Self::SustainedWrite => Self::SequentialWrite,
            other => other,
        }
    }

    /// Whether its rates are operations a second; else they are bytes a second.
    #[must_use]
    pub const fn is_told_in_iops(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite | Self::SyncedWrite)
    }

    /// What `runs`, the runs of one card, have in this column.
    #[must_use]
    pub fn of(self, runs: &[&Record]) -> Option<CardFigure> {
        self.of_doubted(runs, &mut FoundDoubts::default())
    }

    /// As [`of`](Self::of), with the doubts that are known already.
    pub(super) fn of_doubted<'r>(
        self,
        runs: &[&'r Record],
        doubts: &mut FoundDoubts<'r>,
    ) -> Option<CardFigure> {
        let measured = self.measured(runs)?;
        let lasting = self.lasting(&measured);
        Some(CardFigure {
            column: self,
            rate: lasting
                .map_or_else(|| measured.rate(), |level| level.throughput_bytes_per_s.estimate.0),
            between: match lasting {
                Some(Level { throughput_bytes_per_s: rate, .. }) => Some([rate.low.0, rate.high.0]),
                None => measured.between(),
            },
            span_bytes: measured.phase.span_bytes,
            doubt: doubts.in_doubt(&measured),
            disturbed_by: measured.disturbed_by.clone(),
        })
    }

    /// Why `runs` have no figure in this column, in a clause.
    #[must_use]
    pub fn cause_of_absence(self, runs: &[&Record]) -> Absence {
        let fits = |phase: &Phase| match self {
            Self::SequentialRead => is_sequential(phase, OpName::Read),
            Self::SequentialWrite | Self::SustainedWrite => is_sequential(phase, OpName::Write),
            _ => self.shape(runs).is_some_and(|shape| Shape::from_phase(phase) == shape),
        };
        let lacking = runs.iter().find(|record| Finding::find(record, fits).measured().is_none());
        lacking.map_or_else(
            || Absence::NoFigure(NoFigure::Unusable),
            |record| match is_published(record) {
                true => Absence::NotInSource,
                false => {
                    let finding = Finding::find(record, fits);
                    self.other_depth(record)
                        .or_else(|| self.smaller_blocks(record, finding))
                        .unwrap_or_else(|| Absence::NoFigure(finding.cause()))
                }
            },
        )
    }

    /// That `record` has this rate with more in flight, which is another quantity; `None` where it has not.
    fn other_depth(self, record: &Record) -> Option<Absence> {
        let wanted = self.shape(&[record]).filter(|_| self.is_told_in_iops())?;
        let is_deeper = |phase: &&Phase| {
            let shape = Shape::from_phase(phase);
            shape.queue_depth > 1 && Shape { queue_depth: wanted.queue_depth, ..shape } == wanted
        };
        let deeper = record.phases.iter().filter(|phase| phase.is_measured()).find(is_deeper)?;
        Some(Absence::OtherDepth { measured: deeper.queue_depth, compared: wanted.queue_depth })
    }

    /// That `record` has this rate only of smaller blocks, where it has no phase of large ones.
    fn smaller_blocks(self, record: &Record, finding: Finding<'_>) -> Option<Absence> {
        let op = match self {
            Self::SequentialRead => OpName::Read,
            Self::SequentialWrite | Self::SustainedWrite => OpName::Write,
            _ => return None,
        };
        matches!(finding, Finding::Absent { .. })
            .then(|| smaller_sequential(record, op))?
            .map(Absence::OtherSequential)
    }

    pub(super) fn measured<'r>(self, runs: &[&'r Record]) -> Option<Measured<'r>> {
        Measured::new(&self.shape(runs)?, runs)
    }

    /// The rate of `measured` as one run, of which a comparison takes the interval.
    pub(super) fn spread(self, measured: &Measured<'_>, confidence: f64) -> Option<f64> {
        if measured.runs.len() > 1 {
            let all = Variation::new(&measured.runs, confidence)?;
            return Some((all.high / all.mean).ln());
        }
        let run = match self.lasting(measured) {
            Some(level) => level_rate(level)?,
            None => measured.as_one_run(),
        };
        run.log_half_width(confidence, Shape::from_phase(measured.phase).run_cv())
    }

    /// How many times as fast `measured` could have been without what disturbed it, at the most.
    pub(super) fn faster_alone(self, measured: &Measured<'_>) -> f64 {
        match self.lasting(measured) {
            Some(level) => faster_alone(measured.record, measured.phase, level.duration_ns),
            None => measured.faster_alone,
        }
    }

    fn shape(self, runs: &[&Record]) -> Option<Shape> {
        let sequential = |op| {
            let first = runs.first()?;
            Finding::find(first, |phase: &Phase| is_sequential(phase, op))
                .measured()
                .map(Shape::from_phase)
        };
        match self {
            Self::RandomRead => Some(Shape::random_4k(OpName::Read)),
            Self::RandomWrite => Some(Shape::random_4k(OpName::Write)),
            Self::SyncedWrite => {
                Some(Shape { fsync_every: Some(1), ..Shape::random_4k(OpName::Write) })
            }
            Self::SequentialRead => sequential(OpName::Read),
            Self::SequentialWrite | Self::SustainedWrite => sequential(OpName::Write),
        }
    }

    /// The level of the sustained write of a phase with several; `None` of all others.
    fn lasting<'m>(self, measured: &Measured<'m>) -> Option<&'m Level> {
        let levels = measured.phase.levels.iter().filter(|_| self == Self::SustainedWrite);
        levels.min_by(|a, b| {
            a.throughput_bytes_per_s.estimate.0.total_cmp(&b.throughput_bytes_per_s.estimate.0)
        })
    }
}

fn level_rate(level: &Level) -> Option<RunRate> {
    let rate = level.throughput_bytes_per_s;
    let is_sound = rate.estimate.0 > 0.0 && rate.high.0 >= rate.estimate.0;
    is_sound.then(|| RunRate {
        rate: rate.estimate.0,
        half_width: Some(rate.high.0 / rate.estimate.0 - 1.0),
        confidence: rate.confidence,
    })
}

/// Why a card has no figure in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Absence {
    /// The source of a published card has no such figure.
    NotInSource,
    /// It was measured with more in flight.
    OtherDepth {
        /// The queue depth of the measurement, in operations.
        measured: u16,
        /// The queue depth that is compared, in operations.
        compared: u16,
    },
    /// It was measured in smaller blocks, or through the page cache.
    OtherSequential(OtherSequential),
    /// There is no usable figure.
    NoFigure(NoFigure),
}

/// What one card has in one column.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CardFigure {
    /// What was measured.
    pub column: Column,
    /// The rate, in operations or bytes a second as the column says.
    pub rate: f64,
    /// The lower and upper end of its interval; absent where it has none.
    pub between: Option<[f64; 2]>,
    /// The range of addresses over which it was measured; zero where that is not told.
    pub span_bytes: Bytes,
    /// Why the figure stands for nothing; absent where nothing speaks against it.
    pub doubt: Option<InDoubt>,
    /// The disturbances during its tests, which can only have slowed them.
    pub disturbed_by: Vec<DisturbanceKind>,
}
