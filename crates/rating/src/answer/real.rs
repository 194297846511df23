//! Is its capacity real? From a test of the capacity, or from signs in the registers where none was done.

use cardproof_record::CapacityVerdict;
use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};

use super::{Known, Standing, Untested};
use crate::capacity::capacity;

/// From this share of the device up a sound test stands for all of it.
const COVERS_ALL: f64 = 0.9;

/// What is known of the capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Real {
    /// All of it was tested, by samples or in full, and keeps data.
    Yes {
        /// The capacity.
        size: Bytes,
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
    /// change: a fake stays one, and what was tested in full need not be tested again.
    pub(super) fn or_earlier(self, earlier: Option<&Earlier>) -> (Self, Option<String>) {
        let Some(earlier) = earlier else { return (self, None) };
        let says_more = matches!(
            (&self, &earlier.real),
            (Self::NotTested { .. } | Self::Undecided, _)
                | (
                    Self::Suspicious { .. } | Self::SoFar { .. },
                    Self::Yes { .. } | Self::No { .. }
                )
        );
        if says_more { (earlier.real.clone(), Some(earlier.date.clone())) } else { (self, None) }
    }

    pub(super) fn new(known: &Known<'_>) -> Self {
        let found = known.capacity.and_then(capacity);
        let signs = known.conditions.device.lowest().card.as_ref();
        let signs = signs.map_or(0, |card| card.counterfeit_signs.len());
        let Some(found) = found else {
            return match signs {
                0 => Self::NotTested { why: known.untested },
                signs => Self::Suspicious { signs },
            };
        };
        match found.verdict {
            CapacityVerdict::Genuine => covered(known, found.announced),
            CapacityVerdict::Fake => Self::No {
                holds_min: found.real_size.0,
                holds_max: found.real_size.1,
                announced: found.announced,
            },
            CapacityVerdict::Damaged => Self::Damaged,
            CapacityVerdict::Suspicious => Self::Suspicious { signs: signs.max(1) },
            CapacityVerdict::Undecided if signs > 0 => Self::Suspicious { signs },
            CapacityVerdict::Undecided => Self::Undecided,
        }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes { .. } | Self::SoFar { .. } => Standing::Good,
            Self::No { .. } | Self::Damaged => Standing::Bad,
            Self::Suspicious { .. } => Standing::Warning,
            Self::Undecided | Self::NotTested { .. } => Standing::Unknown,
        }
    }
}

/// A sound test stands for what it covered.
fn covered(known: &Known<'_>, size: Bytes) -> Real {
    let test = known.capacity.and_then(|record| record.capacity.as_ref());
    let Some((test, cover)) = test.and_then(|test| Some((test, test.cover?))) else {
        return Real::Yes { size };
    };
    let of = cover.device_bytes.unwrap_or(cover.filesystem_bytes);
    let tested = test.announced_bytes.min(of);
    if tested.as_f64() >= COVERS_ALL * of.as_f64() {
        Real::Yes { size: of }
    } else {
        Real::SoFar { tested, of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::gib(32);
    const PART: Real = Real::SoFar { tested: Bytes::gib(4), of: SIZE };
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
        let all = Real::Yes { size: SIZE };
        for (now, before) in
            [(&NOT_TESTED, &all), (&PART, &all), (&PART, &fake()), (&NOT_TESTED, &PART)]
        {
            assert_eq!(after(now, before), (before.clone(), true), "{now:?} after {before:?}");
        }
        for (now, before) in
            [(&all, &fake()), (&fake(), &all), (&PART, &PART), (&Real::Damaged, &all)]
        {
            assert_eq!(after(now, before), (now.clone(), false), "{now:?} after {before:?}");
        }
    }

    #[test]
    fn damage_and_silence_of_before_tell_nothing_of_now() {
        for before in [Real::Damaged, Real::Undecided, NOT_TESTED, Real::Suspicious { signs: 1 }] {
            assert_eq!(after(&NOT_TESTED, &before), (NOT_TESTED, false), "{before:?}");
        }
    }
}
