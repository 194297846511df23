//! What the verdicts on the recording classes come to: the highest that passed, the lowest that did not, and the lowest that
//! failed.
//!
//! The C, U and V classes all limit one figure, the sequential write. So the highest limit passed and
//! the lowest not passed say as much as eleven verdicts.

use cardproof_facts::{CLASSES, Class, Family};
use cardproof_record::{Outcome, Verdict};

/// The families of recording classes, as printed on cards.
const FAMILIES: [Family; 3] = [Family::Speed, Family::Uhs, Family::Video];

/// What the verdicts on recording classes come to.
pub(crate) enum Recording {
    /// None of them could be tested.
    NotTestable,
    /// The highest class of each family that passed; the next, and the lowest that failed.
    Judged { met: Vec<&'static str>, next: Vec<(&'static str, Outcome)> },
}

/// What `verdicts` say of the recording classes; `None` where they hold none of them.
pub(crate) fn recording(verdicts: &[Verdict]) -> Option<Recording> {
    let families: Vec<Vec<(&Class, Outcome)>> =
        FAMILIES.into_iter().map(|family| judged(family, verdicts)).collect();
    if families.iter().all(Vec::is_empty) {
        return None;
    }
    let is_testable = |(_, outcome): &(_, Outcome)| *outcome != Outcome::NotTestable;
    if !families.iter().flatten().any(is_testable) {
        return Some(Recording::NotTestable);
    }
    let highest_met = families.iter().filter_map(|family| {
        family.iter().rev().find(|(_, outcome)| *outcome == Outcome::Meets).map(|(class, _)| class)
    });
    Some(Recording::Judged {
        met: highest_met.map(|class| class.name).collect(),
        next: families.iter().flat_map(|family| not_met(family)).collect(),
    })
}

/// Whether `verdict` is on a recording class.
#[must_use]
pub fn is_recording(verdict: &Verdict) -> bool {
    Class::named(&verdict.rule).is_some_and(|class| !class.is_application())
}

fn judged(family: Family, verdicts: &[Verdict]) -> Vec<(&'static Class, Outcome)> {
    let of = |class: &'static Class| {
        let verdict = verdicts.iter().find(|verdict| verdict.rule == class.name)?;
        Some((class, verdict.outcome))
    };
    CLASSES.iter().filter(|class| class.family == family).filter_map(of).collect()
}

/// The least demanding class of a family that is not met. If it did not fail, the least demanding class that
/// failed follows: an undecided class says nothing about a faster one.
fn not_met(family: &[(&'static Class, Outcome)]) -> Vec<(&'static str, Outcome)> {
    let lowest = family.iter().find(|(_, outcome)| *outcome != Outcome::Meets);
    let failed = family.iter().find(|(_, outcome)| *outcome == Outcome::Misses);
    let mut named: Vec<_> = [lowest, failed]
        .into_iter()
        .flatten()
        .map(|(class, outcome)| (class.name, *outcome))
        .collect();
    named.dedup();
    named
}
