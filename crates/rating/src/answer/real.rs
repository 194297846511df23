//! Is its capacity real? From a test of the capacity, or from signs in the registers where none was done.

use cardproof_record::CapacityVerdict;
use cardproof_units::Bytes;
use serde::Serialize;

use super::{Known, Standing, Untested};
use crate::capacity::capacity;

/// From this share of the device up a sound test stands for all of it.
const COVERS_ALL: f64 = 0.9;

/// What is known of the capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

impl Real {
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
