//! A run that wears a card out, as it was seen; the life that follows is derived from it.

use std::collections::BTreeMap;

use cardproof_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Why a run of write cycles has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// The card has ended.
    End,
    /// It did the cycles that were asked for.
    Cycles,
    /// It wrote the bytes that were asked for.
    Budget,
    /// The user.
    User,
    /// The computer, its reader or a cable failed.
    HostError,
    /// Another card came in the place of one that had vanished.
    OtherCard,
    /// What the run knew could not be saved.
    NoState,
    /// A reason of a later version.
    #[default]
    #[serde(other)]
    Unknown,
}

/// What a run of write cycles has seen so far, those of earlier sessions on the same card included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnduranceRun {
    /// Where each cycle writes: `random`, `sequential`, `hot-spot` or `trace`.
    pub pattern: String,
    /// The bytes from the start of the target that are worked in.
    pub span_bytes: Bytes,
    /// The bytes that each cycle writes.
    pub cycle_bytes: Bytes,
    /// Pages of 4 KiB that each cycle writes and reads back.
    pub pages: u64,
    /// Cycles that were written and read back in full.
    pub cycles: u64,
    /// Bytes written in all sessions.
    pub written_bytes: Bytes,
    /// Pages that have lost data.
    pub bad_pages: u64,
    /// The cycle in which each milestone was reached, or null.
    pub milestones: BTreeMap<String, Option<u64>>,
    /// How the card has ended; null while it lives.
    pub end: Option<String>,
    /// Why the run has stopped.
    pub stopped_by: StoppedBy,
    /// The bytes that the card had to bear without an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<Bytes>,
    /// The daily use for which the user asked for a life in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_use: Option<DailyUse>,
    /// When places turned bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<EnduranceFailures>,
    /// Cycles in order; of long runs not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<EnduranceCycle>,
    /// Failures that a second attempt did not show.
    #[serde(default)]
    pub transient: u64,
    /// Times in which the whole device failed and came back: host, reader or cable.
    #[serde(default)]
    pub host_errors: u64,
    /// Fields of a newer version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a user's computer does to a card, for a life in days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DailyUse {
    /// What the computer writes in a day.
    pub bytes_per_day: Bytes,
    /// Bytes that the card writes for each byte of the computer, assumed.
    pub write_amplification: f64,
}

/// Places that turned bad in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnduranceFailures {
    /// The cycle, from 1.
    pub cycle: u64,
    /// Separate places: neighbouring pages are one.
    pub places: u64,
    /// The pages in them.
    pub pages: u64,
}

/// A cycle of writing and reading back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnduranceCycle {
    /// Its number, from 1.
    pub cycle: u64,
    /// All bytes written up to its end.
    pub written_bytes: u64,
    /// All bytes read up to its end.
    pub read_bytes: u64,
    /// Bad pages in all.
    pub bad_pages: u64,
    /// Pages that turned bad in it, as first page and count; in the state of a run only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_bad: Vec<[u64; 2]>,
    /// Writes that failed at their place each time.
    #[serde(default)]
    pub write_errors: u64,
    /// Reads that failed at their place each time.
    #[serde(default)]
    pub read_errors: u64,
    /// Pages with data of an earlier cycle.
    #[serde(default)]
    pub stale_pages: u64,
    /// Pages with other data.
    #[serde(default)]
    pub wrong_pages: u64,
    /// Failures that a second attempt did not show.
    #[serde(default)]
    pub transient: u64,
    /// Times in which the whole device failed and came back.
    #[serde(default)]
    pub host_errors: u64,
    /// The rate of the part of its writing that was timed.
    pub write_bytes_per_s: f64,
    /// The rate of the part of its reading that was timed.
    pub read_bytes_per_s: f64,
    /// How long it took.
    pub duration_ns: u64,
}
