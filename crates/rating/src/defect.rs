//! What forbids recommending a storage, whatever its speed: it is fake, it loses data, or it fails.
//!
//! One record of a storage is enough. A fake card may be the fastest of all, for it has little flash to manage.

use cardproof_record::{CapacityVerdict, EnduranceRun, FindingKind, Record, Trial};

use crate::answer::SeenBeside;
use crate::capacity::{Capacity, capacity};
use crate::data::wrong_data;
use crate::defect_kind::DefectKind;
use crate::findings::{Gravity, by_gravity, gravity};
use crate::integrity::{DiscardVerdict, QueueVerdict, integrity};
use crate::life;

/// Why a storage is not to be recommended.
#[derive(Clone, Debug, PartialEq)]
pub struct Defect {
    /// Its kind.
    pub kind: DefectKind,
    /// What was found.
    pub what: Found,
    /// Whether another record of the same storage shows it.
    pub is_of_another_record: bool,
}

/// What was found of a storage that is not to be recommended.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Nothing more than its kind says.
    KindAlone,
    /// It holds less than it announces.
    LessCapacity(Box<Capacity>),
    /// Its queue corrupts data.
    QueueCorrupts,
    /// Test data came back wrong, whatever the cause.
    WrongData,
    /// Requests failed with errors.
    RequestsFailed,
    /// Discards destroy data.
    DiscardsDestroy,
    /// Discards bring old data back.
    DiscardsReturnOldData,
    /// Another tool has found it.
    ByTool(FindingKind),
    /// There were signs of failure when it was checked.
    Signs,
    /// It failed in the first cycle of a test of its endurance, as a fake does.
    FirstCycle,
    /// A test of its endurance has worn it out.
    WornOut,
}

impl Defect {
    const fn found(kind: DefectKind, what: Found) -> Self {
        Self { kind, what, is_of_another_record: false }
    }

    /// The same, as told of another record of the same storage.
    #[must_use]
    pub fn of_another_record(&self) -> Self {
        Self { is_of_another_record: true, ..self.clone() }
    }
}

/// The gravest defect that one of `records`, all of one storage, shows.
#[must_use]
pub fn defect_in<'r>(records: impl IntoIterator<Item = &'r Record>) -> Option<Defect> {
    records.into_iter().filter_map(defect).min_by_key(|defect| defect.kind)
}

/// The gravest defect that `record` shows; `None` where it shows none.
#[must_use]
pub fn defect(record: &Record) -> Option<Defect> {
    let found = [
        of_trial(record),
        of_findings(record),
        of_signs(record),
        wrong_data(record).map(|_| Defect::found(DefectKind::LosesData, Found::WrongData)),
    ];
    found.into_iter().flatten().min_by_key(|defect| defect.kind)
}

fn of_trial(record: &Record) -> Option<Defect> {
    match record.trial.as_ref()? {
        Trial::Capacity(_) => of_capacity(record),
        Trial::Integrity(_) => of_integrity(record),
        Trial::Endurance(run) => of_endurance(run),
        // What power cuts do is judged by itself, and the others compare speeds.
        Trial::PowerCuts(_) | Trial::Setups(_) | Trial::Layout(_) => None,
    }
}

fn of_capacity(record: &Record) -> Option<Defect> {
    let found = capacity(record)?;
    match found.verdict {
        CapacityVerdict::Fake => {
            Some(Defect::found(DefectKind::Fake, Found::LessCapacity(Box::new(found))))
        }
        CapacityVerdict::Damaged => Some(Defect::found(DefectKind::Damaged, Found::KindAlone)),
        CapacityVerdict::Genuine | CapacityVerdict::Suspicious | CapacityVerdict::Undecided => None,
    }
}

fn of_integrity(record: &Record) -> Option<Defect> {
    let found = integrity(record)?;
    let of_queue = found.queue.and_then(|queue| match queue.verdict {
        QueueVerdict::Corrupts => Some((DefectKind::LosesData, Found::QueueCorrupts)),
        QueueVerdict::CorruptsWithoutQueue => Some((DefectKind::LosesData, Found::WrongData)),
        QueueVerdict::Undecided if queue.queued.wrong > 0 => {
            Some((DefectKind::LosesData, Found::WrongData))
        }
        QueueVerdict::Failing => Some((DefectKind::Failing, Found::RequestsFailed)),
        QueueVerdict::Sound | QueueVerdict::Undecided => None,
    });
    let of_discards = found.discard.and_then(|discard| match discard.verdict {
        DiscardVerdict::HarmsData => Some((DefectKind::LosesData, Found::DiscardsDestroy)),
        DiscardVerdict::ReturnsOldData => {
            Some((DefectKind::LosesData, Found::DiscardsReturnOldData))
        }
        DiscardVerdict::CorruptsWithoutDiscards => Some((DefectKind::LosesData, Found::WrongData)),
        DiscardVerdict::Undecided if discard.wrong_places > 0 => {
            Some((DefectKind::LosesData, Found::WrongData))
        }
        DiscardVerdict::Failing => Some((DefectKind::Failing, Found::RequestsFailed)),
        DiscardVerdict::Sound
        | DiscardVerdict::NoEffect
        | DiscardVerdict::Unsupported
        | DiscardVerdict::Undecided => None,
    });
    let found = [of_queue, of_discards].into_iter().flatten();
    found.min_by_key(|(kind, _)| *kind).map(|(kind, what)| Defect::found(kind, what))
}

/// What another tool has found.
fn of_findings(record: &Record) -> Option<Defect> {
    let gravest = by_gravity(record).into_iter().next()?;
    let kind = match (&gravest.what, gravity(&gravest.what)) {
        (FindingKind::Counterfeit { .. }, _) => DefectKind::Fake,
        (_, Gravity::DataLost) => DefectKind::LosesData,
        (_, Gravity::Failing) => DefectKind::Failing,
        (_, Gravity::Errors | Gravity::Host | Gravity::Notice) => return None,
    };
    Some(Defect::found(kind, Found::ByTool(gravest.what.clone())))
}

/// What a check saw in the kernel's log, the registers and the device's own report.
fn of_signs(record: &Record) -> Option<Defect> {
    let signs = SeenBeside::of_record(record)?.signs;
    signs.is_bad().then(|| Defect::found(DefectKind::Failing, Found::Signs))
}

/// A test that has worn the storage out.
fn of_endurance(run: &EnduranceRun) -> Option<Defect> {
    if life::failed_at_once(run) {
        return Some(Defect::found(DefectKind::LosesData, Found::FirstCycle));
    }
    let is_worn = run.bad_pages > 0 || run.end.is_some();
    is_worn.then(|| Defect::found(DefectKind::Failing, Found::WornOut))
}
