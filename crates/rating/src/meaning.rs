//! Grades of the figures for users who run a computer from this storage.
//!
//! Each use is graded by the figure that matters most for it, compared with published figures. The
//! sentences compare. They do not predict, since other hosts and systems differ. Pauses have a grade of
//! their own, because a fast card that stops for seconds is not a good one.

mod alone;
mod pauses;

use std::fmt::Display;

use cardproof_facts::PublishedCard;
use cardproof_record::{OpName, Phase, Record, WarningCode};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde::Serialize;

use crate::doubts::doubts;
use crate::indications::widened;
use crate::pick::{BoundedRate, Finding, is_random_4k, is_sequential};
use crate::published::neighbours;
use crate::quantity::Rate;
use crate::shown::shown_rate;
use crate::sound::{cause, figure_of, find, find_random_4k};
use crate::stated::{may_be_memory, mean_of_stated};
use crate::wording;
pub(crate) use alone::alone;

/// The grade of one daily use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The use.
    pub purpose: Purpose,
    /// The use in words, such as `Starting up and opening programs`.
    pub topic: &'static str,
    /// How well the storage serves it.
    pub grade: Grade,
    /// The graded figure, or why there is no grade, in a sentence.
    pub finding: String,
    /// The comparison with published figures, in sentences; empty without a grade.
    pub comparison: String,
}

impl Meaning {
    /// Finding and comparison in a row.
    #[must_use]
    pub fn text(&self) -> String {
        if self.comparison.is_empty() {
            return self.finding.clone();
        }
        format!("{} {}", self.finding, self.comparison)
    }
}

/// A use of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

/// A use's grade, and why.
struct Answer {
    grade: Grade,
    finding: String,
    comparison: String,
}

impl Answer {
    fn unknown(finding: String) -> Self {
        Self { grade: Grade::Unknown, finding, comparison: String::new() }
    }
}

/// What explains one use.
type Explain = fn(&Record) -> Answer;

impl Grade {
    /// In a word or three.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::FairOrGood => "fair to good",
            Self::Fair => "fair",
            Self::PoorOrFair => "slow to fair",
            Self::Poor => "slow",
            Self::Unknown => "not known",
        }
    }

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
pub fn meaning(record: &Record) -> Vec<Meaning> {
    let uses: [(Purpose, &'static str, Explain); 5] = [
        (Purpose::System, "Starting up and opening programs", starting),
        (Purpose::Programs, "Installing and updating programs", installing),
        (Purpose::Databases, "Databases (they wait for every write)", databases),
        (Purpose::LargeFiles, "Photos, films and large files", large_files),
        (Purpose::Pauses, "Pauses", pauses::pauses),
    ];
    let doubts = doubts(record);
    let forbidding = doubts.iter().find(|doubt| doubt.forbids_all());
    let answer = |explain: Explain| match forbidding {
        Some(doubt) => Answer::unknown(format!("Reason: {}.", doubt.text(record))),
        None => explain(record),
    };
    uses.into_iter()
        .map(|(purpose, topic, explain)| {
            let Answer { grade, finding, comparison } = answer(explain);
            Meaning { purpose, topic, grade, finding, comparison }
        })
        .collect()
}

/// That nothing is known of `what`, or no more than the point that another tool stated.
fn unknown(record: &Record, what: &str, finding: Finding<'_>) -> Answer {
    let is_memory = finding.measured().is_some_and(|phase| may_be_memory(record, phase));
    let is_limited = finding.measured().is_some_and(|phase| has(phase, WarningCode::RateLimited));
    Answer::unknown(match finding.stated(Phase::point_iops) {
        Some(rate) if is_limited => format!(
            "{what}: {rate}, but {} was told to limit the rate, so this says nothing of the storage.",
            record.tool.name
        ),
        Some(rate) if is_memory => format!(
            "{what}: {rate}, perhaps of the page cache (memory), as {} does not tell, so there is no grade.",
            record.tool.name
        ),
        Some(rate) => format!("{what}: {}, so there is no grade.", as_stated(rate)),
        None => format!("{what}: not measured ({}).", cause(finding)),
    })
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

/// What a stated rate makes likely of a use: the grade of all that other runs may reach.
fn of_stated(what: &str, figure: &BoundedRate, (poor, good): (f64, f64)) -> Answer {
    let grade = Grade::new(figure, poor, good);
    let finding = format!(
        "{what}: {}. The grade includes the usual variation between runs.",
        as_stated(figure.estimate)
    );
    Answer { grade, finding, comparison: String::new() }
}

fn as_stated(rate: impl Display) -> String {
    format!("{rate} as stated by another tool, without an interval")
}

fn starting(record: &Record) -> Answer {
    let what = "4 KiB random read at queue depth 1";
    let finding = find_random_4k(record, OpName::Read);
    match figure_of(finding, shown_rate) {
        None => indicated(record, finding, Phase::point_iops, Rate::Iops).map_or_else(
            || unknown(record, what, finding),
            |figure| of_stated(what, &figure, (READ_POOR_IOPS, READ_GOOD_IOPS)),
        ),
        Some(figure) => {
            let iops = Iops(figure.estimate.per_second());
            let reached = wording::figure_unless_narrow(&figure);
            let compared = compare(
                iops,
                |card| card.random_read,
                |card| format!("booted in {} s", card.boot.as_secs_f64()),
            );
            let could_be = alone(record, finding, &figure);
            let grade = Grade::new(&could_be, READ_POOR_IOPS, READ_GOOD_IOPS);
            reaching(what, &reached, grade, compared)
        }
    }
}

fn installing(record: &Record) -> Answer {
    let what = "4 KiB random write at queue depth 1";
    let finding = find_random_4k(record, OpName::Write);
    match figure_of(finding, shown_rate) {
        None => indicated(record, finding, Phase::point_iops, Rate::Iops).map_or_else(
            || unknown(record, what, finding),
            |figure| of_stated(what, &figure, (WRITE_POOR_IOPS, WRITE_GOOD_IOPS)),
        ),
        Some(figure) => {
            let iops = Iops(figure.estimate.per_second());
            let reached = wording::figure_unless_narrow(&figure);
            let compared = compare(
                iops,
                |card| card.random_write,
                |card| format!("installed a desktop in {}", card.desktop_install),
            );
            let could_be = alone(record, finding, &figure);
            let grade = Grade::new(&could_be, WRITE_POOR_IOPS, WRITE_GOOD_IOPS);
            reaching(what, &reached, grade, compared)
        }
    }
}

/// That `what` reaches so much, and what that compares with.
fn reaching(what: &str, reached: &str, grade: Grade, comparison: String) -> Answer {
    Answer { grade, finding: format!("{what}: {reached}{}.", too_wide(grade)), comparison }
}

/// Where `iops` stands among the published devices, and what those nearest to it did.
fn compare(
    iops: Iops,
    column: impl Fn(&PublishedCard) -> Iops,
    did: impl Fn(&PublishedCard) -> String,
) -> String {
    let describe = |card: &PublishedCard| format!("{} ({}) {}", card.name, column(card), did(card));
    match neighbours(iops, &column) {
        [Some(slower), Some(faster)] => {
            format!(
                "The published devices with the nearest rates: {}; {}.",
                describe(slower),
                describe(faster)
            )
        }
        [Some(fastest), None] => {
            format!(
                "None of the eight devices with published boot and installation times is faster. The one with the highest rate of the eight: {}.",
                describe(fastest)
            )
        }
        [None, Some(slowest)] => {
            format!(
                "All eight devices with published boot and installation times are faster. The one with the lowest rate of the eight: {}.",
                describe(slowest)
            )
        }
        [None, None] => String::new(),
    }
}

fn databases(record: &Record) -> Answer {
    let what = "4 KiB overwrites, each followed by a flush";
    let finding = find(record, |phase| {
        is_random_4k(phase, OpName::Write, 1) && phase.sync.fsync_every() == Some(1)
    });
    match figure_of(finding, shown_rate) {
        None => indicated(record, finding, Phase::point_iops, Rate::Iops).map_or_else(
            || unknown(record, what, finding),
            |figure| of_stated(what, &figure, (SYNCED_POOR_IOPS, SYNCED_GOOD_IOPS)),
        ),
        Some(figure) => {
            let iops = Iops(figure.estimate.per_second());
            let reached = wording::figure_unless_narrow(&figure);
            let transactions = iops.0 / SQLITE_FLUSHES;
            let could_be = alone(record, finding, &figure);
            let grade = Grade::new(&could_be, SYNCED_POOR_IOPS, SYNCED_GOOD_IOPS);
            let compared = format!(
                "SQLite with its default journal flushes {SQLITE_FLUSHES} times for a single-row \
                 transaction. This rate allows about {transactions:.0} transactions a second. For \
                 comparison, two published cards on ext4 reach 54 and 244 such overwrites a second."
            );
            reaching(what, &reached, grade, compared)
        }
    }
}

fn large_files(record: &Record) -> Answer {
    let find = |op: OpName| find(record, |phase| is_sequential(phase, op));
    let figure = |finding: Finding<'_>| figure_of(finding, shown_rate);
    let (read, write) = (find(OpName::Read), find(OpName::Write));
    let reading = match figure(read) {
        Some(read) => format!("sequential read: {}", wording::figure_unless_narrow(&read)),
        None => without_interval(record, "sequential read", read),
    };
    match figure(write) {
        None => {
            let mean = |phase: &Phase| mean_of_stated(record, phase);
            let stated = indicated(record, write, mean, Rate::Throughput);
            let grade = stated.as_ref().map(grade_of_recording);
            let writing = without_interval(record, "Sequential write", write);
            let finding = format!("{writing}; {reading}.");
            Answer { grade: grade.unwrap_or(Grade::Unknown), ..Answer::unknown(finding) }
        }
        Some(written) => {
            let grade = grade_of_recording(&alone(record, write, &written));
            large_files_answer(&written, &reading, grade)
        }
    }
}

/// That `what` is not known, or no more than the point that another tool stated.
fn without_interval(record: &Record, what: &str, finding: Finding<'_>) -> String {
    match finding.measured().and_then(|phase| mean_of_stated(record, phase)) {
        Some(rate) => format!("{what}: {}", as_stated(rate)),
        None => format!("{what}: not measured ({})", cause(finding)),
    }
}

/// As [`Grade::new`], but the slower classes' minimum itself is their pass and not poor.
fn grade_of_recording(write: &BoundedRate) -> Grade {
    Grade::new(write, RECORDING_FAIR.0.next_down(), RECORDING_GOOD.0)
}

/// Why there is no grade although there is a figure.
const fn too_wide(grade: Grade) -> &'static str {
    match grade {
        Grade::Unknown => "; it can be anything from slow to good, so there is no grade",
        _ => "",
    }
}

fn large_files_answer(write: &BoundedRate, read: &str, grade: Grade) -> Answer {
    let ten_gb = Bytes(10_000_000_000);
    let rate = write.estimate.per_second();
    let time = if rate > 0.0 {
        let time = Nanos::from_secs_f64(ten_gb.as_f64() / rate);
        format!("At this rate, writing 10 GB takes {time}. ")
    } else {
        String::new()
    };
    let write = wording::figure_unless_narrow(write);
    let classes = "Speed classes require 10 MB/s (Class 10, U1, V10) or 30 MB/s (U3, V30).";
    Answer {
        grade,
        finding: format!("Sequential write: {write}{}; {read}.", too_wide(grade)),
        comparison: format!("{time}{classes}"),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_facts::{A1_RATES, PUBLISHED_CARDS};

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
