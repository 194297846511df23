//! Does the computer have enough power? From the flags of its firmware and its voltage alarm.

use cardproof_record::TargetKind;
use serde::{Deserialize, Serialize};

use super::{Known, Standing};

/// What is known of the computer's power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerFacts {
    /// The supply voltage is too low at this moment; `None` where the computer does not tell.
    pub is_low: Option<bool>,
    /// It has been too low since the computer started.
    pub was_low: bool,
    /// The processor was slowed down by heat since the computer started.
    pub was_throttled: bool,
}

/// What is known of the power.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Powered {
    /// No trouble since the computer started.
    Yes,
    /// The voltage is or was too low.
    LowVoltage {
        /// At this moment.
        now: bool,
    },
    /// The processor was slowed down by heat.
    Throttled,
    /// The card is simulated and is in no computer.
    Simulated,
    /// The computer does not tell.
    NotKnown,
}

impl Powered {
    pub(super) fn new(known: &Known<'_>) -> Self {
        if known.conditions.target.kind == TargetKind::Simulated {
            return Self::Simulated;
        }
        let PowerFacts { is_low, was_low, was_throttled } = known.power;
        match is_low {
            Some(true) => Self::LowVoltage { now: true },
            _ if was_low => Self::LowVoltage { now: false },
            _ if was_throttled => Self::Throttled,
            Some(false) => Self::Yes,
            None => Self::NotKnown,
        }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes => Standing::Good,
            Self::LowVoltage { .. } | Self::Throttled => Standing::Warning,
            Self::Simulated | Self::NotKnown => Standing::Unknown,
        }
    }
}
