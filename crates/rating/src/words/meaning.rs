//! The grades of daily uses in sentences.
//!
//! The sentences compare with published figures. They do not predict, since other hosts and systems differ.

use std::fmt::Display;

use cardproof_facts::PublishedCard;
use cardproof_record::Record;
use cardproof_units::{Bytes, Iops, Nanos};

use crate::meaning::{Basis, Grade, Graded, Lacks, Purpose, SQLITE_FLUSHES, Sequential, grades};
use crate::pick::BoundedRate;
use crate::published::neighbours;

use super::{pauses, wording};

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
}

impl Purpose {
    /// The use in words, such as `Starting up and opening programs`.
    pub(super) const fn topic(self) -> &'static str {
        match self {
            Self::System => "Starting up and opening programs",
            Self::Programs => "Installing and updating programs",
            Self::Databases => "Databases (they wait for every write)",
            Self::LargeFiles => "Photos, films and large files",
            Self::Pauses => "Pauses",
        }
    }

    /// What is measured for it.
    const fn what(self) -> &'static str {
        match self {
            Self::System => "4 KiB random read at queue depth 1",
            Self::Programs => "4 KiB random write at queue depth 1",
            Self::Databases => "4 KiB overwrites, each followed by a flush",
            Self::LargeFiles | Self::Pauses => "",
        }
    }
}

/// The grades of `record` for each daily use, most noticeable first, in words.
#[must_use]
pub fn meaning(record: &Record) -> Vec<Meaning> {
    grades(record).iter().map(in_words).collect()
}

fn in_words(graded: &Graded) -> Meaning {
    let Graded { purpose, grade, basis } = graded;
    let (finding, comparison) = of_basis(*purpose, *grade, basis);
    Meaning { purpose: *purpose, topic: purpose.topic(), grade: *grade, finding, comparison }
}

/// What was found, and what it compares with.
fn of_basis(purpose: Purpose, grade: Grade, basis: &Basis) -> (String, String) {
    let what = purpose.what();
    let finding = match basis {
        Basis::Measured(figure) => {
            let reached = wording::figure_unless_narrow(figure);
            return (format!("{what}: {reached}{}.", too_wide(grade)), compared(purpose, figure));
        }
        Basis::LargeFiles { read, write: Sequential::Measured(write) } => {
            return large_files(write, &sequential("sequential read", read), grade);
        }
        Basis::Pauses(found) => return pauses::in_words(found),
        Basis::InDoubt { phase: Some(phase), doubt } => format!("Reason: {phase}: {doubt}."),
        Basis::InDoubt { phase: None, doubt } => format!("Reason: {doubt}."),
        Basis::NotMeasured(why) => format!("{what}: not measured ({why})."),
        Basis::Stated { rate, tool, lacks: Lacks::RateLimited } => format!(
            "{what}: {rate}, but {tool} was told to limit the rate, so this says nothing of the storage."
        ),
        Basis::Stated { rate, tool, lacks: Lacks::PerhapsMemory } => format!(
            "{what}: {rate}, perhaps of the page cache (memory), as {tool} does not tell, so there is no grade."
        ),
        Basis::Stated { rate, lacks: Lacks::Interval, .. } => {
            format!("{what}: {}, so there is no grade.", as_stated(rate))
        }
        Basis::StatedAndGraded(rate) => format!(
            "{what}: {}. The grade includes the usual variation between runs.",
            as_stated(rate)
        ),
        Basis::LargeFiles { read, write } => {
            let writing = sequential("Sequential write", write);
            format!("{writing}; {}.", sequential("sequential read", read))
        }
    };
    (finding, String::new())
}

fn as_stated(rate: impl Display) -> String {
    format!("{rate} as stated by another tool, without an interval")
}

/// What is known of the rate `what`.
fn sequential(what: &str, known: &Sequential) -> String {
    match known {
        Sequential::Measured(figure) => {
            format!("{what}: {}", wording::figure_unless_narrow(figure))
        }
        Sequential::Stated(rate) => format!("{what}: {}", as_stated(rate)),
        Sequential::NotMeasured(why) => format!("{what}: not measured ({why})"),
    }
}

/// What a measured figure compares with.
fn compared(purpose: Purpose, figure: &BoundedRate) -> String {
    let iops = Iops(figure.estimate.per_second());
    match purpose {
        Purpose::System => compare(
            iops,
            |card| card.random_read,
            |card| format!("booted in {} s", card.boot.as_secs_f64()),
        ),
        Purpose::Programs => compare(
            iops,
            |card| card.random_write,
            |card| format!("installed a desktop in {}", card.desktop_install),
        ),
        Purpose::Databases => {
            let transactions = iops.0 / SQLITE_FLUSHES;
            format!(
                "SQLite with its default journal flushes {SQLITE_FLUSHES} times for a single-row \
                 transaction. This rate allows about {transactions:.0} transactions a second. For \
                 comparison, two published cards on ext4 reach 54 and 244 such overwrites a second."
            )
        }
        Purpose::LargeFiles | Purpose::Pauses => String::new(),
    }
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

/// Why there is no grade although there is a figure.
const fn too_wide(grade: Grade) -> &'static str {
    match grade {
        Grade::Unknown => "; it can be anything from slow to good, so there is no grade",
        _ => "",
    }
}

fn large_files(write: &BoundedRate, read: &str, grade: Grade) -> (String, String) {
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
    let finding = format!("Sequential write: {write}{}; {read}.", too_wide(grade));
    (finding, format!("{time}{classes}"))
}
