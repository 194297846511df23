//! Is its capacity real? From a test of the capacity, or from signs in the registers where none was done.

use cardproof_record::{CapacityVerdict, Conditions, Record};
use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

use super::{Known, Standing, Untested};
use crate::capacity::{Capacity, capacity};

/// What is known of the capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Real {
    /// All of it was tested, by samples or in full, and keeps data.
    Yes {
        /// The capacity.
        size: Bytes,
        /// Whether every address was written and read back, and not samples alone.
        #[serde(default)]
        in_full: bool,
    },
    /// A part of it was tested, and keeps data.
    SoFar {
        /// How much of its addresses the samples covered.
        tested: Bytes,
        /// Its capacity.
        of: Bytes,
    },
    /// It holds less than it announces.
    No {
        /// What it holds at least.
        holds_min: Bytes,
        /// What it holds at most.
        holds_max: Bytes,
        /// What it announces.
        announced: Bytes,
    },
    /// Parts of it do not keep data.
    Damaged,
    /// Its registers have signs of a counterfeit, and nothing was tested.
    Suspicious {
        /// How many signs.
        signs: usize,
    },
    /// A part of it was tested and keeps data, too small a part for a reply.
    TooSmall {
        /// How much of its addresses the samples covered.
        tested: Bytes,
        /// Its capacity.
        of: Bytes,
    },
    /// A test was done and did not decide.
    Undecided,
    /// No test was done.
    NotTested {
        /// Why not.
        why: Untested,
    },
}

/// What an earlier test of the same card has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// Its day, as in `2026-10-02`.
    pub date: String,
    /// What it found.
    pub real: Real,
}

impl Earlier {
    /// What `real` of the day `date` tells of the same card later; `None` where it tells nothing.
    #[must_use]
    pub fn new(date: String, real: &Real) -> Option<Self> {
        let is_lasting = matches!(real, Real::Yes { .. } | Real::SoFar { .. } | Real::No { .. });
        is_lasting.then(|| Self { date, real: real.clone() })
    }
}

impl Real {
    /// This reply, or that of an `earlier` test where it says more, with its day. The capacity of a card does not
    /// change: a fake stays one, and what was tested in full need not be tested again. Registers with signs of a
    /// counterfeit may be copied from another card, so they are never outweighed.
    pub(super) fn or_earlier(self, earlier: Option<&Earlier>) -> (Self, Option<String>) {
        let Some(earlier) = earlier else { return (self, None) };
        let says_more = matches!(
            (&self, &earlier.real),
            (Self::NotTested { .. } | Self::Undecided | Self::TooSmall { .. }, _)
                | (Self::SoFar { .. }, Self::Yes { .. } | Self::No { .. })
        );
        if says_more { (earlier.real.clone(), Some(earlier.date.clone())) } else { (self, None) }
    }

    pub(super) fn new(known: &Known<'_>) -> Self {
        Self::found(known.capacity, known.conditions, known.untested)
    }

    /// What the capacity test of `record` says alone.
    #[must_use]
    pub fn of_test(record: &Record) -> Self {
        Self::found(Some(record), &record.conditions, Untested::NotAsked)
    }

    fn found(test: Option<&Record>, conditions: &Conditions, untested: Untested) -> Self {
        let is_full = test.and_then(|record| record.capacity()).is_some_and(|test| test.is_full);
        match (test.and_then(capacity), signs(conditions)) {
            (Some(found), _) => Self::judged(&found, conditions, is_full),
            (None, 0) => Self::NotTested { why: untested },
            (None, signs) => Self::Suspicious { signs },
        }
    }

    /// What a test that has `found` this says of a device under `conditions`.
    pub(super) fn judged(found: &Capacity, conditions: &Conditions, is_full: bool) -> Self {
        let signs = signs(conditions);
        match found.verdict {
            CapacityVerdict::Genuine if found.is_file => Self::NotTested { why: Untested::File },
            CapacityVerdict::Genuine => genuine(found, is_full),
            CapacityVerdict::Fake => Self::No {
                holds_min: found.real_size.0,
                holds_max: found.real_size.1,
                announced: found.announced,
            },
            CapacityVerdict::Damaged => Self::Damaged,
            CapacityVerdict::Suspicious => Self::Suspicious { signs: signs.max(1) },
            CapacityVerdict::Undecided if signs > 0 => Self::Suspicious { signs },
            CapacityVerdict::Undecided => match found.part_tested() {
                Some(tested) if found.is_too_small => {
                    Self::TooSmall { tested, of: found.announced }
                }
                _ => Self::Undecided,
            },
        }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes { .. } | Self::SoFar { .. } => Standing::Good,
            Self::No { .. } | Self::Damaged => Standing::Bad,
            Self::Suspicious { .. } => Standing::Warning,
            Self::TooSmall { .. } | Self::Undecided | Self::NotTested { .. } => Standing::Unknown,
        }
    }
}

/// How many signs of a counterfeit the registers have.
fn signs(conditions: &Conditions) -> usize {
    let card = conditions.device.lowest().card.as_ref();
    card.map_or(0, |card| card.counterfeit_signs.len())
}

/// A sound test stands for what it covered.
fn genuine(found: &Capacity, in_full: bool) -> Real {
    match found.part_tested() {
        Some(tested) => Real::SoFar { tested, of: found.announced },
        None => Real::Yes { size: found.announced, in_full },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::gib(32);
    const PART: Real = Real::SoFar { tested: Bytes::gib(4), of: SIZE };
    const COPIED: Real = Real::Suspicious { signs: 1 };
    const LITTLE: Real = Real::TooSmall { tested: Bytes::gib(1), of: SIZE };
    const NOT_TESTED: Real = Real::NotTested { why: Untested::ReadOnly };

    fn fake() -> Real {
        Real::No { holds_min: Bytes::gib(8), holds_max: Bytes::gib(8), announced: SIZE }
    }

    fn after(now: &Real, before: &Real) -> (Real, bool) {
        let earlier = Earlier::new("2026-10-02".to_owned(), before);
        let (real, day) = now.clone().or_earlier(earlier.as_ref());
        (real, day.is_some())
    }

    #[test]
    fn an_earlier_test_is_told_where_it_says_more() {
        let all = Real::Yes { size: SIZE, in_full: true };
        for (now, before) in [
            (&NOT_TESTED, &all),
            (&PART, &all),
            (&PART, &fake()),
            (&NOT_TESTED, &PART),
            (&LITTLE, &PART),
        ] {
            assert_eq!(after(now, before), (before.clone(), true), "{now:?} after {before:?}");
        }
        for (now, before) in [
            (&all, &fake()),
            (&fake(), &all),
            (&PART, &PART),
            (&Real::Damaged, &all),
            (&COPIED, &all),
            (&PART, &LITTLE),
            (&NOT_TESTED, &LITTLE),
        ] {
            assert_eq!(after(now, before), (now.clone(), false), "{now:?} after {before:?}");
        }
    }

    #[test]
    fn damage_and_silence_of_before_tell_nothing_of_now() {
        for before in [Real::Damaged, Real::Undecided, NOT_TESTED, COPIED] {
            assert_eq!(after(&NOT_TESTED, &before), (NOT_TESTED, false), "{before:?}");
        }
    }
}
