//! What a record holds of one trial of the storage, beside phases, jobs and replays.

use serde::Serialize;
use serde::de::{Error, MapAccess};

use crate::{CapacityTest, ComparedSetups, EnduranceRun, IntegrityTest, LogTrial, PowerCutTest};

/// What one trial of the storage has shown. In JSON each kind is a field of the record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// File systems and ways of keeping a database, compared on the target.
    Setups(ComparedSetups),
    /// The observations of a capacity test.
    Capacity(CapacityTest),
    /// The observations of an endurance run.
    Endurance(EnduranceRun),
    /// What power cuts did.
    PowerCuts(PowerCutTest),
    /// Whether a command queue or discards harm data.
    Integrity(IntegrityTest),
    /// A job replayed through a log-structured layer, compared with the plain layout.
    Layout(LogTrial),
}

impl Trial {
    /// The fields of a record that hold a trial. A record has at most one of them.
    pub const FIELDS: [&str; 6] =
        ["setups", "capacity", "endurance", "power_cuts", "integrity", "layout"];

    /// The field of the record that holds this trial.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Setups(_) => "setups",
            Self::Capacity(_) => "capacity",
            Self::Endurance(_) => "endurance",
            Self::PowerCuts(_) => "power_cuts",
            Self::Integrity(_) => "integrity",
            Self::Layout(_) => "layout",
        }
    }

    /// Reads what `field`, the one whose name was read last from `fields`, holds: `None` for `null`.
    pub(crate) fn read<'de, A: MapAccess<'de>>(
        field: &str,
        fields: &mut A,
    ) -> Result<Option<Self>, A::Error> {
        Ok(match field {
            "setups" => fields.next_value::<Option<_>>()?.map(Self::Setups),
            "capacity" => fields.next_value::<Option<_>>()?.map(Self::Capacity),
            "endurance" => fields.next_value::<Option<_>>()?.map(Self::Endurance),
            "power_cuts" => fields.next_value::<Option<_>>()?.map(Self::PowerCuts),
            "integrity" => fields.next_value::<Option<_>>()?.map(Self::Integrity),
            "layout" => fields.next_value::<Option<_>>()?.map(Self::Layout),
            other => return Err(Error::unknown_field(other, &Self::FIELDS)),
        })
    }
}

/// [`Trial`] as the schema has it: fields of a record, each of which may be absent.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TrialFields {
    /// File systems and ways of keeping a database, compared on the target.
    setups: Option<ComparedSetups>,
    /// The observations of a capacity test.
    capacity: Option<CapacityTest>,
    /// The observations of an endurance run.
    endurance: Option<EnduranceRun>,
    /// What power cuts did.
    power_cuts: Option<PowerCutTest>,
    /// Whether a command queue or discards harm data.
    integrity: Option<IntegrityTest>,
    /// A job replayed through a log-structured layer, compared with the plain layout.
    layout: Option<LogTrial>,
}
