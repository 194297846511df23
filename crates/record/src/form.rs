//! The record as a whole, and its way from and to JSON.

use std::collections::BTreeMap;

use cardproof_units::{Bytes, Nanos, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json_form;
use crate::ranges::{self, RangeError};
use crate::reading;
use crate::{
    CapacityTest, ComparedSetups, Conditions, DataCheck, EnduranceRun, Figure, Finding,
    FlashTimings, Indication, IntegrityTest, JobRun, JobTime, LogTrial, MonitorSummary, Phase,
    PowerCutTest, QuantityFound, Replay, Trial, Verdict, Warning,
};

/// The name and version of the form that this crate writes.
pub const SCHEMA: &str = "cardproof.record/1";

/// The tool name in cardproof's own records.
const OWN_NAME: &str = "cardproof";

/// One run: its measurements and their conditions. At most one of `setups`, `capacity`, `endurance`, `power_cuts`,
/// `integrity` and `layout` is present.
// With `remote`, serde derives functions of the type. The traits are in `reading`, which takes the trial out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Record"))]
#[serde(remote = "Self")]
pub struct Record {
    /// The form's name and version: `cardproof.record/1`.
    pub schema: String,
    /// The unique name of the run. It begins with the start time.
    pub id: String,
    /// The start of the run, RFC 3339, in UTC; if another tool's output lacks it, the time of the
    /// import.
    pub created: String,
    /// The program that measured.
    pub tool: Tool,
    /// Seed for addresses and data; zero for another tool's measurement.
    pub seed: Seed,
    /// A name from the user, or from another tool's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether the run is complete.
    pub state: State,
    /// The conditions of the run.
    pub conditions: Conditions,
    /// The profile.
    pub profile: ProfileInfo,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// Whole jobs that were timed on the same storage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobTime>,
    /// Jobs that were run on files, with all details. The measured ones are also in `jobs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_runs: Vec<JobRun>,
    /// Recorded jobs that were replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<Replay>,
    /// What the record holds of a trial, beside phases, jobs and replays.
    #[serde(
        flatten,
        deserialize_with = "reading::no_trial",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::trial::TrialFields"))]
    pub trial: Option<Trial>,
    /// Faults of the storage that another tool has seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The figures that the original tool would have printed, in its own units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Timings at the internal boundaries of a flash device.
    #[serde(default, skip_serializing_if = "FlashTimings::is_empty")]
    pub flash_timings: FlashTimings,
    /// The processor time and memory of cardproof itself.
    #[serde(default)]
    pub monitor: RunCost,
    /// All bytes written to the target.
    pub bytes_written: Bytes,
    /// All bytes read from it.
    pub bytes_read: Bytes,
    /// The end of the test range in bytes, from the start of the target; absent if nothing was
    /// measured or the range is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_to_bytes: Option<Bytes>,
    /// The data check at the end of the run; absent if nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_check: Option<DataCheck>,
    /// What `check` saw beside what it measured: signs of trouble in use, the power, and why the capacity was not
    /// tested. Absent in the records of other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_beside: Option<Value>,
    /// Doubts about the run as a whole.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// When the run began, as another tool printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_as_printed: Option<String>,
    /// Verdicts. They are derived from the other fields and attached on output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
    /// The geometry of the card. It is inferred from the timings and attached on output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantities: Option<BTreeMap<String, QuantityFound>>,
    /// Indications from figures without intervals, attached on output only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indications: Option<Vec<Indication>>,
    /// Fields of a newer version.
    #[serde(flatten, deserialize_with = "reading::newer_fields")]
    pub extra: Map<String, Value>,
}

/// Whether a run is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is still running, or it was killed.
    Running,
    /// Every phase ended.
    Complete,
    /// The user or a signal stopped it early.
    Partial,
    /// An error of the target or of the engine ended it.
    Failed,
    /// A state of a newer version: it is unknown whether the run is complete.
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

/// The profile of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileInfo {
    /// The profile's name.
    pub name: String,
    /// The profile's version: figures of different versions are not compared.
    pub version: u32,
    /// The time budget of the whole run.
    pub time_budget_ns: Nanos,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ProfileInfo {
    /// What a command does whose work, and not a time budget, decides how long it takes.
    #[must_use]
    pub fn untimed(name: impl Into<String>, version: u32) -> Self {
        Self { name: name.into(), version, time_budget_ns: Nanos::ZERO, extra: Map::new() }
    }
}

/// What the run itself cost the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Monitor"))]
pub struct RunCost {
    /// Processor time in cardproof's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_user_ns: Option<Nanos>,
    /// Processor time in the kernel on cardproof's behalf.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_system_ns: Option<Nanos>,
    /// The most memory that cardproof held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_bytes: Option<Bytes>,
    /// What the system did during the run; absent if it was not monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<MonitorSummary>,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a text that is not JSON, or no record, cannot be read.
fn malformed(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Eof if error.column() == 0 => "the file is empty".to_owned(),
        serde_json::error::Category::Eof => {
            format!("the file is cut off at line {}", error.line())
        }
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            format!("not a cardproof record: it is no JSON from line {} on", error.line())
        }
        serde_json::error::Category::Data => format!("not a cardproof record: {error}"),
    }
}

/// Why a text is not a record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the record's form.
    #[error("{}", malformed(.0))]
    Malformed(serde_json::Error),
    /// A number that no storage can have.
    #[error("not a measurement: {0}")]
    OutOfRange(RangeError),
    /// A record of another version, or another document.
    #[error("this is '{found}', and this version of cardproof reads '{SCHEMA}'")]
    OtherSchema {
        /// The schema that the record names.
        found: String,
    },
    /// The answer of a check, which names its record and does not hold it.
    #[error("this is the short answer of `cardproof check --json`, which is no record; {}", way_to(.record.as_deref()))]
    AnswerOfCheck {
        /// The id of the record; `None` where nothing was measured.
        record: Option<String>,
    },
}

// Their words hold those of the cause, which is therefore no source.
impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<RangeError> for ReadError {
    fn from(error: RangeError) -> Self {
        Self::OutOfRange(error)
    }
}

/// The schema of the answer of a check.
pub const CHECK_SCHEMA: &str = "cardproof.check/1";

fn way_to(record: Option<&str>) -> String {
    match record {
        Some(record) => format!(
            "the record is on the computer that gave the answer: cardproof show {record} --json FILE"
        ),
        None => "nothing was measured for it, so there is none".to_owned(),
    }
}

/// What tells one document from another.
#[derive(Deserialize)]
struct Head {
    schema: String,
    /// The records that an answer rests on, that of the check itself last.
    #[serde(default)]
    records: Value,
}

impl Head {
    fn of_record(self) -> Result<(), ReadError> {
        if self.schema == SCHEMA {
            return Ok(());
        }
        if self.schema != CHECK_SCHEMA {
            return Err(ReadError::OtherSchema { found: self.schema });
        }
        let last = self.records.as_array().and_then(|records| records.last()?.as_str());
        Err(ReadError::AnswerOfCheck { record: last.map(str::to_owned) })
    }
}

impl Record {
    /// A run that has begun, with its name, start time (RFC 3339, UTC), tool and profile only. The caller
    /// fills in seed and conditions.
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
            seen_beside: None,
            trial: None,
            findings: Vec::new(),
            figures: Vec::new(),
            flash_timings: FlashTimings::default(),
            monitor: RunCost::default(),
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
        let read = serde_json::from_str::<Self>(text);
        // Another document fails for a field that it does not have; what it is says more.
        if !matches!(&read, Ok(record) if record.schema == SCHEMA) {
            serde_json::from_str::<Head>(text)?.of_record()?;
        }
        let record = read?;
        ranges::check(&mut serde_json::Deserializer::from_str(text))?;
        Ok(record)
    }

    /// The record in the fields of a document that was read before.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_fields(fields: &Map<String, Value>) -> Result<Self, ReadError> {
        if let Ok(head) = Head::deserialize(fields) {
            head.of_record()?;
        }
        let record = <Self as Deserialize>::deserialize(fields)?;
        ranges::check(fields)?;
        Ok(record)
    }

    /// The record as JSON, one document, ending in a newline: indented where a reader looks, and dense below.
    ///
    /// # Errors
    /// A figure is not finite.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        json_form::to_text(self)
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

/// The trial of one kind; `None` where the record holds one of another kind, or none.
impl Record {
    /// The compared setups.
    #[must_use]
    pub const fn setups(&self) -> Option<&ComparedSetups> {
        match &self.trial {
            Some(Trial::Setups(setups)) => Some(setups),
            _ => None,
        }
    }

    /// The test of the capacity.
    #[must_use]
    pub const fn capacity(&self) -> Option<&CapacityTest> {
        match &self.trial {
            Some(Trial::Capacity(test)) => Some(test),
            _ => None,
        }
    }

    /// The endurance run.
    #[must_use]
    pub const fn endurance(&self) -> Option<&EnduranceRun> {
        match &self.trial {
            Some(Trial::Endurance(run)) => Some(run),
            _ => None,
        }
    }

    /// The test with power cuts.
    #[must_use]
    pub const fn power_cuts(&self) -> Option<&PowerCutTest> {
        match &self.trial {
            Some(Trial::PowerCuts(test)) => Some(test),
            _ => None,
        }
    }

    /// The test of the command queue and of discards.
    #[must_use]
    pub const fn integrity(&self) -> Option<&IntegrityTest> {
        match &self.trial {
            Some(Trial::Integrity(test)) => Some(test),
            _ => None,
        }
    }

    /// The replay through a log-structured layer.
    #[must_use]
    pub const fn layout(&self) -> Option<&LogTrial> {
        match &self.trial {
            Some(Trial::Layout(trial)) => Some(trial),
            _ => None,
        }
    }
}
