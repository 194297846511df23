//! One cut: what every sector holds against what was promised.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cardproof_units::Bytes;

use super::plan::Plan;
use super::stamp::{SECTOR, Stamp};

/// What the writer had been told when the power went, by the numbers of its writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// The last write that was issued, as far as is known; 0 for none.
    pub issued: u64,
    /// The last write that the device had promised to keep; 0 where only the data laid down
    /// before the first write were promised.
    pub durable: u64,
    /// Up to so many writes after `durable` may have been issued without anybody having heard of it;
    /// 0 where `issued` is exact.
    pub unheard: u64,
}

/// What was read of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// A whole sector with its stamp.
    Whole(Stamp),
    /// Something else.
    Other,
    /// An error.
    Unreadable,
}

impl Sector {
    /// What `data` are.
    #[must_use]
    pub fn of(data: &[u8; SECTOR]) -> Self {
        Stamp::of(data).map_or(Self::Other, Self::Whole)
    }
}

/// A kind of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A durable write is absent, and so is all that came after it.
    Lost,
    /// A durable write is there in part, or a sector in flight holds neither old nor new data.
    Torn,
    /// A durable write is absent, and a write of a later epoch is there.
    Reordered,
    /// Data changed that no request in flight covered.
    Collateral,
    /// A whole sector lies at another's address.
    Misdirected,
    /// A sector cannot be read.
    Unreadable,
    /// The device did not come back.
    Gone,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Lost,
        Self::Torn,
        Self::Reordered,
        Self::Collateral,
        Self::Misdirected,
        Self::Unreadable,
        Self::Gone,
    ];

    /// Its name in documents for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Reordered => "reordered",
            Self::Collateral => "collateral",
            Self::Misdirected => "misdirected",
            Self::Unreadable => "unreadable",
            Self::Gone => "gone",
        }
    }
}

/// One piece of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of harm.
    pub kind: Kind,
    /// The write that it happened to, or whose data lie there; `None` where that is not known.
    pub number: Option<u64>,
    /// The first sector that shows it.
    pub sector: u64,
    /// How many sectors show it.
    pub sectors: u64,
    /// How far it lies from the nearest request in flight, for data that none covered.
    pub distance: Option<Bytes>,
}

/// What one cut did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutReport {
    /// Writes were issued and not yet promised when the power went.
    pub had_writes_in_flight: bool,
    /// The harm, in the order of the addresses within each kind.
    pub findings: Vec<Finding>,
    /// Sectors that two readings differ in.
    pub unstable_sectors: u64,
}

impl CutReport {
    /// The kinds of harm, each once.
    #[must_use]
    pub fn kinds(&self) -> BTreeSet<Kind> {
        self.findings.iter().map(|finding| finding.kind).collect()
    }
}

/// The report of a device that did not come back.
#[must_use]
pub fn gone(had_writes_in_flight: bool) -> CutReport {
    let finding = Finding { kind: Kind::Gone, number: None, sector: 0, sectors: 0, distance: None };
    CutReport { had_writes_in_flight, findings: vec![finding], unstable_sectors: 0 }
}

/// What the cut did, from two readings of the plan's whole area, one entry a sector.
///
/// The second reading counts: an error that it does not show was transient. Sectors beyond the
/// shorter reading are not judged.
#[must_use]
pub fn classify(plan: &Plan, promise: Promise, first: &[Sector], second: &[Sector]) -> CutReport {
    let promise = Promise { issued: promise.issued.max(promise.durable), ..promise };
    let had_writes_in_flight = promise.issued > promise.durable;
    let unstable = first.iter().zip(second).filter(|(first, second)| first != second).count();
    let mut look = Classifier::new(plan, promise);
    for (&read, sector) in second.iter().zip(plan.area()) {
        look.at(sector, read);
    }
    CutReport { had_writes_in_flight, findings: look.findings(), unstable_sectors: unstable as u64 }
}

/// What is seen of a write that was promised and that no later promise overwrote everywhere.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Sectors that hold it.
    present: u64,
    /// Sectors that hold something older, and the first of them.
    stale: u64,
    first_stale: u64,
}

/// The state of looking at one cut.
struct Classifier<'a> {
    plan: &'a Plan,
    /// The writes that may have been in flight.
    in_flight: Vec<Range<u64>>,
    /// For each sector that is written again: the last promised write that covers it.
    promised: Vec<u64>,
    writes: BTreeMap<u64, Seen>,
    /// Writes whose data were found elsewhere.
    misplaced: BTreeSet<u64>,
    /// The latest epoch of which anything is there.
    latest_epoch: u64,
    single: Vec<Finding>,
}

impl<'a> Classifier<'a> {
    fn new(plan: &'a Plan, promise: Promise) -> Self {
        let written = plan.written();
        let mut promised = vec![0; (written.end - written.start) as usize];
        // From the last write back, so that it ends with the one that completes the area, however many
        // there were.
        let mut uncovered = promised.len();
        for number in (1..=promise.durable).rev() {
            for sector in plan.request(number).range() {
                let last = &mut promised[(sector - written.start) as usize];
                if *last == 0 {
                    *last = number;
                    uncovered -= 1;
                }
            }
            if uncovered == 0 {
                break;
            }
        }
        let last = promise.issued.max(promise.durable.saturating_add(promise.unheard));
        let in_flight =
            (promise.durable.saturating_add(1)..=last).map(|n| plan.request(n).range()).collect();
        Self {
            plan,
            in_flight,
            promised,
            writes: BTreeMap::new(),
            misplaced: BTreeSet::new(),
            latest_epoch: 0,
            single: Vec::new(),
        }
    }

    /// The last promised write at `sector`; 0 for the data laid down before.
    fn promised_at(&self, sector: u64) -> u64 {
        let written = self.plan.written();
        if written.contains(&sector) { self.promised[(sector - written.start) as usize] } else { 0 }
    }

    fn at(&mut self, sector: u64, read: Sector) {
        let promised = self.promised_at(sector);
        match read {
            Sector::Unreadable => self.note(Kind::Unreadable, None, sector),
            Sector::Other => {
                let covered = self.in_flight.iter().any(|range| range.contains(&sector));
                let kind = if covered { Kind::Torn } else { Kind::Collateral };
                self.note(kind, None, sector);
            }
            Sector::Whole(stamp) if stamp.sector != sector => {
                if stamp.run == self.plan.run() {
                    self.misplaced.insert(stamp.number);
                }
                self.note(Kind::Misdirected, Some(stamp.number), sector);
            }
            Sector::Whole(stamp) if !self.plan.made(&stamp) || stamp.number < promised => {
                let seen = self.writes.entry(promised).or_default();
                if seen.stale == 0 {
                    seen.first_stale = sector;
                }
                seen.stale += 1;
                if self.plan.made(&stamp) {
                    self.latest_epoch = self.latest_epoch.max(stamp.epoch);
                }
            }
            Sector::Whole(stamp) => {
                self.latest_epoch = self.latest_epoch.max(stamp.epoch);
                if stamp.number == promised {
                    self.writes.entry(promised).or_default().present += 1;
                }
            }
        }
    }

    /// Notes a sector, together with its neighbour of the same kind.
    fn note(&mut self, kind: Kind, number: Option<u64>, sector: u64) {
        let distance = match kind {
            Kind::Collateral | Kind::Unreadable | Kind::Misdirected => self.distance(sector),
            _ => None,
        };
        if let Some(last) = self.single.iter_mut().rev().find(|finding| finding.kind == kind)
            && last.sector + last.sectors == sector
            && last.number == number
        {
            last.sectors += 1;
            last.distance = last.distance.min(distance);
            return;
        }
        self.single.push(Finding { kind, number, sector, sectors: 1, distance });
    }

    /// How far `sector` lies from the nearest request in flight.
    fn distance(&self, sector: u64) -> Option<Bytes> {
        let apart = |range: &Range<u64>| {
            let before = range.start.saturating_sub(sector);
            before.max((sector + 1).saturating_sub(range.end))
        };
        self.in_flight.iter().map(apart).min().map(|sectors| Bytes(sectors * SECTOR as u64))
    }

    fn findings(self) -> Vec<Finding> {
        let mut findings = self.single;
        for (&number, seen) in &self.writes {
            if seen.stale == 0 || self.misplaced.contains(&number) {
                continue;
            }
            let is_later_there = self.latest_epoch > self.plan.epoch_of(number);
            let kind = if number > 0 && seen.present > 0 {
                Kind::Torn
            } else if is_later_there {
                Kind::Reordered
            } else {
                Kind::Lost
            };
            let (sector, sectors) = (seen.first_stale, seen.stale);
            findings.push(Finding { kind, number: Some(number), sector, sectors, distance: None });
        }
        findings.sort_by_key(|finding| (finding.kind, finding.sector));
        findings
    }
}

#[cfg(test)]
mod tests;
