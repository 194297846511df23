//! Grades of the figures for users who run a computer from this storage.
//!
//! Each use is graded by the figure that matters most for it, by limits from published figures. Pauses have a grade of
//! their own, because a fast card that stops for seconds is not a good one.

mod alone;
mod pauses;

use cardproof_record::{OpName, Phase, Record, Warning, WarningCode};
use cardproof_units::{Nanos, Throughput};
use serde::Serialize;

use crate::doubts::doubts;
use crate::indications::widened;
use crate::pick::{BoundedRate, Finding, is_random_4k, is_sequential};
use crate::quantity::Rate;
use crate::shown::shown_rate;
use crate::sound::{Unsound, cause, figure_of, find, find_random_4k};
use crate::stated::{may_be_memory, mean_of_stated};
pub(crate) use alone::alone;
pub(crate) use pauses::{FeltPauses, LongOperation, OtherCause, PausesFound};

/// The grade of one daily use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Graded {
    /// The use.
    pub(crate) purpose: Purpose,
    /// How well the storage serves it.
    pub(crate) grade: Grade,
    /// The graded figure, or why there is no grade.
    pub(crate) basis: Basis,
}

/// What a grade rests on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Basis {
    /// A doubt forbids every grade.
    InDoubt {
        /// The name of the phase that raises it.
        phase: Option<String>,
        /// The doubt.
        doubt: Warning,
    },
    /// There is no sound figure.
    NotMeasured(Unsound),
    /// Another tool stated a rate, which has no grade.
    Stated {
        /// The rate.
        rate: Rate,
        /// The tool.
        tool: String,
        /// Why there is none.
        lacks: Lacks,
    },
    /// Another tool stated this rate, and the grade includes how runs usually differ.
    StatedAndGraded(Rate),
    /// The figure.
    Measured(BoundedRate),
    /// The rates of large files; that of writes is graded.
    LargeFiles {
        /// Of reads.
        read: Sequential,
        /// Of writes.
        write: Sequential,
    },
    /// How long the storage stood still.
    Pauses(PausesFound),
}

/// Why a rate that another tool stated has no grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// The tool was told to limit the rate.
    RateLimited,
    /// It may be of the page cache.
    PerhapsMemory,
    /// It has no interval.
    Interval,
}

/// What is known of a sequential rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sequential {
    /// It was measured.
    Measured(BoundedRate),
    /// Another tool stated it.
    Stated(Throughput),
    /// There is no sound figure.
    NotMeasured(Unsound),
}

/// What grades one use.
type Explain = fn(&Record) -> (Grade, Basis);

/// A use of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Starting up and opening programs.
    System,
    /// Installing and updating programs.
    Programs,
    /// Databases, which wait for every write.
    Databases,
    /// Photos, films and large files.
    LargeFiles,
    /// How long the storage stands still.
    Pauses,
}

/// How well the storage serves a use, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// There is no figure without a doubt.
    Unknown,
    /// Like the worst published cards, or worse.
    Poor,
    /// Fair or poor: the figure's interval reaches into both.
    PoorOrFair,
    /// Between the better and the worst published cards.
    Fair,
    /// Good or fair: the figure's interval reaches into both.
    FairOrGood,
    /// Like the better published cards, or better.
    Good,
}

impl Grade {
    /// The grade of `figure`: good from `good` on, poor below `poor`, fair between.
    /// The whole interval counts: where its ends have two grades that are neighbours, so has the
    /// figure; where it reaches from poor to good, it has none.
    fn new(figure: &BoundedRate, poor: f64, good: f64) -> Self {
        let of_rate = |rate: f64| {
            if rate >= good {
                Self::Good
            } else if rate < poor {
                Self::Poor
            } else {
                Self::Fair
            }
        };
        Self::between(of_rate(figure.low.per_second()), of_rate(figure.high.per_second()))
    }

    /// The grade of a figure whose interval's ends have the grades `low` and `high`.
    const fn between(low: Self, high: Self) -> Self {
        match (low, high) {
            (Self::Good, _) => Self::Good,
            (Self::Fair, Self::Fair) => Self::Fair,
            (Self::Fair, Self::Good) => Self::FairOrGood,
            (Self::Poor, Self::Fair) => Self::PoorOrFair,
            (Self::Poor, Self::Poor) => Self::Poor,
            _ => Self::Unknown,
        }
    }
}

/// Random reads in IOPS: every published device from the first on started its system in 13.4 to
/// 16.2 s, those below in 17.0 to 26.7 s. The second is what A1 asks for: a card that passes A1 is not too slow
/// to start programs, and no published one was as slow.
const READ_GOOD_IOPS: f64 = 2344.0;
pub(crate) const READ_POOR_IOPS: f64 = 1500.0;

/// Random writes in IOPS: every published device from the first on took 161 to 253 s for a
/// desktop install, those below the second 430 and 1070 s. The faster of these two wrote 133; the second is that and
/// two standard deviations (10 % each) of what one card's writes differ from run to run.
const WRITE_GOOD_IOPS: f64 = 732.0;
pub(crate) const WRITE_POOR_IOPS: f64 = 160.0;

/// Synced 4 KiB writes in IOPS: two cards on ext4 with fio's fsync=1, a Samsung Evo+ at 1000 KB/s
/// and a `SanDisk` Ultra at 220 KB/s ("Tuning SD Card Speed", Fred777).
const SYNCED_GOOD_IOPS: f64 = 244.0;
const SYNCED_POOR_IOPS: f64 = 54.0;

/// Flushes for one single-row `SQLite` transaction with its default journal (DELETE) on ext4,
/// counted at the block level.
pub(crate) const SQLITE_FLUSHES: f64 = 4.1;

/// Sequential writes: the minimum of U3 and V30, and that of Class 10, U1 and V10.
const RECORDING_GOOD: Throughput = Throughput::from_mb_per_s(30.0);
const RECORDING_FAIR: Throughput = Throughput::from_mb_per_s(10.0);

/// From here on a pause is poor: four times what a card may be busy, and plainly felt.
pub(crate) const PAUSE_POOR: Nanos = Nanos::from_secs(1);

/// From this share of a phase's time on, pauses are poor however short each is: of five seconds, a program
/// that writes waits for one and gets nothing done. No source; our choice.
pub(crate) const STALLED_SHARE_POOR: f64 = 0.2;

/// The grades of `record` for each daily use, most noticeable first. A use whose figure was not measured,
/// or is in doubt, has the grade [`Grade::Unknown`] and the cause.
#[must_use]
pub(crate) fn grades(record: &Record) -> Vec<Graded> {
    let uses: [(Purpose, Explain); 5] = [
        (Purpose::System, starting),
        (Purpose::Programs, installing),
        (Purpose::Databases, databases),
        (Purpose::LargeFiles, large_files),
        (Purpose::Pauses, pauses::pauses),
    ];
    let doubts = doubts(record);
    let forbidding = doubts.iter().find(|doubt| doubt.forbids_all());
    let answer = |explain: Explain| match forbidding {
        Some(doubt) => (
            Grade::Unknown,
            Basis::InDoubt {
                phase: doubt.phase_of(record).map(|phase| phase.name.clone()),
                doubt: doubt.warning.clone(),
            },
        ),
        None => explain(record),
    };
    uses.into_iter()
        .map(|(purpose, explain)| {
            let (grade, basis) = answer(explain);
            Graded { purpose, grade, basis }
        })
        .collect()
}

/// That nothing is known, or no more than the point that another tool stated.
fn unknown(record: &Record, finding: Finding<'_>) -> (Grade, Basis) {
    let is_memory = finding.measured().is_some_and(|phase| may_be_memory(record, phase));
    let is_limited = finding.measured().is_some_and(|phase| has(phase, WarningCode::RateLimited));
    let basis = match finding.stated(Phase::point_iops) {
        Some(rate) => Basis::Stated {
            rate: Rate::Iops(rate),
            tool: record.tool.name.clone(),
            lacks: if is_limited {
                Lacks::RateLimited
            } else if is_memory {
                Lacks::PerhapsMemory
            } else {
                Lacks::Interval
            },
        },
        None => Basis::NotMeasured(cause(finding)),
    };
    (Grade::Unknown, basis)
}

/// The range in which other runs of the card may lie whose rate another tool stated.
fn indicated<Unit>(
    record: &Record,
    finding: Finding<'_>,
    point: impl Fn(&Phase) -> Option<Unit>,
    rate: impl Fn(Unit) -> Rate,
) -> Option<BoundedRate> {
    let is_storage =
        |phase: &Phase| !has(phase, WarningCode::Buffered) && !has(phase, WarningCode::RateLimited);
    let is_of_storage = |phase: &&Phase| is_storage(phase) && !may_be_memory(record, phase);
    let phase = finding.measured().filter(|_| record.is_imported()).filter(is_of_storage);
    phase.and_then(|_| finding.stated(point)).map(|unit| widened(rate(unit)))
}

fn has(phase: &Phase, code: WarningCode) -> bool {
    phase.warnings.iter().any(|warning| warning.code == code)
}

/// The grade of all that other runs may reach whose rate was stated.
fn of_stated(figure: &BoundedRate, (poor, good): (f64, f64)) -> (Grade, Basis) {
    (Grade::new(figure, poor, good), Basis::StatedAndGraded(figure.estimate))
}

/// The grade of the rate of small operations that was found, by its limits `poor` and `good`.
fn of_small(record: &Record, finding: Finding<'_>, limits: (f64, f64)) -> (Grade, Basis) {
    match figure_of(finding, shown_rate) {
        None => indicated(record, finding, Phase::point_iops, Rate::Iops)
            .map_or_else(|| unknown(record, finding), |figure| of_stated(&figure, limits)),
        Some(figure) => {
            let (poor, good) = limits;
            let could_be = alone(record, finding, &figure);
            (Grade::new(&could_be, poor, good), Basis::Measured(figure))
        }
    }
}

fn starting(record: &Record) -> (Grade, Basis) {
    let finding = find_random_4k(record, OpName::Read);
    of_small(record, finding, (READ_POOR_IOPS, READ_GOOD_IOPS))
}

fn installing(record: &Record) -> (Grade, Basis) {
    let finding = find_random_4k(record, OpName::Write);
    of_small(record, finding, (WRITE_POOR_IOPS, WRITE_GOOD_IOPS))
}

fn databases(record: &Record) -> (Grade, Basis) {
    let finding = find(record, |phase| {
        is_random_4k(phase, OpName::Write, 1) && phase.sync.fsync_every() == Some(1)
    });
    of_small(record, finding, (SYNCED_POOR_IOPS, SYNCED_GOOD_IOPS))
}

fn large_files(record: &Record) -> (Grade, Basis) {
    let find = |op: OpName| find(record, |phase| is_sequential(phase, op));
    let figure = |finding: Finding<'_>| figure_of(finding, shown_rate);
    let (read, write) = (find(OpName::Read), find(OpName::Write));
    let known = |finding: Finding<'_>| match figure(finding) {
        Some(figure) => Sequential::Measured(figure),
        None => without_interval(record, finding),
    };
    let basis = Basis::LargeFiles { read: known(read), write: known(write) };
    let grade = match figure(write) {
        None => {
            let mean = |phase: &Phase| mean_of_stated(record, phase);
            let stated = indicated(record, write, mean, Rate::Throughput);
            stated.as_ref().map_or(Grade::Unknown, grade_of_recording)
        }
        Some(written) => grade_of_recording(&alone(record, write, &written)),
    };
    (grade, basis)
}

/// That a rate is not known, or no more than the point that another tool stated.
fn without_interval(record: &Record, finding: Finding<'_>) -> Sequential {
    match finding.measured().and_then(|phase| mean_of_stated(record, phase)) {
        Some(rate) => Sequential::Stated(rate),
        None => Sequential::NotMeasured(cause(finding)),
    }
}

/// As [`Grade::new`], but the slower classes' minimum itself is their pass and not poor.
fn grade_of_recording(write: &BoundedRate) -> Grade {
    Grade::new(write, RECORDING_FAIR.0.next_down(), RECORDING_GOOD.0)
}

#[cfg(test)]
mod tests {
    use cardproof_facts::{A1_RATES, PUBLISHED_CARDS};
    use cardproof_units::Iops;

    use super::*;

    /// Its runs differ by some per cent, so its grade would change from run to run.
    #[test]
    fn no_published_card_stands_at_the_limit_of_what_is_slow() {
        for card in &PUBLISHED_CARDS {
            let figures =
                [(card.random_read, READ_POOR_IOPS), (card.random_write, WRITE_POOR_IOPS)];
            for (Iops(rate), limit) in figures {
                let part = (rate / limit - 1.0).abs();
                assert!(part > 0.15, "{}: {rate} beside {limit}", card.name);
            }
        }
    }

    const _: () = assert!(A1_RATES.read.0 >= READ_POOR_IOPS, "what A1 asks for is not slow");
}
