//! A job that was run on files: how long it took, step by step, and what it waited for.

use cardproof_units::{Bytes, Iops, Nanos};
use serde::{Deserialize, Serialize};

use crate::limit::is_false;
use crate::{Disturbance, Estimate, Latency, LimitedBy, PhaseState, PhaseSurroundings, Warning};

/// One run of a job on a file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobRun {
    /// The job's name, such as `package-install`.
    pub name: String,
    /// The job's version: times of different versions are not compared.
    pub version: u32,
    /// What was done, such as `installing 400 packages`.
    pub deed: String,
    /// Whether it was done to its end.
    #[serde(flatten)]
    pub state: PhaseState,
    /// How long it took, without what prepared it and what came after it; of a run that was cut
    /// short, to there. Zero where it was not measured.
    pub duration_ns: Nanos,
    /// How long it took after that until all that it had written was on the storage, where the
    /// program that it follows does not wait for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ns: Option<Nanos>,
    /// Its steps, in order.
    pub steps: Vec<JobStep>,
    /// Operations on files, of the steps that count; of a database, its transactions.
    pub ops: u64,
    /// Bytes that the job wrote to files in the steps that count; the file system adds its own.
    pub bytes_written: Bytes,
    /// Bytes that it read from files in the steps that count.
    pub bytes_read: Bytes,
    /// How much the whole run wrote to files, its preparation included.
    #[serde(default)]
    pub bytes_written_in_all: Bytes,
    /// How much was fetched from the storage in the steps that count, what the kernel read ahead
    /// included; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_from_storage: Option<Bytes>,
    /// Whether the job emptied the page cache before it read, so that it means to read from the storage.
    #[serde(default, skip_serializing_if = "is_false")]
    pub empties_cache: bool,
    /// Its waits until something was durable, unless there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<JobSyncs>,
    /// Its transactions, where the job is a database's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<JobTransactions>,
    /// Where the job is a part that stands for a larger one: which, and how much of its waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<JobPart>,
    /// The disturbances of the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// What was seen of the system from the first step that counts to the last, unless nobody
    /// looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<PhaseSurroundings>>,
    /// What limited it, attached on output only: it is derived from all the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<LimitedBy>,
    /// Doubts about its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl JobRun {
    /// A run of which nothing is known yet but what is to be done.
    #[must_use]
    pub fn begun(name: String, version: u32, deed: String) -> Self {
        Self {
            name,
            version,
            deed,
            state: PhaseState::Measured,
            duration_ns: Nanos::ZERO,
            settle_ns: None,
            steps: Vec::new(),
            ops: 0,
            bytes_written: Bytes::ZERO,
            bytes_read: Bytes::ZERO,
            bytes_written_in_all: Bytes::ZERO,
            bytes_from_storage: None,
            empties_cache: false,
            syncs: None,
            transactions: None,
            part_of: None,
            disturbances: Vec::new(),
            surroundings: None,
            limited_by: None,
            warnings: Vec::new(),
        }
    }
}

/// A named part of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobStep {
    /// Its name, such as `unpack`.
    pub name: String,
    /// How long it took in all.
    pub duration_ns: Nanos,
    /// How much of that it waited until something was durable.
    pub sync_ns: Nanos,
    /// How often.
    pub syncs: u64,
}

/// Waits until something was durable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSyncs {
    /// How many, of files and of directories.
    pub count: u64,
    /// How long in all.
    pub total_ns: Nanos,
    /// How long each.
    pub latency_ns: Latency,
}

/// Transactions of a database, each on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobTransactions {
    /// How many.
    pub count: u64,
    /// How many a second; absent where too few were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_s: Option<Estimate<Iops>>,
    /// How long each.
    pub latency_ns: Latency,
    /// What is lost where the power or the system fails, in words.
    pub a_crash_costs: String,
    /// Whether every acknowledged transaction is kept then.
    #[serde(default)]
    pub is_durable: bool,
}

/// What a short job stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPart {
    /// The whole job's name.
    pub name: String,
    /// How many times as many syncs the whole job makes.
    pub syncs_ratio: f64,
    /// How much more there is to do in each step that counts, in their order.
    #[serde(default)]
    pub steps: Vec<JobPartStep>,
}

/// A step of a short job beside the same of the job that it stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPartStep {
    /// Its name.
    pub name: String,
    /// How many times as many syncs it makes in the whole job.
    pub syncs_ratio: f64,
    /// How many times as many other calls of the system.
    pub calls_ratio: f64,
}
