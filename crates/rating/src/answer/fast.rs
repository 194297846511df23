//! Is it fast enough for a system? The grades of its uses, the classes A1 and A2, and its place among
//! published measurements.

use cardproof_facts::{Class, PUBLISHED_CARDS};
use cardproof_record::{
    OpName, Outcome, Phase, ReasonCode, Record, TargetKind, Verdict, WarningCode,
};
use cardproof_units::{Iops, Nanos};
use serde::Serialize;

use super::{Known, Standing, Untested};
use crate::doubts::doubts;
use crate::judge::judge;
use crate::meaning::{
    Grade, PAUSE_POOR, Purpose, READ_POOR_IOPS, STALLED_SHARE_POOR, WRITE_POOR_IOPS, alone, grades,
};
use crate::pauses::{FELT_PAUSE, longest_wait, stalls};
use crate::published::SAME;
use crate::quantity::{ClassLimit, Quantity, Rate, limits_of};
use crate::reference::published_rates;
use crate::shown::shown_rate;
use crate::sound::{figure_of, find_random_4k, is_range_small};
use crate::transports::has_card_class;

/// Fewer published measurements than this are no ground for a comparison.
const PUBLISHED_MIN: usize = 10;

/// Whether a class is passed on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassPlace {
    /// It is.
    Passed,
    /// It is not.
    Failed,
    /// The figures are too close to a limit.
    Undecided,
    /// This run or this computer cannot test it.
    NotTestable,
}

/// Where a figure stands among published measurements of other cards, each on its own computer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// Random writes of 4 KiB a second, one at a time.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub small_writes_iops: f64,
    /// So many published measurements are slower.
    pub faster_than: usize,
    /// At least so many are, by the lower end of the figure's interval.
    pub faster_than_min: usize,
    /// At most so many are, by its upper end.
    pub faster_than_max: usize,
    /// Of so many.
    pub of: usize,
}

/// A rate below what a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    /// The measured quantity.
    pub quantity: Quantity,
    /// What was measured.
    pub reached: Rate,
    /// What is asked for.
    pub at_least: Rate,
}

/// The figure that makes a use slow, or slow to fair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooLow {
    /// The measured quantity.
    pub quantity: Quantity,
    /// What was measured.
    pub reached: Rate,
    /// The ends of its interval, where only a part of that is slow.
    pub between: Option<(Rate, Rate)>,
    /// What it takes more than.
    pub limit: Rate,
}

/// The pauses of storage that is bad by them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BadPauses {
    /// One of them is as long as this.
    Long(Nanos),
    /// They take this share of a test's time, 0 to 1.
    Share(f64),
}

impl BadPauses {
    /// A pause of this length is bad.
    pub const LENGTH: Nanos = PAUSE_POOR;
    /// Pauses of this share of the time are bad.
    pub const SHARE: f64 = STALLED_SHARE_POOR;
}

/// What is known of its speed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Fast {
    /// It was measured.
    Measured {
        /// The grade for a computer that runs from it.
        system: Grade,
        /// The grade of each purpose, the most noticeable first.
        purposes: Vec<(Purpose, Grade)>,
        /// Class A1.
        a1: ClassPlace,
        /// Class A2.
        a2: ClassPlace,
        /// Why class A1 is undecided; absent otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        a1_open: Option<ReasonCode>,
        /// The same of class A2.
        #[serde(skip_serializing_if = "Option::is_none")]
        a2_open: Option<ReasonCode>,
        /// What class A1 asks for and the storage does not reach; absent unless it failed.
        #[serde(skip)]
        a1_missed: Option<Missed>,
        /// The figures that make a use slow, or slow to fair, and what it takes to be fair.
        #[serde(skip)]
        slow_by: Vec<(Purpose, TooLow)>,
        /// The pauses, where they are bad.
        #[serde(skip)]
        bad_pauses: Option<BadPauses>,
        /// The longest pause, where some are felt and not bad.
        #[serde(skip)]
        felt_pause: Option<Nanos>,
        /// Its place among published measurements; absent where there is no sound figure.
        place: Option<Place>,
        /// What forbids a word about its speed, where something does.
        #[serde(skip_serializing_if = "Option::is_none")]
        doubt: Option<WarningCode>,
        /// How many of its tests other work on the computer disturbed.
        disturbed: usize,
        /// Of so many that were made.
        tests: usize,
        /// Whether it is an SD card, or may be one, so that the classes are meant for it.
        #[serde(skip)]
        is_card: bool,
        /// What was tested, where its test range was too small for any grade.
        #[serde(skip)]
        too_small: Option<TargetKind>,
    },
    /// It was not measured.
    NotMeasured {
        /// Why not.
        why: Untested,
    },
}

impl Fast {
    pub(super) fn new(known: &Known<'_>) -> Self {
        let Some(record) = known.speed else {
            return Self::NotMeasured { why: known.untested };
        };
        let purposes: Vec<(Purpose, Grade)> =
            grades(record).iter().map(|meaning| (meaning.purpose, meaning.grade)).collect();
        let verdicts = judge(record);
        let class = |rule: &str| {
            let verdict = verdicts.iter().find(|verdict| verdict.rule == rule);
            verdict.map_or(ClassPlace::NotTestable, |verdict| ClassPlace::from(verdict.outcome))
        };
        Self::Measured {
            system: for_a_system(&purposes, disturbed(record) > 0),
            a1: class("A1"),
            a2: class("A2"),
            a1_open: why_open(&verdicts, "A1"),
            a2_open: why_open(&verdicts, "A2"),
            a1_missed: missed(record, &verdicts, "A1"),
            slow_by: slow_by(record, &purposes),
            bad_pauses: bad_pauses(record, &purposes),
            felt_pause: felt_pause(record, &purposes),
            doubt: forbidding(record),
            place: place(record).filter(|_| forbidding(record).is_none()),
            disturbed: disturbed(record),
            tests: record.phases.iter().filter(|phase| phase.is_measured()).count(),
            too_small: is_range_small(record).then_some(record.conditions.target.kind),
            is_card: has_card_class(&record.conditions.device),
            purposes,
        }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Measured { system, .. } => match system {
                Grade::Good | Grade::FairOrGood => Standing::Good,
                Grade::Fair | Grade::PoorOrFair => Standing::Warning,
                Grade::Poor => Standing::Bad,
                Grade::Unknown => Standing::Unknown,
            },
            Self::NotMeasured { .. } => Standing::Unknown,
        }
    }
}

impl From<Outcome> for ClassPlace {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Meets => Self::Passed,
            Outcome::Misses => Self::Failed,
            Outcome::Undecided => Self::Undecided,
            Outcome::NotTestable | Outcome::Unknown => Self::NotTestable,
        }
    }
}

/// Why the class called `rule` is undecided, if it is.
fn why_open(verdicts: &[Verdict], rule: &str) -> Option<ReasonCode> {
    let is_open =
        |verdict: &&Verdict| verdict.rule == rule && verdict.outcome == Outcome::Undecided;
    let reasons = &verdicts.iter().find(is_open)?.reasons;
    let opens = |code: &ReasonCode| {
        matches!(
            code,
            ReasonCode::LowConfidence
                | ReasonCode::LimitInInterval
                | ReasonCode::TooUneven
                | ReasonCode::DepthReduced
                | ReasonCode::Disturbed
                | ReasonCode::RangeReduced
                | ReasonCode::UnwrittenReads
                | ReasonCode::Faults
                | ReasonCode::BusNearLimit
        )
    };
    reasons.iter().map(|reason| reason.code).find(opens)
}

/// The first rate of `record` that is for certain below what the class called `rule` asks for, if that failed.
fn missed(record: &Record, verdicts: &[Verdict], rule: &str) -> Option<Missed> {
    let has_failed = |verdict: &Verdict| verdict.rule == rule && verdict.outcome == Outcome::Misses;
    verdicts.iter().find(|verdict| has_failed(verdict))?;
    let of_limit = |limit: &ClassLimit| {
        let is_of = |phase: &&Phase| phase.is_measured() && limit.quantity.is_measured_by(phase);
        let figure = limit.quantity.figure(record.phases.iter().find(is_of)?)?;
        let missed =
            Missed { quantity: limit.quantity, reached: figure.estimate, at_least: limit.at_least };
        (figure.high.per_second() < limit.at_least.per_second()).then_some(missed)
    };
    limits_of(Class::named(rule)?).iter().find_map(of_limit)
}

/// The figures of `record` that make the starting or installing of programs slow, or slow to fair: those two decide
/// whether it is too slow for a system.
fn slow_by(record: &Record, purposes: &[(Purpose, Grade)]) -> Vec<(Purpose, TooLow)> {
    let deciding = [
        (Purpose::System, OpName::Read, Quantity::RandomRead, READ_POOR_IOPS),
        (Purpose::Programs, OpName::Write, Quantity::RandomWrite, WRITE_POOR_IOPS),
    ];
    let of = |(purpose, op, quantity, limit)| {
        let (_, grade) = purposes.iter().find(|(known, _)| *known == purpose)?;
        let finding = find_random_4k(record, op);
        let figure = figure_of(finding, shown_rate)?;
        let could_be = alone(record, finding, &figure);
        let between = match grade {
            Grade::Poor => None,
            Grade::PoorOrFair => Some((could_be.low, could_be.high)),
            _ => return None,
        };
        let (reached, limit) = (figure.estimate, Rate::Iops(Iops(limit)));
        Some((purpose, TooLow { quantity, reached, between, limit }))
    };
    deciding.into_iter().filter_map(of).collect()
}

/// The pauses of `record`, where they are bad.
fn bad_pauses(record: &Record, purposes: &[(Purpose, Grade)]) -> Option<BadPauses> {
    purposes.iter().find(|it| **it == (Purpose::Pauses, Grade::Poor))?;
    let longest = longest_wait(record)?.length;
    if longest >= BadPauses::LENGTH {
        return Some(BadPauses::Long(longest));
    }
    stalls(record).map(|stalls| BadPauses::Share(stalls.share_max))
}

/// The longest pause of `record`, where some are felt and none is bad.
fn felt_pause(record: &Record, purposes: &[(Purpose, Grade)]) -> Option<Nanos> {
    purposes.iter().find(|it| **it == (Purpose::Pauses, Grade::Fair))?;
    longest_wait(record).map(|longest| longest.length).filter(|length| *length >= FELT_PAUSE)
}

/// The grade for a computer that runs from the storage: that of the worse of starting programs and
/// installing them, which every system does all day. Poor pauses make it poor, for a fast card that stops
/// for seconds is not a good one; poor databases make it fair at most. Where other programs may have made the
/// pauses, it is not simply good.
fn for_a_system(purposes: &[(Purpose, Grade)], is_disturbed: bool) -> Grade {
    let grade_of = |purpose| {
        let found = purposes.iter().find(|(known, _)| *known == purpose);
        found.map_or(Grade::Unknown, |(_, grade)| *grade)
    };
    let base = grade_of(Purpose::System).min(grade_of(Purpose::Programs));
    if base == Grade::Unknown {
        return Grade::Unknown;
    }
    let of_pauses = match grade_of(Purpose::Pauses) {
        Grade::Unknown if is_disturbed => Grade::FairOrGood,
        Grade::Unknown => Grade::Good,
        grade => grade,
    };
    let of_databases = match grade_of(Purpose::Databases) {
        Grade::Poor | Grade::PoorOrFair => Grade::Fair,
        _ => Grade::Good,
    };
    base.min(of_pauses).min(of_databases)
}

/// The doubt that forbids a word about the storage of `record`.
fn forbidding(record: &Record) -> Option<WarningCode> {
    let doubts = doubts(record);
    doubts.iter().find(|doubt| doubt.forbids_all()).map(|doubt| doubt.warning.code)
}

/// How many phases of `record` other work on the computer disturbed.
fn disturbed(record: &Record) -> usize {
    let doubts = doubts(record);
    let is_of = |index: usize| {
        doubts
            .iter()
            .any(|doubt| doubt.warning.code == WarningCode::Disturbed && doubt.phase == Some(index))
    };
    let measured = record.phases.iter().enumerate().filter(|(_, phase)| phase.is_measured());
    measured.filter(|(index, _)| is_of(*index)).count()
}

/// Whether `record` is of a simulated card that is fitted to a published one, and this test, by another method, gave
/// another rate than the published: then its place among them would be no place of that card.
fn is_unlike_its_original(record: &Record, low: f64, high: f64) -> bool {
    let name = record.conditions.device.name.as_deref().and_then(|it| it.strip_prefix("sim:"));
    let original = PUBLISHED_CARDS.iter().find(|card| Some(card.reference) == name);
    // A run varies by more than its own interval.
    let is_in = |rate: f64| rate >= low / (1.0 + SAME) && rate <= high * (1.0 + SAME);
    record.is_simulated() && original.is_some_and(|card| !is_in(card.random_write.0))
}

/// The place of its small writes among published measurements.
fn place(record: &Record) -> Option<Place> {
    let own = figure_of(find_random_4k(record, OpName::Write), shown_rate)?;
    if is_unlike_its_original(record, own.low.per_second(), own.high.per_second()) {
        return None;
    }
    let published = published_rates();
    let slower_than =
        |rate: f64| published.iter().filter(|published| published.write.0 < rate).count();
    (published.len() >= PUBLISHED_MIN).then(|| Place {
        small_writes_iops: own.estimate.per_second(),
        faster_than: slower_than(own.estimate.per_second()),
        faster_than_min: slower_than(own.low.per_second()),
        faster_than_max: slower_than(own.high.per_second()),
        of: published.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(system: Grade, programs: Grade, databases: Grade, pauses: Grade) -> Grade {
        for_a_system(
            &[
                (Purpose::System, system),
                (Purpose::Programs, programs),
                (Purpose::Databases, databases),
                (Purpose::LargeFiles, Grade::Poor),
                (Purpose::Pauses, pauses),
            ],
            false,
        )
    }

    #[test]
    fn pauses_that_others_may_have_made_forbid_a_plain_good() {
        let purposes = [
            (Purpose::System, Grade::Good),
            (Purpose::Programs, Grade::Good),
            (Purpose::Pauses, Grade::Unknown),
        ];
        assert_eq!(for_a_system(&purposes, true), Grade::FairOrGood);
        assert_eq!(for_a_system(&purposes, false), Grade::Good);
        assert_eq!(for_a_system(&purposes[..2], true), Grade::FairOrGood);
    }

    #[test]
    fn the_grade_for_a_system_is_that_of_its_weakest_part() {
        use Grade::{Fair, FairOrGood, Good, Poor, Unknown};
        let cases = [
            (Good, Good, Good, Good, Good),
            (Good, Fair, Good, Good, Fair),
            (FairOrGood, Good, Good, Good, FairOrGood),
            (Good, Good, Poor, Good, Fair),
            (Good, Good, Unknown, Unknown, Good),
            (Good, Good, Good, Poor, Poor),
            (Poor, Good, Good, Good, Poor),
            (Unknown, Good, Good, Good, Unknown),
            (Good, Unknown, Good, Poor, Unknown),
        ];
        for (system, programs, databases, pauses, expected) in cases {
            assert_eq!(
                graded(system, programs, databases, pauses),
                expected,
                "{system:?} {programs:?} {databases:?} {pauses:?}"
            );
        }
    }
}
