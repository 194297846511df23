//! An application's own promise: its records, each acknowledged by itself, after a cut.
//!
//! The records lie in slots that are written again and again, so an application can run for as long as
//! the power is on. Record n lies in slot (n - 1) modulo [`SLOTS`]. Each record is a sector with a
//! [`Stamp`](super::Stamp) whose address is the slot.

use std::collections::{BTreeMap, BTreeSet};

use super::classify::{CutReport, Finding, Kind, Promise, Sector};
use super::stamp::{SECTOR, Stamp};

/// How many records an application keeps.
pub const SLOTS: u64 = 4096;

/// What an application does with its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Application {
    /// Writes each record into a file and waits for `fsync`.
    Ext4Fsync,
    /// SQLite with a rollback journal and `synchronous = EXTRA`, one transaction for each record.
    SqliteDelete,
    /// SQLite with a write-ahead log and `synchronous = FULL`, one transaction for each record.
    SqliteWal,
}

impl Application {
    /// Every application.
    pub const ALL: [Self; 3] = [Self::Ext4Fsync, Self::SqliteDelete, Self::SqliteWal];

    /// Its name on the command line, in journals and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4Fsync => "ext4-fsync",
            Self::SqliteDelete => "sqlite-delete",
            Self::SqliteWal => "sqlite-wal",
        }
    }

    /// The application called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|application| application.name() == name)
    }

    /// Whether a record that was not acknowledged must be there in full or not at all.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::SqliteDelete | Self::SqliteWal)
    }
}

/// The slot of record `number`, from 1.
#[must_use]
pub const fn slot_of(number: u64) -> u64 {
    (number - 1) % SLOTS
}

/// The record `number` of the run `run`.
#[must_use]
pub fn record(run: u64, number: u64) -> [u8; SECTOR] {
    let mut data = [0; SECTOR];
    Stamp { run, sector: slot_of(number), number, epoch: number }.fill(&mut data);
    data
}

/// What a cut did to the records of the run `run`, from two readings: by slot what lies there, and
/// nothing where nothing does. The second reading counts.
#[must_use]
pub fn classify_records(
    application: Application,
    run: u64,
    promise: Promise,
    first: &BTreeMap<u64, Sector>,
    second: &BTreeMap<u64, Sector>,
) -> CutReport {
    let slots: BTreeSet<u64> = first.keys().chain(second.keys()).copied().collect();
    let unstable = slots.iter().filter(|slot| first.get(slot) != second.get(slot)).count();
    let promised = promised(promise.durable);
    let is_in_flight = |slot: u64| {
        let last = promise.issued.max(promise.durable.saturating_add(promise.unheard));
        (promise.durable.saturating_add(1)..=last).any(|number| slot_of(number) == slot)
    };
    let latest = second.values().filter_map(|found| number_in(run, found)).max().unwrap_or(0);
    let mut findings: Vec<Finding> = Vec::new();
    for slot in slots.into_iter().chain(promised.keys().copied()).collect::<BTreeSet<u64>>() {
        let expected = promised.get(&slot).copied().unwrap_or(0);
        let absent = if latest > expected { Kind::Reordered } else { Kind::Lost };
        let kind = match second.get(&slot) {
            Some(Sector::Unreadable) => Some(Kind::Unreadable),
            Some(Sector::Whole(stamp)) if stamp.run == run && stamp.sector == slot => {
                (stamp.number < expected).then_some(absent)
            }
            Some(Sector::Whole(stamp)) if stamp.run == run => Some(Kind::Misdirected),
            Some(_) if is_in_flight(slot) && !application.is_atomic() => None,
            Some(_) => Some(Kind::Torn),
            None => (expected > 0).then_some(absent),
        };
        if let Some(kind) = kind {
            note(&mut findings, kind, expected, slot);
        }
    }
    findings.sort_by_key(|finding| (finding.kind, finding.sector));
    CutReport {
        had_writes_in_flight: promise.issued > promise.durable,
        findings,
        unstable_sectors: unstable as u64,
    }
}

/// By slot the last record that was promised.
fn promised(durable: u64) -> BTreeMap<u64, u64> {
    let first = durable.saturating_sub(SLOTS - 1).max(1);
    (first..=durable).map(|number| (slot_of(number), number)).collect()
}

fn number_in(run: u64, found: &Sector) -> Option<u64> {
    match found {
        Sector::Whole(stamp) if stamp.run == run => Some(stamp.number),
        _ => None,
    }
}

/// Notes a slot, together with its neighbour of the same kind.
fn note(findings: &mut Vec<Finding>, kind: Kind, expected: u64, slot: u64) {
    if let Some(last) = findings.last_mut()
        && last.kind == kind
        && last.sector + last.sectors == slot
    {
        last.sectors += 1;
        return;
    }
    let number = (expected > 0).then_some(expected);
    findings.push(Finding { kind, number, sector: slot, sectors: 1, distance: None });
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: u64 = 9;
    const PROMISE: Promise = Promise { issued: 5001, durable: 5000, unheard: 1 };

    /// What lies there after all records up to `last`.
    fn written(last: u64) -> BTreeMap<u64, Sector> {
        (1..=last).map(|n| (slot_of(n), Sector::of(&record(RUN, n)))).collect()
    }

    fn kinds(application: Application, found: &BTreeMap<u64, Sector>) -> Vec<Kind> {
        let report = classify_records(application, RUN, PROMISE, found, found);
        assert!(report.had_writes_in_flight);
        report.kinds().into_iter().collect()
    }

    #[test]
    fn what_was_acknowledged_must_be_there_and_the_next_may() {
        for application in Application::ALL {
            assert_eq!(kinds(application, &written(5000)), []);
            assert_eq!(kinds(application, &written(5001)), []);
            assert_eq!(kinds(application, &written(4999)), [Kind::Lost]);
            assert_eq!(kinds(application, &BTreeMap::new()), [Kind::Lost]);
        }
    }

    #[test]
    fn a_gap_is_reordered_and_a_broken_record_torn() {
        let mut gap = written(5001);
        gap.insert(slot_of(4990), Sector::of(&record(RUN, 4990 - SLOTS)));
        assert_eq!(kinds(Application::SqliteWal, &gap), [Kind::Reordered]);
        let mut torn = written(5000);
        torn.insert(slot_of(3000), Sector::Other);
        assert_eq!(kinds(Application::Ext4Fsync, &torn), [Kind::Torn]);
    }

    #[test]
    fn a_record_in_flight_may_be_torn_in_a_file_and_not_in_a_transaction() {
        let mut torn = written(5000);
        torn.insert(slot_of(5001), Sector::Other);
        assert_eq!(kinds(Application::Ext4Fsync, &torn), []);
        assert_eq!(kinds(Application::SqliteDelete, &torn), [Kind::Torn]);
    }

    #[test]
    fn a_record_at_anothers_place_is_misdirected() {
        let mut elsewhere = written(5000);
        elsewhere.insert(7, Sector::of(&record(RUN, 4000)));
        assert_eq!(kinds(Application::SqliteWal, &elsewhere), [Kind::Misdirected]);
    }
}
