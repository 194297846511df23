//! Is it set up well? The settings of the device and its file system that the plan of `tune` would change.

use cardproof_record::TargetKind;
use serde::Serialize;

use super::{Known, Standing};
use crate::tuning::{TuningPlace, plan};

/// A thing that can be set up better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    /// The partition does not begin where an allocation unit of the card begins.
    Misaligned,
    /// The bus runs faster than any mode of the standard, or far slower than card and host could.
    Bus,
    /// The command queue or the cache of an A2 card is not in use.
    QueueOrCache,
    /// The I/O scheduler is not the one that suits a card.
    Scheduler,
    /// The kernel reads ahead less than suits a card.
    ReadAhead,
    /// Each file that is read has its access time written.
    AccessTimes,
}

/// What is known of the set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum SetUp {
    /// Nothing to change.
    Yes,
    /// These can be better, the most important first.
    CanBeBetter {
        /// At least one.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        things: Vec<Thing>,
    },
    /// The card is simulated and has no settings.
    Simulated,
    /// The settings could not be read.
    NotKnown,
}

impl SetUp {
    pub(super) fn new(known: &Known<'_>) -> Self {
        let conditions = known.conditions;
        if conditions.target.kind == TargetKind::Simulated {
            return Self::Simulated;
        }
        let settings = &conditions.settings;
        let is_anything_known = settings.scheduler.is_some()
            || settings.read_ahead_bytes.is_some()
            || conditions.filesystem.is_some();
        if !is_anything_known {
            return Self::NotKnown;
        }
        let name = conditions.device.name.as_deref();
        let place = TuningPlace { name, mounts: known.mounts, ..TuningPlace::default() };
        let plan = plan(&place, conditions, None);
        let is_planned = |name: &str| plan.iter().any(|step| step.name == name);
        let is_misaligned = conditions
            .filesystem
            .as_ref()
            .is_some_and(|filesystem| filesystem.is_aligned == Some(false));
        let things: Vec<Thing> = [
            (Thing::Misaligned, is_misaligned),
            (Thing::Bus, is_planned("bus")),
            (Thing::QueueOrCache, is_planned("queue_and_cache")),
            (Thing::Scheduler, is_planned("scheduler")),
            (Thing::ReadAhead, is_planned("read_ahead")),
            (Thing::AccessTimes, is_planned("mount_options")),
        ]
        .into_iter()
        .filter_map(|(thing, applies)| applies.then_some(thing))
        .collect();
        if things.is_empty() { Self::Yes } else { Self::CanBeBetter { things } }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes => Standing::Good,
            Self::CanBeBetter { .. } => Standing::Warning,
            Self::Simulated | Self::NotKnown => Standing::Unknown,
        }
    }
}
