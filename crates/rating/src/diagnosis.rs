//! "This computer is slow: is it the card?" One answer from what was seen while watching, from the state
//! of the computer, and from the last measurement of the storage.
//!
//! The answer is the limit of most of the time, if it was the limit for at least a fifth of it. It is *yes* only
//! where the storage that was asked about explains the waits by its own busy time and nothing else held the
//! computer back in most of that time. While nothing happens nothing can be seen, and then only the last
//! measurement speaks: as a suspicion, never as the answer.

mod waits;

pub use waits::TaskWaits;

use cardproof_record::{Limit, Outcome, Record};
use serde::Serialize;

use crate::judge::judge;
use crate::limits::{Limiting, Seen};
use crate::meaning::{Grade, grades};

/// The name and version of the published form.
pub const DIAGNOSIS_SCHEMA: &str = "cardproof.diagnosis/1";

/// What limits for a smaller share of the time does not make a computer slow.
const SHARE_MIN: f64 = 0.2;

/// What limits beside the storage in this share of its windows is a cause of its own.
const BESIDE_MIN: f64 = 0.5;

/// The most programs that are named as waiting for their synced writes.
pub(crate) const SYNCING_MAX: usize = 2;

/// What is known of the computer and its storage.
#[derive(Clone, Debug, Default)]
pub struct Known<'r> {
    /// What limited in each window that was watched.
    pub windows: Vec<Seen>,
    /// Whether the supply voltage has been too low since the start.
    pub had_low_voltage: bool,
    /// What is wrong with power, heat and bus, or has been since the start, in clauses.
    pub troubles: Vec<String>,
    /// The last record of this storage.
    pub last: Option<&'r Record>,
    /// The kernel's name of the storage, where it has one.
    pub device: Option<String>,
    /// In which share of the looks each program was seen waiting for its writes to be kept, 0 to 1.
    pub syncs: Vec<(String, f64)>,
}

impl Known<'_> {
    /// The programs that waited for their synced writes for much of the time, the one that waited most first.
    pub(crate) fn syncing(&self) -> Vec<&(String, f64)> {
        let mut much: Vec<&(String, f64)> =
            self.syncs.iter().filter(|(_, share)| *share >= SHARE_MIN).collect();
        much.sort_by(|a, b| b.1.total_cmp(&a.1));
        much
    }
}

/// What makes the computer slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// The storage that was asked about.
    Storage,
    /// That storage, and something else at the same time.
    StorageAndMore,
    /// Another storage of this computer.
    OtherStorage,
    /// Programs wait for I/O, and none of the devices that were watched explains it.
    Elsewhere,
    /// The way to the storage.
    Bus,
    /// The processors.
    Processor,
    /// Too little memory.
    Memory,
    /// Heat, which lowers the clock.
    Heat,
    /// The power supply.
    Power,
    /// Nothing was slow while it was watched.
    NothingSeen,
}

/// What limited most.
pub(crate) struct Most<'k> {
    pub(crate) culprit: Culprit,
    /// Its share of the windows, 0 to 1.
    pub(crate) share: f64,
    /// The last of its windows.
    pub(crate) last: &'k Limiting,
    /// What limited beside the storage in most of its windows, as last seen.
    pub(crate) beside: Vec<&'k Limiting>,
    /// What limited in other windows, nearly as often as the storage, as last seen.
    pub(crate) in_turn: Option<&'k Limiting>,
}

/// What was found.
pub(crate) struct Answered<'k> {
    pub(crate) culprit: Culprit,
    pub(crate) most: Option<Most<'k>>,
    /// Whether the last record shows a slow storage.
    pub(crate) is_last_slow: bool,
    /// What to do, most important first.
    pub(crate) steps: Vec<Step>,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// See which program writes.
    SeeWhoWrites,
    /// What helps against this culprit.
    Against(Culprit),
    /// Use a stronger power supply.
    StrongerSupply,
    /// Measure the storage.
    Measure,
}

/// Finds the answer.
pub(crate) fn answered<'k>(known: &'k Known<'_>) -> Answered<'k> {
    let most = most(&known.windows);
    let culprit = most.as_ref().map_or(Culprit::NothingSeen, |most| most.culprit);
    let is_last_slow = known.last.is_some_and(is_slow);
    Answered { culprit, most, is_last_slow, steps: steps(culprit, known) }
}

/// What limited most; `None` where that was for too little of the time.
fn most(windows: &[Seen]) -> Option<Most<'_>> {
    let mut counts: Vec<(Culprit, Vec<&Seen>)> = Vec::new();
    for window in windows {
        let Some(culprit) = culprit_of(window) else { continue };
        match counts.iter_mut().find(|(known, _)| *known == culprit) {
            Some((_, seen)) => seen.push(window),
            None => counts.push((culprit, vec![window])),
        }
    }
    let (culprit, seen) = counts.iter().max_by_key(|(_, seen)| seen.len())?;
    let share = |seen: &[&Seen]| seen.len() as f64 / windows.len() as f64;
    if let Some((storage, other)) = in_turn(&counts).filter(|(it, _)| share(it) >= SHARE_MIN) {
        return Some(Most {
            culprit: Culprit::StorageAndMore,
            share: share(storage),
            last: &storage.last()?.limited_by,
            beside: beside_most(storage),
            in_turn: Some(&other.last()?.limited_by),
        });
    }
    let beside = beside_most(seen);
    let culprit = if beside.is_empty() { *culprit } else { Culprit::StorageAndMore };
    let last = &seen.last()?.limited_by;
    let share = share(seen);
    (share >= SHARE_MIN).then_some(Most { culprit, share, last, beside, in_turn: None })
}

/// The windows of the storage and those of the most frequent other limit, where neither has less than half as many as
/// the other: each of them slows the computer for a time.
fn in_turn<'c, 'k>(
    counts: &'c [(Culprit, Vec<&'k Seen>)],
) -> Option<(&'c [&'k Seen], &'c [&'k Seen])> {
    let is_storage = |it: &&(Culprit, Vec<&Seen>)| it.0 == Culprit::Storage;
    let (_, storage) = counts.iter().find(is_storage)?;
    let others = counts.iter().filter(|it| !is_storage(it));
    let (_, other) = others.max_by_key(|(_, seen)| seen.len())?;
    let (less, more) = (storage.len().min(other.len()), storage.len().max(other.len()));
    (less as f64 >= BESIDE_MIN * more as f64).then_some((storage, other))
}

/// What limited beside the storage in at least half of the windows `seen`, each as it was last seen.
fn beside_most<'k>(seen: &[&'k Seen]) -> Vec<&'k Limiting> {
    let crowded = seen.iter().filter(|window| !window.beside.is_empty()).count();
    if (crowded as f64) < BESIDE_MIN * seen.len() as f64 {
        return Vec::new();
    }
    let last = seen.iter().rev().find(|window| !window.beside.is_empty());
    last.map_or_else(Vec::new, |window| window.beside.iter().collect())
}

const fn culprit_of(seen: &Seen) -> Option<Culprit> {
    match seen.limited_by.limit {
        Limit::StorageRandomWrite
        | Limit::StorageRandomRead
        | Limit::StorageSmallWrite
        | Limit::StorageSmallRead
        | Limit::StorageWrite
        | Limit::StorageSequential
        | Limit::StorageStall
        | Limit::BusCeiling
            if !seen.is_asked =>
        {
            Some(Culprit::OtherStorage)
        }
        Limit::StorageRandomWrite
        | Limit::StorageRandomRead
        | Limit::StorageSmallWrite
        | Limit::StorageSmallRead
        | Limit::StorageWrite
        | Limit::StorageSequential
        | Limit::StorageStall => Some(Culprit::Storage),
        Limit::BusCeiling => Some(Culprit::Bus),
        Limit::Cpu => Some(Culprit::Processor),
        Limit::MemoryPressure => Some(Culprit::Memory),
        Limit::Heat => Some(Culprit::Heat),
        Limit::Power => Some(Culprit::Power),
        Limit::Elsewhere => Some(Culprit::Elsewhere),
        Limit::Nothing | Limit::Unknown => None,
    }
}

/// Whether `record` shows a slow storage: A1 missed, or a daily use that goes poorly.
fn is_slow(record: &Record) -> bool {
    let misses = judge(record).iter().any(|it| it.rule == "A1" && it.outcome == Outcome::Misses);
    misses || grades(record).iter().any(|it| it.grade == Grade::Poor)
}

fn steps(culprit: Culprit, known: &Known<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    let is_write = |seen: &Seen| {
        matches!(
            seen.limited_by.limit,
            Limit::StorageSmallWrite
                | Limit::StorageWrite
                | Limit::StorageRandomWrite
                | Limit::StorageSequential
                | Limit::StorageStall
        )
    };
    let is_storage = matches!(culprit, Culprit::Storage | Culprit::StorageAndMore);
    if is_storage && known.windows.iter().any(is_write) || !known.syncing().is_empty() {
        steps.push(Step::SeeWhoWrites);
    }
    steps.push(Step::Against(culprit));
    if known.had_low_voltage && culprit != Culprit::Power {
        steps.push(Step::StrongerSupply);
    }
    if known.last.is_none() && matches!(culprit, Culprit::Storage | Culprit::NothingSeen) {
        steps.push(Step::Measure);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Evidence;
    use crate::words::diagnosis::diagnose;

    fn seen(limit: Limit, is_asked: bool) -> Seen {
        let limited_by = Limiting { limit, device: None, evidence: vec![Evidence::UnderVoltage] };
        Seen { limited_by, beside: Vec::new(), is_asked }
    }

    fn diagnosed(limits: &[(Limit, usize)]) -> Culprit {
        let windows =
            limits.iter().flat_map(|&(limit, count)| std::iter::repeat_n(seen(limit, true), count));
        diagnose(&Known { windows: windows.collect(), ..Known::default() }).culprit
    }

    #[test]
    fn the_processors_are_blamed_with_the_figure() {
        let windows = std::iter::repeat_n(seen(Limit::Cpu, true), 9).collect();
        let told = diagnose(&Known { windows, ..Known::default() });
        let expected = "No: programs waited for a processor in 100 % of the samples. A faster card would not have \
                        helped then.";
        assert_eq!(told.answer, expected);
        let figure = "The processors limited the computer in 100 % of the samples. In the last of these samples: the board reports too low a supply voltage.";
        assert_eq!(told.reasons[0], figure);
    }

    #[test]
    fn where_writes_are_slow_the_writing_program_is_looked_for_first() {
        let first_step = |limit| {
            let windows = std::iter::repeat_n(seen(limit, true), 9).collect();
            diagnose(&Known { windows, ..Known::default() }).steps[0].clone()
        };
        assert!(first_step(Limit::StorageWrite).contains("cardproof watch --who"));
        assert!(first_step(Limit::StorageSmallWrite).contains("cardproof watch --who"));
        assert!(!first_step(Limit::StorageSmallRead).contains("--who"), "it tells who writes");
        assert!(first_step(Limit::StorageStall).contains("cardproof watch --who"));
        assert!(!first_step(Limit::Cpu).contains("--who"));
        // Synced writes cost a card most, and the processors may hide them.
        let syncs = vec![("sqlite3".to_owned(), 0.1), ("dd".to_owned(), 0.84)];
        let windows = std::iter::repeat_n(seen(Limit::Cpu, true), 9).collect();
        let device = Some("mmcblk0".to_owned());
        let told = diagnose(&Known { windows, syncs, device, ..Known::default() });
        assert!(told.steps[0].ends_with("cardproof watch --who mmcblk0"), "{told:?}");
        assert!(told.reasons[1].starts_with("dd waited for its synced writes in 84 %"), "{told:?}");
        assert!(!told.reasons.iter().any(|it| it.contains("sqlite3")), "{told:?}");
    }

    #[test]
    fn the_limit_of_most_of_the_time_is_the_answer() {
        for (limits, culprit) in [
            (vec![(Limit::StorageSmallWrite, 8), (Limit::Nothing, 7)], Culprit::Storage),
            (
                vec![(Limit::StorageSmallWrite, 3), (Limit::StorageSmallRead, 3), (Limit::Cpu, 2)],
                Culprit::Storage,
            ),
            // Both, in turn.
            (vec![(Limit::StorageSmallWrite, 6), (Limit::Cpu, 5)], Culprit::StorageAndMore),
            (vec![(Limit::Cpu, 10), (Limit::StorageSequential, 5)], Culprit::StorageAndMore),
            (vec![(Limit::Cpu, 11), (Limit::StorageSequential, 4)], Culprit::Processor),
            (
                vec![(Limit::Cpu, 3), (Limit::StorageSequential, 2), (Limit::Nothing, 10)],
                Culprit::Processor,
            ),
            (vec![(Limit::Power, 15)], Culprit::Power),
            (vec![(Limit::MemoryPressure, 3), (Limit::Nothing, 12)], Culprit::Memory),
            (vec![(Limit::StorageSmallRead, 2), (Limit::Nothing, 13)], Culprit::NothingSeen),
            (vec![(Limit::Elsewhere, 9), (Limit::Nothing, 6)], Culprit::Elsewhere),
            (vec![(Limit::Unknown, 15)], Culprit::NothingSeen),
            (vec![], Culprit::NothingSeen),
        ] {
            assert_eq!(diagnosed(&limits), culprit, "{limits:?}");
        }
    }

    #[test]
    fn another_storage_is_no_yes() {
        let windows = vec![seen(Limit::StorageSmallWrite, false); 15];
        let diagnosis = diagnose(&Known { windows, ..Known::default() });
        assert_eq!(diagnosis.culprit, Culprit::OtherStorage);
        assert!(diagnosis.answer.starts_with("No"), "{diagnosis:?}");
    }

    #[test]
    fn what_limits_beside_the_storage_makes_it_a_partly() {
        let cpu = seen(Limit::Cpu, false).limited_by;
        let both = Seen { beside: vec![cpu], ..seen(Limit::StorageSmallRead, true) };
        for (crowded, culprit) in [(7, Culprit::Storage), (8, Culprit::StorageAndMore)] {
            let mut windows = vec![both.clone(); crowded];
            windows.extend(vec![seen(Limit::StorageSmallRead, true); 15 - crowded]);
            let diagnosis = diagnose(&Known { windows, ..Known::default() });
            assert_eq!(diagnosis.culprit, culprit, "{crowded} of 15");
        }
    }

    #[test]
    fn a_slow_record_alone_gives_a_perhaps() {
        let record = cardproof_testkit::records::slow_class4();
        let known = Known { last: Some(&record), ..Known::default() };
        let diagnosis = diagnose(&known);
        assert_eq!(diagnosis.culprit, Culprit::NothingSeen);
        assert!(diagnosis.answer.starts_with("Perhaps"), "{diagnosis:?}");
        assert!(diagnosis.reasons.iter().any(|it| it.contains("A1 not passed")), "{diagnosis:?}");
    }
}
