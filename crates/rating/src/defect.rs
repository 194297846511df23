//! What forbids recommending a storage, whatever its speed: it is fake, it loses data, or it fails.
//!
//! One record of a storage is enough. A fake card may be the fastest of all, for it has little flash to manage.

use cardproof_record::{CapacityVerdict, EnduranceRun, FindingKind, Record, Trial};
use serde::Serialize;

use crate::answer::SeenBeside;
use crate::capacity::capacity;
use crate::data::alarm;
use crate::defect_kind::DefectKind;
use crate::findings::{Gravity, by_gravity, gravity, in_short};
use crate::integrity::{DiscardVerdict, QueueVerdict, integrity};
use crate::life;

/// Why a storage is not to be recommended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Defect {
    /// Its kind.
    pub kind: DefectKind,
    /// What was found, without a full stop, such as `FAKE: holds 8 GiB of 64 GiB`.
    pub words: String,
    /// The same without the word of its kind; empty where that says all.
    #[serde(skip)]
    pub what: String,
}

impl Defect {
    /// One of which the word of its kind says all.
    fn new(kind: DefectKind) -> Self {
        Self { kind, words: kind.word().to_owned(), what: String::new() }
    }

    /// What a test found, after the word of the kind.
    fn found(kind: DefectKind, what: &str) -> Self {
        Self { kind, words: format!("{}: {what}", kind.word()), what: what.to_owned() }
    }

    /// The same, as told of another record of the same storage.
    #[must_use]
    pub fn of_another_record(&self) -> Self {
        let told = |words: &str| format!("{words} (by another record with this label)");
        Self { kind: self.kind, words: told(&self.words), what: told(&self.what) }
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
        alarm(record).map(|_| Defect::found(DefectKind::LosesData, "test data came back wrong")),
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
        CapacityVerdict::Fake => Some(Defect::found(DefectKind::Fake, &found.held())),
        CapacityVerdict::Damaged => Some(Defect::new(DefectKind::Damaged)),
        CapacityVerdict::Genuine | CapacityVerdict::Suspicious | CapacityVerdict::Undecided => None,
    }
}

fn of_integrity(record: &Record) -> Option<Defect> {
    let found = integrity(record)?;
    let of_queue = found.queue.and_then(|queue| match queue.verdict {
        QueueVerdict::Corrupts => Some((DefectKind::LosesData, "its queue corrupts data")),
        QueueVerdict::CorruptsWithoutQueue => {
            Some((DefectKind::LosesData, "test data came back wrong"))
        }
        QueueVerdict::Undecided if queue.queued.wrong > 0 => {
            Some((DefectKind::LosesData, "test data came back wrong"))
        }
        QueueVerdict::Failing => Some((DefectKind::Failing, "requests failed with errors")),
        QueueVerdict::Sound | QueueVerdict::Undecided => None,
    });
    let of_discards = found.discard.and_then(|discard| match discard.verdict {
        DiscardVerdict::HarmsData => Some((DefectKind::LosesData, "discards destroy data")),
        DiscardVerdict::ReturnsOldData => {
            Some((DefectKind::LosesData, "discards bring old data back"))
        }
        DiscardVerdict::CorruptsWithoutDiscards => {
            Some((DefectKind::LosesData, "test data came back wrong"))
        }
        DiscardVerdict::Undecided if discard.wrong_places > 0 => {
            Some((DefectKind::LosesData, "test data came back wrong"))
        }
        DiscardVerdict::Failing => Some((DefectKind::Failing, "requests failed with errors")),
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
    Some(Defect::found(kind, &in_short(&gravest.what)))
}

/// What a check saw in the kernel's log, the registers and the device's own report.
fn of_signs(record: &Record) -> Option<Defect> {
    let signs = SeenBeside::of_record(record)?.signs;
    signs
        .is_bad()
        .then(|| Defect::found(DefectKind::Failing, "signs of failure when it was checked"))
}

/// A test that has worn the storage out.
fn of_endurance(run: &EnduranceRun) -> Option<Defect> {
    if life::failed_at_once(run) {
        let words = "it failed in the first cycle of a test, as a fake does";
        return Some(Defect::found(DefectKind::LosesData, words));
    }
    let is_worn = run.bad_pages > 0 || run.end.is_some();
    is_worn.then(|| Defect::found(DefectKind::Failing, "a test has worn it out"))
}
