//! Does it keep data? From the signs of trouble in use, and from data that a run read back.

use cardproof_record::{CapacityVerdict, Record, TargetKind};
use serde::Serialize;

use super::{Known, Standing};
use crate::capacity::capacity;
use crate::data::wrong_data;
use crate::signs::{Experiment, HealthVerdict, LogRead, Sign, SignKind, SignSource, Weight};
use crate::wear::Wear;

/// What is known of its health.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Healthy {
    /// No sign of trouble where signs were looked for.
    Yes {
        /// Where they were looked for.
        log: LogRead,
        /// Test data was written and read back right.
        is_read_back: bool,
        /// The device's own report of its used life, the upper end of a band, if it makes one.
        life_used_percent_max: Option<u8>,
        /// What is known of its wear.
        wear: Wear,
        /// Errors in the log of what was in this place before another medium came.
        #[serde(skip_serializing_if = "Option::is_none")]
        earlier_medium: Option<Sign>,
    },
    /// Signs of trouble, and nothing is lost yet.
    Watch {
        /// The signs, the gravest first.
        signs: Vec<Sign>,
        /// What would tell what is at fault.
        experiments: Vec<Experiment>,
    },
    /// Data are at risk: copy them now.
    CopyNow {
        /// The signs, the gravest first.
        signs: Vec<Sign>,
        /// What would tell what is at fault.
        experiments: Vec<Experiment>,
    },
    /// It cannot be used any more.
    Dead {
        /// The signs, the gravest first.
        signs: Vec<Sign>,
        /// What would tell what is at fault.
        experiments: Vec<Experiment>,
    },
    /// The test of its capacity has shown that it does not keep data.
    LosesData,
    /// Nothing could be looked at.
    NotKnown {
        /// Why the log says nothing.
        log: LogRead,
    },
}

impl Healthy {
    pub(super) fn new(known: &Known<'_>) -> Self {
        let found = known.signs;
        // The power is a question of its own.
        let weighty = found.weighty().filter(|sign| sign.kind != SignKind::UnderVoltage).cloned();
        let mut signs: Vec<Sign> = weighty.collect();
        if known.speed.is_some_and(|record| wrong_data(record).is_some()) {
            signs.insert(0, Sign::new(SignKind::WrongData, SignSource::ReadBack, 0));
        }
        let experiments = found.experiments.clone();
        match signs.iter().map(|sign| sign.weight).max() {
            Some(Weight::Dead) => Self::Dead { signs, experiments },
            Some(Weight::CopyNow) => Self::CopyNow { signs, experiments },
            Some(Weight::Watch) => Self::Watch { signs, experiments },
            Some(Weight::Note) | None => Self::without_signs(known),
        }
    }

    fn without_signs(known: &Known<'_>) -> Self {
        let is_right = |record: &Record| {
            capacity(record).is_some_and(|found| found.verdict == CapacityVerdict::Genuine)
        };
        let is_read_back = known.speed.is_some_and(|record| record.data_check.is_some())
            || known.capacity.is_some_and(is_right);
        let log = known.signs.log;
        if known.signs.verdict == HealthVerdict::NotKnown && !is_read_back {
            return Self::NotKnown { log };
        }
        let card = known.conditions.device.lowest().card.as_ref();
        let life_used_percent_max = card.and_then(|card| card.life_used_percent_max);
        let is_simulated = known.conditions.target.kind == TargetKind::Simulated;
        let wear = Wear::of(&known.conditions.device, is_simulated);
        let earlier_medium = known.signs.earlier_medium().cloned();
        Self::Yes { log, is_read_back, life_used_percent_max, wear, earlier_medium }
    }

    pub(super) const fn standing(&self) -> Standing {
        match self {
            Self::Yes { .. } => Standing::Good,
            Self::Watch { .. } => Standing::Warning,
            Self::CopyNow { .. } | Self::Dead { .. } | Self::LosesData => Standing::Bad,
            Self::NotKnown { .. } => Standing::Unknown,
        }
    }
}
