//! The record as a whole, and its way from and to JSON.

use std::collections::BTreeMap;

use cardproof_units::{Bytes, Nanos, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ranges::{self, RangeError};
use crate::{
    ComparedSetups, Conditions, DataCheck, Figure, FlashTimings, Indication, Job, JobRun,
    MonitorSummary, Phase, QuantityFound, Replay,
};

/// The name and version of the form that this crate writes.
pub const SCHEMA: &str = "cardproof.record/1";

/// What cardproof calls itself in the records that it measured.
const OWN_NAME: &str = "cardproof";

/// One run: what was measured, and under which conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// The form's name and version: `cardproof.record/1`.
    pub schema: String,
    /// A name that no other run has; its beginning is the time of its start.
    pub id: String,
    /// When the run began, RFC 3339, in UTC; where another tool does not tell, when its output
    /// was read.
    pub created: String,
    /// What wrote the record.
    pub tool: Tool,
    /// From which all addresses and data follow; zero for another tool's measurement.
    pub seed: Seed,
    /// A name that the user gave, or that stood over another tool's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether the run reached its end.
    pub state: State,
    /// The surroundings.
    pub conditions: Conditions,
    /// What was to be run.
    pub profile: ProfileInfo,
    /// What was run, in order.
    pub phases: Vec<Phase>,
    /// Whole jobs that were timed on the same storage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    /// Jobs that were run on files, with all that was seen of them; those that were measured are
    /// among `jobs` as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_runs: Vec<JobRun>,
    /// Recorded jobs that were replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<Replay>,
    /// File systems and ways of keeping a database, compared on the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setups: Option<ComparedSetups>,
    /// What a test of the capacity saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<crate::CapacityTest>,
    /// What a run that wears the storage out has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<crate::EnduranceRun>,
    /// What power cuts did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cuts: Option<crate::PowerCutTest>,
    /// A job replayed through a log-structured layer, beside the plain layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<crate::LogTrial>,
    /// What the tool whose method was followed would have printed, in its own units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Timings at the internal boundaries of a flash device.
    #[serde(default, skip_serializing_if = "FlashTimings::is_empty")]
    pub flash_timings: FlashTimings,
    /// What the run itself cost the computer.
    #[serde(default)]
    pub monitor: Monitor,
    /// All bytes written to the target.
    pub bytes_written: Bytes,
    /// All bytes read from it.
    pub bytes_read: Bytes,
    /// The end of the addresses that phases worked in, from the target's start; absent where nothing
    /// was measured or another tool does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_to_bytes: Option<Bytes>,
    /// What a sample of everything written held at the end of the run; absent where nothing was
    /// compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_check: Option<DataCheck>,
    /// Doubts about the run as a whole.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// When the run began, as another tool printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_as_printed: Option<String>,
    /// Verdicts, attached on output only: they are derived from all the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
    /// The geometry of the card, attached on output only: it is inferred from the timings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantities: Option<BTreeMap<String, QuantityFound>>,
    /// What figures without intervals make likely, attached on output only like the verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indications: Option<Vec<Indication>>,
    /// Fields of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Whether a run reached its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is still running, or it was killed before it could say so.
    Running,
    /// Every phase had its turn.
    Complete,
    /// It was stopped before its end, by the user or a signal.
    Partial,
    /// A fault of the target or of the engine ended it.
    Failed,
    /// A state of a later version: whether the run reached its end is not known.
    #[serde(other)]
    Unknown,
}

/// The program that wrote a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Its name: `cardproof`, or the tool whose output was imported.
    pub name: String,
    /// Its version; empty where another tool does not print it.
    pub version: String,
}

/// What was to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileInfo {
    /// The profile's name.
    pub name: String,
    /// The profile's version: figures of different versions are not compared.
    pub version: u32,
    /// The time the whole run was given.
    pub time_budget_ns: Nanos,
    /// Fields of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What the run itself cost the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Monitor {
    /// Processor time in cardproof's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_user_ns: Option<Nanos>,
    /// Processor time in the kernel on cardproof's behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_system_ns: Option<Nanos>,
    /// The most memory that cardproof held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_bytes: Option<Bytes>,
    /// What was seen of the system beside the run; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<MonitorSummary>,
    /// Fields of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A doubt about a measurement: a value, so that rules can act on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// What it is about.
    pub code: WarningCode,
    /// In words, for this case.
    pub message: String,
}

/// What a doubt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// The range of addresses is smaller than the profile asks for; small spans flatter a card.
    SpanReduced,
    /// Operations passed through the page cache.
    Buffered,
    /// Whether operations passed through the page cache is not known.
    CacheUnknown,
    /// The figures come from memory, not from storage.
    Memory,
    /// What a layer such as a loop device rests on is unknown; it may be memory.
    LayerUnknown,
    /// The file system may compress, or never overwrites in place.
    CopyOnWrite,
    /// What was read is not what was written.
    WrongData,
    /// Faster than the link can carry.
    AboveLink,
    /// The range may hold blocks that were never written, which some devices need not read.
    MaybeUnwritten,
    /// Too few operations for a narrow interval.
    FewOperations,
    /// Some operations failed.
    Faults,
    /// The queue depth asked for was not reached.
    QueueDepthReduced,
    /// A settled level was not reached, or the level changed within the phase.
    Unsteady,
    /// Heat, power, other processes or a changed clock came between.
    Disturbed,
    /// Any doubt of a later version.
    #[serde(other)]
    Other,
}

impl WarningCode {
    /// Whether no verdict may be built on what this doubts.
    #[must_use]
    pub const fn forbids_verdict(self) -> bool {
        matches!(
            self,
            Self::Buffered
                | Self::Memory
                | Self::LayerUnknown
                | Self::CopyOnWrite
                | Self::WrongData
                | Self::AboveLink
        )
    }
}

/// What a rule says of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The rule's name, such as `A1`.
    pub rule: String,
    /// What it says.
    pub outcome: Outcome,
    /// Why, in words, most important first.
    pub reasons: Vec<String>,
}

/// What a rule can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The limits are met as measured on this host.
    Meets,
    /// At least one limit is missed.
    Misses,
    /// The figures are too close or too few to say.
    Undecided,
    /// This record cannot tell.
    NotTestable,
    /// An outcome of a later version.
    #[serde(other)]
    Unknown,
}

/// Why a text is not a record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the record's form.
    #[error("not a cardproof record: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A number that no storage can have.
    #[error("not a measurement: {0}")]
    OutOfRange(#[from] RangeError),
    /// A record of another version, or of something else.
    #[error("this is '{found}', and this version of cardproof reads '{SCHEMA}'")]
    OtherSchema {
        /// What the record calls itself.
        found: String,
    },
}

impl Record {
    /// A run that has begun: nothing is told yet but its name, when it began, what writes the record
    /// and what is to be run. Whoever knows seed and surroundings fills them in.
    #[must_use]
    pub fn begun(id: String, created: String, tool: Tool, profile: ProfileInfo) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            id,
            created,
            tool,
            seed: Seed::default(),
            label: None,
            state: State::Running,
            conditions: Conditions::default(),
            profile,
            phases: Vec::new(),
            jobs: Vec::new(),
            job_runs: Vec::new(),
            replays: Vec::new(),
            setups: None,
            capacity: None,
            endurance: None,
            power_cuts: None,
            layout: None,
            figures: Vec::new(),
            flash_timings: FlashTimings::default(),
            monitor: Monitor::default(),
            bytes_written: Bytes::ZERO,
            bytes_read: Bytes::ZERO,
            measured_to_bytes: None,
            data_check: None,
            warnings: Vec::new(),
            began_as_printed: None,
            verdicts: None,
            quantities: None,
            indications: None,
            extra: Map::new(),
        }
    }

    /// Reads a record from JSON. Unknown fields are kept.
    ///
    /// # Errors
    /// The text is not a record of this version; the message names the line.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.schema != SCHEMA {
            return Err(ReadError::OtherSchema { found: head.schema });
        }
        let record = serde_json::from_str(text)?;
        ranges::check(&serde_json::from_str(text)?)?;
        Ok(record)
    }

    /// The record as JSON, one document, indented, ending in a newline.
    ///
    /// # Errors
    /// A figure is not finite.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// The phase called `name`, if it was run and measured.
    #[must_use]
    pub fn measured(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name && phase.is_measured())
    }

    /// Whether another tool measured this, and cardproof only read its output.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.tool.name != OWN_NAME
    }

    /// Whether the target was a model of a card.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.conditions.target.kind == crate::TargetKind::Simulated
    }
}
